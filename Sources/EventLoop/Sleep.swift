internal import CSystemd
internal import Glibc

/// An eventfd: written from any thread, polled on one.
struct Wakeup: Sendable {
    let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))

    func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func clear() {
        var value: UInt64 = 0
        _ = read(descriptor, &value, 8)
    }
}

/// The plainest wait: asleep until a job comes, or the time of what is to be done later. For threads that only run what
/// they are given.
public final class Sleep: ThreadWait, @unchecked Sendable {  // all but `wakeup` is only touched on its thread
    private let wakeup = Wakeup()
    /// The soonest first.
    private var timers: [ThreadTimer] = []

    public init() {}

    deinit { close(wakeup.descriptor) }

    /// On the thread: calls `body` there once, when `delay` has passed; for so much longer as the computer sleeps meanwhile.
    public func timer(after delay: Duration, _ body: @escaping () -> Void) -> ThreadTimer {
        timers.removeAll { $0.body == nil }
        let timer = ThreadTimer(deadline: Clock.nanoseconds + delay.nanoseconds, body: body)
        timers.insert(timer, at: timers.firstIndex { $0.deadline > timer.deadline } ?? timers.endIndex)
        return timer
    }

    public func begin() {}
    public func wake() { wakeup.wake() }

    public func wait(drain: @Sendable () -> Void) {
        if let first = timers.first, first.body == nil || first.deadline <= Clock.nanoseconds {
            timers.removeFirst()
            first.fire()
            return
        }
        var set = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&set, 1, timers.first.map { Clock.milliseconds(until: $0.deadline) } ?? -1)
        if set.revents != 0 { wakeup.clear() }
    }
}

/// What a thread that has nothing else to do then is to do later. Used on that thread alone.
public final class ThreadTimer {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fileprivate let deadline: Int64
    fileprivate var body: (() -> Void)?

    fileprivate init(deadline: Int64, body: @escaping () -> Void) {
        self.deadline = deadline
        self.body = body
    }

    public func cancel() { body = nil }

    fileprivate func fire() {
        let body = self.body
        self.body = nil
        body?()
    }
}
