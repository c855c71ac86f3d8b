internal import Foundation

/// A D-Bus session bus of a test's own, in a home of its own, with a keyring or without: the real dbus-daemon and the
/// real gnome-keyring-daemon. Programs started with ``environment`` see nothing of the machine's session.
public final class PrivateBus: Sendable {
    public enum Keyring: Sendable {
        /// No program answers to `org.freedesktop.secrets`, and none can be started.
        case absent
        case unlocked
        /// There is a login keyring, and it is locked.
        case locked
        /// gnome-keyring runs, as it does without a desktop, but nobody has logged in to make a keyring.
        case neverUnlocked
    }

    /// As `DBUS_SESSION_BUS_ADDRESS` has it.
    public let address: String
    /// For programs on this bus: the address, `HOME`, `XDG_RUNTIME_DIR`, `PATH`, `LANG`.
    public let environment: [String: String]
    /// Everything the programs write is under it.
    public let home: String

    private let folder: TemporaryFolder
    private let daemon: Child
    private let keyring: Child?

    /// - Parameter services: bus names that the bus may start, with the command line of each; none unless given.
    public init(keyring: Keyring = .absent, services: [String: String] = [:]) async throws {
        folder = TemporaryFolder()
        home = "\(folder.path)/home"
        do {
            for name in ["home", "run", "services"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            for (name, command) in services {
                try "[D-BUS Service]\nName=\(name)\nExec=\(command)\n".write(
                    toFile: "\(folder.path)/services/\(name).service", atomically: true, encoding: .utf8)
            }
            try Self.configuration(folder.path).write(
                toFile: "\(folder.path)/bus.conf", atomically: true, encoding: .utf8)
            var environment = [
                "HOME": home, "XDG_RUNTIME_DIR": "\(folder.path)/run", "LANG": "C.UTF-8",
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.path)/run/bus",
                // Nobody listens there: the machine's own is not for tests.
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path)/run/system-bus",
            ]
            daemon = try Child(
                "dbus-daemon", ["--config-file=\(folder.path)/bus.conf", "--nofork", "--print-address=1"],
                environment: environment, isQuiet: true)
            guard let line = daemon.line() else { throw TestFailure("dbus-daemon does not start; is it installed?") }
            // Without the bus's own id: another may take its place.
            address = String(line.prefix { $0 != "," })
            environment["DBUS_SESSION_BUS_ADDRESS"] = address
            self.environment = environment
        } catch {
            folder.remove()
            throw error
        }
        do { self.keyring = try await Self.start(keyring, environment) } catch {
            daemon.send(SIGTERM)
            folder.remove()
            throw error
        }
    }

    /// Ends both programs and removes their folder.
    public func stop() async {
        for child in [keyring, daemon].compactMap(\.self) {
            child.send(SIGCONT)
            child.send(SIGTERM)
            _ = await child.end()
        }
        folder.remove()
    }

    /// Locks the login keyring, as a desktop does when it is left for long.
    public func lock() async throws { try await Self.lock(environment) }

    /// Ends the bus under everybody's feet.
    public func cut() { daemon.send(SIGKILL) }

    /// Another bus at the address of one that was cut; whoever asks for it ends it.
    public func revive() throws -> Child {
        let child = try Child(
            "dbus-daemon", ["--config-file=\(folder.path)/bus.conf", "--nofork", "--print-address=1"],
            environment: environment, isQuiet: true)
        guard child.line() != nil else { throw TestFailure("dbus-daemon does not start again") }
        return child
    }

    /// Stops the keyring in its tracks, so that nothing is answered any more.
    public func freezeKeyring() async throws { try await keyring?.freeze() }
    public func thawKeyring() { keyring?.send(SIGCONT) }

    private static func start(_ keyring: Keyring, _ environment: [String: String]) async throws -> Child? {
        if keyring == .absent { return nil }
        let child = try Child(
            "gnome-keyring-daemon",
            ["--foreground", "--components=secrets", keyring == .neverUnlocked ? "--start" : "--unlock"],
            environment: environment, input: keyring == .neverUnlocked ? "" : "password of the test", isQuiet: true)
        do {
            try await run("gdbus", ["wait", "--session", "--timeout", "10", "org.freedesktop.secrets"], environment)
            if keyring == .locked { try await lock(environment) }
        } catch {
            child.send(SIGTERM)
            throw error
        }
        return child
    }

    private static func lock(_ environment: [String: String]) async throws {
        try await run(
            "gdbus",
            [
                "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path", "/org/freedesktop/secrets",
                "--method", "org.freedesktop.Secret.Service.Lock", "['/org/freedesktop/secrets/collection/login']",
            ], environment)
    }

    private static func run(_ program: String, _ arguments: [String], _ environment: [String: String]) async throws {
        let code = await (try Child(program, arguments, environment: environment)).end()
        if code != 0 { throw TestFailure("\(program) \(arguments.first ?? "") ended with \(code)") }
    }

    private static func configuration(_ folder: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
            <type>session</type>
            <listen>unix:path=\(folder)/run/bus</listen>
            <auth>EXTERNAL</auth>
            <servicedir>\(folder)/services</servicedir>
            <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
            </policy>
        </busconfig>
        """
    }
}

/// Gives `body` a bus of its own and ends it afterwards.
public func withPrivateBus<Result>(
    keyring: PrivateBus.Keyring = .absent, services: [String: String] = [:],
    isolation: isolated (any Actor)? = #isolation, _ body: (PrivateBus) async throws -> Result
) async throws -> Result {
    let bus = try await PrivateBus(keyring: keyring, services: services)
    do {
        let result = try await body(bus)
        await bus.stop()
        return result
    } catch {
        await bus.stop()
        throw error
    }
}

public struct TestFailure: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
