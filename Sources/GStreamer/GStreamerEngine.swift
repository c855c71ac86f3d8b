internal import EventLoop
public import Listening

/// The real engine: one pipeline at a time, on a thread of its own.
///
/// What it is told goes into a queue in the order it was told, and what pipelines say goes into the same queue; the
/// gstreamer thread works it off. A load or unload empties the queue first, but for a volume:
/// nobody wants what was before it.
public final class GStreamerEngine: Engine {
    private let queue: OrderQueue
    private let deck: Deck
    private let needle = Locked<Needle?>(nil)
    /// Goes with each load, which drops what was ordered before it.
    private let sound = Locked(SoundOptions())

    /// - Parameters:
    ///   - sink: where the sound goes, as gst-launch-1.0 writes it: `autoaudiosink`, `fakesink sync=true`.
    ///   - bytes: what streams are read from.
    ///   - patience: seconds after which a file that does not open, and says nothing, is given up; and an output.
    ///   - report: called on the gstreamer thread, in order.
    public init(
        sink: String, bytes: any ByteShelf, patience: Double = 10, report: @escaping @Sendable (EngineReport) -> Void
    ) {
        let queue = OrderQueue()
        self.queue = queue
        let deck = Deck(sink: sink, shelf: bytes, patience: patience, queue: queue, report: report)
        self.deck = deck
        queue.wake = { [weak deck] in deck?.wake() }
    }

    deinit { queue.replaceAll(with: .unload) }

    public func load(_ load: LoadID, tracks: [Track], at place: BookTime, rate: Double, volume: Double) {
        let needle = Needle(load: load, reel: Reel(tracks: tracks))
        self.needle.withLock { $0 = needle }
        let sound = sound.withLock { $0 }
        queue.replaceAll(with: .load(needle, at: place, rate: rate, volume: volume, sound))
    }

    public func play(_ load: LoadID) { queue.add(.play(load, true)) }
    public func pause(_ load: LoadID) {
        current(load)?.mayStand()
        queue.add(.play(load, false))
    }

    public func seek(_ load: LoadID, to place: BookTime) {
        guard let needle = current(load) else { return }
        queue.add(.seek(load, place, aim: needle.take(aim: place)))
    }

    public func setRate(_ load: LoadID, _ rate: Double) { queue.add(.rate(load, rate)) }
    public func setVolume(_ volume: Double) { queue.add(.volume(volume)) }
    public func fade(_ load: LoadID, _ fading: Fading?) { queue.add(.fade(load, fading)) }

    public func setSound(_ options: SoundOptions) {
        let isNew = sound.withLock { sound in
            defer { sound = options }
            return sound != options
        }
        if isNew { queue.add(.sound(options)) }
    }

    public func unload() {
        needle.withLock { $0 = nil }
        queue.replaceAll(with: .unload)
    }

    public func position(_ load: LoadID) -> BookTime? { current(load)?.position }

    public func buffered(_ load: LoadID) -> BookTime? { current(load)?.buffered }

    private func current(_ load: LoadID) -> Needle? {
        needle.withLock { $0?.load == load ? $0 : nil }
    }
}
