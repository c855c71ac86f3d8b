internal import CSystemd
internal import Glibc

/// Descriptors that are waited for together, by epoll(7): the kernel is told of one only as it comes, changes or goes.
/// With poll(2) every call on the bus would pay for all that there are. For one thread.
final class Watch {
    private struct Entry {
        let descriptor: Int32
        var events: Int16
        /// A file of a kind that is never waited for, as for poll(2).
        let isAlwaysReady: Bool
    }

    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    /// Set where the limit is another: the kernel would set one that comes with the wait for every call on the bus, and
    /// take it back.
    private let alarm = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC))
    /// What the alarm is set to: milliseconds of CLOCK_MONOTONIC, or nil where it is not.
    private var limit: Int64?
    private var entries: [Entry] = []
    private var events = Array(repeating: epoll_event(), count: Watch.most)
    /// What the last wait found.
    private(set) var ready: [Int32] = []

    /// So many are found by one wait; the others by the next.
    private static let most = 16

    init() {
        precondition(epoll >= 0 && alarm >= 0, "no epoll: \(String(cString: strerror(errno)))")
        watch(alarm, for: Int16(POLLIN))
    }

    deinit {
        close(epoll)
        close(alarm)
    }

    /// From now on a wait ends when `descriptor` is ready for `events`, those of poll(2) and no others.
    func watch(_ descriptor: Int32, for events: Int16) {
        var action = EPOLL_CTL_ADD
        for index in entries.indices where entries[index].descriptor == descriptor {
            if entries[index].events == events || entries[index].isAlwaysReady { return }
            entries.remove(at: index)
            action = EPOLL_CTL_MOD
            break
        }
        var event = epoll_event()
        event.events = UInt32(UInt16(bitPattern: events))
        event.data.fd = descriptor
        let isRefused = epoll_ctl(epoll, action, descriptor, &event) != 0 && errno == EPERM
        entries.append(Entry(descriptor: descriptor, events: events, isAlwaysReady: isRefused))
    }

    /// No longer. To be called before it is closed, or another may have its number by then.
    func leave(_ descriptor: Int32) {
        guard let index = entries.firstIndex(where: { $0.descriptor == descriptor }) else { return }
        if !entries.remove(at: index).isAlwaysReady { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) }
    }

    /// Sleeps until one is ``ready`` or the time has come.
    /// - Parameter deadline: microseconds of CLOCK_MONOTONIC, kept to the millisecond; 0 looks and does not sleep, nil
    ///   is for ever.
    func wait(until deadline: Int64?) {
        ready.removeAll(keepingCapacity: true)
        for entry in entries where entry.isAlwaysReady { ready.append(entry.descriptor) }
        let sleeps = ready.isEmpty && deadline != 0
        if sleeps { setAlarm(deadline.map { ($0 - 1) / 1000 + 1 }) }
        let count = epoll_wait(epoll, &events, Int32(Self.most), sleeps ? -1 : 0)
        for index in 0..<Int(max(0, count)) where events[index].data.fd != alarm { ready.append(events[index].data.fd) }
    }

    /// One that has rung keeps ringing until it is set to another time.
    private func setAlarm(_ milliseconds: Int64?) {
        guard milliseconds != limit else { return }
        limit = milliseconds
        var time = itimerspec()
        if let milliseconds {
            time.it_value = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
        }
        timerfd_settime(alarm, Int32(TFD_TIMER_ABSTIME), &time, nil)
    }
}
