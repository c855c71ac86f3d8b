internal import Glibc

/// A value behind a mutex whose changes can be waited for: only by threads that are there to block, GStreamer's own.
final class Monitor<Value>: @unchecked Sendable {  // the mutex makes it true
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// As ``withLock(_:)``, and wakes who waits.
    func change(_ body: (inout Value) -> Void) {
        withLock(body)
        pthread_cond_broadcast(changed)
    }

    /// Blocks until `body` has an answer; it is asked again after each ``change(_:)``.
    func wait<Result>(for body: (inout Value) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }

    /// As ``wait(for:)``, for so many seconds at most.
    /// - Returns: nil if there was no answer by then.
    func wait<Result>(upTo seconds: Int, for body: (inout Value) -> Result?) -> Result? {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += seconds
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if pthread_cond_timedwait(changed, mutex, &end) != 0 { return body(&value) }
        }
    }
}
