import Listening
import TestSupport
import Testing

@testable import GStreamer

/// What is done to the strength of the sound beside the volume.
@Suite struct LoudnessTests {
    /// Hears on until something holds of what was heard.
    private func hear(_ rig: Rig, until fits: (Recording) -> Bool) async throws -> Recording {
        try await eventually("sound that fits", every: .milliseconds(20)) {
            let heard = try rig.heard
            return fits(heard) ? heard : nil
        }
    }

    private func last(_ heard: Recording) -> Double { heard.strength(from: heard.seconds - 0.1, to: heard.seconds) }

    /// - Parameter ahead: seconds of sound that lie in the sink before they are heard, as sound servers like it.
    private func rig(_ name: String, ahead: Int) -> Rig {
        let queue = "queue max-size-time=\(ahead)000000000 max-size-buffers=0 max-size-bytes=0 ! "
        return Rig(name, sink: (ahead > 0 ? queue : "") + Recording.sink("\(Sounds.folder)/\(name).raw"))
    }

    /// The orders for other items were given with the volume from before that.
    @Test func aMixerThatWasJustHeardOfIsFollowedByTheNextItem() async throws {
        let sound = SoundServer()
        try await sound.start(devices: ["speakers"])
        let rig = Rig("mixed", sink: "pulsesink server=\(sound.address)")
        let book = files([try Sounds.tone("fade.flac", seconds: 60)], seconds: 60)
        _ = try await rig.open(book)
        rig.engine.play(rig.load)
        // At first a volume might be the server's, and ours is said again.
        try await until("news of the mixer", every: .milliseconds(50)) {
            try await sound.setVolume(0.25)
            return rig.reports.all.contains { if case .volume = $0.word { true } else { false } }
        }
        // The second of them, too, which the first opened with it.
        for next in [LoadID(number: 2), LoadID(number: 3)] {
            rig.engine.load(next, tracks: book, at: .zero, rate: 1, volume: 1)
            guard case .ready = try await rig.reports.nextWord(next) else { throw TestFailure("it was not opened") }
        }
        rig.engine.play(LoadID(number: 3))
        try await until("the stream") { try await sound.streams().contains { abs($0.volume - 0.25) < 0.005 } }
        // What the listener sets after that counts, however soon the next order comes.
        let last = LoadID(number: 4)
        rig.engine.setVolume(0.5)
        rig.engine.load(last, tracks: book, at: .zero, rate: 1, volume: 0.5)
        guard case .ready = try await rig.reports.nextWord(last) else { throw TestFailure("it was not opened") }
        rig.engine.play(last)
        try await until("its stream") { try await sound.streams().contains { abs($0.volume - 0.5) < 0.005 } }
        rig.engine.unload()
        await sound.stop()
    }

    /// A sink tells of it as it writes, which it does not while it stands.
    @Test func aMixerThatIsMovedDuringAPauseIsHeardOf() async throws {
        let sound = SoundServer()
        try await sound.start(devices: ["speakers"])
        let rig = Rig("mixed-paused", sink: "pulsesink server=\(sound.address)")
        _ = try await rig.open(files([try Sounds.tone("fade.flac", seconds: 60)], seconds: 60))
        var heard: [Double] {
            rig.reports.all.compactMap { if case .volume(let volume) = $0.word { volume } else { nil } }
        }
        // Before it has ever played, and after.
        for (volume, pause) in [(0.25, false), (0.75, true), (0.5, true)] {
            if pause {
                rig.engine.play(rig.load)
                try await until("sound") { (rig.engine.position(rig.load) ?? .zero) > .seconds(0.1) }
                rig.engine.pause(rig.load)
            }
            // At first a volume might be the server's, and ours is said again.
            try await until("news of the mixer", every: .milliseconds(300)) {
                try await sound.setVolume(volume)
                return heard.last == volume
            }
        }
        // Ours is no news.
        let count = heard.count
        rig.engine.setVolume(1)
        try await until("ours") { try await sound.streams().contains { abs($0.volume - 1) < 0.005 } }
        rig.engine.seek(rig.load, to: .seconds(30))
        _ = try await rig.answer()
        #expect(heard.count == count)
        rig.engine.unload()
        await sound.stop()
    }

    @Test func aVolumeStaysInTheQueueWhenAnItemIsChosen() {
        let queue = OrderQueue()
        for order in [Order.volume(0.2), .volume(0.5), .play(LoadID(number: 1), true)] { queue.add(order) }
        queue.replaceAll(with: .unload)
        let orders = queue.takeAll()
        guard orders.count == 2, case .volume(0.5) = orders[0], case .unload = orders[1] else {
            Issue.record("\(orders)")
            return
        }
    }

