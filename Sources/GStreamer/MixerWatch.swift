internal import CPulse
internal import EventLoop

/// Hears of mixers while nothing plays: a sink only tells of them as it writes. What has changed is not said, nor of whom.
///
/// Connected to the sound server beside the gstreamer thread, for that takes some milliseconds.
actor MixerWatch {
    private final class Listener: Sendable {
        let tell: @Sendable () -> Void
        init(tell: @escaping @Sendable () -> Void) { self.tell = tell }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { Library.aside.asUnownedSerialExecutor() }

    private let listener: Listener
    private var watch: OpaquePointer?
    private var isOver = false

    /// - Parameter tell: called on a thread of the sound server's library: once when it is heard, and for each change.
    init(tell: @escaping @Sendable () -> Void) { listener = Listener(tell: tell) }

    /// Once.
    /// - Parameter server: its address; nil: the usual one.
    func start(server: String?) {
        guard !isOver else { return }
        let context = Unmanaged.passUnretained(listener).toOpaque()
        watch = dogear_mixer_watch_start(
            server, { Unmanaged<Listener>.fromOpaque($0!).takeUnretainedValue().tell() }, context)
    }

    /// For good. Has to come before the last reference goes.
    func stop() {
        isOver = true
        guard let watch else { return }
        self.watch = nil
        dogear_mixer_watch_stop(watch)
    }
}
