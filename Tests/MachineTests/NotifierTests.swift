import DBus
import EventLoop
import SDBus
import TestSupport
import Testing

@testable import Machine

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct NotifierTests {
    @LoopActor private func until(_ what: String, _ holds: @LoopActor () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120 * Sanitizer.patience)
        while !holds() {
            guard ContinuousClock.now < end else { throw TestFailure("waited in vain for \(what)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

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
                    && desk.shown[0].actions == ["default", "", "more", "15 more minutes"])
            // Its number is known once it was answered: only then can another take its place.
            notifier.show(Notice("sleep", title: "Sooner", body: "")) { chosen.append("again \($0)") }
            try await until("the next is shown") { desk.shown.count == 2 }
            #expect(desk.shown[1].replaces == desk.shown[0].number)
            try desk.choose("other", of: 77)
            try await until("a choice is heard") {
                try? desk.choose("more", of: 1)
                return chosen.contains("again more")
            }
            #expect(!chosen.contains("other"))
            notifier.withdraw("sleep")
            try await until("it is gone") { desk.closed == [1] }
            notifier.withdraw("sleep")
            notifier.show(Notice("sleep", title: "New", body: ""))
            try await until("a new one is shown") { desk.shown.count == 3 }
            #expect(desk.shown[2].replaces == 0 && desk.closed == [1])
            desk.leave()
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
