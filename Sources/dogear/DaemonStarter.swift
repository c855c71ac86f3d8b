import Control
import DBus
import Folders
import Glibc
import SDBus
import Terminal

/// Starts this same program as the daemon, where the bus has no way to: detached from the terminal, writing its log to
/// a file in the state folder.
struct DaemonStarter {
    let bus: BusClient
    let peer: BusClient.Peer

    private static let deadline = Duration.seconds(5)
    private static let largestLog = 1 << 20
    /// POSIX_SPAWN_SETSID of <spawn.h>, which is hidden from Swift.
    private static let newSession: Int16 = 0x80

    /// Returns once the daemon has its name on the bus.
    func start() throws {
        let file: String
        do { file = try Profile.present.paths.log } catch let error as FolderError {
            throw ControlError(.failed, error.description)
        }
        let log = try Self.openLog(file)
        defer { close(log) }
        do throws(BusError) { try bus.watch(peer) } catch { throw ControlError(.failed, error.message) }
        let start = lseek(log, 0, SEEK_END)
        let process = try spawn(log: log)
        try wait(for: process, log: log, of: file, from: start)
    }

    /// - Returns: where a daemon that was started directly writes its log; nil without a home.
    static var logFile: String? { try? Profile.present.paths.log }

    /// A daemon without a log file plays as well: `dogear logs` asks it while it runs.
    private static func openLog(_ file: String) throws -> Int32 {
        try? PrivateFiles.makeFolder(above: file)
        var facts = stat()
        if stat(file, &facts) == 0, facts.st_size > largestLog { rename(file, file + ".1") }
        let log = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard log >= 0 else {
            complain("no log is kept: cannot write \(file): \(reason(errno))")
            return try openNothing()
        }
        return log
    }

    private static func openNothing() throws -> Int32 {
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nothing >= 0 else { throw ControlError(.failed, "cannot open /dev/null") }
        return nothing
    }

    private func spawn(log: Int32) throws -> pid_t {
        var program = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard readlink("/proc/self/exe", &program, Int(PATH_MAX)) > 0 else {
            throw ControlError(.failed, "cannot find the program to start as the daemon")
        }
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, log, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&files, log, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // It ends on SIGTERM, whatever our caller does with signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGTERM, SIGINT, SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Self.newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        var words: [UnsafeMutablePointer<CChar>?] = [strdup("dogear"), strdup("daemon"), nil]
        defer { for word in words { free(word) } }
        keepDescriptorsToOurselves()
        // The daemon must not hold on to the folder somebody happened to be in.
        let here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        chdir("/")
        defer {
            fchdir(here)
            close(here)
        }
        var process = pid_t()
        let code = posix_spawn(&process, program, &files, &attributes, &words, environ)
        guard code == 0 else {
            throw ControlError(.failed, "cannot start the daemon: \(reason(code))")
        }
        return process
    }

    /// What our caller left open, such as the pipe of a script that waits for its end, is not for the daemon.
    private func keepDescriptorsToOurselves() {
        guard let folder = opendir("/proc/self/fd") else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let descriptor = Int32(name), descriptor > STDERR_FILENO { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// - Returns: what a daemon that would not start wrote as its reason behind `start`; nil if it said none.
    private static func cause(in log: Int32, from start: off_t) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(log, &bytes, bytes.count, start)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        return lines.compactMap { line in line.firstRange(of: refusal).map { Clean.line(line[$0.upperBound...]) } }.last
    }

    /// As the log has it.
    private static let refusal = "\(ControlName.cannotStart)\twhy="

    /// Waits for the name's owner, and looks now and then whether the process has ended meanwhile. One that ended
    /// because another daemon was faster is no failure.
    private func wait(for process: pid_t, log: Int32, of file: String, from start: off_t) throws {
        let clock = ContinuousClock()
        let end = clock.now + Self.deadline
        do throws(BusError) {
            while clock.now < end {
                if try bus.next(within: .milliseconds(100)) == .appeared { return }
                if waitpid(process, nil, WNOHANG) == process {
                    if try bus.hasOwner(peer.name) { return }
                    let cause = Self.cause(in: log, from: start)
                    throw .failed(cause ?? "the daemon ended while it started; \(file) tells why")
                }
            }
        } catch {
            throw ControlError(.failed, error.message)
        }
        throw ControlError(.failed, "the daemon did not get ready within 5 seconds; \(file) may tell why")
    }
}
