import Glibc
import Listening
import TestSupport
import Testing

@testable import GStreamer

@Suite struct VigilTests {
    @Test func onlyLooksInARowAtWhichNothingCameCount() {
        /// - Returns: at which look it is given up.
        func end(_ looks: [(stirs: UInt64, isHeldUp: Bool)]) -> Int? {
            var vigil = Vigil()
            return looks.firstIndex { vigil.isInVain(after: $0.stirs, isHeldUp: $0.isHeldUp) }
        }
        #expect(end([7, 8, 8, 8, 9, 9, 9, 9, 10, 10].map { ($0, false) }) == nil)
        #expect(end([7, 8, 9, 9, 9, 9, 9].map { ($0, false) }) == 2 + Vigil.limit)
        // What the sound output holds up may stand as long as it likes.
        let heldUp = Array(repeating: (stirs: UInt64(9), isHeldUp: true), count: 20)
        #expect(end(heldUp) == nil)
        #expect(end(heldUp + Array(repeating: (9, false), count: 9)) == 19 + Vigil.limit)
    }

    /// A pipe into which nobody writes any more, and which nobody closes.
    @Test func whatBringsNothingMoreFailsWhereTheSoundEnded() async throws {
        let path = "\(Sounds.folder)/stalls.mp3"
        try Sounds.run(["mkfifo", path])
        let pipe = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        defer { close(pipe) }
        let bytes = try Sounds.read(try Sounds.tone("short.mp3", seconds: 3, options: ["-b:a", "64k"]))
        #expect(write(pipe, bytes, bytes.count) == bytes.count)
        let reports = Reports()
        let engine = GStreamerEngine(
            sink: "fakesink sync=true", bytes: LoopbackBytes(), patience: Double(4 * Sanitizer.patience),
            report: reports.add)
        let load = LoadID(number: 7)
        engine.load(load, tracks: files([path], seconds: 60), at: .zero, rate: 1, volume: 1)
        #expect(try await reports.nextWord(load) == .ready(at: .zero))
        engine.play(load)
        #expect(try await reports.nextWord(load) == .failed(.unreadable(track: 0, reason: Vigil.reason)))
        #expect((2...3.2).contains(try #require(engine.position(load)).seconds))
        engine.unload()
    }

    /// Two of half a minute, one behind the other, each with a number of its own.
    private func chained(_ ending: String) throws -> String {
        var bytes: [UInt8] = []
        for serial in [7, 9] {
            bytes += try Sounds.read(
                try Sounds.tone("link\(serial).\(ending)", seconds: 30, options: ["-serial_offset", "\(serial)"]))
        }
        let path = "\(Sounds.folder)/chained.\(ending)"
        try Sounds.write(bytes, to: path)
        return path
    }

    private func engine(_ sink: String, _ reports: Reports) -> GStreamerEngine {
        GStreamerEngine(
            sink: sink, bytes: LoopbackBytes(), patience: Double(4 * Sanitizer.patience), report: reports.add)
    }

    /// GStreamer says nothing more of it, and would leave the listener waiting for ever.
    @Test(arguments: ["opus", "ogg"]) func whereNothingMoreComesOfAFileItFails(_ ending: String) async throws {
        let tracks = files([try chained(ending)], seconds: 60)
        let reports = Reports()
        let engine = engine("fakesink sync=true", reports)
        let load = LoadID(number: 7)
        engine.load(load, tracks: tracks, at: .seconds(28), rate: 1, volume: 1)
        #expect(try await reports.nextWord(load) == .ready(at: .seconds(28)))
        engine.play(load)
        guard case .failed(.unreadable(track: 0, _)) = try await reports.nextWord(load) else {
            Issue.record("\(reports.all)")
            return
        }
        #expect(abs(try #require(engine.position(load)).seconds - 30) < 0.5)

        // There it can be opened no more, and elsewhere it can.
        let next = LoadID(number: 8)
        engine.load(next, tracks: tracks, at: .seconds(45), rate: 1, volume: 1)
        guard case .failed(.unreadable(track: 0, _)) = try await reports.nextWord(next) else {
            Issue.record("\(reports.all)")
            return
        }
        let last = LoadID(number: 9)
        engine.load(last, tracks: tracks, at: .seconds(3), rate: 1, volume: 1)
        #expect(try await reports.nextWord(last) == .ready(at: .seconds(3)))
        engine.seek(last, to: .seconds(50))
        guard case .failed(.unreadable(track: 0, _)) = try await reports.nextWord(last) else {
            Issue.record("\(reports.all)")
            return
        }
        #expect(engine.position(last) == .seconds(50))
        engine.unload()
    }
}
