import Control
import DBus
import EventLoop
import Foundation
import SDBus
import StandIn
import TestSupport

/// Everything a test needs of the world, all of it real and private: a bus, a keyring, a home, a server, sound that goes
/// nowhere at its own pace, and the built program.
final class House: Sendable {
    struct Outcome: Sendable {
        let code: Int32
        let output: String
        let errors: String
    }

    static let user = "ada"
    static let password = "pässword-of-Ada 77"
    /// For a server that is to be given up as soon as listeners see it given up.
    static let hasty = ["DOGEAR_PATIENCE": "0.7"]

    let bus: PrivateBus
    let server: StandInServer
    /// As typed at login.
    let address: String
    let environment: [String: String]
    private let children = Locked<[Child]>([])
    private let asker: Asker
    private let count = Locked(0)

    private init(bus: PrivateBus, server: StandInServer, address: String, environment: [String: String]) {
        (self.bus, self.server, self.address) = (bus, server, address)
        asker = Asker(bus.address)
        var all = bus.environment
        all["DOGEAR_AUDIO_SINK"] = "fakesink sync=true"
        // However slow this computer is, a server that answers is heard.
        all["DOGEAR_PATIENCE"] = "\(120 * Sanitizer.patience)"
        // Looking at every plugin anew for each home takes seconds.
        all["GST_REGISTRY"] =
            ProcessInfo.processInfo.environment["GST_REGISTRY"] ?? "\(Sounds.folder)/gstreamer.registry"
        all["TZ"] = "UTC"
        self.environment = all.merging(environment) { $1 }
    }

    var home: String { bus.home }
    var state: String { "\(home)/.local/state/dogear" }
    /// In memory on a real desktop, until the session ends.
    var memory: String { "\(environment["XDG_RUNTIME_DIR"] ?? home)/dogear" }
    var log: String { "\(home)/daemon.log" }

    /// - Parameters:
    ///   - configure: changes the stand-in before it starts.
    ///   - extra: more variables for every program; `HOME_` in a value stands for the home.
    ///   - activation: the bus may start the daemon.
    static func with(
        keyring: PrivateBus.Keyring = .unlocked, version: StandInVersion = .v236, activation: Bool = false,
        extra: [String: String] = [:], configure: @Sendable (inout StandInConfiguration) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (House) async throws -> Void
    ) async throws {
        await Gate.houses.enter()
        let outcome: Result<Void, any Error>
        do {
            let house = try await open(keyring, version, activation, extra, configure)
            do {
                try await body(house)
                outcome = .success(())
            } catch {
                outcome = .failure(house.explained(error))
            }
            await house.close()
        } catch {
            outcome = .failure(error)
        }
        await Gate.houses.leave()
        try outcome.get()
    }

    private static func open(
        _ keyring: PrivateBus.Keyring, _ version: StandInVersion, _ activation: Bool, _ extra: [String: String],
        _ configure: @Sendable (inout StandInConfiguration) -> Void
    ) async throws -> House {
        var configuration = StandInConfiguration(
            users: [StandInUser(name: user, password: password)], libraries: try Library.all.get(), version: version)
        configure(&configuration)
        let (server, address) = try await serve(configuration)
        let services = [ControlName.bus: "\(Child.built("dogear")) daemon"]
        let bus = try await PrivateBus(keyring: keyring, services: activation ? services : [:])
        return House(
            bus: bus, server: server, address: address,
            environment: extra.mapValues { $0.replacingOccurrences(of: "HOME_", with: bus.home) })
    }

    /// On a port it can come back to.
    private static func serve(_ configuration: StandInConfiguration) async throws -> (StandInServer, String) {
        var configuration = configuration
        for attempt in 1... {
            configuration.port = freePort()
            let server = StandInServer(configuration: configuration)
            do {
                return (server, try await server.start() + configuration.basePath)
            } catch {
                // Between being found free and being used somebody else may have taken it.
                if attempt == 5 { throw error }
            }
        }
        throw TestFailure("no port for a server")
    }

