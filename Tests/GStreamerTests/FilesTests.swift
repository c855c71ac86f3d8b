import Glibc
import Listening
import TestSupport
import Testing

@testable import GStreamer

@Suite struct FilesTests {
    @Test(arguments: ["flac", "opus", "m4b", "mp3"], [1.0, 1.5])
    func filesFollowEachOtherWithoutAGap(_ ending: String, rate: Double) async throws {
        let rig = Rig("gapless-\(ending)-\(rate)")
        let ready = try await rig.open(try threeParts(ending), at: .seconds(4), rate: rate)
        #expect(abs(ready.seconds - 4) < 0.001)
        try await rig.play(until: .seconds(7), hearing: 2.9 / rate)
        let heard = try rig.heard
        // The pitch keeps its height at any rate: what is heard after t seconds is 4 + rate × t.
        for tenth in 1..<Int(2.8 / rate * 10) {
            let time = Double(tenth) / 10
            // Encoders pad and fade the ends of files of some formats; a gap would shift all that follows.
            if abs(4 + rate * time - 6) < 0.15 * rate { continue }
            let original = try #require(heard.original(at: time), "silence at \(time)")
            #expect(abs(original - (4 + rate * time)) < (rate == 1 ? 0.08 : 0.12), "at \(time)")
        }
    }

    /// A stream of a sound server has one format, and what lies in it ends with it.
    @Test func aFileOfAnotherFormatLeavesNothingOfTheOneBeforeUnheard() async throws {
        let sound = SoundServer()
        try await sound.start(devices: ["speakers"])
        // The short one comes to the sink at one go.
        let forms: [(ending: String, seconds: Double, options: [String])] = [
            ("flac", 4, ["-ar", "44100"]), ("flac", 4, ["-ac", "2"]), ("flac", 0.45, ["-ac", "2"]), ("mp3", 4, []),
            ("flac", 4, ["-ar", "22050"]),
        ]
        var offset = 0.0
        let tracks = try forms.enumerated().map { index, form in
            defer { offset += form.seconds }
            let name = "form\(index).\(form.ending)"
            let path = try Sounds.tone(name, seconds: form.seconds, offset: offset, options: form.options)
            return Track(start: .zero, duration: .seconds(form.seconds), audio: .file(path: path))
        }
        let rig = Rig("forms", sink: "pulsesink server=\(sound.address)")
        let recorder = try await sound.record("speakers", to: rig.path)
        _ = try await rig.open(Timeline.repaired(tracks: tracks), at: .seconds(2))
        let moments = try await rig.play(until: .seconds(13))
        #expect(moments.contains { $0.place > .seconds(8.05) && $0.place < .seconds(8.4) }, "it stood at the short one")
        let places = try await eventually("all of it in the recording") {
            let heard = try rig.heard
            let places = stride(from: 0, to: heard.seconds, by: 0.05).compactMap { heard.original(at: $0) }
            return places.contains { $0 > 12.7 } ? places : nil
        }
        for place in stride(from: 2.2, to: 12.8, by: 0.1) {
            #expect(places.contains { abs($0 - place) < 0.08 }, "\(place) was not heard")
        }
        let isOver = rig.reports.all.contains {
            switch $0.word {
            case .ended, .failed: true
            default: false
            }
        }
        #expect(!isOver)
        recorder.send(SIGTERM)
        rig.engine.unload()
        await sound.stop()
    }

    @Test func seeksCrossFilesBothWays() async throws {
        let rig = Rig("across")
        _ = try await rig.open(try threeParts("flac"))
        for (place, aim) in [(13.5, 13.6), (1.25, 1.35), (12.0, 12.1), (11.5, 11.6), (6.0, 6.1)] {
            rig.engine.seek(rig.load, to: .seconds(place))
            #expect(rig.engine.position(rig.load) == .seconds(place))
            #expect(try await rig.answer() == .seeked(to: .seconds(place)))
            try await rig.play(until: .seconds(place + 0.3), hearing: 0.2)
            let original = try #require(try rig.heard.original(at: 0.1))
            #expect(abs(original - aim) < 0.03)
        }
    }

    /// A sink that only writes, and slowly, is in the file before for long: what is heard is not there any more.
    @Test func aSinkBesideTheOneThatIsHeardIsNotAsked() async throws {
        let slow = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! identity sleep-time=200000"
        let sink = "tee name=t t. ! \(slow) ! fakesink async=false sync=false t. ! fakesink sync=true"
        let rig = Rig("two-sinks", sink: sink)
        let place = try await rig.open(try threeParts("flac"), at: .seconds(5))
        let begun = ContinuousClock.now
        rig.engine.play(rig.load)
        try await until("the next file") {
            guard let now = rig.engine.position(rig.load) else { return false }
            let played = BookTime.seconds((ContinuousClock.now - begun) / .seconds(1))
            #expect(now <= place + played + .seconds(0.1), "no faster than the clock")
            return now > .seconds(7.5)
        }
        rig.engine.seek(rig.load, to: .second)
        #expect(try await rig.answer() == .seeked(to: .second))
    }

