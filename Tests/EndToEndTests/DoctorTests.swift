import Control
import DBus
import EventLoop
import Foundation
import Listening
import SDBus
import StandIn
import TestSupport
import Testing

/// What the doctor finds wrong, each thing broken for real, and that it says what to do.
@Suite struct DoctorTests {
    private func checks(_ house: House) async throws -> [String: DoctorReport.Check] {
        let json = try await house.dogear("doctor", "--json").output
        let checks = try JSONDecoder().decode(DoctorReport.self, from: Data(json.utf8)).checks
        return Dictionary(checks.map { ($0.name, $0) }) { first, _ in first }
    }

    private func account(_ house: House) -> String {
        "\(House.user)@\(house.address.split(separator: "/").dropFirst().first ?? "")"
    }

    @Test func wellEverythingIsNamed() async throws {
        try await House.signedIn { house, _ in
            let found = try await checks(house)
            let name = account(house)
            for wanted in [
                "session bus", "media keys", "settings", "journal", "disk", "keyring", "decoders", "sound output",
                "account \(name)", "encryption \(name)", "clock \(name)", "not sent",
            ] {
                #expect(found[wanted]?.outcome == .good && found[wanted]?.advice == nil, "\(wanted): \(found)")
            }
            // The bus of the test can start nothing.
            #expect(
                found["activation"]?.outcome == .warning && found["activation"]?.advice?.contains("install") == true)
            #expect(found["systemd unit"] == nil)
            try await house.done("doctor")
        }
    }

    @Test func aBusThatCanStartTheDaemonIsFound() async throws {
        try await House.with(activation: true) { house in
            let check = try await checks(house)["activation"]
            #expect(check?.outcome == .good, "\(String(describing: check))")
        }
    }

    @Test @LoopActor func aMissingUnitIsFoundWhereSystemdIs() async throws {
        try await House.with { house in
            try await house.daemon()
            let address = try #require(house.environment["DBUS_SESSION_BUS_ADDRESS"])
            let systemd = try Bus(.at(address)) { _ in }
            defer { systemd.close() }
            #expect(try systemd.own("org.freedesktop.systemd1"))
            let check = try await checks(house)["systemd unit"]
            #expect(check?.outcome == .warning && check?.advice?.contains("daemon-reload") == true)
        }
    }

    @Test func aServerThatIsGoneAndALoginThatIsOverAreFound() async throws {
        try await House.signedIn(extra: House.hasty) { house, daemon in
            await house.server.stop()
            let gone = try await checks(house)["account \(account(house))"]
            #expect(gone?.outcome == .bad && gone?.advice == "check the network and the server")
            #expect(try await house.dogear("doctor").code == 1)
        }
        try await House.signedIn { house, daemon in
            house.server.expireAccessTokens()
            house.server.revokeRefreshTokens()
            let over = try await checks(house)["account \(account(house))"]
            #expect(
                over?.outcome == .bad && over?.advice?.hasPrefix("run 'dogear login ") == true,
                "\(String(describing: over))")
        }
    }

    @Test func aClockThatIsWrongIsFound() async throws {
        let clock = StandInClock()
        clock.advance(seconds: 600)
        try await House.signedIn(
            configure: { $0.clock = clock },
            { house, _ in
                let clock = try await checks(house)["clock \(account(house))"]
                #expect(clock?.outcome == .warning && clock?.advice?.contains("timedatectl") == true)
            })
    }

    @Test(arguments: [PrivateBus.Keyring.absent, .locked, .neverUnlocked])
    func aKeyringThatDoesNotHelpIsFound(_ keyring: PrivateBus.Keyring) async throws {
        try await House.with(keyring: keyring) { house in
            try await house.daemon()
            let found = try await checks(house)
            let check = found["keyring"]
            #expect(check?.outcome == .warning && check?.advice != nil, "\(found)")
        }
    }

    @Test func aSinkThatCannotBeMadeIsFound() async throws {
        try await House.with(extra: ["DOGEAR_AUDIO_SINK": "nosuchsink"]) { house in
            try await house.daemon()
            let outcome = try await house.dogear("doctor")
            #expect(outcome.code == 1 && outcome.output.contains("✗ sound output: 'nosuchsink' cannot be made"))
        }
    }

    @Test(arguments: ["autoaudiosink", "pulsesink"]) func aSoundServerThatIsNotThereIsFound(sink: String) async throws {
        try await House.with(extra: ["DOGEAR_AUDIO_SINK": sink, "PULSE_SERVER": "unix:HOME_/none"]) { house in
            try await house.daemon()
            let outcome = try await house.dogear("doctor")
            #expect(outcome.code == 1 && outcome.output.contains("✗ sound output: '\(sink)' does not open: "))
            #expect(outcome.output.contains("restart the sound server"))
        }
    }

    @Test func aSoundServerThatDoesNotAnswerIsFound() async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let server = try MuteServer(at: "unix:\(folder.path)/native")
        defer { server.stop() }
        let extra = ["DOGEAR_AUDIO_SINK": "autoaudiosink", "PULSE_SERVER": "unix:\(folder.path)/native"]
        try await House.with(extra: extra) { house in
            try await house.daemon()
            async let asked = house.dogear("doctor")
            try await eventually("somebody who asks") { server.count > 0 ? true : nil }
            // It is not the daemon that waits.
            try await house.done("status")
            let outcome = try await asked
            #expect(outcome.code == 1 && outcome.output.contains("✗ sound output: 'autoaudiosink' did not answer"))
            #expect(outcome.output.contains("restart the sound server"))
        }
    }

    /// Opened, it would be empty.
    @Test func aFileThatSoundGoesIntoIsLeftAlone() async throws {
        try await House.with(extra: ["DOGEAR_AUDIO_SINK": "filesink location=HOME_/kept.raw"]) { house in
            try await house.daemon()
            let file = "\(house.home)/kept.raw"
            try Sounds.write(Array("as it was".utf8), to: file)
            #expect(try await checks(house)["sound output"]?.outcome == .good)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "as it was")
        }
    }

    @Test func decodersThatAreMissingAreFound() async throws {
        let none = [
            "GST_PLUGIN_SYSTEM_PATH_1_0": "HOME_", "GST_PLUGIN_PATH_1_0": "HOME_", "GST_REGISTRY": "HOME_/registry",
        ]
        try await House.with(extra: none) { house in
            try await house.daemon()
            let outcome = try await house.dogear("doctor")
            #expect(outcome.code == 1 && outcome.output.contains("✗ decoders: missing: "))
            #expect(outcome.output.contains("sudo apt install "))
        }
    }

    @Test func whatTheServerHasNotGotIsFound() async throws {
        try await House.signedIn(extra: House.hasty) { house, _ in
            try await house.done("play", "tidebook")
            await house.server.stop()
            try await house.dogear("finish")
            let check = try await checks(house)["not sent"]
            #expect(check?.outcome == .warning && check?.finding.hasSuffix("waiting for a server") == true)
        }
    }
}