    /// Another computer of the same listener: a bus, a keyring and a home of its own, with a daemon that is signed in to
    /// the same server.
    func withAnother(
        isolation: isolated (any Actor)? = #isolation, _ body: (House) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus(keyring: .unlocked)
        let other = House(bus: bus, server: server, address: address, environment: [:])
        let outcome: Result<Void, any Error>
        do {
            try await other.daemon()
            try await other.logIn()
            try await body(other)
            outcome = .success(())
        } catch {
            outcome = .failure(other.explained(error))
        }
        await other.leave()
        try outcome.get()
    }

    private func close() async {
        await leave()
        await server.stop()
    }

    private func leave() async {
        for child in children.withLock({ $0 }) {
            child.send(SIGKILL)
        }
        await asker.leave()
        // A daemon that a command or the bus started leaves with the bus.
        await bus.stop()
    }

    /// What the daemon said may tell why a test failed.
    private func explained(_ error: any Error) -> any Error {
        let log = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        // Of a crash what it began with tells more than the threads that it ends with.
        let crash = log.range(of: "\n*** ").map {
            log[..<$0.lowerBound].suffix(1000) + log[$0.lowerBound...].prefix(5000)
        }
        return TestFailure("\(error)\n\(crash ?? log.suffix(3000))")
    }

    // MARK: Programs

    /// Runs the program to its end.
    @discardableResult
    func dogear(_ arguments: String..., input: String = "") async throws -> Outcome {
        try await run(Child.built("dogear"), arguments, input: input)
    }

    /// Runs the program and wants it to succeed.
    @discardableResult
    func done(_ arguments: String..., input: String = "") async throws -> String {
        let outcome = try await run(Child.built("dogear"), arguments, input: input)
        guard outcome.code == 0 else {
            throw TestFailure("dogear \(arguments) ended with \(outcome.code): \(outcome.errors)")
        }
        return outcome.output
    }

