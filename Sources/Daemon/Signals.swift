internal import CSystemd
internal import EventLoop
internal import Glibc

/// Held back in every thread that starts after this: the Loop reads them from a descriptor.
func blockSignals() {
    var set = endingSignals()
    pthread_sigmask(SIG_BLOCK, &set, nil)
    // A client that hangs up while it is answered is no reason to end.
    signal(SIGPIPE, SIG_IGN)
}

private func endingSignals() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
    return set
}

/// SIGTERM, SIGINT and SIGHUP as events of the Loop.
@LoopActor final class SignalSource: LoopSource {
    private let descriptor: Int32
    private let heard: @LoopActor (Int32) -> Void

    init(_ heard: @escaping @LoopActor (Int32) -> Void) {
        var set = endingSignals()
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        self.heard = heard
        LoopActor.add(self)
    }

    var interest: LoopInterest? { LoopInterest(descriptor: descriptor, events: Int16(POLLIN)) }

    func process() -> Bool {
        var info = signalfd_siginfo()
        guard read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) > 0 else { return false }
        heard(Int32(info.ssi_signo))
        return true
    }
}

/// Tells systemd that the names are owned and commands are answered; does nothing elsewhere.
func notifyReady() { _ = sd_notify(0, "READY=1\nSTATUS=Ready") }
