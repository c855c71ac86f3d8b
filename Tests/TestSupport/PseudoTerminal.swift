internal import EventLoop
internal import Foundation
internal import Glibc

/// A program at a terminal of its own, which is a pseudo-terminal: what it shows is seen through an ``Emulator``, and keys
/// are typed into it.
public final class PseudoTerminal: Sendable {
    public let pid: Int32
    private let master: Int32
    /// Kept open, so that the terminal outlives the program and can be looked at.
    private let slave: Int32
    private let emulator: Locked<Emulator>
    private let ended = Locked<Int32?>(nil)
    /// The state of the terminal before the program began.
    public let found: TerminalModes

    /// - Parameter program: a path.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String], columns: Int = 80, rows: Int = 24
    ) throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&master, &slave, nil, nil, &size) == 0 else {
            throw TestFailure("no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        (self.master, self.slave) = (master, slave)
        for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        found = TerminalModes(of: master)
        emulator = Locked(Emulator(columns: columns, rows: rows))
        pid = try Self.spawn(program, arguments, environment, slave)
        Thread.detachNewThread { [pid, ended] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
            ended.withLock { $0 = status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f) }
        }
        Thread.detachNewThread { [master, emulator] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(master, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return }
                emulator.withLock { $0.feed(buffer[..<count]) }
            }
        }
    }

    deinit {
        kill(-pid, SIGKILL)
        kill(pid, SIGKILL)
        close(slave)
    }

    public var screen: Emulator { emulator.withLock { $0 } }
    public var text: String { emulator.withLock { $0.text } }
    /// Its exit code, or the signal that ended it as a negative number; nil while it runs.
    public var code: Int32? { ended.withLock { $0 } }
    public var modes: TerminalModes { TerminalModes(of: master) }

    /// Waits for the first screen that fits. The limit only bounds a hang.
    @discardableResult
    public func until(
        _ what: String, within limit: Duration = .seconds(120 * Sanitizer.patience), _ fits: (Emulator) -> Bool
    ) async throws -> Emulator {
        try await eventually("\(what):\n\(self.screen.text)", within: limit) {
            let screen = screen
            return fits(screen) ? screen : nil
        }
    }

    @discardableResult
    public func shows(_ text: String) async throws -> Emulator {
        var seen: Int?
        return try await until("'\(text)' on the screen") { screen in
            // Nothing new: most looks are such ones.
            guard screen.changes != seen else { return false }
            seen = screen.changes
            return screen.text.contains(text)
        }
    }

    /// Waits for the program's end.
    public func end() async throws -> Int32 {
        try await until("the end of the program") { _ in code != nil }
        return code ?? 0
    }

    public func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Columns and rows from 0.
    public func click(_ x: Int, _ y: Int) { type("\u{1B}[<0;\(x + 1);\(y + 1)M\u{1B}[<0;\(x + 1);\(y + 1)m") }

    public func resize(columns: Int, rows: Int) {
        emulator.withLock { $0.resize(columns: columns, rows: rows) }
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    public func send(_ signal: Int32) { kill(pid, signal) }

    /// The job that is in the foreground.
    public var foreground: Int32 { tcgetpgrp(master) }

    /// In a session of its own, of which this is the controlling terminal.
    private static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ slave: Int32
    ) throws -> Int32 {
        var name = [CChar](repeating: 0, count: 256)
        guard ttyname_r(slave, &name, name.count) == 0 else { throw TestFailure("a terminal without name") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        // POSIX_SPAWN_SETSID of <spawn.h>, which is hidden from Swift.
        return try Child.spawn(program, arguments, environment, &actions, flags: 0x80)
    }
}

/// How a terminal treats what is typed.
public struct TerminalModes: Hashable, Sendable {
    public let input: UInt32
    public let output: UInt32
    public let control: UInt32
    public let local: UInt32

    init(of descriptor: Int32) {
        var found = termios()
        _ = tcgetattr(descriptor, &found)
        (input, output, control, local) = (found.c_iflag, found.c_oflag, found.c_cflag, found.c_lflag)
    }

    /// What is typed is shown, and comes line by line.
    public var isCooked: Bool { local & UInt32(ECHO) != 0 && local & UInt32(ICANON) != 0 }
}
