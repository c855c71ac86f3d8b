import EventLoop
import Glibc
import Listening
import TestSupport
import Testing

@testable import GStreamer

/// An engine with its reports and what its sink heard.
struct Rig {
    let reports = Reports()
    let engine: GStreamerEngine
    let path: String
    let load = LoadID(number: 1)

    /// - Parameter sink: the one that records, unless given.
    init(_ name: String, sink: String? = nil, bytes: any ByteShelf = LoopbackBytes()) {
        path = "\(Sounds.folder)/\(name).raw"
        engine = GStreamerEngine(
            sink: sink ?? Recording.sink(path), bytes: bytes, patience: Double(120 * Sanitizer.patience),
            report: reports.add)
    }

    func word() async throws -> EngineReport.Word { try await reports.nextWord(load) }
    /// What is said to a seek while something plays: a machine that stood still may have played to the end before it, as
    /// what leaves out a silence up to the end does in a moment.
    func answer() async throws -> EngineReport.Word {
        while true {
            let word = try await word()
            if word != .ended, word != .skipped { return word }
        }
    }

    var heard: Recording { get throws { try Recording(path) } }

    func open(_ tracks: [Track], at place: BookTime = .zero, rate: Double = 1) async throws -> BookTime {
        engine.load(load, tracks: tracks, at: place, rate: rate, volume: 1)
        let word = try await word()
        guard case .ready(let place) = word else { throw Unexpected(word: word) }
        return place
    }

    /// The place, and how much had been heard then.
    struct Moment {
        let place: BookTime
        /// Seconds.
        let heard: Double
    }

    /// However long it stands first.
    /// - Parameter stand: brings about that it does.
    func playsInTime(_ stand: () async throws -> Void) async throws {
        var took = Duration.zero
        // A busy machine needs its time as well; what is late by as long as it stood is late each time.
        var pause = Duration.seconds(1)
        repeat {
            pause *= 3
            try await stand()
            try await Task.sleep(for: pause)
            let place = try #require(engine.position(load))
            let begin = ContinuousClock.now
            engine.play(load)
            try await eventually("sound") { engine.position(load).flatMap { $0 > place + .seconds(0.1) ? $0 : nil } }
            took = ContinuousClock.now - begin
        } while took > pause / 2 && pause < .seconds(27)
        #expect(took <= pause / 2, "\(took) after \(pause)")
    }

