public import DBus
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
    /// It stays until it is withdrawn; else for as long as the desktop likes.
    public var stays: Bool

    public init(
        _ subject: String, title: String, body: String, actions: [(key: String, label: String)] = [],
        stays: Bool = false
    ) {
        self.subject = subject
        self.title = title
        self.body = body
        self.actions = actions
        self.stays = stays
    }
}

/// Notifications of the desktop (org.freedesktop.Notifications). Where nobody shows them nothing comes of it, and nothing
/// fails.
@LoopActor public final class Notifier {
    /// Also of the interface.
    public nonisolated static let name = "org.freedesktop.Notifications"
    public nonisolated static let path = "/org/freedesktop/Notifications"

    private let bus: Bus
    private let icon: String
    private let desktopEntry: String
    private let say: @LoopActor (String) -> Void
    /// What is known of a subject between its notice being asked for and its being gone.
    private struct Subject {
        /// Under which it is shown: nil until the desktop has said so.
        var number: UInt32?
        /// It lies in a list by now, and is on nobody's screen.
        var isExpired = false
        /// What to do about its buttons.
        var act: @LoopActor (String) -> Void
        /// Its number is awaited; what is asked for meanwhile waits for it, and of that the last counts.
        var isSent = true
        var next: Next?
    }

    private enum Next {
        case show(Notice, @LoopActor (String) -> Void)
        case withdraw
    }

    /// Microseconds. Only the next notice on the subject waits for the answer; without it this one could not be taken away.
    private static let patience: UInt64 = 30_000_000

    private var subjects: [String: Subject] = [:]
    private var matches: [SignalMatch] = []
    private var presence: NameWatch?

    /// - Parameters:
    ///   - icon: a name of the icon theme; `desktopEntry`: of whose notifications these are.
    ///   - say: lines for the log of those who look for faults.
    public init(bus: Bus, icon: String, desktopEntry: String, say: @escaping @LoopActor (String) -> Void) {
        (self.bus, self.icon, self.desktopEntry, self.say) = (bus, icon, desktopEntry, say)
    }

    /// The key of a click on the text. Without it GNOME starts the program instead, which begins to play.
    public nonisolated static let click = "default"

    /// Shows a notice, in the place of the one before on its subject.
    /// - Parameter act: called with the key of an action that is chosen.
    public func show(_ notice: Notice, _ act: @escaping @LoopActor (String) -> Void = { _ in }) {
        let subject = notice.subject
        if subjects[subject]?.isSent == true {
            subjects[subject]?.next = .show(notice, act)
            return
        }
        listen()
        // Plasma changes one that lies in its list there, and shows nothing.
        if subjects[subject]?.isExpired == true { withdraw(subject) }
        let number = subjects[subject]?.number
        subjects[subject] = Subject(number: number, act: act)
        // No `await`: a button pressed at once would be heard before its number is known.
        bus.call(
            Self.name, Self.path, Self.name, "Notify",
            notice.arguments(inPlaceOf: number ?? 0, icon: icon, desktopEntry: desktopEntry), timeout: Self.patience
        ) { [weak self] in self?.answered($0, subject) }
    }

    /// It is over: what was shown of it goes.
    public func withdraw(_ subject: String) {
        if subjects[subject]?.isSent == true {
            subjects[subject]?.next = .withdraw
        } else if let number = subjects.removeValue(forKey: subject)?.number {
            bus.call(
                Self.name, Self.path, Self.name, "CloseNotification", [.uint32(number)], timeout: 2_000_000
            ) { _ in }
        }
    }

    private func answered(_ answer: Result<[Value], BusError>, _ subject: String) {
        do throws(BusError) {
            subjects[subject]?.number = try answer.get().first?.uint32()
        } catch {
            say("nobody shows notifications: \(error)")
        }
        let next = subjects[subject]?.next
        subjects[subject]?.next = nil
        subjects[subject]?.isSent = false
        if subjects[subject]?.number == nil { subjects[subject] = nil }
        switch next {
        case .show(let notice, let act): show(notice, act)
        case .withdraw: withdraw(subject)
        case nil: break
        }
    }

    /// From the first notice on: before it there is nothing to hear.
    private func listen() {
        guard matches.isEmpty else { return }
        hear("ActionInvoked") { [weak self] values in self?.chosen(values) }
        hear("NotificationClosed") { [weak self] values in self?.closed(values) }
        // Another one counts anew: its numbers are of other programs' notices.
        presence = NameWatch(Self.name, on: bus) { [weak self] _ in self?.forget() }
    }

    private func forget() {
        for (subject, known) in subjects {
            if known.isSent { subjects[subject]?.number = nil } else { subjects[subject] = nil }
        }
    }

    private func hear(_ member: String, _ handler: @escaping @LoopActor ([Value]) -> Void) {
        let match = try? bus.match(sender: Self.name, path: Self.path, interface: Self.name, member: member) {
            values, _ in handler(values)
        }
        if let match { matches.append(match) }
    }

    private func chosen(_ values: [Value]) {
        guard values.count == 2, let number = try? values[0].uint32(), let key = try? values[1].string() else { return }
        subjects.values.first { $0.number == number }?.act(key)
    }

    private func closed(_ values: [Value]) {
        guard values.count == 2, let number = try? values[0].uint32(), let why = try? values[1].uint32() else { return }
        guard let subject = subjects.first(where: { $0.value.number == number })?.key else { return }
        if why == Self.expired {
            subjects[subject]?.isExpired = true
            return
        }
        if subjects[subject]?.isSent == true { subjects[subject]?.number = nil } else { subjects[subject] = nil }
    }

    private static let expired: UInt32 = 1
}

extension Notice {
    /// What `Notify` is called with.
    /// - Parameters:
    ///   - number: of the one that goes; 0: of none.
    ///   - icon: a name of the icon theme; `desktopEntry`: of whose notifications these are.
    public func arguments(inPlaceOf number: UInt32, icon: String, desktopEntry: String) -> [Value] {
        // Budgie leaves out the button behind a click, which comes last therefore.
        let actions = self.actions + [(Notifier.click, "")]
        return [
            .string("Dogear"), .uint32(number), .string(icon), .string(title), .string(escaped(body)),
            .strings(actions.flatMap { [$0.key, $0.label] }),
            .variants([("desktop-entry", .string(desktopEntry)), ("urgency", .byte(1))]),
            .int32(stays ? 0 : -1),
        ]
    }

    /// Bodies may hold markup: what is told here holds none.
    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
