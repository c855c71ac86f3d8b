internal import DBus
internal import EventLoop
internal import SDBus

/// What NetworkManager says of the network.
@LoopActor final class NetworkManager {
    private static let name = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private static let properties = "org.freedesktop.DBus.Properties"

    /// Told whether it is there, each time that is known anew.
    var onPresence: (@LoopActor (Bool) -> Void)?
    private(set) var isThere = false
    private let onBack: @LoopActor () -> Void
    private var presence: NameWatch?
    private var changes: SignalMatch?
    private var reach: Reach?
    /// How many signals were heard.
    private var told = 0

    init(onBack: @escaping @LoopActor () -> Void) { self.onBack = onBack }

    func begin(on bus: Bus) {
        changes = try? bus.match(
            sender: Self.name, path: Self.path, interface: Self.properties, member: "PropertiesChanged",
            first: Self.name
        ) { [weak self] values, _ in
            guard values.count > 1, let pairs = try? values[1].dictionary() else { return }
            self?.heard(pairs)
        }
        presence = NameWatch(Self.name, on: bus) { [weak self] isThere in
            guard let self else { return }
            self.isThere = isThere
            self.onPresence?(isThere)
            if isThere { self.ask(bus) } else { self.reach = self.reach.map { _ in Reach() } }
        }
    }

    func end() {
        changes?.cancel()
        presence?.cancel()
        (changes, presence, isThere) = (nil, nil, false)
    }

    private func ask(_ bus: Bus) {
        let before = told
        Task { @LoopActor in
            let answer = try? await bus.call(
                Self.name, Self.path, Self.properties, "GetAll", [.string(Self.name)])
            // A signal that came meanwhile knows better than an answer that was given before it.
            guard told == before, let pairs = try? answer?.first?.dictionary() else { return }
            // What is so at first is no news.
            take(pairs, isNews: reach != nil)
        }
    }

    private func heard(_ pairs: [(key: String, value: Value)]) {
        told += 1
        take(pairs, isNews: true)
    }

    private func take(_ pairs: [(key: String, value: Value)], isNews: Bool) {
        let before = reach ?? Reach()
        var now = before
        for (key, value) in pairs {
            guard case .uint32(let number) = value else { continue }
            if key == "State" { now.state = number }
            if key == "Connectivity" { now.connectivity = number }
        }
        reach = now
        if isNews, now.isBetter(than: before) { onBack() }
    }
}

/// How far the network reaches, in NetworkManager's numbers.
struct Reach: Hashable, Sendable {
    /// `NMState`: from 60 on there is a network, at 70 the internet too.
    var state: UInt32 = 0
    /// `NMConnectivityState`: 4 is full, below it a portal or less stands in the way.
    var connectivity: UInt32 = 0

    func isBetter(than before: Reach) -> Bool {
        guard state >= 60 else { return false }
        return state > before.state || (connectivity == 4 && before.connectivity < 4)
    }
}
