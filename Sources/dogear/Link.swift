import Control
import DBus
import Folders
import SDBus

/// The way to the daemon, which it starts when it does not run.
struct Link {
    let bus: BusClient
    private let peer: BusClient.Peer

    init() throws(ControlError) {
        peer = BusClient.Peer(name: try Profile.present.bus, path: ControlName.path, interface: ControlName.interface)
        do throws(BusError) {
            bus = try BusClient()
        } catch {
            throw ControlError(.failed, "\(error.message); log in to a desktop, or run: dbus-run-session -- bash")
        }
    }

    /// Asks one thing of the daemon.
    /// - Returns: the report, as JSON.
    func ask(_ member: String, _ arguments: Value..., within limit: Duration = .seconds(120)) throws -> String {
        do throws(BusError) {
            return try answer(member, arguments, limit)
        } catch {
            guard Self.isUnstartable(error) else { throw Self.sentence(error) }
        }
        try DaemonStarter(bus: bus, peer: peer).start()
        do throws(BusError) { return try report(member, arguments, limit) } catch { throw Self.sentence(error) }
    }

    /// Says what is waited for, until it is ended; nil where nobody watches.
    func waiting() -> Waiting? { Waiting.begin(peer) }

    /// Whether the daemon runs; never starts it.
    func isRunning() throws -> Bool {
        do throws(BusError) { return try bus.hasOwner(peer.name) } catch { throw Self.sentence(error) }
    }

    /// From now on ``next()`` tells what happens.
    func watch() throws {
        do throws(BusError) { try bus.watch(peer) } catch { throw Self.sentence(error) }
    }

    /// Waits for the next signal, or for the daemon to come or leave.
    func next() throws -> BusClient.Event {
        do throws(BusError) {
            while true { if let event = try bus.next() { return event } }
        } catch {
            throw Self.sentence(error)
        }
    }

    /// What changes nothing is asked once more of the daemon that takes the place of one that died meanwhile.
    private func answer(_ member: String, _ arguments: [Value], _ limit: Duration) throws(BusError) -> String {
        do throws(BusError) {
            return try report(member, arguments, limit)
        } catch {
            guard error.name == Self.noReply, ControlName.questions.contains(member) else { throw error }
        }
        return try report(member, arguments, limit)
    }

    private static let noReply = "org.freedesktop.DBus.Error.NoReply"

    private func report(_ member: String, _ arguments: [Value], _ limit: Duration) throws(BusError) -> String {
        let waiting = waiting()
        defer { waiting?.end() }
        let answer = try bus.call(member, of: peer, arguments, within: limit)
        guard let report = answer.first else { throw .failed("the daemon gave an empty answer") }
        return try report.string()
    }

    /// The bus knows no way to start the daemon: nothing is installed.
    static func isUnstartable(_ error: BusError) -> Bool {
        [
            "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Spawn.ServiceNotFound", "org.freedesktop.systemd1.NoSuchUnit",
        ].contains(error.name)
    }

    static func sentence(_ error: BusError) -> ControlError {
        if let own = ControlError(error) { return own }
        let name = error.name
        let problem =
            switch name {
            case noReply, "org.freedesktop.DBus.Error.Disconnected":
                "the daemon stopped before it answered; 'dogear logs' may tell why"
            case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut":
                "the daemon does not answer; 'dogear logs' may tell why"
            case "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownInterface",
                "org.freedesktop.DBus.Error.UnknownObject":
                "the running daemon is of another version and does not know this command; end it and try again"
            case "org.freedesktop.DBus.Error.InvalidArgs": error.message
            case BusClient.noBus: "\(error.message), and the daemon with it"
            case _
            where name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || name.hasPrefix("org.freedesktop.systemd1"):
                "the daemon could not be started: \(error.message); 'dogear logs' may tell why"
            default: error.message
            }
        return ControlError(name == "org.freedesktop.DBus.Error.InvalidArgs" ? .usage : .failed, problem)
    }
}

extension Profile {
    /// The one this program was asked to act on.
    static var present: Profile {
        get throws(ControlError) { try Profile(environment: [variable: dogear.environment(variable) ?? ""]) }
    }

    /// Where its files are.
    /// - Throws: where the environment names no home for them.
    var paths: Paths {
        get throws(FolderError) {
            let variables = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"]
            let known = variables.compactMap { name in dogear.environment(name).map { (name, $0) } }
            return try Paths(environment: Dictionary(uniqueKeysWithValues: known), own: folder)
        }
    }
}
