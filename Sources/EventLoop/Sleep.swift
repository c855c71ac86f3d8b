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

/// The plainest wait: asleep until a job comes. For threads that only run what they are given.
public final class Sleep: ThreadWait {
    private let wakeup = Wakeup()

    public init() {}
    public func begin() {}
    public func wake() { wakeup.wake() }
    public func wait(drain: @Sendable () -> Void) {
        var set = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&set, 1, -1)
        wakeup.clear()
    }
}
