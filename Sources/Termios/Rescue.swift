internal import Glibc

/// Puts a terminal back into the state it was found in, also when the program crashes: then nothing may be allocated,
/// so everything that takes is laid out beforehand.
enum Rescue {
    private struct Kept {
        var descriptor: Int32 = -1
        var found = termios()
        var farewell: UnsafeMutableBufferPointer<UInt8>
        /// Where standard error went before, and a file without a name that it goes to now; -1: it was left alone.
        var complaints: (real: Int32, kept: Int32) = (-1, -1)
        var copied = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 4096)
    }

    /// Written on the Loop only, before the handlers that read it are set; those run in whatever thread crashes.
    nonisolated(unsafe) private static var kept: UnsafeMutablePointer<Kept>?
    /// Of the Loop only; no handler asks.
    nonisolated(unsafe) private static var isArmed = false

    private static let crashes = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE]

    /// - Returns: false if it cannot be told what state the terminal is in.
    static func remember(_ descriptor: Int32, farewell text: String) -> Bool {
        let bytes = Array(text.utf8)
        let farewell = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = farewell.initialize(from: bytes)
        var new = Kept(descriptor: descriptor, farewell: farewell)
        guard tcgetattr(descriptor, &new.found) == 0 else { return false }
        let place = UnsafeMutablePointer<Kept>.allocate(capacity: 1)
        place.initialize(to: new)
        kept = place
        return true
    }

    /// Keys unseen and one by one from now on; whoever stopped us may have changed what is found, so it is read anew.
    static func arm() {
        guard let kept else { return }
        if !isArmed {
            tcgetattr(kept.pointee.descriptor, &kept.pointee.found)
            for number in crashes {
                var action = sigaction()
                // The second time it is deadly, when this returns.
                action.__sigaction_handler.sa_handler = { number in
                    Rescue.restore()
                    Rescue.tellComplaints()
                    raise(number)
                }
                action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
                sigaction(number, &action, nil)
            }
        }
        if !isArmed { catchComplaints() }
        isArmed = true
        var raw = kept.pointee.found
        cfmakeraw(&raw)
        while tcsetattr(kept.pointee.descriptor, TCSANOW, &raw) != 0, errno == EINTR {}
    }

    /// - Parameter prefix: what ends a sequence that was not sent whole.
    static func disarm(prefix: String) {
        guard isArmed, let kept else { return }
        let bytes = Array(prefix.utf8)
        _ = bytes.withUnsafeBytes { write(kept.pointee.descriptor, $0.baseAddress, $0.count) }
        restore()
        for number in crashes { signal(number, SIG_DFL) }
        releaseComplaints()
        isArmed = false
    }

    /// Libraries write to standard error when they like; on the screen of a view that would stand anywhere.
    private static func catchComplaints() {
        guard let kept, isatty(STDERR_FILENO) != 0 else { return }
        var name = Array("/tmp/dogear-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { return }
        unlink(name)
        let real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard real >= 0, dup2(file, STDERR_FILENO) >= 0 else {
            close(file)
            return
        }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        kept.pointee.complaints = (real, file)
    }

    private static func releaseComplaints() {
        guard let kept, kept.pointee.complaints.real >= 0 else { return }
        dup2(kept.pointee.complaints.real, STDERR_FILENO)
        close(kept.pointee.complaints.real)
        close(kept.pointee.complaints.kept)
        kept.pointee.complaints = (-1, -1)
    }

    /// The last words of a crash are worth more than an empty screen. Nothing but system calls.
    private static func tellComplaints() {
        guard let kept, kept.pointee.complaints.real >= 0, let buffer = kept.pointee.copied.baseAddress else { return }
        let (real, file) = kept.pointee.complaints
        let size = lseek(file, 0, SEEK_END)
        lseek(file, max(0, size - 64_000), SEEK_SET)
        while true {
            let count = read(file, buffer, kept.pointee.copied.count)
            guard count > 0 else { return }
            write(real, buffer, count)
        }
    }

    /// Nothing but system calls.
    private static func restore() {
        guard let kept else { return }
        var start = 0
        var tries = 0
        while start < kept.pointee.farewell.count, tries < 50 {
            let count = write(
                kept.pointee.descriptor, kept.pointee.farewell.baseAddress! + start,
                kept.pointee.farewell.count - start)
            if count > 0 {
                start += count
                continue
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else { break }
            // A slow line gets a little time to take it; a stopped one must not keep us.
            tries += 1
            var ready = pollfd(fd: kept.pointee.descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&ready, 1, 20)
        }
        tries = 0
        while tcsetattr(kept.pointee.descriptor, TCSANOW, &kept.pointee.found) != 0, errno == EINTR, tries < 50 {
            tries += 1
        }
    }
}
