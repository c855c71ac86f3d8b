import ArgumentParser
import Dispatch
import Foundation
import StandIn

/// Serves a library folder as an Audiobookshelf server on 127.0.0.1 until it is told to stop.
@main
struct StandInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "standin-server",
        abstract: "Serve a folder with a library.json as an Audiobookshelf server on 127.0.0.1.",
        discussion: """
            Prints one line, 'listening on ADDRESS', and runs until SIGTERM or SIGINT. Without --password-file and \
            --password-stdin a password is made up and printed on a second line.
            """)

    @Option(help: ArgumentHelp("Folder with library.json and the audio it names.", valueName: "dir"))
    var library: String

    @Option(help: ArgumentHelp("Adds a library of so many made-up books without audio.", valueName: "count"))
    var items: Int?

    @Option(help: "Port; 0 takes any free one.")
    var port: UInt16 = 0

    @Option(help: "Name of the one user, who may do everything.")
    var user = "demo"

    @Option(help: ArgumentHelp("File whose first line is the password.", valueName: "file"))
    var passwordFile: String?

    @Flag(help: "Read the password from the first line of standard input.")
    var passwordStdin = false

    @Option(help: ArgumentHelp("Lifetime of access tokens.", valueName: "seconds"))
    var accessExpiry: Int?

    @Option(help: ArgumentHelp("Lifetime of refresh tokens.", valueName: "seconds"))
    var refreshExpiry: Int?

    @Option(name: .customLong("version"), help: "Release to behave like: 2.36.0, 2.30.0 or 2.25.1.")
    var release = StandInVersion.v236.rawValue

    @Option(help: "Path under which every route answers besides the root.")
    var basePath = "/audiobookshelf"

    @Option(help: ArgumentHelp("Write the address to this file once requests are answered.", valueName: "file"))
    var readyFile: String?

    func validate() throws {
        if let items, !(0...1_000_000).contains(items) { throw ValidationError("--items is 0 to 1000000") }
        if passwordFile != nil, passwordStdin {
            throw ValidationError("--password-file and --password-stdin exclude each other")
        }
        guard StandInVersion(rawValue: release) != nil else {
            throw ValidationError(
                "--version is one of \(StandInVersion.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if !basePath.isEmpty, !basePath.hasPrefix("/") || basePath.hasSuffix("/") {
            throw ValidationError("--base-path begins with a slash and ends without one, or is empty")
        }
    }

    func run() async throws {
        let given = try password()
        let password = given ?? UUID().uuidString.lowercased()
        let account = StandInUser(name: user, password: password, kind: .root)
        var libraries = try StandInLibrary.load(folder: library)
        if let items {
            libraries.append(
                StandInLibrary(name: "Made Up", mediaType: .book, items: .synthetic(count: items)))
        }
        var settings = StandInConfiguration(
            users: [account], libraries: libraries,
            version: StandInVersion(rawValue: release) ?? .v236)
        settings.port = port
        settings.basePath = basePath
        settings.accessExpiry = accessExpiry ?? settings.accessExpiry
        settings.refreshExpiry = refreshExpiry ?? settings.refreshExpiry
        let signals = Signals([SIGTERM, SIGINT])
        let server = StandInServer(configuration: settings)
        let address = try await server.start()
        say("listening on \(address)")
        if given == nil { say("user \(user), password \(password)") }
        if let readyFile {
            try Data((address + "\n").utf8).write(to: URL(fileURLWithPath: readyFile), options: .atomic)
        }
        await signals.next()
        await server.stop()
    }

    private func password() throws -> String? {
        if passwordStdin { return readLine() ?? "" }
        guard let passwordFile else { return nil }
        let text = try String(contentsOfFile: passwordFile, encoding: .utf8)
        return String(text.prefix { $0 != "\n" })
    }

    /// Writes a line at once, also into a pipe.
    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

/// Waits for signals without a handler that could run at a bad moment.
private struct Signals {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: [Int32]) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    func next() async {
        for await _ in stream { return }
    }
}
