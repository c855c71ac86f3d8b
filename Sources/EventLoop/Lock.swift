internal import Glibc

/// Sole owner of one pthread mutex.
struct Lock: ~Copyable, @unchecked Sendable {  // it is made for several threads
    fileprivate let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    borrowing func lock() { pthread_mutex_lock(mutex) }
    borrowing func unlock() { pthread_mutex_unlock(mutex) }

    @inline(__always) borrowing func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}

/// To wait for with a lock that is held, until another thread signals it or a time has come.
struct Condition: ~Copyable, @unchecked Sendable {  // it is made for several threads
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

    borrowing func signal() { pthread_cond_signal(condition) }
    borrowing func broadcast() { pthread_cond_broadcast(condition) }
    borrowing func wait(_ lock: borrowing Lock) { pthread_cond_wait(condition, lock.mutex) }

    /// - Parameter end: nanoseconds of CLOCK_MONOTONIC.
    /// - Returns: false if that has come first.
    borrowing func wait(_ lock: borrowing Lock, until end: Int64) -> Bool {
        var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
        return pthread_cond_timedwait(condition, lock.mutex, &time) == 0
    }
}
