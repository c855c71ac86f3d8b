internal import EventLoop
internal import Glibc

/// How long this machine has stood still: what a test asks to happen within a time it asks of a machine that goes on.
public final class Standstill: Sendable {
    private let state = Locked((total: Duration.zero, isOver: false))

    public init() {
        spawnThread { [state] in
            var last = ContinuousClock.now
            while !state.withLock(\.isOver) {
                usleep(20_000)
                let now = ContinuousClock.now
                let late = now - last - .milliseconds(20)
                if late > .milliseconds(80) { state.withLock { $0.total += late } }
                last = now
            }
        }
    }

    deinit { state.withLock { $0.isOver = true } }

    /// Seconds since this was made.
    public var seconds: Double { state.withLock(\.total) / .seconds(1) }
}