    /// Plays until this place is reached, watching that the position never goes back.
    /// - Parameter seconds: that must have been heard; on a busy machine the clock may be ahead of the sound.
    /// - Returns: what was passed through.
    @discardableResult func play(until place: BookTime, hearing seconds: Double = 0) async throws -> [Moment] {
        let watched = await withCheckedContinuation { done in
            // Among other tests a task comes too late to what the engine does in time.
            let watches = onOwnThread { done.resume(returning: watch(until: place, hearing: seconds)) }
            precondition(watches, "no thread")
        }
        let moments = try watched.get()
        for (before, after) in zip(moments, moments.dropFirst()) { #expect(after.place >= before.place) }
        return moments
    }

    private func watch(until place: BookTime, hearing seconds: Double) -> Result<[Moment], any Error> {
        engine.play(load)
        var moments: [Moment] = []
        let end = ContinuousClock.now + .seconds(180 * Sanitizer.patience)
        while true {
            guard let position = engine.position(load) else { break }
            let moment = Moment(place: position, heard: Recording.seconds(path))
            moments.append(moment)
            if position >= place, moment.heard >= seconds { break }
            if let said = reports.all.last(where: { $0.load == load }), case .failed = said.word {
                return .failure(Unexpected(word: said.word))
            }
            guard ContinuousClock.now < end || moments.count < 200 else {
                return .failure(TestFailure("waited in vain for the sound at \(place.seconds)"))
            }
            usleep(5000)
        }
        engine.pause(load)
        return .success(moments)
    }

    /// - Returns: where it stands once a pause has taken effect, which nothing announces: until then the place moves with
    ///   the clock, however busy the machine is.
    func still() async throws -> BookTime {
        var stood: BookTime?
        while true {
            let position = try #require(engine.position(load))
            if position == stood { return position }
            stood = position
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    struct Unexpected: Error { let word: EngineReport.Word }
}

extension [Rig.Moment] {
    /// How far the place is from that of what is heard, in seconds. A machine that stands still takes the clock ahead of
    /// the sound, which then catches up: what counts is the moment at which they are nearest.
    /// - Parameters:
    ///   - start: seconds heard from which on moments count.
    ///   - place: of what is heard after so many seconds.
    func gap(from start: Double, _ place: (Double) -> Double) -> Double {
        filter { $0.heard >= start }.map { abs($0.place.seconds - place($0.heard)) }.min() ?? .infinity
    }
}

/// All of the tone is there, in order, from one moment of it to the end of the recording.
func expectUnbroken(_ heard: Recording, from start: Double) throws {
    for time in stride(from: 0.1, to: heard.seconds - 0.15, by: 0.1) {
        let original = try #require(heard.original(at: time))
        #expect(abs(original - start - time) < 0.05, "at \(time)")
    }
}

func files(_ paths: [String], seconds: Double) -> [Track] {
    Timeline.repaired(
        tracks: paths.map { Track(start: .zero, duration: .seconds(seconds), audio: .file(path: $0)) })
}

/// Files of six seconds whose tone goes on from one to the next.
/// - Returns: their paths.
func parts(_ count: Int, _ ending: String) throws -> [String] {
    try (0..<count).map { try Sounds.tone("part\($0).\(ending)", seconds: 6, offset: Double($0) * 6) }
}

func threeParts(_ ending: String) throws -> [Track] { files(try parts(3, ending), seconds: 6) }

@Suite struct SinkTests {
    /// As whoever has no sound would try it.
    @Test(arguments: ["fakesink", "tee name=t t. ! queue ! fakesink t. ! queue ! fakesink sync=false"])
    func aSinkThatOnlySwallowsDoesSoInTime(_ sink: String) async throws {
        let rig = Rig("swallowed", sink: sink)
        _ = try await rig.open(files([try Sounds.tone("exact.m4b", seconds: 30)], seconds: 30))
        let begun = Clock.monotonic
        rig.engine.play(rig.load)
        let place = try await eventually("sound") {
            rig.engine.position(rig.load).flatMap { $0 > .seconds(0.5) ? $0 : nil }
        }
        #expect(place.microseconds < Clock.monotonic - begun + 50_000)
        rig.engine.unload()
    }
}

/// What a sound server says of how much it has played.
@Suite struct StormTests {
    /// However often somebody asks: an answer is carried on by the clock for twenty milliseconds, but from the true place.
    @Test func whereTheSoundStandsThePlaceDoes() async throws {
        let sound = SoundServer()
        try await sound.start(devices: ["speakers"])
        let rig = Rig("suspended", sink: "pulsesink server=\(sound.address)")
        _ = try await rig.open(files([try Sounds.tone("exact.m4b", seconds: 30)], seconds: 30))
        rig.engine.play(rig.load)
        try await eventually("sound") { rig.engine.position(rig.load).flatMap { $0 > .seconds(0.6) ? $0 : nil } }
        try await sound.suspend("speakers")
        let stood = try await rig.still()
        for _ in 0..<300 {
            _ = rig.engine.position(rig.load)
            try await Task.sleep(for: .milliseconds(1))
        }
        let later = try #require(rig.engine.position(rig.load))
        #expect(later - stood <= .seconds(0.025), "\(stood) became \(later)")
        rig.engine.unload()
        await sound.stop()
    }

    /// Paused at one second of the first of three parts.
    private func paused(_ name: String, _ body: (Rig) async throws -> Void) async throws {
        let sound = SoundServer()
        try await sound.start(devices: ["speakers"])
        let rig = Rig(name, sink: "pulsesink server=\(sound.address)")
        _ = try await rig.open(try threeParts("m4b"), at: .seconds(1))
        try await body(rig)
        rig.engine.unload()
        await sound.stop()
    }

    private func seek(_ rig: Rig, _ places: Double...) async throws {
        for place in places.map(BookTime.seconds) {
            rig.engine.seek(rig.load, to: place)
            let answer = try await rig.answer()
            #expect(answer == .seeked(to: place))
        }
    }

    /// Before its first sound, which takes this server longer.
    private func playAndPause(_ rig: Rig) async throws {
        rig.engine.play(rig.load)
        try await Task.sleep(for: .milliseconds(100))
        rig.engine.pause(rig.load)
    }

    /// Its client counts on while what was opened stands; by that, the sound would come as much later.
    @Test func whatWasOpenedAndStoodForAWhileIsHeardAtOnce() async throws {
        try await paused("stood") { rig in
            for (place, other) in [(1.0, 7.0), (7.0, 1.0)] {
                try await rig.playsInTime {
                    rig.engine.pause(rig.load)
                    // Into another file and back: it is opened, and has not been played.
                    try await seek(rig, other, place)
                }
            }
        }
    }

    /// The same of what was paused before its first sound, which is not taken for heard either.
    @Test func whatWasPausedBeforeItsFirstSoundIsHeardAtOnce() async throws {
        try await paused("paused-early") { rig in
            try await rig.playsInTime {
                rig.engine.pause(rig.load)
                try await seek(rig, 7, 1)
                try await playAndPause(rig)
            }
        }
    }

    /// Where it was first told to play is not where the listener is any more.
    @Test func whatIsSoughtBeforeTheFirstSoundIsNotTakenBack() async throws {
        try await paused("sought-early") { rig in
            try await playAndPause(rig)
            try await seek(rig, 4)
            try await Task.sleep(for: .seconds(3))
            let moments = try await rig.play(until: .seconds(4.1))
            #expect(moments.allSatisfy { $0.place >= .seconds(4) }, "\(moments.map(\.place))")
        }
    }

    /// It loses count when it is stopped hundreds of times in a second.
    @Test func aStormOfPausesIsFewForTheSoundServer() async throws {
        let sound = SoundServer()
        try await sound.start(devices: ["speakers"])
        let path = try Sounds.tone("exact.m4b", seconds: 30)
        let rig = Rig("storm", sink: "pulsesink server=\(sound.address)")
        _ = try await rig.open(files([path], seconds: 30))
        let events = try sound.events()
        // Behind its first sound: what was paused before that is opened anew.
        try await rig.play(until: .seconds(2))
        // Seen by the one who counts.
        while let line = events.line(), !line.contains("sink-input") {}
        let begin = ContinuousClock.now
        for _ in 0..<1000 {
            rig.engine.play(rig.load)
            rig.engine.pause(rig.load)
        }
        let stood = try await rig.still()
        let took = (ContinuousClock.now - begin) / .seconds(1)
        try await rig.play(until: stood + .seconds(0.5))
        events.send(SIGTERM)
        var count = 0
        while let line = events.line() { if line.contains("sink-input") { count += 1 } }
        #expect(Double(count) < 20 + 2 * took / Turn.longRest.seconds, "\(count) in \(took) s")
        rig.engine.unload()
        await sound.stop()
    }
}

struct Format: Sendable, CustomTestStringConvertible {
    let ending: String
    var options: [String] = []
    var testDescription: String { ending }

    static let all = [
        Format(ending: "m4b", options: ["-c:a", "aac", "-b:a", "64k"]), Format(ending: "m4a"),
        Format(ending: "mp3", options: ["-q:a", "4"]), Format(ending: "opus"), Format(ending: "ogg"),
        Format(ending: "flac"), Format(ending: "wav"),
    ]
}

@Suite struct PlayingTests {
    @Test(arguments: Format.all) func aLoadAndASeekAreHeardWhereTheySayTheyAre(_ format: Format) async throws {
        let path = try Sounds.tone("exact.\(format.ending)", seconds: 30, options: format.options)
        let rig = Rig("exact-\(format.ending)")
        let ready = try await rig.open(files([path], seconds: 30), at: .seconds(20.5))
        #expect(abs(ready.seconds - 20.5) < 0.001)
        #expect(rig.engine.position(rig.load) == ready)
        try await rig.play(until: .seconds(20.8), hearing: 0.2)
        let first = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(first - 20.6) < 0.03)

        rig.engine.seek(rig.load, to: .seconds(7.25))
        #expect(rig.engine.position(rig.load) == .seconds(7.25))
        #expect(try await rig.answer() == .seeked(to: .seconds(7.25)))
        try await rig.play(until: .seconds(7.6), hearing: 0.2)
        let second = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(second - 7.35) < 0.03)
        rig.engine.unload()
        #expect(rig.engine.position(rig.load) == nil)
    }
}
