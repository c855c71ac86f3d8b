import Foundation

/// The time the stand-in lives by: the wall clock, or one that a test turns by hand.
public final class StandInClock: Sendable {
    private let fixed: Locked<Int?>

    /// A clock that follows the machine's.
    public init() { fixed = Locked(nil) }

    /// A clock that stands still until it is moved.
    /// - Parameter milliseconds: milliseconds since 1970.
    public init(milliseconds: Int) { fixed = Locked(milliseconds) }

    /// Milliseconds since 1970.
    public var now: Int {
        fixed.withLock { $0 } ?? Int((Date().timeIntervalSince1970 * 1000).rounded())
    }

    /// Stops the clock at a time in milliseconds since 1970.
    public func set(milliseconds: Int) { fixed.withLock { $0 = milliseconds } }

    /// Moves the clock; one that follows the machine stops at the new time.
    public func advance(seconds: Double) {
        let target = now + Int((seconds * 1000).rounded())
        set(milliseconds: target)
    }
}
