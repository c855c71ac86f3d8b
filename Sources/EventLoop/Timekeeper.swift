public import Listening

/// Where the daemon has its time from: this computer's clocks and the Loop's timers, or a test's hand.
@LoopActor public protocol Timekeeper: Sendable {
    nonisolated var now: Moment { get }
    /// Calls `body` on the Loop once, when `after` has passed.
    func timer(after: BookTime, _ body: @escaping @LoopActor () -> Void) -> LoopTimer
}

public struct RealTime: Timekeeper {
    public nonisolated init() {}
    public nonisolated var now: Moment { Clock.now }

    public func timer(after: BookTime, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        LoopActor.timer(after: after, body)
    }
}
