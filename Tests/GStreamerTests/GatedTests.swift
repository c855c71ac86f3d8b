import EventLoop
import Listening
import TestSupport
import Testing

@testable import GStreamer

/// A stream whose bytes come late, or not at all.
@Suite struct GatedTests {
    static let seconds = 30.0

    func rig(_ name: String, _ bytes: GatedBytes, at place: BookTime = .zero) async throws -> Rig {
        let rig = Rig(name, bytes: bytes)
        _ = try await rig.open(streams(["gated://\(name)"], seconds: Self.seconds), at: place)
        return rig
    }

    func tone(_ ending: String) throws -> [UInt8] {
        try Sounds.read(
            try Sounds.tone("gated.\(ending)", seconds: Self.seconds, options: ending == "mp3" ? ["-b:a", "64k"] : []))
    }

    /// All that is here is heard first; then it waits and says so, and goes on as though nothing had been.
    @Test(arguments: ["mp3", "m4b", "opus", "flac", "wav"])
    func whatIsHereIsPlayedOutBeforeItWaits(_ ending: String) async throws {
        let whole = try tone(ending)
        let gate = GatedBytes(whole)
        let rig = try await rig("gated-\(ending)", gate)
        // Opened in full (an index may stand at the end), then played on from a gate at a fifth.
        gate.open(to: whole.count / 5)
        rig.engine.play(rig.load)
        // Parsers ask for 64 KiB at a time; as much may have been taken before the gate came down.
        let block = 65_536 / Double(whole.count) * Self.seconds
        let isParsed = ["mp3", "flac"].contains(ending)
        #expect(try await rig.reports.next(rig.load) == .buffering(true))
        var stood = try #require(rig.engine.position(rig.load))
        while stood.seconds <= Self.seconds / 5 - (isParsed ? block : 0) - 1.5 {
            // A decoder that a busy machine kept from its work: once it has done it, that is heard too.
            #expect(try await rig.reports.next(rig.load) == .buffering(false))
            #expect(try await rig.reports.next(rig.load) == .buffering(true))
            stood = try #require(rig.engine.position(rig.load))
        }
        #expect(stood.seconds < Self.seconds / 5 + block + 2.5)
        try await Task.sleep(for: .milliseconds(300))
        let still = try #require(rig.engine.position(rig.load))
        #expect(still.seconds < Self.seconds / 5 + block + 2.5)
        // A pause meanwhile changes nothing.
        rig.engine.pause(rig.load)
        #expect(try await rig.reports.next(rig.load) == .buffering(false))
        rig.engine.play(rig.load)
        #expect(try await rig.reports.next(rig.load) == .buffering(true))
        gate.open()
        #expect(try await rig.reports.next(rig.load) == .buffering(false))
        try await rig.play(until: stood + .seconds(1.5), hearing: stood.seconds + 1.1)
        // One rising tone, nothing left out and nothing twice.
        let heard = try rig.heard
        for moment in stride(from: 0.5, to: stood.seconds + 1, by: 0.25) {
            let original = try #require(heard.original(at: moment))
            #expect(abs(original - moment) < 0.1, "at \(moment)")
        }
        rig.engine.unload()
    }

