/// A value behind a pthread mutex. Not Synchronization.Mutex: ThreadSanitizer cannot see into that on Linux and reports
/// races that are none.
public final class Locked<Value>: @unchecked Sendable {  // the lock makes it true
    private let lock = Lock()
    private var value: Value

    public init(_ value: sending Value) { self.value = value }

    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.locked { try body(&value) }
    }
}
