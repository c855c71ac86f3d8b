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
                let delay = TransportStream.delay(of: start, against: .seconds(Double(segment * 6)), files: [])
                #expect(delay == start - .seconds(Double(segment * 6)))
                // It begins where a packet does: in Ogg these last for up to a second.
                #expect((-1.05...0.1).contains(start.seconds - place - Double(segment - number) * 6), "\(start)")
            }
        }
    }

    @Test func theServerCountsFromOneOfTheFiles() {
        let files = [100.0, 200, 50_000, 150_000].map { BookTime.seconds($0) }
        func delay(_ start: Double, _ grid: Double) -> Double {
            TransportStream.delay(of: .seconds(start), against: .seconds(grid), files: files).seconds
        }
        #expect(delay(63.5, 60) == 3.5 && delay(163.5, 60) == 0)
        #expect(delay(23.5, 120) == 3.5 && delay(123.5, 120) == 3.5 && delay(24, 222) == 2)
        // After 26 hours and a half the clock begins anew.
        let turn = Double(1 << 33) / 90_000
        #expect(abs(delay(140_004 - turn, 140_000) - 4) < 0.001 && abs(delay(4, 150_000) - 4) < 0.001)
        // Of another kind, or all but at its place.
        #expect(delay(70, 60) == 0 && delay(58, 60) == 0 && abs(delay(turn - 0.1, 0) + 0.1) < 0.001)
    }

    @Test func whatTellsNothingIsNoTime() throws {
        let bytes = try #require(try segments(from: 0, number: 0, "mp3").first).bytes
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
