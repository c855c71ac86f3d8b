internal import DBus
public import EventLoop
public import SDBus

/// The other media players of the desktop: tells when one of them begins to play. Nothing is heard of them, and nobody
/// woken, while it is not watching.
@LoopActor public final class OtherPlayers {
    private static let driver = "org.freedesktop.DBus"
    /// Repeats what all players say under a name of its own.
    private static let proxy = "org.mpris.MediaPlayer2.playerctld"

    private let bus: Bus
    private let onPlaying: @LoopActor () -> Void
    private var match: SignalMatch?
    /// By their names on the bus.
    private var playing: Set<String> = []

    public init(bus: Bus, onPlaying: @escaping @LoopActor () -> Void) {
        self.bus = bus
        self.onPlaying = onPlaying
    }

    public var isWatching: Bool {
        get { match != nil }
        set { newValue ? begin() : end() }
    }

    private func begin() {
        guard match == nil else { return }
        match = try? bus.match(
            path: "/org/mpris/MediaPlayer2", interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
            first: "org.mpris.MediaPlayer2.Player"
        ) { [weak self] values, sender in self?.heard(values, from: sender) }
    }

    private func end() {
        match?.cancel()
        match = nil
        playing = []
    }

    private func heard(_ values: [Value], from sender: String) {
        guard values.count > 1, let pairs = try? values[1].dictionary(),
            case .string(let status)? = pairs.first(where: { $0.key == "PlaybackStatus" })?.value
        else { return }
        guard status == "Playing" else {
            playing.remove(sender)
            return
        }
        // A player that says so again with its next song has not begun only now.
        guard sender != bus.uniqueName, playing.insert(sender).inserted else { return }
        Task { @LoopActor in
            let proxy = try? await bus.call(
                Self.driver, "/org/freedesktop/DBus", Self.driver, "GetNameOwner", [.string(Self.proxy)])
            if proxy?.first != .string(sender), isWatching { onPlaying() }
        }
    }
}
