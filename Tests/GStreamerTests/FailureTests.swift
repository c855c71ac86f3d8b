import Listening
import TestSupport
import Testing

@testable import GStreamer

@Suite struct FailureTests {
    func failure(_ name: String, _ tracks: [Track], sink: String? = nil) async throws -> EngineFailure {
        let reports = Reports()
        let engine = GStreamerEngine(
            sink: sink ?? Recording.sink("\(Sounds.folder)/failure-\(name).raw"), bytes: LoopbackBytes(),
            report: reports.add)
        let load = LoadID(number: 7)
        engine.load(load, tracks: tracks, at: .zero, rate: 1, volume: 1)
        let word = try await reports.nextWord(load)
        guard case .failed(let failure) = word else { throw Rig.Unexpected(word: word) }
        #expect(engine.position(load) == nil)
        // The listener may turn the volume before it is let go; there is nothing left of it then.
        engine.setVolume(0.5)
        engine.setSound(SoundOptions(boost: 6, skipsSilence: true))
        engine.fade(load, Fading(left: .second, length: .second))
        engine.unload()
        return failure
    }

    func sentence(_ failure: EngineFailure) -> String? {
        if case .unreadable(track: 0, let reason) = failure { reason } else { nil }
    }

    @Test func whatIsNotAudioIsRefusedWithASentence() async throws {
        let folder = Sounds.folder
        try Sounds.write([], to: "\(folder)/empty.mp3")
        let text = Array(repeating: "Call me Ishmael. ", count: 300).joined()
        try Sounds.write(Array(text.utf8), to: "\(folder)/text.mp3")
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<50_000).map { _ in UInt8.random(in: 0...255, using: &generator) & 0x7f }
        try Sounds.write(noise, to: "\(folder)/noise.m4b")
        let whole = try Sounds.read(try Sounds.tone("whole.m4b", seconds: 10))
        try Sounds.write(Array(whole.prefix(20_000)), to: "\(folder)/cut.m4b")
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc=d=1",
            "\(folder)/silent.mkv",
        ])
        for name in ["empty.mp3", "text.mp3", "noise.m4b", "cut.m4b", "silent.mkv", "none.flac"] {
            let failure = try await failure(name, files(["\(folder)/\(name)"], seconds: 10))
            let reason = try #require(sentence(failure), "\(name): \(failure)")
            #expect(!reason.contains("/") && !reason.isEmpty, "\(name): \(reason)")
        }
    }

    @Test func aSinkThatCannotBeMadeIsSaid() async throws {
        let path = try Sounds.tone("whole.m4b", seconds: 10)
        let unknown = try await failure("sink", files([path], seconds: 10), sink: "nosuchsink")
        guard case .noSink = unknown else { throw Rig.Unexpected(word: .failed(unknown)) }
        let broken = try await failure(
            "sink", files([path], seconds: 10), sink: "filesink location=/nonexistent/file")
        guard case .noSink = broken else { throw Rig.Unexpected(word: .failed(broken)) }
    }

    /// The thread that opens it is held up for as long as libpulse waits; what is loaded next is not.
    @Test func aSoundServerThatDoesNotAnswerIsNotTakenForADamagedFile() async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let server = try MuteServer(at: "unix:\(folder.path)/native")
        defer { server.stop() }
        let path = try Sounds.tone("whole.m4b", seconds: 10)
        let reports = Reports()
        let engine = GStreamerEngine(
            sink: "pulsesink server=unix:\(folder.path)/native", bytes: LoopbackBytes(), patience: 1,
            report: reports.add)
        for load in [LoadID(number: 7), LoadID(number: 8)] {
            engine.load(load, tracks: files([path], seconds: 10), at: .seconds(4), rate: 1, volume: 1)
            // On a busy machine libpulse may lose its patience first, and say so in its own words.
            let word = try await reports.nextWord(load)
            guard case .failed(.noSink) = word else { throw Rig.Unexpected(word: word) }
        }
        #expect(server.count > 0)
        engine.unload()
    }

    /// One that did a moment ago: it is asked for what it can play by whoever opens the file.
    @Test func aSoundServerThatHangsIsNotTakenForADamagedFile() async throws {
        let sound = SoundServer()
        try await sound.start(devices: ["speakers"])
        let path = try Sounds.tone("whole.m4b", seconds: 10)
        let reports = Reports()
        let engine = GStreamerEngine(
            sink: "pulsesink server=\(sound.address)", bytes: LoopbackBytes(), patience: 6, report: reports.add)
        engine.load(LoadID(number: 7), tracks: files([path], seconds: 10), at: .zero, rate: 1, volume: 1)
        let word = try await reports.nextWord(LoadID(number: 7))
        guard case .ready = word else { throw Rig.Unexpected(word: word) }
        engine.unload()
        try await sound.freeze()
        engine.load(LoadID(number: 8), tracks: files([path], seconds: 10), at: .zero, rate: 1, volume: 1)
        let last = try await reports.nextWord(LoadID(number: 8))
        guard case .failed(.noSink) = last else { throw Rig.Unexpected(word: last) }
        engine.unload()
        await sound.stop()
    }

    /// Edits that say so: one of them lasts half a billion years.
    @Test func aFileThatClaimsTimeBeyondCountingIsHarmless() async throws {
        let whole = try Sounds.read(try Sounds.tone("edits-source.m4a", seconds: 6))
        let path = "\(Sounds.folder)/edits.m4a"
        try Sounds.write(try withEdits([(3000, 1024), (18_446_744_070_000, -1), (3000, 1024)], whole), to: path)
        for rate in [1, 0.5] {
            let rig = Rig("edits")
            rig.engine.load(rig.load, tracks: files([path, path], seconds: 6), at: .zero, rate: rate, volume: 1)
            rig.engine.play(rig.load)
            _ = try await eventually("an end of it") { () -> Bool? in
                switch try await rig.word() {
                case .failed, .ended: true
                default: nil
                }
            }
            rig.engine.unload()
        }
    }

    /// Written in place of those of the only track; the index lies behind the sound.
    /// - Parameter edits: how long, in milliseconds, and from which sample on; -1: nothing is heard.
    private func withEdits(_ edits: [(UInt64, Int64)], _ file: [UInt8]) throws -> [UInt8] {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
        func find(_ name: String) throws -> Int {
            let name = Array(name.utf8)
            return try #require(file.indices.first { file[$0...].starts(with: name) }) - 4
        }
        func size(_ at: Int) -> Int { file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        var list = Array("elst".utf8) + [1, 0, 0, 0] + bytes(UInt32(edits.count))
        for (length, start) in edits { list += bytes(length) + bytes(start) + bytes(UInt32(1 << 16)) }
        list = bytes(UInt32(list.count + 4)) + list
        let old = try find("elst")
        var changed = file
        for name in ["moov", "trak", "edts"] {
            let at = try find(name)
            changed.replaceSubrange(at..<at + 4, with: bytes(UInt32(size(at) + list.count - size(old))))
        }
        changed.replaceSubrange(old..<old + size(old), with: list)
        return changed
    }

    /// As a server may claim that somebody is.
    @Test(arguments: [9e11, 9e17]) func aPlaceBeyondAllTimeEndsNothing(_ seconds: Double) async throws {
        let reports = Reports()
        let engine = GStreamerEngine(
            sink: Recording.sink("\(Sounds.folder)/beyond.raw"), bytes: LoopbackBytes(), report: reports.add)
        let load = LoadID(number: 7)
        let path = try Sounds.tone("whole.m4b", seconds: 10)
        engine.load(load, tracks: files([path], seconds: seconds), at: .seconds(seconds / 2), rate: 1, volume: 1)
        _ = try await reports.nextWord(load)
        engine.unload()
        #expect(BookTime.seconds(seconds).nanoseconds > 0 && (.zero - BookTime.seconds(seconds)).nanoseconds < 0)
    }

    @Test func anItemWithoutTracksFails() async throws {
        #expect(try await failure("none", []) == .other(reason: "there is nothing in it to play"))
    }

    @Test func aDecoderThatIsMissingIsNamedWithItsPackage() {
        func package(_ detail: String) -> String? { MissingPlugin(what: "", detail: detail).package }
        #expect(package("decoder-audio/mpeg, mpegversion=(int)4") == "gstreamer1.0-libav")
        #expect(package("decoder-audio/mpeg, mpegversion=(int)1, layer=(int)3") == "gstreamer1.0-plugins-good")
        #expect(package("decoder-audio/x-alac") == "gstreamer1.0-libav")
        #expect(package("decoder-audio/x-opus") == "gstreamer1.0-plugins-base")
        #expect(package("decoder-audio/x-flac") == "gstreamer1.0-plugins-good")
        #expect(package("decoder-video/quicktime") == "gstreamer1.0-plugins-good")
        #expect(package("decoder-application/x-hls") == "gstreamer1.0-plugins-bad")
        #expect(package("decoder-video/x-h264") == nil)
        #expect(MissingPlugin(what: "", detail: "decoder-video/x-h264").isVideo)
        #expect(!MissingPlugin(what: "", detail: "decoder-video/quicktime").isVideo)
    }

    @Test func theLastWordsOfAnEarlierLoadAreItsOwn() async throws {
        let path = try Sounds.tone("whole.m4b", seconds: 10)
        let rig = Rig("late")
        let tracks = files([path], seconds: 10)
        rig.engine.load(LoadID(number: 1), tracks: files(["/nonexistent"], seconds: 9), at: .zero, rate: 1, volume: 1)
        rig.engine.load(LoadID(number: 2), tracks: tracks, at: .seconds(3), rate: 1, volume: 1)
        rig.engine.seek(LoadID(number: 1), to: .seconds(8))
        #expect(try await rig.reports.next(LoadID(number: 2)) == .ready(at: .seconds(3)))
        #expect(rig.engine.position(LoadID(number: 1)) == nil)
        #expect(rig.engine.position(LoadID(number: 2)) == .seconds(3))
        #expect(rig.reports.all.filter { $0.load == LoadID(number: 2) }.count == 1)
    }

    @Test func ofManySeeksTheLastCounts() async throws {
        let path = try Sounds.tone("whole.m4b", seconds: 10)
        let rig = Rig("many")
        _ = try await rig.open(files([path], seconds: 10))
        rig.engine.play(rig.load)
        for tenth in 1...60 {
            rig.engine.seek(rig.load, to: .seconds(Double(tenth) / 10))
            #expect(rig.engine.position(rig.load) == .seconds(Double(tenth) / 10))
        }
        while try await rig.word() != .seeked(to: .seconds(6)) {}
        try await rig.play(until: .seconds(6.3), hearing: 0.2)
        let original = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(original - 6.1) < 0.03)
    }

    /// Half a second in the middle that no decoder can make anything of.
    @Test func aHoleIsPassedOver() async throws {
        let whole = try Sounds.read(try Sounds.tone("hole-source.m4b", seconds: 20))
        var holed = Array(whole)
        let hole = holed.count / 2..<holed.count / 2 + holed.count / 40
        for index in hole { holed[index] = 0 }
        let path = "\(Sounds.folder)/holed.m4b"
        try Sounds.write(holed, to: path)
        let rig = Rig("holed")
        _ = try await rig.open(files([path], seconds: 20), at: .seconds(8))
        rig.engine.play(rig.load)
        let word = try await rig.word()
        #expect(word == .ended, "\(word)")
        #expect(try rig.heard.seconds > 9)
    }
}