    @discardableResult
    func run(
        _ program: String, _ arguments: [String], input: String = "", environment: [String: String]? = nil
    ) async throws -> Outcome {
        let errors = count.withLock { count in
            count += 1
            return "\(home)/errors-\(count)"
        }
        let lines = Lines(
            try Child(
                "/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>\"$ERRORS\"", program] + arguments,
                environment: (environment ?? self.environment).merging(["ERRORS": errors]) { $1 }, input: input))
        let code = await lines.child.end()
        return Outcome(
            code: code, output: try await lines.toEnd(),
            errors: (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")
    }

    /// A program that goes on until the house is left.
    func start(_ program: String, _ arguments: [String]) throws -> Lines {
        let child = try Child(program, arguments, environment: environment, isQuiet: true)
        children.withLock { $0.append(child) }
        return Lines(child)
    }

    /// The daemon, ready; its log goes to ``log``.
    @discardableResult
    func daemon() async throws -> Child {
        let child = try Child(
            "/bin/sh", ["-c", "exec \"$0\" daemon 2>>\"$LOG\"", Child.built("dogear")],
            environment: environment.merging(["LOG": log]) { $1 })
        children.withLock { $0.append(child) }
        try await run("gdbus", ["wait", "--session", "--timeout", "\(30 * Sanitizer.patience)", ControlName.bus])
        return child
    }

    /// Ends the daemon that was started last, in the hard way.
    func kill() async throws {
        guard let child = children.withLock({ $0.last }) else { throw TestFailure("no daemon") }
        child.send(SIGKILL)
        _ = await child.end()
    }

    /// Asks playerctl, without the line's end.
    @discardableResult
    func playerctl(_ arguments: String...) async throws -> String {
        let outcome = try await run("playerctl", ["-p", "dogear"] + arguments)
        guard outcome.code == 0 else { throw TestFailure("playerctl \(arguments): \(outcome.errors)") }
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    func follow(_ arguments: String...) throws -> Lines {
        try start("playerctl", ["-p", "dogear"] + arguments + ["--follow"])
    }

    /// Asks as GNOME Shell's search does.
    func gnomeSearch(_ method: String, _ arguments: String...) async throws -> String {
        try await call("/org/dogear/Dogear/SearchProvider", "org.gnome.Shell.SearchProvider2.\(method)", arguments)
    }

    /// What KRunner is answered.
    func krunner(_ query: String) async throws -> String {
        try await call("/org/dogear/Dogear/KRunner", "org.kde.krunner1.Match", [query])
    }

    /// As a desktop does that passes every key on; playerctl does not.
    func press(_ key: String) async throws {
        _ = try await call("/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player.\(key)", [])
    }

    private func call(_ object: String, _ method: String, _ arguments: [String]) async throws -> String {
        let call = ["call", "--session", "-d", ControlName.bus, "-o", object, "-m", method]
        let outcome = try await run("gdbus", call + arguments)
        guard outcome.code == 0 else { throw TestFailure("\(method): \(outcome.errors)") }
        return outcome.output
    }

    // MARK: What is known

    func logIn() async throws {
        try await done("login", address, "--user", Self.user, "--password-stdin", input: Self.password + "\n")
    }

    /// Two users of one server are logged in here: ``user``, and bo.
    static func ofTwo(
        isolation: isolated (any Actor)? = #isolation, _ body: (House) async throws -> Void
    ) async throws {
        try await with { configuration in
            configuration.users.append(StandInUser(name: "bo", password: "pw-of-bo-1234"))
        } _: { house in
            try await house.daemon()
            try await house.logIn()
            try await house.done("login", house.address, "--user", "bo", "--password-stdin", input: "pw-of-bo-1234\n")
            try await body(house)
        }
    }

    /// Logged in, with a daemon that runs.
    static func signedIn(
        version: StandInVersion = .v236, extra: [String: String] = [:],
        configure: @Sendable (inout StandInConfiguration) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (House, Child) async throws -> Void
    ) async throws {
        try await with(version: version, extra: extra, configure: configure) { house in
            let daemon = try await house.daemon()
            try await house.logIn()
            try await body(house, daemon)
        }
    }

    func status() async throws -> StatusReport {
        try await report(StatusReport.self, "status")
    }

    /// What a command answers with `--json`.
    func report<Report: Decodable>(_ type: Report.Type, _ arguments: String...) async throws -> Report {
        let outcome = try await run(Child.built("dogear"), arguments + ["--json"])
        guard outcome.code == 0 else { throw TestFailure("dogear \(arguments): \(outcome)") }
        return try JSONDecoder().decode(type, from: Data(outcome.output.utf8))
    }

    /// The same, asked over the bus: a program for each of thousands of looks would keep the machine from all else.
    private func look() async throws -> StatusReport {
        guard let json = await asker.status() else { return try await status() }
        return try JSONDecoder().decode(StatusReport.self, from: Data(json.utf8))
    }

    /// The first status that fits.
    @discardableResult
    func status(_ what: String, _ fits: (StatusReport) -> Bool) async throws -> StatusReport {
        try await eventually("a status that is \(what)") {
            let status = try await look()
            return fits(status) ? status : nil
        }
    }

    /// The server's progress of an item, once it is what a test waits for.
    @discardableResult
    func progress(
        _ what: String, of item: String = Library.book, episode: String? = nil, _ fits: (StandInProgress) -> Bool
    ) async throws -> StandInProgress {
        try await eventually("progress that is \(what); there is \(server.progress(of: Self.user))") {
            server.progress(of: Self.user, item: item, episode: episode).flatMap { fits($0) ? $0 : nil }
        }
    }

    /// Seconds of listening the server knows of, over all sessions.
    var listened: Double { server.history(of: Self.user).reduce(0) { $0 + $1.timeListening } }
}

/// A port nobody listens on now, so that a server can be stopped and come back on the same one. Not among those that the
/// kernel gives to connections, and none that this was given before: somebody else might take it meanwhile.
func freePort() -> UInt16 {
    while true {
        let port = lastPort.withLock { port in
            port = port >= 31_999 ? 10_000 : port + 1
            return port
        }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in.loopback(port: port)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code == 0 { return port }
    }
}

private let lastPort = Locked(UInt16.random(in: 10_000..<32_000))

/// A connection of the test's own to the bus of a house.
@LoopActor private final class Asker {
    private let address: String
    private var bus: Bus?

    nonisolated init(_ address: String) { self.address = address }

    /// - Returns: nil where no daemon answers.
    func status() async -> String? {
        if bus == nil { bus = try? Bus(.at(address)) { [weak self] _ in self?.bus = nil } }
        let answer = try? await bus?.call(ControlName.bus, ControlName.path, ControlName.interface, "Status")
        return try? answer?.first?.string()
    }

    func leave() {
        bus?.close()
        bus = nil
    }
}
