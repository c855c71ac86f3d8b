internal import Foundation
public import Glibc

/// A program run by a test, with nothing of the test's own environment but what it is given, and no signal blocked:
/// Foundation's Process hands on the mask of the thread it is called from, and such a child cannot be asked to end.
public final class Child: Sendable {
    public let pid: Int32
    private let output: Int32
    private let ended: AsyncStream<Int32>

    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - input: what it reads from standard input; then that ends.
    ///   - isQuiet: what it says on standard error is not shown.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], input: String = "",
        isQuiet: Bool = false
    ) throws {
        // Sockets, not pipes: they are closed in other children from the first moment on.
        let (feed, standardInput) = try Self.pair()
        let (output, standardOutput) = try Self.pair()
        self.output = output
        defer {
            close(feed)
            close(standardInput)
            close(standardOutput)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput, 0)
        posix_spawn_file_actions_adddup2(&actions, standardOutput, 1)
        if isQuiet { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
        pid = try Self.spawn(program, arguments, environment, &actions)

        let text = Array(input.utf8)
        _ = Glibc.send(feed, text, text.count, Int32(MSG_NOSIGNAL))
        let (ended, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.ended = ended
        Thread.detachNewThread { [pid] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
            continuation.yield(status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f))
            continuation.finish()
        }
    }

    deinit { close(output) }

    /// The next line of standard output without its end, or nil when there are no more. Blocks until there is one.
    public func line() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    public func send(_ signal: Int32) { kill(pid, signal) }

    /// Stops it in its tracks, so that it answers nothing any more.
    public func freeze() async throws { try await Self.freeze(pid) }

    /// Stops a process. A signal sent is not yet a signal taken: under load its other threads go on for a while.
    public static func freeze(_ process: Int32) async throws {
        kill(process, SIGSTOP)
        let folder = "/proc/\(process)/task"
        try await until("process \(process) to stand still") {
            try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { thread in
                (try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8))?.contains("State:\tT")
                    ?? false
            }
        }
    }

    /// - Returns: its exit code, or the signal that ended it as a negative number. Only once.
    public func end() async -> Int32 {
        for await code in ended { return code }
        return 0
    }

    /// A program of this package, built beside the tests.
    public static func built(_ name: String) -> String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return "\((tests as NSString).deletingLastPathComponent)/\(name)"
    }

    private static func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw TestFailure("no sockets: \(String(cString: strerror(errno)))")
        }
        return (ends[0], ends[1])
    }

    /// Of glibc 2.34, which Swift does not see.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
    }

    /// Starts a program with the signals that a shell gives it, and nothing open but what `actions` put below 3.
    /// - Parameter flags: of `posix_spawn`, beside those for the signals.
    public static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String: String],
        _ actions: inout posix_spawn_file_actions_t, flags: Int16 = 0
    ) throws -> Int32 {
        // A server's socket that lives on in a program keeps the port. So many tests at once have thousands open.
        guard let closeFrom, closeFrom(&actions, 3) == 0 else { throw TestFailure("this C library is too old") }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | flags)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = Sanitizer.handingOn(environment).map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var pid: Int32 = 0
        let code = posix_spawnp(&pid, program, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw TestFailure("cannot run \(program): \(String(cString: strerror(code)))") }
        return pid
    }
}
