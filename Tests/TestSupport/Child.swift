internal import Foundation
internal import Glibc

/// A program run by a test, with nothing of the test's own environment but what it is given.
public final class Child: @unchecked Sendable {  // Process and the handles are only told things that are thread-safe
    private let process = Process()
    private let output = Pipe()
    private let ended: AsyncStream<Int32>

    public var pid: Int32 { process.processIdentifier }

    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - input: what it reads from standard input; then that ends.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], input: String = ""
    ) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["-i"] + environment.map { "\($0)=\($1)" } + [program] + arguments
        let feed = Pipe()
        process.standardInput = feed
        process.standardOutput = output
        let (ended, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.ended = ended
        process.terminationHandler = { process in
            continuation.yield(
                process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            continuation.finish()
        }
        try process.run()
        try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try feed.fileHandleForWriting.close()
    }

    /// The next line of standard output without its end, or nil when there are no more. Blocks until there is one.
    public func line() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while Glibc.read(output.fileHandleForReading.fileDescriptor, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    public func send(_ signal: Int32) { Glibc.kill(pid, signal) }

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
}
