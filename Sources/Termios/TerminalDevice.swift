internal import CSystemd
public import EventLoop
internal import Glibc
internal import Listening
public import Screen

/// The terminal that a view is shown on: its bytes come as input, frames go out in one piece, and it is left as it was
/// found on every way out that can be caught.
@LoopActor public final class TerminalDevice: LoopSource {
    public enum Event: Sendable {
        case input([Input])
        /// The terminal is gone.
        case closed
    }

    private let descriptor: Int32
    private let handler: @LoopActor (Event) -> Void
    private let colors: Colors
    private var parser = InputParser()
    private var lone: LoopTimer?
    private var shown: Frame?
    /// What the terminal has not taken yet.
    private var waiting: ArraySlice<UInt8> = []
    /// The newest frame, and what goes before it, while older bytes are still on their way.
    private var next: (frame: Frame, extra: String)?
    private var isOpen = false
    private var isClosed = false

    /// An Esc that nothing follows for so long was pressed alone. Over a slow line the rest of a key comes later than that
    /// only if it was cut into two packets.
    private static let loneEscape = BookTime.seconds(0.05)
    private static let alternate = "\u{1B}[?1049h"
    /// No cursor, no wrapping; mouse and pastes told as sequences of their own.
    private static let modes = "\u{1B}[?25l\u{1B}[?7l\u{1B}[?1000h\u{1B}[?1002h\u{1B}[?1006h\u{1B}[?2004h"
    static let farewell =
        "\u{1B}[?2026l\u{1B}[?2004l\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

    /// Looks at standard output's terminal, and changes nothing yet.
    /// - Returns: nil if there is none.
    public init?(colors: Colors, _ handler: @escaping @LoopActor (Event) -> Void) {
        guard isatty(STDIN_FILENO) != 0, isatty(STDOUT_FILENO) != 0 else { return nil }
        // Opened anew, so that not waiting for it stays a matter of this program: the shell shares what it handed on.
        let own = Glibc.open("/proc/self/fd/1", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        descriptor = own >= 0 ? own : dup(STDOUT_FILENO)
        guard descriptor >= 0, Rescue.remember(descriptor, farewell: Self.farewell) else { return nil }
        self.colors = colors
        self.handler = handler
    }

    public var size: Size {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    // MARK: Coming and going

    /// Takes the terminal: keys come one by one and unseen, on a screen of its own.
    public func open() {
        guard !isClosed else { return }
        if !isOpen { LoopActor.add(self) }
        isOpen = true
        Rescue.arm()
        shown = nil
        waiting = []
        next = nil
        send(Self.alternate + Self.modes)
    }

    /// Gives it back as it was.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        lone?.cancel()
        LoopActor.remove(self)
        // What is in the middle of a sequence must not swallow the farewell.
        Rescue.disarm(prefix: waiting.isEmpty ? "" : "\u{18}")
        waiting = []
        next = nil
    }

    /// As when the listener presses Ctrl-Z in any other program: comes back when it is continued.
    public func suspend() {
        close()
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTSTP)
        signal(SIGTSTP, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        // Where nobody could continue it the kernel lets it be.
        pthread_kill(pthread_self(), SIGTSTP)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        open()
    }

    /// Somebody stopped this program without asking, and let it go on: the shell may have changed the terminal meanwhile.
    public func wentOn() {
        guard isOpen else { return }
        Rescue.arm()
        shown = nil
        send(Self.modes)
    }

    // MARK: Out

    /// Shows a frame: only what changed is written, in one piece, and nothing if nothing did. While the line is slow
    /// frames in between are left out.
    /// - Parameter extra: escape sequences to send along, such as for the clipboard.
    public func show(_ frame: Frame, extra: String = "") {
        guard isOpen else { return }
        guard waiting.isEmpty else {
            next = (frame, (next?.extra ?? "") + extra)
            return
        }
        let picture = Changes.picture(from: shown, to: frame)
        let changes = Changes.from(shown, to: frame, colors: colors)
        shown = frame
        guard !changes.isEmpty || !extra.isEmpty else { return }
        send(picture + "\u{1B}[?2026h" + changes + extra + "\u{1B}[?2026l")
    }

    /// Draws everything anew with the next frame.
    public func forget() { shown = nil }

    private func send(_ text: String) {
        waiting += Array(text.utf8)
        flush()
    }

    private func flush() {
        while !waiting.isEmpty {
            let count = waiting.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { lost() }
                return
            }
            waiting = waiting.dropFirst(count)
        }
        waiting = []
        if let next {
            self.next = nil
            show(next.frame, extra: next.extra)
        }
    }

    // MARK: In

    public var interest: LoopInterest? {
        guard isOpen, !isClosed else { return nil }
        return LoopInterest(descriptor: descriptor, events: Int16(POLLIN) | (waiting.isEmpty ? 0 : Int16(POLLOUT)))
    }

    public func process() -> Bool {
        guard isOpen, !isClosed else { return false }
        if !waiting.isEmpty { flush() }
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 0) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        guard count > 0 else {
            lost()
            return false
        }
        lone?.cancel()
        let inputs = parser.feed(buffer[..<count])
        if parser.isWaiting {
            lone = LoopActor.timer(after: Self.loneEscape) { [self] in
                let inputs = parser.timeout()
                if !inputs.isEmpty { handler(.input(inputs)) }
            }
        }
        if !inputs.isEmpty { handler(.input(inputs)) }
        return false
    }

    private func lost() {
        guard !isClosed else { return }
        isClosed = true
        LoopActor.remove(self)
        handler(.closed)
    }
}
