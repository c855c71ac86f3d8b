internal import Control
internal import DBus
internal import EventLoop
internal import Folders
internal import SDBus

/// What the doctor sees of the computer: how the daemon is started, and what the disk has room for.
extension Service {
    // MARK: Activation

    /// The bus, or systemd through it, should start the daemon when something asks for it: a media key, the launcher.
    func activationChecks() async -> [Check] {
        let name = "activation"
        // Those have no files of their own, and commands start them.
        if profile != .usual { return [Check(name, .good, "commands start the daemon of a profile")] }
        var checks: [Check] = []
        do throws(BusError) {
            let names = try await ask("org.freedesktop.DBus", "/org/freedesktop/DBus", "ListActivatableNames")
            let isKnown = try names.first?.array().contains(.string(profile.bus)) ?? false
            checks.append(
                isKnown
                    ? Check(name, .good, "the bus starts \(profile.bus) when it is asked for")
                    : Check(
                        name, .warning,
                        "the bus does not know how to start \(profile.bus): only commands start it, not the launcher's search",
                        advice: "install dogear with packaging/install or its package; "
                            + "\(profile.bus).service belongs into ~/.local/share/dbus-1/services"))
        } catch { checks.append(Check(name, .warning, "the bus does not tell what it can start: \(error.message)")) }
        if let unit = await unitCheck() { checks.append(unit) }
        return checks
    }

    /// - Returns: nil where systemd does not look after the session.
    private func unitCheck() async -> Check? {
        let (name, unit) = ("systemd unit", "dogear.service")
        guard await bus.hasOwner("org.freedesktop.systemd1", timeout: Self.patience) else { return nil }
        do throws(BusError) {
            let state = try await ask(
                "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "GetUnitFileState", [.string(unit)],
                interface: "org.freedesktop.systemd1.Manager"
            ).first?.string()
            return state == "masked"
                ? Check(name, .warning, "\(unit) is masked", advice: "run 'systemctl --user unmask dogear'")
                : Check(name, .good, "\(unit) is \(state ?? "there")")
        } catch {
            return Check(
                name, .warning, "systemd knows no \(unit): \(error.message)",
                advice:
                    "install dogear with packaging/install or its package, then run 'systemctl --user daemon-reload'")
        }
    }

    /// Microseconds for an answer of what is on this computer.
    private static let patience: UInt64 = 5_000_000

    private func ask(
        _ destination: String, _ path: String, _ member: String, _ arguments: [Value] = [], interface: String? = nil
    ) async throws(BusError) -> [Value] {
        try await bus.call(destination, path, interface ?? destination, member, arguments, timeout: Self.patience)
    }

    // MARK: Disk

    /// Bytes below which there is no room, and below which there will soon be none.
    private static let (noRoom, littleRoom) = (Int64(10) << 20, Int64(200) << 20)

    func diskChecks() async -> [Check] {
        let folders = [
            ("places and listening", paths.state, Check.Outcome.bad),
            ("the index, covers and audio", paths.cache, .warning),
            ("the settings", paths.config, .warning),
        ]
        // Not on the Loop: a file system may be far away.
        let found = await Task.detached {
            folders.map { what, folder, worst in
                (what, folder, worst, Result { () throws(FolderError) in try Room.left(in: folder) })
            }
        }.value
        let checks = found.compactMap { what, folder, worst, room -> Check? in
            switch room {
            case .failure(let error):
                return Check("disk", worst, "\(what) cannot be kept: \(error)", advice: "mend the rights of \(folder)")
            case .success(..<Self.noRoom):
                return Check(
                    "disk", worst, "no room for \(what): \(folder) has \(Self.megabytes(room)) left",
                    advice: "free some space")
            case .success(..<Self.littleRoom):
                return Check(
                    "disk", .warning, "little room for \(what): \(folder) has \(Self.megabytes(room)) left",
                    advice: folder == paths.cache
                        ? "free some space, or keep less with 'dogear settings cache.audio-size'" : "free some space")
            case .success: return nil
            }
        }
        guard checks.isEmpty else { return checks }
        let least = found.compactMap { try? $0.3.get() }.min() ?? 0
        return [Check("disk", .good, "\(Self.megabytes(.success(least))) left, and all folders can be written")]
    }

    private static func megabytes(_ room: Result<Int64, FolderError>) -> String {
        let bytes = (try? room.get()) ?? 0
        return bytes >= 10 << 30 ? "\(bytes >> 30) GB" : "\(bytes >> 20) MB"
    }
}
