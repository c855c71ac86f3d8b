internal import Glibc
internal import Synchronization

/// What a thread of dogear does between jobs: `poll` on the Loop, `curl_multi_poll` on Curl, plain sleep on GStreamer.
public protocol ThreadWait: AnyObject {
    /// On the thread, once, before anything else.
    func begin()
    /// On the thread: do what is due, then sleep until there is more to do or `wake` is called. `drain` runs the jobs
    /// that have come in meanwhile: call it after each callback out of C, so that what it started happens in order.
    func wait(drain: @Sendable () -> Void)
    /// From any thread: end the current or the next sleep.
    func wake()
}

/// A pthread that is a Swift serial executor. Every C library with handles of its own has one: the thread owns them.
public final class ThreadExecutor: SerialExecutor, @unchecked Sendable {  // what has no lock is the thread's
    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private let work = Locked<[Work]>([])
    /// There may be jobs: asked several times for each message on the bus, where a lock would be felt.
    private let isFilled = Atomic<Bool>(false)
    private let thread = Atomic<UInt>(0)
    private let waiting: any ThreadWait
    private let name: String
    private var isEnding = false

    /// Starts the thread, which runs for as long as the process if nothing ends it.
    public init(name: String, wait: sending any ThreadWait) {
        self.name = name
        self.waiting = wait
        var id = pthread_t()
        let code = pthread_create(
            &id, nil,
            { context in
                Unmanaged<ThreadExecutor>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(code == 0, "no thread for \(name): \(String(cString: strerror(code)))")
        pthread_detach(id)
    }

    public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Calls `body` on the thread, in its turn: for what would be a task only to get there.
    public func run(_ body: @escaping @Sendable () -> Void) { add(.body(body)) }

    /// The thread ends as soon as it has done what it was given before. It must not be given anything after that, and be no
    /// actor's.
    public func end() { run { self.isEnding = true } }

    private func add(_ item: Work) {
        let isFirst = work.withLock { queue in
            queue.append(item)
            isFilled.store(true, ordering: .releasing)
            return queue.count == 1
        }
        if isFirst && !isOnThread { waiting.wake() }
    }

    public var isOnThread: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    public func isIsolatingCurrentContext() -> Bool? { isOnThread }
    public func checkIsolated() { precondition(isOnThread, "called off the \(name) thread") }

    /// Something has come in that the thread has not taken up.
    var hasJobs: Bool { isFilled.load(ordering: .acquiring) }

    /// Jobs that always bring others must not keep the thread from what it waits for: after so many rounds it looks.
    private static let mostRounds = 100

    private func drain() {
        for _ in 0..<Self.mostRounds {
            guard hasJobs else { return }
            let batch = work.withLock { queue in
                let batch = queue
                queue.removeAll(keepingCapacity: true)
                isFilled.store(false, ordering: .relaxed)
                return batch
            }
            for item in batch {
                switch item {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .body(let body): body()
                }
            }
        }
        waiting.wake()
    }

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        setThreadName(name)
        waiting.begin()
        drain()
        while !isEnding {
            waiting.wait { self.drain() }
            drain()
        }
    }
}

/// The kernel shows fifteen bytes of it in `ps -L` and in crash reports.
func setThreadName(_ name: String) {
    let path = "/proc/thread-self/comm"
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = name.withCString { write(descriptor, $0, min(strlen($0), 15)) }
    close(descriptor)
}
