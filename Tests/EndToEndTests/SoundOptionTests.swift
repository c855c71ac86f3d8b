import Control
import Foundation
import TestSupport
import Testing

/// What is done to the sound by setting.
@Suite struct SoundOptionTests {
    @Test func aBoostActsAtOnce() async throws {
        let path = "\(Sounds.folder)/louder.raw"
        try await House.with(extra: ["DOGEAR_AUDIO_SINK": Recording.sink(path)]) { house in
            try await house.daemon()
            try await house.logIn()
            try await house.done("play", "tidebook")
            func loud(_ range: ClosedRange<Double>) async throws {
                try await eventually("sound as loud as \(range)") {
                    let heard = try Recording(path)
                    return range.contains(heard.strength(from: heard.seconds - 0.1, to: heard.seconds)) ? true : nil
                }
            }
            try await loud(0.48...0.52)
            try await house.done("settings", "playback.boost", "12")
            try await loud(0.9...1.4)
            try await house.done("settings", "playback.boost", "0")
            try await loud(0.48...0.52)
            #expect(try Recording(path).peak(from: 0, to: 1000) < 1)
            let wrong = try await house.dogear("settings", "playback.boost", "13")
            #expect(wrong.code == 64 && wrong.errors.contains("0 to 12 decibels"), "\(wrong)")
            #expect(!(try await house.dogear("doctor").output.contains("boost")))
        }
    }

    /// Whoever follows signals alone is told where the place has gone to.
    @Test func aSilenceIsLeftOutAndToldOf() async throws {
        try await House.with(keyring: .absent) { house in
            try await house.daemon()
            let path = try Sounds.tone(
                "e2e/pause.flac", seconds: 60, options: ["-af", "volume=0:enable='between(t,2,50)'"])
            try await house.done("settings", "playback.skip-silence", "on")
            let monitor = try await Monitor(house)
            try await house.done("play", path)
            let begun = ContinuousClock.now
            try await house.status("behind the silence") { $0.position > 51 }
            #expect(ContinuousClock.now - begun < .seconds(40), "it was not waited for")
            let start = try await monitor.mark()
            let seeked = monitor.messages().last { $0.field("member") == "Seeked" }
            let place = try #require(seeked?.arguments.first as? Int)
            #expect((49_500_000...50_500_000).contains(place), "\(place)")
            // The time that was left out was not listened to.
            try await house.done("pause")
            let history = try await house.report(HistoryReport.self, "history")
            #expect(history.rows.count == 1 && history.rows[0].listened < 40, "\(history)")
            #expect(try await monitor.mark() > start)
        }
    }
}