    @Test(arguments: [0, 2]) func theSoundDiesAwayLittleByLittleAndComesBack(ahead: Int) async throws {
        let path = try Sounds.tone("fade.flac", seconds: 60)
        let rig = rig("fade-\(ahead)", ahead: ahead)
        _ = try await rig.open(files([path], seconds: 60))
        rig.engine.seek(rig.load, to: .seconds(5))
        #expect(try await rig.word() == .seeked(to: .seconds(5)))
        // All engines of this process share one thread: where another test holds it up there are no steps to be heard.
        var isGradual = false
        for attempt in 1...3 where !isGradual {
            rig.engine.play(rig.load)
            _ = try await hear(rig) { $0.seconds > 0.5 && $0.strength(from: 0.1, to: 0.5) > 0.45 }
            rig.engine.fade(rig.load, Fading(left: .seconds(12), length: .seconds(12)))
            let faded = try await hear(rig) { $0.seconds > 0.6 && last($0) == 0 }
            rig.engine.fade(rig.load, nil)
            _ = try await hear(rig) { last($0) > 0.45 }
            let steps = faded.strengths(from: 0.1, to: faded.seconds, window: 0.05)
            #expect(zip(steps, steps.dropFirst()).allSatisfy { $1 < $0 + 0.02 }, "never louder: \(steps)")
            isGradual = steps.filter { (0.02...0.4).contains($0) }.count >= 3
            #expect(isGradual || attempt < 3, "little by little: \(steps)")
            // The pitch tells that nothing was left out: it was heard where it should be.
            let original = try #require(faded.original(at: 0.4))
            // With sound ahead it is made anew from where it is, and the recording with it.
            #expect((ahead > 0 ? 5.4...10 : 5.35...5.45).contains(original), "\(original)")
            if !isGradual {
                rig.engine.pause(rig.load)
                rig.engine.seek(rig.load, to: .seconds(5))
                #expect(try await rig.word() == .seeked(to: .seconds(5)))
            }
        }
    }

    /// Where in a recording the strength first is as wanted.
    private func first(_ heard: Recording, where fits: (Double) -> Bool) -> Double? {
        stride(from: 0, to: heard.seconds - 0.05, by: 0.05).first { fits(heard.strength(from: $0, to: $0 + 0.05)) }
    }

    /// What lies in the sink is made anew where a fade begins, which might be over before it is heard, and where it ends.
    @Test func aShortFadeIsHeardAtOnce() async throws {
        let path = try Sounds.tone("fade.flac", seconds: 60)
        let ahead = 8
        let rig = rig("anew", ahead: ahead)
        _ = try await rig.open(files([path], seconds: 60))
        rig.engine.seek(rig.load, to: .seconds(5))
        #expect(try await rig.word() == .seeked(to: .seconds(5)))
        rig.engine.play(rig.load)
        _ = try await hear(rig) { $0.seconds > 0.5 && last($0) > 0.45 }
        let begun = ContinuousClock.now
        // The recording begins anew with each flush. When it is looked at is the machine's affair, what is in it is not:
        // without a flush all that lies in the sink would come first.
        rig.engine.fade(rig.load, Fading(left: .seconds(1), length: .seconds(1)))
        let faded = try await hear(rig) { $0.seconds > 0.1 && last($0) == 0 }
        let silent = try #require(first(faded) { $0 == 0 })
        #expect(silent < Double(ahead) / 2, "silent after \(silent) s")
        let start = try #require(faded.original(at: 0.1))
        rig.engine.fade(rig.load, nil)
        let back = try await hear(rig) { $0.seconds > 0.3 && last($0) > 0.45 }
        let loud = try #require(first(back) { $0 > 0.45 })
        #expect(loud < Double(ahead) / 2, "loud after \(loud) s")
        // It goes on from where it was: nothing is heard twice, and nothing that lay in the sink is left out.
        let end = try #require(back.original(at: loud + 0.1))
        let passed = (ContinuousClock.now - begun) / .seconds(1)
        #expect((start + silent - 0.2..<start + passed + 1).contains(end), "\(start) became \(end) in \(passed) s")
    }

