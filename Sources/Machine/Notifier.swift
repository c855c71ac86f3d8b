internal import DBus
public import EventLoop
public import SDBus

/// Something to tell the listener that nobody else would.
public struct Notice: Sendable {
    /// Of several with the same subject only the last is shown.
    public var subject: String
    public var title: String
    public var body: String
    /// What can be done about it: a key and what is written on the button.
    public var actions: [(key: String, label: String)]

    public init(_ subject: String, title: String, body: String, actions: [(key: String, label: String)] = []) {
        self.subject = subject
        self.title = title
        self.body = body
        self.actions = actions
    }
}

/// Notifications of the desktop (org.freedesktop.Notifications). Where nobody shows them nothing comes of it, and nothing
/// fails.
@LoopActor public final class Notifier {
    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    private let bus: Bus
    private let icon: String
    private let desktopEntry: String
    private let say: @LoopActor (String) -> Void
    /// By subject: the number under which it is shown, and what to do about its buttons.
    private var shown: [String: (number: UInt32, act: @LoopActor (String) -> Void)] = [:]
    /// Subjects on their way: later ones wait for the number of the one before.
    private var queued: [String: [(Notice, @LoopActor (String) -> Void)]] = [:]
    private var matches: [SignalMatch] = []

    /// - Parameters:
    ///   - icon: a name of the icon theme; `desktopEntry`: of whose notifications these are.
    ///   - say: lines for the log of those who look for faults.
    public init(bus: Bus, icon: String, desktopEntry: String, say: @escaping @LoopActor (String) -> Void) {
        (self.bus, self.icon, self.desktopEntry, self.say) = (bus, icon, desktopEntry, say)
    }

    /// What a click on the text does. Without it GNOME starts the program instead, which begins to play.
    private static let dismissal = ["default", ""]

    /// Shows a notice, in the place of the one before on its subject.
    /// - Parameter act: called with the key of an action that is chosen.
    public func show(_ notice: Notice, _ act: @escaping @LoopActor (String) -> Void = { _ in }) {
        if queued[notice.subject] != nil { return queued[notice.subject]!.append((notice, act)) }
        queued[notice.subject] = []
        listen()
        Task { @LoopActor in await self.send(notice, act) }
    }

    /// It is over: what was shown of it goes.
    public func withdraw(_ subject: String) {
        guard let number = shown.removeValue(forKey: subject)?.number else { return }
        Task { @LoopActor in
            _ = try? await self.bus.call(
                Self.name, Self.path, Self.name, "CloseNotification", [.uint32(number)], timeout: 2_000_000)
        }
    }

    private func send(_ notice: Notice, _ act: @escaping @LoopActor (String) -> Void) async {
        do throws(BusError) {
            let answer = try await bus.call(
                Self.name, Self.path, Self.name, "Notify",
                [
                    .string("Dogear"), .uint32(shown[notice.subject]?.number ?? 0), .string(icon),
                    .string(notice.title), .string(escaped(notice.body)),
                    .strings(Self.dismissal + notice.actions.flatMap { [$0.key, $0.label] }),
                    .variants([("desktop-entry", .string(desktopEntry)), ("urgency", .byte(1))]), .int32(-1),
                ], timeout: 5_000_000)
            if let number = try answer.first?.uint32() { shown[notice.subject] = (number, act) }
        } catch {
            say("nobody shows notifications: \(error)")
        }
        // Of those that came meanwhile the last counts.
        let next = queued.removeValue(forKey: notice.subject)?.last
        if let next { show(next.0, next.1) }
    }

    /// From the first notice on: before it there is nothing to hear.
    private func listen() {
        guard matches.isEmpty else { return }
        let chosen = try? bus.match(path: Self.path, interface: Self.name, member: "ActionInvoked") {
            [weak self] values, _ in self?.chosen(values)
        }
        let closed = try? bus.match(path: Self.path, interface: Self.name, member: "NotificationClosed") {
            [weak self] values, _ in self?.closed(values)
        }
        matches = [chosen, closed].compactMap(\.self)
    }

    private func chosen(_ values: [Value]) {
        guard values.count == 2, let number = try? values[0].uint32(), let key = try? values[1].string() else { return }
        shown.values.first { $0.number == number }?.act(key)
    }

    private func closed(_ values: [Value]) {
        guard let number = try? values.first?.uint32() else { return }
        shown = shown.filter { $0.value.number != number }
    }

    /// Bodies may hold markup: what is told here holds none.
    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
