import EventLoop
import Listening

/// A clock that is turned by hand. Timers fire in the order of their deadlines, on the Loop.
@LoopActor final class FakeTime {
    /// Microseconds.
    private nonisolated let passed = Locked((awake: Int64(0), asleep: Int64(0), set: Int64(0)))
    private nonisolated let start: Int64
    private var timers: [LoopTimer] = []
    private let onTurn: (Moment) -> Void

    /// - Parameter start: milliseconds since 1970.
    init(start: Int64, onTurn: @escaping (Moment) -> Void) {
        self.start = start
        self.onTurn = onTurn
    }

    nonisolated var now: Moment {
        let passed = passed.withLock { $0 }
        return Moment(
            monotonic: 1_000_000 + passed.awake, wall: start + (passed.awake + passed.asleep + passed.set) / 1000,
            asleep: passed.asleep)
    }

    func timer(after: BookTime, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        let timer = LoopTimer(deadline: now.monotonic + max(0, after.microseconds), body: body)
        let place = timers.firstIndex { $0.deadline > timer.deadline } ?? timers.endIndex
        timers.insert(timer, at: place)
        return timer
    }

    /// Moves to the next deadline and fires that timer; to `limit` if none comes before it.
    /// - Parameter limit: monotonic microseconds.
    /// - Returns: false if there was nothing to fire.
    func step(to limit: Int64) -> Bool {
        while let first = timers.first, !first.isPending { timers.removeFirst() }
        guard let first = timers.first, first.deadline <= limit else {
            turn(to: limit)
            return false
        }
        turn(to: first.deadline)
        timers.removeFirst()
        first.fire()
        return true
    }

    /// The computer sleeps: time passes for everybody else.
    func sleep(_ seconds: Double) {
        passed.withLock { $0.asleep += Int64(seconds * 1_000_000) }
        onTurn(now)
    }

    /// The computer's clock is set; no time passes.
    func set(by seconds: Double) { passed.withLock { $0.set += Int64(seconds * 1_000_000) } }

    /// Nothing fires any more, and nothing is kept.
    func end() {
        for timer in timers { timer.cancel() }
        timers = []
    }

    private func turn(to monotonic: Int64) {
        passed.withLock { $0.awake = max($0.awake, monotonic - 1_000_000) }
        onTurn(now)
    }
}

/// The time of one life of the daemon: nothing of it fires once that is over.
@LoopActor final class LifeTime: Timekeeper {
    private nonisolated let time: FakeTime
    private var pending: [LoopTimer] = []
    private(set) var isOver = false

    init(_ time: FakeTime) { self.time = time }

    nonisolated var now: Moment { time.now }

    func timer(after: BookTime, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        // Without its body, which would keep whoever keeps the timer.
        if isOver { return LoopTimer(deadline: .max) {} }
        if pending.count > 100 { pending.removeAll { !$0.isPending } }
        let timer = time.timer(after: after, body)
        pending.append(timer)
        return timer
    }

    func end() {
        isOver = true
        for timer in pending { timer.cancel() }
        pending = []
    }
}