    @Test func aFadeCanBeginSoftlyAndEndsWithItsLoad() async throws {
        let path = try Sounds.tone("fade.flac", seconds: 60)
        let rig = Rig("soft")
        _ = try await rig.open(files([path], seconds: 60))
        rig.engine.fade(rig.load, Fading(left: .seconds(30), length: .seconds(60)))
        rig.engine.seek(rig.load, to: .seconds(5))
        #expect(try await rig.word() == .seeked(to: .seconds(5)))
        rig.engine.play(rig.load)
        let heard = try await hear(rig) { $0.seconds > 0.5 }
        #expect((0.05...0.14).contains(heard.strength(from: 0, to: 0.2)), "a quarter of it, or a little less")
        let second = LoadID(number: 2)
        rig.engine.load(second, tracks: files([path], seconds: 60), at: .seconds(5), rate: 1, volume: 1)
        #expect(try await rig.reports.nextWord(second) == .ready(at: .seconds(5)))
        rig.engine.play(second)
        _ = try await hear(rig) { last($0) > 0.45 }
    }

    @Test func aBoostIsLouderAtOnceAndNeverClips() async throws {
        let soft = try Sounds.tone("soft.m4b", seconds: 60, options: ["-af", "volume=0.1"])
        let rig = Rig("boost")
        rig.engine.setSound(SoundOptions(boost: 12))
        _ = try await rig.open(files([soft], seconds: 60))
        rig.engine.seek(rig.load, to: .seconds(5))
        #expect(try await rig.word() == .seeked(to: .seconds(5)))
        rig.engine.play(rig.load)
        let louder = try await hear(rig) { $0.seconds > 0.7 }
        // 12 dB are four times as much.
        #expect(abs(louder.strength(from: 0.1, to: 0.4) - 0.2) < 0.02)
        rig.engine.setSound(SoundOptions(boost: 0))
        _ = try await hear(rig) { last($0) < 0.06 && last($0) > 0.04 }
        rig.engine.setSound(SoundOptions(boost: 6))
        _ = try await hear(rig) { abs(last($0) - 0.1) < 0.01 }
        // The sound went on all the while.
        let original = try #require(louder.original(at: 0.3))
        #expect(abs(original - 5.3) < 0.05)
        // What was on its way was made anew, and the recording with it.
        #expect(try #require(rig.engine.position(rig.load)).seconds > 5.5 && rig.reports.all.count == 2)

        let loud = try Sounds.tone("fade.flac", seconds: 60)
        rig.engine.setSound(SoundOptions(boost: 12))
        let second = LoadID(number: 2)
        rig.engine.load(second, tracks: files([loud], seconds: 60), at: .seconds(5), rate: 1, volume: 1)
        #expect(try await rig.reports.nextWord(second) == .ready(at: .seconds(5)))
        rig.engine.seek(second, to: .seconds(7))
        #expect(try await rig.reports.nextWord(second) == .seeked(to: .seconds(7)))
        rig.engine.play(second)
        let bent = try await hear(rig) { $0.seconds > 0.5 }
        let peak = bent.peak(from: 0.1, to: 0.5)
        #expect(peak > 0.9 && peak < 1, "\(peak)")
        // Bent, not cut: the wave has no flat tops.
        let tops = bent.samples.dropFirst(4800).prefix(9600).filter { Double(abs($0)) >= peak }
        #expect(tops.count < 20, "\(tops.count)")
    }

    /// Not before it is needed is there anything on the way that could make it louder.
    @Test(arguments: [true, false]) func aBoostThatComesLater(whilePlaying: Bool) async throws {
        let path = try Sounds.tone("soft.m4b", seconds: 60, options: ["-af", "volume=0.1"])
        let rig = Rig("later-\(whilePlaying)")
        _ = try await rig.open(files([path], seconds: 60), at: .seconds(5))
        rig.engine.play(rig.load)
        _ = try await hear(rig) { $0.seconds > 0.5 && abs(last($0) - 0.05) < 0.01 }
        if !whilePlaying { rig.engine.pause(rig.load) }
        let before = try #require(rig.engine.position(rig.load))
        let begun = ContinuousClock.now
        rig.engine.setSound(SoundOptions(boost: 12))
        if !whilePlaying { rig.engine.play(rig.load) }
        let louder = try await hear(rig) { $0.seconds > 0.5 && abs(last($0) - 0.2) < 0.02 }
        // It goes on where it was.
        let original = try #require(louder.original(at: 0.3))
        let passed = (ContinuousClock.now - begun) / .seconds(1)
        #expect((0.2..<passed + 0.5).contains(original - before.seconds), "\(before) became \(original)")
        #expect(rig.reports.all.count == 1)
    }

    @Test func withoutABoostNothingIsTouched() async throws {
        let path = try Sounds.tone("loud.wav", seconds: 10, options: ["-af", "volume=1.9"])
        let rig = Rig("untouched")
        _ = try await rig.open(files([path], seconds: 10))
        rig.engine.play(rig.load)
        let heard = try await hear(rig) { $0.seconds > 0.5 }
        #expect(abs(heard.peak(from: 0.1, to: 0.5) - 0.95) < 0.01)
    }
}
