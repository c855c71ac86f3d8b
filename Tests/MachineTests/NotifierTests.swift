import DBus
import EventLoop
import SDBus
import TestSupport
import Testing

@testable import Machine

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct NotifierTests {
    @LoopActor private func with(
        _ body: @LoopActor (PrivateBus, Notifier, @escaping () -> [String]) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus()
        let connection = try Bus(.at(bus.address)) { _ in }
        var said: [String] = []
        let notifier = Notifier(bus: connection, icon: "icon", desktopEntry: "entry") { said.append($0) }
        do { try await body(bus, notifier) { said } } catch {
            connection.close()
            await bus.stop()
            throw error
        }
        connection.close()
        await bus.stop()
    }

    @Test @LoopActor func aNoticeIsShownChosenAndReplaced() async throws {
        try await with { bus, notifier, _ in
            let desk = try FakeNotifications(on: bus.address)
            var chosen: [String] = []
            notifier.show(
                Notice("sleep", title: "Soon", body: "a < b & c", actions: [("more", "15 more minutes")])
            ) { chosen.append($0) }
            try await until("it is shown") { desk.shown.count == 1 }
            #expect(
                desk.shown[0].body == "a &lt; b &amp; c"
                    && desk.shown[0].actions == ["more", "15 more minutes", "default", ""])
            notifier.show(Notice("sleep", title: "Sooner", body: "")) { chosen.append("again \($0)") }
            try await until("the next is shown") { desk.shown.count == 2 }
            #expect(desk.shown[1].replaces == desk.shown[0].number)
            try desk.choose("other", of: 77)
            try desk.choose("more", of: 1)
            try await until("a choice is heard") { chosen == ["again more"] }
            notifier.withdraw("sleep")
            try await until("it is gone") { desk.closed == [1] }
            notifier.withdraw("sleep")
            notifier.show(Notice("sleep", title: "New", body: ""))
            try await until("a new one is shown") { desk.shown.count == 3 }
            #expect(desk.shown[2].replaces == 0 && desk.closed == [1])
            desk.leave()
        }
    }

    /// Plasma keeps it in a list then, where it would stand when it is long over.
    @Test @LoopActor func whatExpiredIsTakenOutOfTheList() async throws {
        try await with { bus, notifier, _ in
            let desk = try FakeNotifications(on: bus.address)
            notifier.show(Notice("login", title: "Soon", body: ""))
            try await until("it is shown") { desk.shown.count == 1 }
            try desk.expire(1)
            notifier.show(Notice("other", title: "Later", body: ""))
            try await until("that was heard") { desk.shown.count == 2 }
            notifier.withdraw("login")
            try await until("it is gone") { desk.closed == [1] }
            // Nor would what replaces it there be seen.
            try desk.expire(2)
            notifier.show(Notice("third", title: "Later", body: ""))
            try await until("that was heard") { desk.shown.count == 3 }
            notifier.show(Notice("other", title: "Again", body: ""))
            try await until("it is shown anew") { desk.shown.count == 4 && desk.closed == [1, 2] }
            #expect(desk.shown[3].replaces == 0)
            desk.leave()
        }
    }

    @Test @LoopActor func whatIsPressedAtOnceIsHeard() async throws {
        try await with { bus, notifier, _ in
            let desk = try FakeNotifications(on: bus.address)
            desk.pressed = "more"
            var chosen: Set<Int> = []
            for turn in 0..<100 {
                notifier.show(Notice("\(turn)", title: "Soon", body: "", actions: [("more", "More")])) { _ in
                    chosen.insert(turn)
                }
            }
            try await until("all are heard") { chosen.count == 100 }
            desk.leave()
        }
    }

    @Test @LoopActor func whatEndsOnItsWayIsTakenBack() async throws {
        try await with { bus, notifier, _ in
            let desk = try FakeNotifications(on: bus.address)
            notifier.show(Notice("sleep", title: "Soon", body: ""))
            notifier.withdraw("sleep")
            try await until("it is gone") { desk.closed == [1] }
            notifier.show(Notice("sleep", title: "A", body: ""))
            notifier.withdraw("sleep")
            notifier.show(Notice("sleep", title: "B", body: ""))
            notifier.show(Notice("sleep", title: "C", body: ""))
            try await until("the last is shown") { desk.shown.last?.title == "C" }
            #expect(desk.shown.map(\.title) == ["Soon", "A", "C"] && desk.shown[2].replaces == 2)
            desk.leave()
        }
    }

    /// Another one counts from 1 again: what has that number there is somebody else's.
    @Test @LoopActor func whatADesktopThatIsGoneHasShownIsForgotten() async throws {
        try await with { bus, notifier, _ in
            let desk = try FakeNotifications(on: bus.address)
            notifier.show(Notice("sleep", title: "Soon", body: ""))
            notifier.show(Notice("login", title: "Sign in", body: ""))
            try await until("both are shown") { desk.shown.count == 2 }
            desk.leave()
            let next = try FakeNotifications(on: bus.address)
            notifier.show(Notice("other", title: "A", body: ""))
            // Which waits for the answer to the first, and that comes behind what the bus has to say of the two.
            notifier.show(Notice("other", title: "B", body: ""))
            try await until("both are shown") { next.shown.count == 2 }
            notifier.withdraw("login")
            notifier.show(Notice("sleep", title: "Sooner", body: ""))
            try await until("it is shown") { next.shown.count == 3 }
            #expect(next.shown.map(\.replaces) == [0, 1, 0] && next.closed.isEmpty)
            next.leave()
        }
    }

    @Test @LoopActor func nobodyIsThere() async throws {
        try await with { _, notifier, said in
            notifier.show(Notice("a", title: "A", body: ""))
            notifier.show(Notice("a", title: "B", body: ""))
            try await until("that is known") { said().count == 2 }
            notifier.withdraw("a")
        }
    }
}
