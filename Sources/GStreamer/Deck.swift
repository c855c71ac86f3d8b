internal import EventLoop
internal import Listening

/// What the gstreamer thread is told.
enum Order: Sendable {
    case load(Needle, at: BookTime, rate: Double, volume: Double, SoundOptions)
    case play(LoadID, Bool)
    case seek(LoadID, BookTime, aim: Int)
    case rate(LoadID, Double)
    case volume(Double)
    case fade(LoadID, Fading?)
    case sound(SoundOptions)
    case unload
    case note(LoadID, Note, stamp: UInt64)

    var isVolume: Bool { if case .volume = self { true } else { false } }
}

/// Orders from any thread, in order, for the gstreamer thread.
final class OrderQueue: @unchecked Sendable {  // `wake` is set once, before anyone else has the queue
    private let orders = Locked<[Order]>([])
    var wake: (@Sendable () -> Void)?

    func add(_ order: Order) {
        let isFirst = orders.withLock { orders in
            orders.append(order)
            return orders.count == 1
        }
        if isFirst { wake?() }
    }

    /// All but a volume: it tells that a mixer's, from before it, does not count.
    func replaceAll(with order: Order) {
        let wasEmpty = orders.withLock { orders in
            defer { orders = orders.filter(\.isVolume).suffix(1) + [order] }
            return orders.isEmpty
        }
        if wasEmpty { wake?() }
    }

    /// Everything so far; the next one added wakes again.
    func takeAll() -> [Order] {
        orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
    }
}

/// The gstreamer thread's own: it holds the one load there is.
actor Deck {
    private static let naps = Sleep()
    private static let thread = ThreadExecutor(name: "gstreamer", wait: naps)
    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.thread.asUnownedSerialExecutor() }

    private let sink: String
    private let patience: Double
    private let shelf: any ByteShelf
    private let queue: OrderQueue
    private let report: @Sendable (EngineReport) -> Void
    private var turn: Turn?
    /// What a mixer did after the last volume that was set: who orders the next load may not have heard of it yet.
    private var mixed: Double?

    init(
        sink: String, shelf: any ByteShelf, patience: Double, queue: OrderQueue,
        report: @escaping @Sendable (EngineReport) -> Void
    ) {
        self.sink = sink
        self.patience = patience
        self.shelf = shelf
        self.queue = queue
        self.report = report
    }

    /// From any thread: there is something in the queue.
    nonisolated func wake() { Self.thread.run { self.assumeIsolated { $0.run() } } }

    private func run() {
        for order in queue.takeAll() { perform(order) }
    }

    private func perform(_ order: Order) {
        switch order {
        case .load(let needle, let place, let rate, let volume, let sound):
            close()
            start(needle, at: place, rate: rate, volume: mixed ?? volume, sound)
        case .unload: close()
        case .volume(let volume):
            mixed = nil
            turn?.set(volume: volume)
        case .fade(let load, let fading): turn(of: load)?.fade(fading)
        case .sound(let sound): turn?.set(sound)
        case .play(let load, let playing): turn(of: load)?.set(playing: playing)
        case .seek(let load, let place, let aim): turn(of: load)?.seek(to: place, aim: aim)
        case .rate(let load, let rate): turn(of: load)?.set(rate: rate)
        case .note(let load, let note, let stamp): turn(of: load)?.hear(note, stamp: stamp)
        }
    }

    private func close() {
        turn?.followMixer()
        mixed = turn?.pipeline.loudness.mixed ?? mixed
        turn?.close()
        turn = nil
    }

    private func start(_ needle: Needle, at place: BookTime, rate: Double, volume: Double, _ sound: SoundOptions) {
        let load = needle.load
        let queue = self.queue
        guard !needle.reel.tracks.isEmpty else {
            return report(EngineReport(load, .failed(.other(reason: "there is nothing in it to play"))))
        }
        do {
            let turn = try Turn(
                needle: needle, sink: sink, shelf: shelf, patience: patience, rate: rate, volume: volume,
                report: report, naps: Self.naps,
                post: { [weak queue] note, stamp in queue?.add(.note(load, note, stamp: stamp)) })
            self.turn = turn
            turn.set(sound)
            turn.begin(at: place)
        } catch {
            report(EngineReport(load, .failed(error)))
        }
    }

    private func turn(of load: LoadID) -> Turn? { turn?.load == load ? turn : nil }
}
