import Foundation
import StandIn
import TestSupport
import Testing

/// Speeds and the volume, which are kept.
@Suite struct KeptSoundTests {
    @Test func theVolumeOutlivesTheDaemon() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook")
            try await house.done("volume", "40%")
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            try await house.daemon()
            #expect(try await house.status().volume == 0.4)
            #expect(try await house.playerctl("volume") == "0.400000")
            try await house.playerctl("volume", "0.7")
            try await house.done("pause")
            try await house.kill()
            try await house.daemon()
            #expect(try await house.status().volume == 0.7)
        }
    }

    /// Two books of a series, and two episodes of a podcast.
    private static let series: @Sendable (inout StandInConfiguration) -> Void = { configuration in
        configuration.libraries[0].items = StandInItems(
            configuration.libraries[0].items.map { item in
                var item = item
                item.series = [StandInItem.Series(name: "The Sea", sequence: nil)]
                return item
            })
        configuration.libraries[1].items = StandInItems(
            configuration.libraries[1].items.map { item in
                var item = item
                if var second = item.podcast?.episodes.first {
                    second.id = "11111111-0000-4000-8000-0000000000bb"
                    second.title = "Ripples"
                    item.podcast?.episodes.append(second)
                }
                return item
            })
    }

    @Test func aSpeedHoldsForTheSeries() async throws {
        try await House.signedIn(configure: Self.series) { house, daemon in
            try await house.done("settings", "playback.rate", "1.1")
            try await house.done("play", "tidebook")
            #expect(try await house.done("speed") == "1.1×, from the settings (playback.rate)\n")
            #expect(try await house.done("speed", "1.5") == "1.5×\n")
            #expect(try await house.done("speed") == "1.5×, chosen for this item\n")
            try await house.done("play", "three rooms")
            #expect(try await house.done("speed") == "1.5×, chosen for its series\n")
            try await house.done("speed", "2")
            // One of its own goes before the one chosen last.
            try await house.done("play", "tidebook")
            #expect(try await house.done("speed") == "1.5×, chosen for this item\n")
            try await house.done("play", "echoes")
            #expect(try await house.status().rateOf == "default")
            try await house.playerctl("pause")
            try await house.done("speed", "1.8")
            try await house.done("play", "ripples")
            #expect(try await house.done("speed") == "1.8×, chosen for its podcast\n")
            #expect(try await house.done("speed", "default") == "1.1×, from the settings (playback.rate)\n")
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            try await house.daemon()
            #expect(try await house.done("speed") == "1.1×, from the settings (playback.rate)\n")
            try await house.done("play", "echoes")
            #expect(try await house.done("speed") == "1.8×, chosen for this item\n")
        }
    }
}