    /// Less has come than is waited for, but more than there is room for on the way: that is heard as well.
    @Test(arguments: ["flac", "wav"]) func aLittleMoreIsPlayedToo(_ ending: String) async throws {
        // Of the others a question is for more than that.
        let whole = try Sounds.read(try Sounds.tone("broad.\(ending)", seconds: Self.seconds))
        let gate = GatedBytes(whole)
        let rig = try await rig("little-\(ending)", gate)
        gate.open(to: whole.count / 5)
        rig.engine.play(rig.load)
        #expect(try await rig.reports.next(rig.load) == .buffering(true))
        try await untilItWaits(gate)
        let stood = try #require(rig.engine.position(rig.load))
        // Two seconds are waited for.
        gate.open(to: try #require(gate.wanted) + Int(Double(whole.count) / Self.seconds * 1.9))
        try await rig.play(until: stood + .seconds(0.7))
        rig.engine.unload()
    }

    /// Each sample is there soon after it was asked for, and all of them too late: a line that is slower than the sound.
    @Test func whatComesTooSlowlyIsWaitedForAsWell() async throws {
        let whole = try tone("m4b")
        let gate = GatedBytes(whole, keeps: false)
        let rig = try await rig("slow", gate)
        gate.open(to: whole.count / 10)
        rig.engine.play(rig.load)
        // Three fifths of what is heard meanwhile, and more than a sample.
        let portion = whole.count / Int(Self.seconds * 20) * 3 / 5
        let opened = Locked(whole.count / 10)
        let drip = Task {
            while true {
                try await Task.sleep(for: .milliseconds(50))
                // Blocks may have been taken before the gate came down.
                gate.open(
                    to: opened.withLock { opened in
                        opened = max(opened, gate.wanted ?? 0) + portion
                        return opened
                    })
            }
        }
        defer { drip.cancel() }
        #expect(try await rig.reports.next(rig.load) == .buffering(true))
        let stood = try #require(rig.engine.position(rig.load))
        let come = Double(opened.withLock { $0 }) / Double(whole.count) * Self.seconds
        #expect(stood.seconds < come + 0.5)
        rig.engine.unload()
    }

    /// As when a disk fails, or memory was let go, between the look and the read.
    @Test func whatWasHereAMomentAgoIsWaitedForAsWell() async throws {
        let whole = try tone("mp3")
        let gate = GatedBytes(whole, claims: true)
        let rig = try await rig("gone", gate)
        gate.open(to: whole.count / 5)
        rig.engine.play(rig.load)
        #expect(try await rig.reports.next(rig.load) == .buffering(true))
        gate.open()
        #expect(try await rig.reports.next(rig.load) == .buffering(false))
        rig.engine.unload()
    }

    /// What a server says of size and length may fit nothing at all.
    @Test func anImpossibleSizeIsNoCrash() async throws {
        let gate = GatedBytes(try tone("mp3"), size: 9_999_999_999_999_999)
        let rig = Rig("impossible", bytes: gate)
        let tracks = streams(["gated://a"], seconds: 0.000_001)
        rig.engine.load(rig.load, tracks: tracks, at: .zero, rate: 1, volume: 1)
        _ = try await rig.word()
        rig.engine.unload()
    }

    @Test func aFailureComesAfterWhatWasHere() async throws {
        let whole = try tone("mp3")
        let gate = GatedBytes(whole)
        let rig = try await rig("failing", gate)
        gate.fail(.notFound)
        gate.open(to: whole.count / 2)
        rig.engine.setRate(rig.load, 3)
        rig.engine.play(rig.load)
        #expect(try await rig.word() == .failed(.notFound))
        let place = try #require(rig.engine.position(rig.load))
        let asked = 65_536 / Double(whole.count) * Self.seconds
        #expect(place.seconds > Self.seconds / 2 - asked - 1 && place.seconds < Self.seconds / 2 + 1)
        #expect(abs(try rig.heard.seconds - place.seconds / 3) < 0.5)
    }

    @Test func aFailureWhileOpeningIsToldAsItIs() async throws {
        for (number, failure) in [EngineFailure.refused, .unreachable(reason: "it is gone")].enumerated() {
            let gate = GatedBytes(try tone("opus"), gate: 0)
            gate.fail(failure)
            let rig = Rig("failing-\(number)", bytes: gate)
            rig.engine.load(rig.load, tracks: streams(["gated://a"], seconds: 30), at: .zero, rate: 1, volume: 1)
            #expect(try await rig.word() == .failed(failure))
        }
    }

    /// - Returns: once something waits at the gate.
    func untilItWaits(_ gate: GatedBytes) async throws {
        try await until("somebody who waits at the gate", every: .milliseconds(2)) { gate.waiting > 0 }
    }

    @Test(arguments: ["mp3", "m4b", "opus", "wav"]) func aSeekNeedNotWaitForAnother(_ ending: String) async throws {
        let whole = try tone(ending)
        let gate = GatedBytes(whole)
        let rig = try await rig("hanging-\(ending)", gate)
        gate.open(to: whole.count / 2)
        rig.engine.play(rig.load)
        // What lies there does not come; what comes after is here.
        rig.engine.seek(rig.load, to: .seconds(25))
        try await untilItWaits(gate)
        rig.engine.seek(rig.load, to: .seconds(5))
        while try await rig.word() != .seeked(to: .seconds(5)) {}
        try await rig.play(until: .seconds(5.5), hearing: 0.3)
        let original = try #require(try rig.heard.original(at: 0.2))
        #expect(abs(original - 5.2) < 0.1)
        rig.engine.unload()
    }

    /// Whenever the listener asks for the sound of a place that does not come, it is said that it is waited for.
    @Test func aPlayAfterASlowSeekSaysThatItWaits() async throws {
        let whole = try tone("m4b")
        let gate = GatedBytes(whole)
        let rig = try await rig("slow-seek", gate)
        gate.open(to: whole.count / 2)
        rig.engine.seek(rig.load, to: .seconds(25))
        try await untilItWaits(gate)
        // However soon or late it is asked for, and again after a pause.
        for delay in [Duration.zero, .seconds(1), .zero] {
            try await Task.sleep(for: delay)
            rig.engine.play(rig.load)
            #expect(try await rig.reports.next(rig.load) == .buffering(true))
            rig.engine.pause(rig.load)
            #expect(try await rig.reports.next(rig.load) == .buffering(false))
        }
        rig.engine.play(rig.load)
        #expect(try await rig.reports.next(rig.load) == .buffering(true))
        gate.open()
        var words: Set<EngineReport.Word> = []
        while words.count < 2 { words.insert(try await rig.reports.next(rig.load)) }
        #expect(words == [.seeked(to: .seconds(25)), .buffering(false)])
        rig.engine.unload()
    }

    /// What fails on the way to a place has not lost that place.
    @Test(arguments: ["mp3", "m4b", "opus", "flac", "wav"], [false, true])
    func aSeekThatFailsStaysWhereItWasAskedFor(_ ending: String, isPlaying: Bool) async throws {
        // So much that what opening it reads is far from there.
        let whole = try Sounds.read(
            try Sounds.tone("broad.\(ending)", seconds: Self.seconds, options: ending == "m4b" ? ["-b:a", "320k"] : []))
        let gate = GatedBytes(whole)
        let rig = try await rig("failed-seek-\(ending)-\(isPlaying)", gate)
        gate.open(to: whole.count / 5)
        if isPlaying { rig.engine.play(rig.load) }
        rig.engine.seek(rig.load, to: .seconds(12))
        try await untilItWaits(gate)
        gate.fail(.refused)
        var word = try await rig.word()
        // Where the place was found before any of its sound was needed.
        if case .seeked(let place) = word {
            #expect(abs(place.seconds - 12) < 0.05)
            rig.engine.play(rig.load)
            word = try await rig.word()
        }
        #expect(word == .failed(.refused))
        let place = try #require(rig.engine.position(rig.load))
        #expect(abs(place.seconds - 12) < 0.05)
    }

    @Test(arguments: ["mp3", "m4b", "opus", "wav"]) func anUnloadNeedNotWait(_ ending: String) async throws {
        let whole = try tone(ending)
        for isOpening in [true, false] {
            let gate = GatedBytes(whole, gate: isOpening ? 10 : whole.count)
            let rig = Rig("left-\(ending)", bytes: gate)
            rig.engine.load(
                rig.load, tracks: streams(["gated://a"], seconds: 30), at: .seconds(isOpening ? 25 : 0), rate: 1,
                volume: 1)
            if !isOpening {
                #expect(try await rig.word() == .ready(at: .zero))
                gate.open(to: whole.count / 2)
                rig.engine.seek(rig.load, to: .seconds(25))
            }
            try await untilItWaits(gate)
            let next = rig.load.next
            rig.engine.load(next, tracks: [], at: .zero, rate: 1, volume: 1)
            guard case .failed = try await rig.reports.nextWord(next) else { throw Reports.Silence() }
            #expect(gate.isClosed && gate.waiting == 0)
        }
    }

    @Test func aFileThatBreaksOffIsNotTheEnd() async throws {
        let whole = try tone("mp3")
        let cut = GatedBytes(Array(whole.prefix(whole.count / 5)), size: whole.count)
        let rig = try await rig("broken-off", cut)
        rig.engine.play(rig.load)
        guard case .failed(.unreachable) = try await rig.word() else { throw Reports.Silence() }
        let place = try #require(rig.engine.position(rig.load))
        #expect((4...8).contains(place.seconds))
    }

    @Test func streamsFollowEachOtherWithoutAGap() async throws {
        let parts = try (0..<3).map {
            try Sounds.read(try Sounds.tone("gapless\($0).flac", seconds: 2, offset: Double($0) * 2))
        }
        let shelf = Parts(parts.map { GatedBytes($0) })
        let rig = Rig("gapless", bytes: shelf)
        _ = try await rig.open(streams(["0", "1", "2"], seconds: 2))
        rig.engine.play(rig.load)
        #expect(try await rig.word() == .ended)
        let heard = try rig.heard
        #expect(abs(heard.seconds - 6) < 0.05)
        for moment in stride(from: 0.2, to: 5.9, by: 0.2) {
            let original = try #require(heard.original(at: moment))
            #expect(abs(original - moment) < 0.05, "at \(moment)")
        }
        #expect(rig.reports.all.filter { $0.word == .ended }.count == 1)
        #expect(shelf.parts.first?.isClosed == true)
        rig.engine.unload()
    }

    /// Nothing of a load is kept once it is gone.
    @Test(.timeLimit(.minutes(10 * Sanitizer.patience))) func whatWasReadIsLetGo() async throws {
        let shelf = Lent(try tone("m4b"))
        let rig = Rig("let-go", bytes: shelf)
        _ = try await rig.open(streams(["a"], seconds: Self.seconds), at: .seconds(4))
        try await rig.play(until: .seconds(4.3))
        rig.engine.seek(rig.load, to: .seconds(12))
        #expect(try await rig.word() == .seeked(to: .seconds(12)))
        #expect(shelf.isLent)
        rig.engine.unload()
        try await until("what was lent", every: .milliseconds(2)) { !shelf.isLent }
    }

    /// Gives out readers by number.
    final class Parts: ByteShelf {
        let parts: [GatedBytes]
        init(_ parts: [GatedBytes]) { self.parts = parts }
        func reader(of stream: AudioStream) -> any ByteReader { parts[Int(stream.url) ?? 0] }
    }

    /// Gives out a reader that it does not keep.
    final class Lent: ByteShelf {
        private struct Slip { weak var reader: GatedBytes? }
        private let bytes: [UInt8]
        private let slip = Locked(Slip())
        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isLent: Bool { slip.withLock { $0.reader != nil } }

        func reader(of stream: AudioStream) -> any ByteReader {
            let reader = GatedBytes(bytes)
            slip.withLock { $0.reader = reader }
            return reader
        }
    }
}
