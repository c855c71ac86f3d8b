import Glibc
import Terminal

/// One line on a terminal that tells how far something is, over and over; nothing where nobody watches.
struct Meter {
    let isShown = isatty(STDERR_FILENO) != 0 && environment("TERM") != "dumb"

    func show(_ text: String) {
        guard isShown else { return }
        write("\r\u{1B}[K\(Surface.standardOutput.cut(text, after: 0))", to: STDERR_FILENO)
    }

    /// The line makes room for what comes.
    func end() { if isShown { write("\r\u{1B}[K", to: STDERR_FILENO) } }
}
