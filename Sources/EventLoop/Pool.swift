internal import Glibc
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

/// From now on, everything in this program that belongs to no thread of its own runs on threads that sleep until there is
/// something to do. Swift's own executor, libdispatch, looks after its threads once a second for as long as the program
/// lives. To be called before the first task.
public func usePool() { _createExecutors(factory: PoolFactory.self) }

private struct PoolFactory: ExecutorFactory {
    /// Nothing of ours runs there.
    static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
    static var defaultExecutor: any TaskExecutor { Pool.shared }
}

/// A few threads that run what comes, in the order in which it comes, whatever its priority. Naps last for so much longer
/// as the computer sleeps meanwhile.
///
/// As many threads as there are processors are made as they are needed, and more if none of those has taken anything up
/// for a moment: they may all be blocked by a file system. They end when they have had nothing to do for a while.
final class Pool: TaskExecutor, SchedulingExecutor, @unchecked Sendable {  // the lock makes it true
    fileprivate static let shared = Pool()

    private static let most = 64
    /// Nanoseconds. How long what has come in waits for one of the first threads.
    private static let patience: Int64 = 20_000_000
    /// Nanoseconds.
    private static let longestIdle: Int64 = 5_000_000_000

    private let usual: Int
    private let lock = Lock()
    private let hasJobs = Condition()
    private let hasTimers = Condition()
    private var jobs: ArraySlice<UnownedJob> = []
    /// What is to run later, the soonest last; nanoseconds of CLOCK_MONOTONIC.
    private var timers: [(at: Int64, job: UnownedJob)] = []
    private var threads = 0
    private var idle = 0
    private var hasTimekeeper = false
    /// The timekeeper looks whether what has come in is taken up.
    private var isWatched = false
    /// When something was last taken up, or a thread made for it.
    private var lastTaken: Int64 = 0

    /// Lives as long as the process.
    /// - Parameter usual: how many threads it has before any is found blocked.
    init(usual: Int = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) { self.usual = usual }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wakes = lock.locked { add(job) }
        // Without the lock, which who wakes up needs first.
        if wakes { hasJobs.signal() }
    }

    func enqueue<C: Swift.Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        // Nobody here counts in anything else.
        guard let delay = delay as? Duration else { preconditionFailure("a clock of its own kind: \(C.self)") }
        let at = now + delay.nanoseconds
        let job = UnownedJob(job)
        lock.locked {
            // Behind those of the same moment, which were first.
            let index = timers.firstIndex { $0.at <= at } ?? timers.endIndex
            timers.insert((at, job), at: index)
            if index == timers.endIndex - 1 || !hasTimekeeper { alarm() }
        }
    }

    func enqueue<C: Swift.Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
    }

    // MARK: with the lock

    /// - Returns: whether a thread sleeps that has to be woken for it.
    private func add(_ job: UnownedJob) -> Bool {
        if jobs.isEmpty { lastTaken = now }
        jobs.append(job)
        if jobs.count > idle, threads >= usual || !beginThread(), !isWatched {
            alarm()
            isWatched = hasTimekeeper
        }
        return idle > 0
    }

    /// - Returns: false if there is none to be had: those that are there have to do, and it is tried again.
    private func beginThread() -> Bool {
        lastTaken = now
        guard onOwnThread({ self.work() }) else { return false }
        threads += 1
        return true
    }

    /// The timekeeper has something new to wait for.
    private func alarm() {
        if hasTimekeeper { hasTimers.signal() } else { hasTimekeeper = onOwnThread { self.keepTime() } }
    }

    // MARK: the threads

    private func work() {
        setThreadName("pool")
        lock.lock()
        while true {
            if let job = jobs.popFirst() {
                lastTaken = now
                lock.unlock()
                job.runSynchronously(on: asUnownedTaskExecutor())
                lock.lock()
                continue
            }
            let isNeeded = !timers.isEmpty && !hasTimekeeper
            if isNeeded { alarm() }
            idle += 1
            var isLate = false
            if threads > 1 || isNeeded {
                isLate = !hasJobs.wait(lock, until: now + Self.longestIdle)
            } else {
                hasJobs.wait(lock)
            }
            idle -= 1
            // The last one stays.
            if isLate, jobs.isEmpty, threads > 1, !isNeeded { break }
        }
        threads -= 1
        lock.unlock()
    }

    private func keepTime() {
        setThreadName("timekeeper")
        lock.lock()
        while true {
            let time = now
            while let due = timers.last, due.at <= time {
                timers.removeLast()
                if add(due.job) { hasJobs.signal() }
            }
            var next = timers.last?.at
            isWatched = jobs.count > idle && threads < Self.most
            if isWatched {
                if time >= lastTaken + Self.patience {
                    // Twice as many each time: the new ones may be blocked as soon.
                    for _ in 0..<min(jobs.count - idle, max(1, threads), Self.most - threads) {
                        guard beginThread() else { break }
                    }
                }
                next = min(next ?? .max, lastTaken + Self.patience)
            }
            if let next { _ = hasTimers.wait(lock, until: next) } else { hasTimers.wait(lock) }
        }
    }

    /// Nanoseconds.
    private var now: Int64 { Clock.nanoseconds }
}

extension Duration {
    /// Not negative, and centuries at most.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(0, min(max(seconds, -1), 1 << 32) * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