    /// About a second before its end the pipeline already reads the next file: a seek then must not move in that one.
    @Test(arguments: [3.0, 13.0]) func aSeekJustBeforeTheNextFileStaysExact(_ target: Double) async throws {
        let rig = Rig("handed-over-\(target)")
        _ = try await rig.open(try threeParts("flac"), at: .seconds(5))
        try await rig.play(until: .seconds(5.8))
        rig.engine.seek(rig.load, to: .seconds(target))
        #expect(try await rig.word() == .seeked(to: .seconds(target)))
        try await rig.play(until: .seconds(target + 0.3), hearing: 0.2)
        let original = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(original - target - 0.1) < 0.03)
    }

    @Test func aRateSetJustBeforeTheNextFileKeepsThePlace() async throws {
        let rig = Rig("handed-over-rate")
        _ = try await rig.open(try threeParts("flac"), at: .seconds(5))
        try await rig.play(until: .seconds(5.8))
        let before = try await rig.still()
        rig.engine.setRate(rig.load, 2)
        try await rig.play(until: .seconds(7), hearing: 0.1)
        // Not where the files meet.
        let original = try #require(try rig.heard.original(at: 0.05, window: 0.03))
        // Seen up to 0.2 s later on a busy machine.
        #expect((-0.05...0.4).contains(original - before.seconds - 0.1), "\(original) after \(before.seconds)")
        #expect(rig.reports.all.count == 1)
    }

    @Test func theEndIsReportedOnceAndIsTheItemsEnd() async throws {
        let rig = Rig("end")
        _ = try await rig.open(try threeParts("opus"), at: .seconds(10.5))
        rig.engine.play(rig.load)
        #expect(try await rig.word() == .ended)
        #expect(rig.engine.position(rig.load) == .seconds(18))
        // And back from there.
        rig.engine.seek(rig.load, to: .seconds(11))
        #expect(try await rig.word() == .seeked(to: .seconds(11)))
        rig.engine.play(rig.load)
        #expect(try await rig.word() == .ended)
        rig.engine.seek(rig.load, to: .seconds(17.9))
        #expect(try await rig.word() == .seeked(to: .seconds(17.9)))
        rig.engine.play(rig.load)
        #expect(try await rig.word() == .ended)
        #expect(rig.reports.all.filter { $0.word == .ended }.count == 3)
    }

    @Test func aSeekToTheVeryEndEnds() async throws {
        let rig = Rig("very-end")
        _ = try await rig.open(try threeParts("flac"))
        rig.engine.seek(rig.load, to: .seconds(400))
        #expect(try await rig.word() == .seeked(to: .seconds(18)))
        rig.engine.play(rig.load)
        #expect(try await rig.word() == .ended)
    }

    /// An interrupted copy: its index tells of sound that is not there.
    @Test func aPlaceThatWasCutOffIsNotTheEnd() async throws {
        let whole = try Sounds.read(
            try Sounds.tone("tail.m4b", seconds: 30, options: ["-b:a", "64k", "-movflags", "+faststart"]))
        let path = "\(Sounds.folder)/tail-cut.m4b"
        try Sounds.write(Array(whole.prefix(whole.count * 2 / 5)), to: path)
        let rig = Rig("cut")
        let ready = try await rig.open(files([path], seconds: 30), at: .seconds(20))
        #expect(ready == .seconds(20))
        #expect(rig.engine.position(rig.load) == .seconds(20))
        rig.engine.play(rig.load)
        guard case .failed(.unreadable(track: 0, _)) = try await rig.word() else { throw Reports.Silence() }
        #expect(rig.engine.position(rig.load) == .seconds(20))
    }

    /// A file on disk is looked into meanwhile, and what nobody wants any more is let go of.
    @Test func aSlowServerKeepsNobodyWaiting() async throws {
        let path = try Sounds.tone("beside.mp3", seconds: 30, options: ["-b:a", "64k"])
        let slow = GatedBytes(try Sounds.read(path), gate: 0)
        let looking = Task { () async -> Result<FileFacts, EngineFailure> in
            let stream = AudioStream(url: "gated://slow", identity: "slow")
            do throws(EngineFailure) {
                return .success(try await GStreamerInspector.ofStreams.inspect(stream, through: slow))
            } catch { return .failure(error) }
        }
        while slow.waiting == 0 { await Task.yield() }
        #expect(try await GStreamerInspector.ofFiles.inspect(path: path).duration > .seconds(29))
        #expect(slow.waiting > 0, "it was waited for")
        looking.cancel()
        // Not because its time was up.
        #expect(await looking.value == .failure(.unreachable(reason: "closed")))
        let quick = GatedBytes(try Sounds.read(path))
        let stream = AudioStream(url: "gated://quick", identity: "quick")
        #expect(try await GStreamerInspector.ofStreams.inspect(stream, through: quick).duration > .seconds(29))
    }

    /// Part of a download: what is there is played, and is not all there is. Of mp3 and Ogg the inspector tells no more than
    /// the length of that.
    @Test(arguments: ["flac", "m4b", "mp3", "opus", "ogg"], [1, 2]) func playingIntoACutIsNoEnd(
        _ ending: String, count: Int
    ) async throws {
        let options = ending == "m4b" ? ["-b:a", "64k", "-movflags", "+faststart"] : []
        let whole = try Sounds.read(try Sounds.tone("half.\(ending)", seconds: 30, options: options))
        let path = "\(Sounds.folder)/half-cut-\(count).\(ending)"
        try Sounds.write(Array(whole.prefix(whole.count / 2)), to: path)
        let told = try await GStreamerInspector.ofFiles.inspect(path: path).duration
        #expect(["flac", "m4b"].contains(ending) == (told > .seconds(29)), "\(told)")
        let next = try Sounds.tone("half-next.\(ending)", seconds: 30, options: options)
        let rig = Rig("half-\(ending)-\(count)")
        let tracks = [(path, told), (next, .seconds(30))].map {
            Track(start: .zero, duration: $1, audio: .file(path: $0))
        }
        _ = try await rig.open(Timeline.repaired(tracks: tracks.dropLast(2 - count)), at: .seconds(11))
        rig.engine.play(rig.load)
        guard case .failed(.unreadable(track: 0, _)) = try await rig.word() else { throw Reports.Silence() }
        let place = try #require(rig.engine.position(rig.load))
        #expect((11..<16).contains(place.seconds), "\(place)")
    }

    /// Recorded anew, synchronised or cut while it is open: where it then ends says nothing of the item.
    @Test(arguments: ["flac", "mp3", "m4b"], [1, 2]) func aFileCutWhileItPlaysHasNotEnded(
        _ ending: String, count: Int
    ) async throws {
        let paths = try (0..<count).map {
            try Sounds.tone("cut-open-\(count)-\($0).\(ending)", seconds: 20, options: ["-b:a", "256k"])
        }
        let rig = Rig("cut-open-\(count)-\(ending)")
        _ = try await rig.open(files(paths, seconds: 20))
        let size = try Sounds.read(paths[0]).count
        try #require(truncate(paths[0], size / 4) == 0)
        rig.engine.play(rig.load)
        guard case .failed(.unreadable(track: 0, _)) = try await rig.word() else { throw Reports.Silence() }
        let place = try #require(rig.engine.position(rig.load))
        // What the pipeline had read ahead by then is heard.
        #expect(place >= .second && place < .seconds(14), "\(place)")
    }

    @Test func theNextFileIsGoneAndThisOneIsHeardToItsEnd() async throws {
        let paths = try (0..<2).map { try Sounds.tone("gone-\($0).mp3", seconds: 4, offset: Double($0) * 4) }
        let rig = Rig("gone")
        _ = try await rig.open(files(paths, seconds: 4), at: .seconds(1))
        try #require(unlink(paths[1]) == 0)
        try await rig.play(until: .seconds(3), hearing: 1.5)
        rig.engine.play(rig.load)
        guard case .failed(.unreadable(track: 1, _)) = try await rig.word() else { throw Reports.Silence() }
        #expect(abs(try #require(rig.engine.position(rig.load)).seconds - 4) < 0.1)
    }

    /// Files shorter than what the pipeline reads ahead: several are handed over before the first is heard.
    @Test func veryShortFilesKeepTheirPlaces() async throws {
        let paths = try (0..<8).map { try Sounds.tone("short\($0).flac", seconds: 0.4, offset: Double($0) * 0.4) }
        let rig = Rig("short")
        _ = try await rig.open(files(paths, seconds: 0.4))
        try await rig.play(until: .seconds(3), hearing: 0.2)
        // What is over before the pipeline knows is followed by opening the next, and the recording with it.
        let start = try #require(try rig.heard.original(at: 0.1)) - 0.1
        #expect(abs(start.remainder(dividingBy: 0.4)) < 0.03 && start < 2.85, "\(start)")
        try expectUnbroken(try rig.heard, from: start)
    }
}
