import EventLoop
import Listening
import TestSupport
import Testing

@testable import GStreamer

/// Alone at a time: they count what the whole process has.
@Suite(.serialized) struct EnduranceTests {
    /// Of this process: threads that GStreamer named, and files that are open under the tests' folder.
    func openFiles(_ path: String) throws -> Int {
        let output = "\(Sounds.folder)/fds"
        try Sounds.run(["sh", "-c", "ls -l /proc/\(ProcessID.own)/fd | grep -c '\(path)' > '\(output)' || true"])
        let text = String(decoding: try Sounds.read(output), as: UTF8.self)
        return Int(text.filter(\.isNumber)) ?? -1
    }

    @Test func loadingAndUnloadingLeavesNothingBehind() async throws {
        let path = try Sounds.tone("endurance.m4b", seconds: 10)
        let reports = Reports()
        let engine = GStreamerEngine(sink: "fakesink sync=true", bytes: LoopbackBytes(), report: reports.add)
        let tracks = files([path, path], seconds: 10)
        for number in 1...200 {
            let load = LoadID(number: UInt64(number))
            engine.load(load, tracks: tracks, at: .seconds(Double(number % 19)), rate: 1, volume: 1)
            // Every third is stopped wherever it happens to be.
            if number % 3 != 0 {
                guard case .ready = try await reports.next(load) else { throw Reports.Silence() }
                engine.play(load)
                if number % 2 == 0 { engine.seek(load, to: .seconds(Double(number % 17))) }
            }
            if number % 5 != 0 { engine.unload() }
        }
        engine.unload()
        // The last load's answer comes after everything before it is gone.
        let last = LoadID(number: 1000)
        engine.load(last, tracks: files(["/nonexistent"], seconds: 1), at: .zero, rate: 1, volume: 1)
        guard case .failed = try await reports.nextWord(last) else { throw Reports.Silence() }
        #expect(try openFiles("endurance.m4b") == 0)
    }

    @Test func thePositionIsCheapToAsk() async throws {
        let path = try Sounds.tone("endurance.m4b", seconds: 10)
        let reports = Reports()
        let engine = GStreamerEngine(sink: "fakesink sync=true", bytes: LoopbackBytes(), report: reports.add)
        let load = LoadID(number: 1)
        engine.load(load, tracks: files([path], seconds: 10), at: .seconds(2), rate: 1, volume: 1)
        #expect(try await reports.next(load) == .ready(at: .seconds(2)))
        engine.play(load)
        let begin = Clock.now.monotonic
        for _ in 0..<10_000 { _ = engine.position(load) }
        let each = Double(Clock.now.monotonic - begin) / 10_000
        #expect(each < 1000)
    }
}
