import Control
import DBus
import Glibc

/// The terminal as it was before the echo was switched off. Written before the handlers below are in place and then
/// only read, so that a signal finds it whole.
private nonisolated(unsafe) var before = termios()

private func putBack(_ signal: Int32) {
    tcsetattr(STDIN_FILENO, TCSANOW, &before)
    Glibc.signal(signal, SIG_DFL)
    raise(signal)
}

enum Prompt {
    /// Reads a line that is not shown while it is typed. The terminal is put back even when a signal ends us.
    static func hidden(_ prompt: String) -> String? {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
        let handlers = ending.map { signal($0, putBack) }
        // Stopped and continued, the terminal would come back with its echo.
        let stopping = signal(SIGTSTP, SIG_IGN)
        var quiet = before
        quiet.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            for (number, handler) in zip(ending, handlers) { signal(number, handler) }
            signal(SIGTSTP, stopping)
            write("\n", to: STDERR_FILENO)
        }
        write(prompt, to: STDERR_FILENO)
        return readLine()
    }
}

/// Hands a secret to another process: it is in the pipe before the other is asked, and never in a file or an argument.
final class SecretPipe {
    /// Well under what a pipe holds, so that writing never waits for the reader.
    static let limit = 32 << 10

    let reader: Descriptor

    init(_ secret: String) throws {
        guard secret.utf8.count <= Self.limit else {
            throw ControlError(.usage, "what is to be kept secret is too long: all of it together may have 32 KiB")
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ControlError(.failed, reason(errno)) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = Descriptor(owning: ends[0])
        write(secret, to: ends[1])
        close(ends[1])
    }
}
