import Foundation

/// The built program, run as a process with an environment of its own.
struct Program {
    struct Outcome {
        var code: Int32
        var output: String
        var errors: String
    }

    /// A folder for HOME and everything under it, gone with this value's owner.
    final class Home: Sendable {
        let path: String

        init() throws {
            path = NSTemporaryDirectory() + "dogear-cli-" + UUID().uuidString
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    var home: Home
    /// Address of the session bus; nil: none.
    var bus: String?

    /// Beside the test program.
    private static let path: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/dogear"
    }()

    /// Runs to the end.
    func callAsFunction(_ arguments: String..., input: String? = nil) async throws -> Outcome {
        try await self(arguments, input: input)
    }

    func callAsFunction(_ arguments: [String], input: String? = nil) async throws -> Outcome {
        let process = try prepared(arguments)
        let (output, errors) = (home.path + "/out-\(UUID())", home.path + "/err-\(UUID())")
        for file in [output, errors] { try Data().write(to: URL(fileURLWithPath: file)) }
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: errors)
        if let input {
            let file = home.path + "/in-\(UUID())"
            try Data(input.utf8).write(to: URL(fileURLWithPath: file))
            process.standardInput = FileHandle(forReadingAtPath: file)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try await ended(process)
        return Outcome(
            code: process.terminationStatus, output: try String(contentsOfFile: output, encoding: .utf8),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }

    /// Ready to run, for tests that talk to it while it runs.
    func prepared(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: home.path)
        var environment = ["HOME": home.path, "PATH": "/usr/bin:/bin", "TZ": "UTC"]
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        process.environment = environment
        return process
    }

    /// Lines as they come, to the end.
    static func lines(of pipe: Pipe) -> AsyncStream<String> {
        AsyncStream { stream in
            let thread = Thread {
                var rest = Data()
                while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
                    rest += data
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        stream.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                }
                stream.finish()
            }
            thread.start()
        }
    }

    private func ended(_ process: Process) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in done.resume() }
            do { try process.run() } catch { done.resume(throwing: error) }
        }
    }
}
