import Listening
import TestSupport
import Testing

@testable import GStreamer

/// Silences are cut short, and the place is right all the same: the pitch tells what is heard.
@Suite struct SilencesTests {
    /// A tone that is silent from 3 to 6 s, and from 8 to 8.3 s.
    private func spoken(_ name: String) throws -> String {
        try Sounds.tone(
            name, seconds: 20, options: ["-af", "volume=0:enable='between(t,3,6)+between(t,8,8.3)'"])
    }

    /// The next that is said beside that something was left out.
    private func word(_ rig: Rig) async throws -> EngineReport.Word {
        while true {
            let word = try await rig.word()
            if word != .skipped { return word }
        }
    }

    @Test(arguments: ["flac", "mp3", "m4b", "opus"], [1.0, 1.5])
    func onlyTheEdgesOfASilenceAreHeard(_ ending: String, rate: Double) async throws {
        let rig = Rig("silence-\(ending)-\(rate)")
        rig.engine.setSound(SoundOptions(skipsSilence: true))
        _ = try await rig.open(files([try spoken("spoken.\(ending)")], seconds: 20), at: .seconds(2), rate: rate)
        let moments = try await rig.play(until: .seconds(9), hearing: 5 / rate)
        let heard = try rig.heard
        #expect(abs(try #require(heard.original(at: 0.5 / rate)) - 2.5) < 0.1)
        // 0.25 s of it at its beginning, 0.15 s at its end, and what the size of a buffer makes of that.
        let silence = try #require(
            stride(from: 1.15 / rate, to: heard.seconds - 0.1, by: 0.01).first {
                heard.original(at: $0, window: 0.02).map { $0 > 5.5 } ?? false
            })
        #expect((1.15...1.85).contains(silence * rate), "\(silence * rate)")
        // From there on everything is heard, the short one too.
        for ahead in [0.5, 1.5, 2.6] {
            let original = try #require(heard.original(at: silence + ahead / rate), "silence at \(ahead)")
            #expect(abs(original - 6 - ahead) < 0.12, "\(original) at \(ahead)")
        }
        #expect(heard.strength(from: silence + 2.1 / rate, to: silence + 2.2 / rate) < 0.05)
        // And the place is that of what is heard.
        #expect(moments.gap(from: silence + 0.5 / rate) { 6 + ($0 - silence) * rate } < 0.15)
        try await until("the jump") { rig.reports.all.contains { $0.word == .skipped } }
        #expect(rig.reports.all.filter { $0.word == .skipped }.count == 1)
    }

    @Test func aSilentEndIsFollowedByTheNextFile() async throws {
        let first = try Sounds.tone("quiet-end.flac", seconds: 6, options: ["-af", "volume=0:enable='gte(t,3)'"])
        let second = try Sounds.tone("after-quiet.flac", seconds: 6, offset: 6)
        let rig = Rig("silent-end")
        rig.engine.setSound(SoundOptions(skipsSilence: true))
        _ = try await rig.open(files([first, second], seconds: 6), at: .seconds(2))
        let moments = try await rig.play(until: .seconds(8), hearing: 3)
        let original = try #require(try rig.heard.original(at: 2.4))
        #expect((6.4...7.2).contains(original), "\(original)")
        #expect(moments.gap(from: 2.4) { original + $0 - 2.4 } < 0.15)
        // Back in the first: nothing is left of what was left out.
        rig.engine.seek(rig.load, to: .seconds(1))
        #expect(try await rig.answer() == .seeked(to: .second))
        try await rig.play(until: .seconds(2), hearing: 0.6)
        #expect(abs(try #require(try rig.heard.original(at: 0.5)) - 1.5) < 0.05)
    }

    /// Opening another file while a silence is kept back: what was kept belongs to nobody then.
    @Test func seeksOutOfASilenceLeaveNothingOfIt() async throws {
        let quiet = try Sounds.tone("quiet-end.flac", seconds: 6, options: ["-af", "volume=0:enable='gte(t,3)'"])
        let rig = Rig("out-of-silence")
        rig.engine.setSound(SoundOptions(skipsSilence: true))
        _ = try await rig.open(files([quiet, quiet, quiet], seconds: 6), at: .seconds(2))
        rig.engine.play(rig.load)
        for place in [9.4, 3.5, 15.3, 10.5, 4.6, 16.2, 3.4, 13.0] {
            rig.engine.seek(rig.load, to: .seconds(place))
            #expect(try await rig.answer() == .seeked(to: .seconds(place)))
        }
        try await rig.play(until: .seconds(13.5), hearing: 0.4)
        #expect(abs(try #require(try rig.heard.original(at: 0.2)) - 1.2) < 0.05)
    }

    @Test func aSilenceUpToTheEndIsTheEnd() async throws {
        let path = try Sounds.tone("all-quiet.mp3", seconds: 60, options: ["-af", "volume=0:enable='gte(t,2)'"])
        let rig = Rig("all-quiet")
        rig.engine.setSound(SoundOptions(skipsSilence: true))
        _ = try await rig.open(files([path], seconds: 60), at: .second)
        let begun = ContinuousClock.now
        rig.engine.play(rig.load)
        #expect(try await word(rig) == .ended)
        #expect(ContinuousClock.now - begun < .seconds(30), "a minute of silence was not waited for")
        #expect(rig.engine.position(rig.load) == .seconds(60))
    }

    /// A seek into a silence lands there, and goes on from there.
    @Test func aSeekIntoASilence() async throws {
        let rig = Rig("into-silence")
        rig.engine.setSound(SoundOptions(skipsSilence: true))
        _ = try await rig.open(files([try spoken("spoken.m4b")], seconds: 20))
        rig.engine.seek(rig.load, to: .seconds(4))
        #expect(try await rig.word() == .seeked(to: .seconds(4)))
        #expect(rig.engine.position(rig.load) == .seconds(4))
        let moments = try await rig.play(until: .seconds(7), hearing: 1.4)
        #expect(moments.gap(from: 0.8) { 6 + $0 - 0.4 } < 0.3)
        let original = try #require(try rig.heard.original(at: 1))
        #expect(moments.gap(from: 1) { original + $0 - 1 } < 0.2, "\(original) at 1")
    }

    @Test func withoutTheSettingEverythingIsHeard() async throws {
        let rig = Rig("with-silence")
        _ = try await rig.open(files([try spoken("spoken.flac")], seconds: 20), at: .seconds(2.5))
        try await rig.play(until: .seconds(7), hearing: 4.1)
        #expect(abs(try #require(try rig.heard.original(at: 4)) - 6.5) < 0.05)
        _ = try await rig.still()
        // And with it, switched on in between, its edges alone.
        rig.engine.setSound(SoundOptions(skipsSilence: true))
        rig.engine.seek(rig.load, to: .seconds(2.5))
        // A machine that stood still may have had something to say before.
        while try await rig.word() != .seeked(to: .seconds(2.5)) {}
        let moments = try await rig.play(until: .seconds(7), hearing: 1.9)
        #expect(moments.gap(from: 1.2) { 6 + $0 - 0.5 - 0.4 } < 0.3)
    }
}
