import Listening
import TestSupport
import Testing

@testable import Framing

@Suite struct TransportStreamTests {
    /// What a server makes of a minute from a place on.
    /// - Returns: each with the time in the minute with which its sound begins, told by its pitch.
    private func segments(
        from place: Double, number: Int, _ format: String
    ) throws -> [(number: Int, bytes: [UInt8], heard: Double)] {
        let folder = "\(Sounds.folder)/segments-\(format)-\(number)"
        try Sounds.transcode(
            [try Sounds.tone("segments.\(format)", seconds: 60)], seconds: 60, from: place, as: number, to: folder)
        return try (number..<(number + Int((60 - place) / 6))).map { segment in
            let name = "\(folder)/output-\(segment)"
            try Sounds.run([
                "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", "\(name).ts", "-ac", "1", "-ar", "48000", "-f",
                "f32le", "\(name).raw",
            ])
            let heard = try #require(try Recording("\(name).raw").original(at: 1))
            return (segment, try Sounds.read("\(name).ts"), heard - 1)
        }
    }

    @Test(arguments: ["mp3", "flac", "opus", "m4b"]) func aSegmentTellsWhenItBegins(_ format: String) throws {
        for (place, number) in [(0.0, 0), (16, 2), (23.4, 3)] {
            for (segment, bytes, heard) in try segments(from: place, number: number, format) {
                let start = try #require(TransportStream.start(of: Array(bytes.prefix(3008))))
                #expect(abs(start.seconds - heard) < 0.1, "\(format) \(segment): \(start), \(heard)")
                let delay = TransportStream.delay(
                    of: start, against: .seconds(Double(segment * 6)), files: [], expected: .zero)
                #expect(delay == start - .seconds(Double(segment * 6)))
                // It begins where a packet does: in Ogg these last for up to a second.
                #expect((-1.05...0.1).contains(start.seconds - place - Double(segment - number) * 6), "\(start)")
            }
        }
    }

    @Test func theServerCountsFromOneOfTheFiles() {
        func delay(_ start: Double, _ grid: Double, expected: Double = 3.5, files: [Double] = [100, 200]) -> Double {
            TransportStream.delay(
                of: .seconds(start), against: .seconds(grid), files: files.map { .seconds($0) },
                expected: .seconds(expected)
            ).seconds
        }
        #expect(delay(63.5, 60) == 3.5 && delay(163.5, 60) == 0)
        #expect(delay(23.5, 120) == 3.5 && delay(123.5, 120) == 3.5 && delay(24, 222) == 2)
        // Behind a word of four seconds, and after the server has begun anew.
        #expect(
            delay(36.44, 36, expected: 4.5, files: [4]) == 4.44 && delay(37.95, 42, expected: 4.5, files: [4]) == -0.05)
        // After 26 hours and a half the clock begins anew.
        let turn = Double(1 << 33) / 90_000
        #expect(abs(delay(140_004 - turn, 140_000, expected: 4) - 4) < 0.001)
        #expect(abs(delay(4, 150_000, expected: 4, files: [50_000, 150_000]) - 4) < 0.001)
        // Of another kind, or all but at its place, or where a packet lasts for five seconds.
        #expect(delay(70, 60) == 0 && delay(50, 60) == 0 && abs(delay(turn - 0.1, 0) + 0.1) < 0.001)
        #expect(delay(19.99, 24, expected: 0) == -4.01)
    }

    @Test func whatTellsNothingIsNoTime() throws {
        let bytes = try #require(try segments(from: 6, number: 1, "mp3").first).bytes
        #expect(TransportStream.start(of: []) == nil && TransportStream.start(of: Array(bytes.prefix(188))) == nil)
        #expect(TransportStream.start(of: Array("ID3".utf8) + bytes) == nil)
        for length in 0..<1504 { _ = TransportStream.start(of: Array(bytes.prefix(length))) }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var broken = Array(bytes.prefix(1504))
            for _ in 0..<8 {
                broken[Int.random(in: 0..<1504, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if let start = TransportStream.start(of: broken) { #expect((0...95_444).contains(start.seconds)) }
        }
    }
}
