internal import CSystemd
internal import EventLoop
internal import Listening

/// Tells systemd that the names are owned and commands are answered; does nothing elsewhere.
func notifyReady() { _ = sd_notify(0, "READY=1\nSTATUS=Ready") }

/// Tells systemd that the Loop still turns, twice in the time after which it would start dogear anew; does nothing where no
/// watchdog is set.
@LoopActor func feedWatchdog() {
    var limit: UInt64 = 0
    guard sd_watchdog_enabled(0, &limit) > 0 else { return }
    feedWatchdog(every: BookTime(microseconds: Int64(limit / 2)))
}

@LoopActor private func feedWatchdog(every pause: BookTime) {
    _ = sd_notify(0, "WATCHDOG=1")
    _ = LoopActor.timer(after: pause) { feedWatchdog(every: pause) }
}
