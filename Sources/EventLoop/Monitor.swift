internal import Glibc

/// A value behind a mutex whose changes can be waited for: only by threads that are there to block, GStreamer's own.
public final class Monitor<Value>: @unchecked Sendable {  // the mutex makes it true
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = Condition()
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

    /// As ``withLock(_:)``, and wakes who waits.
    public func change(_ body: (inout Value) -> Void) {
        withLock(body)
        changed.broadcast()
    }

    /// Blocks until `body` has an answer; it is asked again after each ``change(_:)``.
    public func wait<Result>(for body: (inout Value) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            changed.wait(mutex)
        }
    }

    /// As ``wait(for:)``, for so many seconds at most.
    /// - Returns: nil if there was no answer by then.
    public func wait<Result>(upTo seconds: Int, for body: (inout Value) -> Result?) -> Result? {
        let end = Clock.nanoseconds + Int64(seconds) * 1_000_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if !changed.wait(mutex, until: end) { return body(&value) }
        }
    }
}

/// To wait for with a mutex, until another thread signals it or a time has come.
final class Condition: @unchecked Sendable {  // it is made for several threads
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    func signal() { pthread_cond_signal(condition) }
    func broadcast() { pthread_cond_broadcast(condition) }
    func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) { pthread_cond_wait(condition, mutex) }

    /// - Parameter end: nanoseconds of CLOCK_MONOTONIC.
    /// - Returns: false if that has come first.
    func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, until end: Int64) -> Bool {
        var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
        return pthread_cond_timedwait(condition, mutex, &time) == 0
    }
}
