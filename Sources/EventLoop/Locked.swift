internal import Glibc

/// A value behind a pthread mutex. Not Synchronization.Mutex: ThreadSanitizer cannot see into that on Linux and reports
/// races that are none.
public final class Locked<Value>: @unchecked Sendable {  // the mutex makes it true
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    public init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
