import Foundation
import Glibc

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
    /// Not told where its home is.
    var isHomeless = false

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
        let (output, errors) = (home.path + "/out-\(UUID())", home.path + "/err-\(UUID())")
        let typed = home.path + "/in-\(UUID())"
        try Data((input ?? "").utf8).write(to: URL(fileURLWithPath: typed))
        let files = try [
            Child.open(typed, O_RDONLY), Child.open(output, O_WRONLY | O_CREAT),
            Child.open(errors, O_WRONLY | O_CREAT),
        ]
        defer { for file in files { close(file) } }
        let code = try await started(arguments, input: files[0], output: files[1], errors: files[2]).ended()
        return Outcome(
            code: code, output: try String(contentsOfFile: output, encoding: .utf8),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }

    /// For tests that talk to it while it runs.
    func started(_ arguments: [String], input: Int32, output: Int32, errors: Int32) throws -> Child {
        var environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC"]
        if !isHomeless { environment["HOME"] = home.path }
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        return try Child(
            Self.path, arguments, environment: environment, folder: home.path, input: input, output: output,
            errors: errors)
    }
}
