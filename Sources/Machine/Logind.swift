internal import DBus
internal import EventLoop
internal import SDBus

/// systemd's login manager: asked for time before the computer sleeps, heard when it does.
@LoopActor final class Logind {
    /// How a lock works, as logind words it.
    enum Mode: String, CaseIterable, Sendable { case delay, block }

    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"

    private(set) var wanted: Set<Mode> = []
    private(set) var isThere = false
    private let say: @LoopActor (String) -> Void
    private let onSleep: @LoopActor (Bool) -> Void
    private var bus: Bus?
    private var presence: NameWatch?
    private var sleeps: SignalMatch?
    /// A lock lasts for as long as its descriptor is open.
    private var held: [Mode: Descriptor] = [:]
    private var asked: Set<Mode> = []
    /// Which logind was asked: what an earlier one grants no longer counts.
    private var epoch = 0

    /// - Parameter onSleep: true before the computer sleeps, false when it has woken.
    init(say: @escaping @LoopActor (String) -> Void, onSleep: @escaping @LoopActor (Bool) -> Void) {
        self.say = say
        self.onSleep = onSleep
    }

    func begin(on bus: Bus) {
        self.bus = bus
        do throws(BusError) {
            sleeps = try bus.match(
                sender: Self.name, path: Self.path, interface: Self.manager, member: "PrepareForSleep"
            ) { [weak self] values, _ in self?.heard(values) }
        } catch { say("logind cannot be heard: \(error)") }
        presence = NameWatch(Self.name, on: bus) { [weak self] isThere in
            guard let self else { return }
            self.isThere = isThere
            self.dropAll()
            self.askForAll()
        }
    }

    func end() {
        sleeps?.cancel()
        presence?.cancel()
        (sleeps, presence, bus, isThere) = (nil, nil, nil, false)
        dropAll()
    }

    func want(_ mode: Mode, _ isWanted: Bool) {
        guard isWanted != wanted.contains(mode) else { return }
        if isWanted {
            wanted.insert(mode)
            ask(for: mode)
        } else {
            wanted.remove(mode)
            held[mode] = nil
        }
    }

    private func heard(_ values: [Value]) {
        guard case .bool(let isAboutTo)? = values.first else { return }
        onSleep(isAboutTo)
        // None is granted while the computer is about to sleep.
        if !isAboutTo { askForAll() }
    }

    private func dropAll() {
        held = [:]
        asked = []
        epoch += 1
    }

    private func askForAll() { for mode in Mode.allCases where wanted.contains(mode) { ask(for: mode) } }

    private func ask(for mode: Mode) {
        guard let bus, isThere, held[mode] == nil, asked.insert(mode).inserted else { return }
        let epoch = self.epoch
        let why = mode == .delay ? "to keep the place of what plays" : "an audiobook or podcast plays"
        // Answered in its order with the signals: one refused before the computer has woken is asked for when it has.
        bus.call(
            Self.name, Self.path, Self.manager, "Inhibit",
            [.string("sleep"), .string("Dogear"), .string(why), .string(mode.rawValue)]
        ) { self.answered($0, mode, epoch) }
    }

    private func answered(_ answer: Result<[Value], BusError>, _ mode: Mode, _ epoch: Int) {
        if epoch == self.epoch { asked.remove(mode) }
        do throws(BusError) {
            guard let lock = try answer.get().first?.descriptor() else { return }
            if epoch == self.epoch, wanted.contains(mode) { held[mode] = lock }
        } catch {
            say("logind gives no lock: \(error)")
        }
    }
}
