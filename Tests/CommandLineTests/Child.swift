import Foundation
import Glibc
import TestSupport

/// A process of ours. Not Foundation's: that one hands its children each other's descriptors, and then waits for
/// the end of one until the last of the others has ended too.
final class Child: Sendable {
    let pid: pid_t

    /// - Parameters:
    ///   - output: descriptors for standard input, output and error; they stay with the caller.
    init(
        _ program: String, _ arguments: [String], environment: [String: String], folder: String, input: Int32,
        output: Int32, errors: Int32
    ) throws {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        for (target, source) in [input, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&files, source, Int32(target))
        }
        // Through env, for it can change the folder.
        let words = ["--chdir=\(folder)", program] + arguments
        pid = try TestSupport.Child.spawn("/usr/bin/env", words, environment, &files)
    }

    /// - Returns: the exit code, or the negative number of the signal that ended it.
    func ended() async -> Int32 {
        await withCheckedContinuation { done in
            Thread.detachNewThread { [pid] in
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                done.resume(returning: status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F))
            }
        }
    }

    struct Failure: Error { var code: Int32 }

    /// A pipe that no child gets unless it is given it.
    static func pipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw Failure(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// A file opened so that no child gets it unless it is given it.
    static func open(_ path: String, _ flags: Int32) throws -> Int32 {
        let file = Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(code: errno) }
        return file
    }

    /// Lines as they come, to the end; closes the descriptor.
    static func lines(of descriptor: Int32) -> AsyncStream<String> {
        AsyncStream { stream in
            Thread.detachNewThread {
                var rest: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
                    rest += buffer[..<count]
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        stream.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest.removeFirst(end + 1)
                    }
                }
                close(descriptor)
                stream.finish()
            }
        }
    }
}
