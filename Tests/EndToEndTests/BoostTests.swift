import Foundation
import TestSupport
import Testing

/// What is done to the sound by setting.
@Suite struct BoostTests {
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
}
