import EventLoop
import Listening
import TestSupport
import Testing

@testable import GStreamer

@Suite struct RateTests {
    @Test(arguments: [0.5, 1.5, 3.0]) func aRateKeepsThePitchAndThePlace(_ rate: Double) async throws {
        let path = try Sounds.tone("rate.m4b", seconds: 30)
        let rig = Rig("rate-\(rate)")
        _ = try await rig.open(files([path], seconds: 30), at: .seconds(5))
        rig.engine.seek(rig.load, to: .seconds(9))
        #expect(try await rig.word() == .seeked(to: .seconds(9)))
        rig.engine.setRate(rig.load, rate)
        try await rig.play(until: .seconds(9 + 1.2 * rate), hearing: 1)
        #expect(rig.reports.all.count == 2 && rig.reports.wentOn == 1)
        let heard = try rig.heard
        // The place does not jump, one second of listening is `rate` seconds of book, each at its own pitch.
        for time in [0.2, 0.5, 0.9] {
            let original = try #require(heard.original(at: time, window: 0.1))
            #expect(abs(original - 9 - rate * time) < 0.05 + 0.03 * rate, "at \(time)")
        }
    }

    @Test func bookTimePassesAtTheRate() async throws {
        let path = try Sounds.tone("rate.m4b", seconds: 30)
        let rig = Rig("ratio")
        _ = try await rig.open(files([path], seconds: 30), at: .seconds(2), rate: 1.5)
        func moment(after place: Double) async throws -> (wall: Double, book: Double) {
            while let position = rig.engine.position(rig.load) {
                let wall = Clock.now.monotonic
                if position.seconds > place { return (Double(wall) / 1_000_000, position.seconds) }
                try await Task.sleep(for: .milliseconds(5))
            }
            throw Reports.Silence()
        }
        // Whoever is busy with other things hears too little for a while, and a machine that stood still may find it at its
        // end.
        var nearest = 0.0
        for round in 0..<5 where abs(nearest - 1.5) >= 0.1 {
            if round > 0 {
                rig.engine.seek(rig.load, to: .seconds(2))
                #expect(try await rig.answer() == .seeked(to: .seconds(2)))
            }
            rig.engine.play(rig.load)
            for place in stride(from: 2.5, to: 26, by: 3) where abs(nearest - 1.5) >= 0.1 {
                let first = try await moment(after: place)
                let last = try await moment(after: place + 2.5)
                let ratio = (last.book - first.book) / (last.wall - first.wall)
                if abs(ratio - 1.5) < abs(nearest - 1.5) { nearest = ratio }
            }
        }
        #expect(abs(nearest - 1.5) < 0.1)
    }

    /// scaletempo counts on what it held of the file before, which may have had larger samples.
    @Test(arguments: [0.0, 6]) func filesOfAnotherFormat(boost: Double) async throws {
        let stereo = try Sounds.tone("rate-stereo.mp3", seconds: 20, options: ["-ac", "2", "-ar", "48000"])
        let mono = try Sounds.tone("rate-mono.mp3", seconds: 20, options: ["-ac", "1", "-ar", "22050"])
        let rig = Rig("rate-formats-\(boost)")
        rig.engine.setSound(SoundOptions(boost: boost))
        _ = try await rig.open(files([stereo, mono], seconds: 20), rate: 1.5)
        for place in [2.0, 22, 3, 23, 4, 24] {
            rig.engine.seek(rig.load, to: .seconds(place))
            #expect(try await rig.answer() == .seeked(to: .seconds(place)))
            try await rig.play(until: .seconds(place + 0.5))
        }
    }

    @Test func theVolumeIsAMixersAndSurvivesALoad() async throws {
        let path = try Sounds.tone("rate.m4b", seconds: 30)
        let rig = Rig("volume")
        /// The strength of the wave from a tenth of a second on: its mean square.
        func power() throws -> Float {
            let samples = try rig.heard.samples.dropFirst(4800).prefix(4800)
            return samples.map { $0 * $0 }.reduce(0, +) / Float(max(1, samples.count))
        }
        func power(seekingTo place: Double) async throws -> Float {
            rig.engine.seek(rig.load, to: .seconds(place))
            #expect(try await rig.word() == .seeked(to: .seconds(place)))
            try await rig.play(until: .seconds(place + 0.4))
            return try power()
        }
        rig.engine.load(rig.load, tracks: files([path], seconds: 30), at: .seconds(2), rate: 1, volume: 0.5)
        #expect(try await rig.word() == .ready(at: .seconds(2)))
        let half = try await power(seekingTo: 5)
        rig.engine.setVolume(1)
        let full = try await power(seekingTo: 5)
        rig.engine.setVolume(0.8)
        let most = try await power(seekingTo: 5)
        // The square of the cube.
        #expect(abs(half / full - 0.0156) < 0.002)
        #expect(abs(most / full - 0.262) < 0.02)
    }
}
