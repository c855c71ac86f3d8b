internal import CSystemd
internal import Control
internal import EventLoop
internal import GStreamer
internal import Glibc
internal import Listening
internal import Store

/// `dogear doctor`: looks at everything a listener depends on, and says what to do about what is wrong.
extension Service {
    typealias Check = DoctorReport.Check

    func examine() async -> DoctorReport {
        var checks = [busCheck()] + (await activationChecks())
        checks += [mprisCheck(), await settingsCheck(), await journalCheck()]
        checks += await diskChecks()
        checks.append(await vaultCheck())
        checks += await soundChecks()
        checks += surroundings?.checks() ?? []
        if !shelves.hasAccounts {
            checks.append(
                Check("account", .warning, "not signed in to any server", advice: "run 'dogear login ADDRESS'"))
        }
        checks += await accountChecks()
        checks.append(live.check)
        checks.append(unsentCheck())
        return DoctorReport(checks: checks)
    }

    /// Of all accounts at once: one whose server does not answer holds nobody up.
    private func accountChecks() async -> [Check] {
        let asked = shelves.accounts.map { account in
            Task { @LoopActor in
                await self.inTime(within: .seconds(10)) { await self.shelves.checks(account) } ?? [
                    Check(
                        "account \(account.name)", .bad, "\(account.server) did not answer within 10 s",
                        advice: "check the network and the server")
                ]
            }
        }
        var checks: [Check] = []
        for task in asked { checks += await task.value }
        return checks
    }

    private func busCheck() -> Check { Check("session bus", .good, "connected, and \(profile.bus) is ours") }

    private func mprisCheck() -> Check {
        guard let item = player.item else { return Check("media keys", .good, "not asked for: nothing is loaded") }
        guard nameMPRIS != nil else {
            return Check("media keys", .bad, "the bus refused the name for them", advice: "see 'dogear logs'")
        }
        return Check("media keys", .good, "offered to the desktop as '\(item.title)'")
    }

    private func settingsCheck() async -> Check {
        let (problems, isInForce) = await settings.look()
        guard let first = problems.first else {
            guard !isInForce else { return Check("settings", .good, settings.path) }
            return Check(
                "settings", .warning, "\(settings.path) was changed by hand, and what it says does not hold yet",
                advice: "start dogear again; what 'dogear settings KEY VALUE' changes holds at once")
        }
        let more = problems.count > 1 ? ", and \(problems.count - 1) more" : ""
        return Check(
            "settings", .warning, "\(first)\(more)", advice: "correct \(settings.path), then start dogear again")
    }

    private func unkept(_ why: String) -> Check {
        Check("journal", .bad, why, advice: "your place is only in memory until this is mended")
    }

    private func journalCheck() async -> Check {
        do throws(StoreError) {
            try await store.flush()
        } catch {
            return unkept("\(error)")
        }
        if let trouble { return unkept(trouble) }
        if let notice { return Check("journal", .warning, notice, advice: "see 'dogear logs'") }
        return Check("journal", .good, paths.database)
    }

    private func vaultCheck() async -> Check {
        do throws(VaultError) {
            try await shelves.vault.check()
            return Check("keyring", .good, "the Secret Service keeps secrets")
        } catch {
            let advice =
                switch error {
                case .absent: "start a keyring, such as gnome-keyring"
                case .locked: "unlock the keyring"
                case .refused: "make a keyring the default, for example with Passwords and Keys (seahorse)"
                case .unusable: "install libsecret; Debian's package is libsecret-1-0"
                }
            return Check("keyring", shelves.hasAccounts ? .bad : .warning, "\(error)", advice: advice)
        }
    }

    private func soundChecks() async -> [Check] {
        let sink = settings.sink(environment)
        // Not on the Loop: a first look scans every plugin.
        let (missing, canPlay, canBoost) = await Task.detached {
            (GStreamerEngine.missing(), GStreamerEngine.canMake(sink: sink), GStreamerEngine.canBoost)
        }.value
        let decoders =
            missing.isEmpty
            ? Check("decoders", .good, "m4b, mp3, opus, ogg and flac can be played")
            : Check(
                "decoders", .bad, "missing: \(missing.map(\.what).joined(separator: ", "))",
                advice: "sudo apt install \(Set(missing.map(\.package)).sorted().joined(separator: " "))")
        let output = await outputCheck(sink, canBeMade: canPlay)
        guard settings.boost > 0, !canBoost else { return [decoders, output] }
        let louder = Check(
            "volume boost", .warning, "playback.boost is set, but the element rglimiter is missing: nothing is louder",
            advice: "sudo apt install gstreamer1.0-plugins-good")
        return [decoders, output, louder]
    }

    private func outputCheck(_ sink: String, canBeMade: Bool) async -> Check {
        let name = "sound output"
        guard canBeMade else {
            return Check(
                name, .bad, "'\(sink)' cannot be made",
                advice: "set audio.sink to a GStreamer element, or to nothing for the automatic choice")
        }
        // What is heard is proof, and is left in peace.
        if player.isSounding { return Check(name, .good, "\(sink), and it plays") }
        let mayHaveIt = player.phase != .empty && player.phase != .stopped
        let trial = await inTime(within: Self.outputLimit) { await GStreamerEngine.tryOut(sink: sink) }
        switch trial {
        case .opened: return Check(name, .good, "\(sink), and it opens")
        case .needless: return Check(name, .good, sink)
        case .busy where mayHaveIt: return Check(name, .good, "\(sink), and what is loaded has it")
        case .busy:
            return Check(
                name, .bad, "'\(sink)' is in use by another program",
                advice: "end what plays there, or set audio.sink to a sound server")
        case .withoutDevice:
            return Check(
                name, .bad, "'\(sink)' has no device to play on",
                advice: "connect one, or enable one in the sound settings")
        case .failed(let reason):
            return Check(name, .bad, "'\(sink)' does not open: \(reason)", advice: Self.advice(sink))
        case nil:
            return Check(
                name, .bad, "'\(sink)' did not answer within \(Int(Self.outputLimit.seconds)) s",
                advice: Self.advice(sink))
        }
    }

    private static let outputLimit = BookTime.seconds(5)

    /// What to do about one that does not open.
    private static func advice(_ sink: String) -> String {
        guard ["autoaudiosink", "pulsesink", "pipewiresink"].contains(where: sink.contains) else {
            return "set audio.sink to an element that opens, or to nothing for the automatic choice"
        }
        return "restart the sound server: run 'systemctl --user restart pipewire-pulse', or pulseaudio in its place"
    }

    private func unsentCheck() -> Check {
        let name = "not sent"
        if sync.parked > 0 {
            return Check(
                name, .warning, "\(sync.parked) refused by a server for good",
                advice: "'dogear sync' tells why; 'dogear sync --retry' sends once more, '--forget' gives one up")
        }
        guard sync.overdue == 0 else {
            return Check(name, .warning, "\(sync.overdue) waiting for a server", advice: "sent when it answers")
        }
        return Check(name, .good, "nothing waits for a server")
    }
}
