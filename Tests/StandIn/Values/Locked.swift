import Foundation

/// A value only reached while holding one lock.
///
/// A `pthread_mutex_t` and not `Synchronization.Mutex`: the latter reports false races under ThreadSanitizer on Linux.
final class Locked<Value>: @unchecked Sendable {  // `value` is touched only between lock and unlock of `mutex`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
