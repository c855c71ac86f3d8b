/// A value behind a mutex whose changes can be waited for: only by threads that are there to block, GStreamer's own.
public final class Monitor<Value>: @unchecked Sendable {  // the lock makes it true
    private let lock = Lock()
    private let changed = Condition()
    private var value: Value

    public init(_ value: sending Value) { self.value = value }

    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.locked { try body(&value) }
    }

    /// As ``withLock(_:)``, and wakes who waits.
    public func change(_ body: (inout Value) -> Void) {
        withLock(body)
        changed.broadcast()
    }

    /// Blocks until `body` has an answer; it is asked again after each ``change(_:)``.
    public func wait<Result>(for body: (inout Value) -> Result?) -> Result {
        lock.locked {
            while true {
                if let result = body(&value) { return result }
                changed.wait(lock)
            }
        }
    }

    /// As ``wait(for:)``, for so many seconds at most.
    /// - Returns: nil if there was no answer by then.
    public func wait<Result>(upTo seconds: Int, for body: (inout Value) -> Result?) -> Result? {
        let end = Clock.nanoseconds + Int64(seconds) * 1_000_000_000
        return lock.locked {
            while true {
                if let result = body(&value) { return result }
                if !changed.wait(lock, until: end) { return body(&value) }
            }
        }
    }
}
