import CGStreamer
import EventLoop
import Listening
import TestSupport
import Testing

@testable import GStreamer

/// A load whose pipeline's words are handed on one by one: what comes at the wrong moment can be brought about.
@Suite struct WrongMomentTests {
    private struct Rig {
        let reports = Reports()
        let notes = Locked<[(note: Note, stamp: UInt64)]>([])
        let needle: Needle
        let turn: Turn
        let load = LoadID(number: 1)

        init(_ tracks: [Track], at place: BookTime) throws {
            needle = Needle(load: load, reel: Reel(tracks: tracks))
            let notes = self.notes
            turn = try Turn(
                needle: needle, sink: "fakesink sync=true", shelf: LoopbackBytes(), patience: 120, rate: 1, volume: 1,
                report: reports.add, naps: Sleep(),
                post: { note, stamp in notes.withLock { $0.append((note, stamp)) } })
            turn.begin(at: place)
        }

        /// Hands everything on up to a word.
        func go(until word: EngineReport.Word) async throws {
            try await until("\(word)") {
                if let (note, stamp) = next() { turn.hear(note, stamp: stamp) }
                return reports.all.last?.word == word
            }
        }

        func next() -> (note: Note, stamp: UInt64)? {
            notes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }

        /// - Parameter isLost: of which nobody is told.
        /// - Returns: when the end came.
        func goToEnd(losing isLost: (Note) -> Bool = { _ in false }) async throws -> UInt64 {
            try await eventually("the end") {
                guard let (note, stamp) = next() else { return nil }
                if case .endOfStream = note { return stamp }
                if !isLost(note) { turn.hear(note, stamp: stamp) }
                return nil
            }
        }
    }

    /// GStreamer does not always say that it has arrived.
    @Test func aSeekThatIsOvertakenByTheEndOfItsFileIsAnswered() async throws {
        let rig = try Rig(try threeParts("flac"), at: .seconds(7))
        try await rig.go(until: .ready(at: .seconds(7)))
        rig.turn.set(playing: true)
        rig.turn.seek(to: .seconds(11.9), aim: rig.needle.take(aim: .seconds(11.9)))
        let stamp = try await rig.goToEnd {
            switch $0 {
            case .settled, .sounds: true
            default: false
            }
        }
        rig.turn.hear(.endOfStream, stamp: stamp)
        try await rig.go(until: .seeked(to: .seconds(12)))
        try await until("the sound") { rig.needle.position.map { $0 > .seconds(12.1) } ?? false }
        rig.turn.close()
    }

    @Test func aSeekThatIsAskedForAsTheEndComesIsNotLost() async throws {
        let rig = try Rig(try threeParts("flac"), at: .seconds(17.5))
        try await rig.go(until: .ready(at: .seconds(17.5)))
        rig.turn.set(playing: true)
        let stamp = try await rig.goToEnd()
        let aim = rig.needle.take(aim: .seconds(13))
        rig.turn.hear(.endOfStream, stamp: stamp)
        #expect(rig.needle.position == .seconds(13))
        rig.turn.seek(to: .seconds(13), aim: aim)
        try await rig.go(until: .seeked(to: .seconds(13)))
        try await until("the sound") { rig.needle.position.map { $0 > .seconds(13.1) } ?? false }
        #expect(!rig.reports.all.contains { $0.word == .ended })
        rig.turn.close()
    }

    /// playbin asks the next file to come along on its way down.
    @Test func whatCannotFollowHoldsUpNoPipeline() async throws {
        let parts = [try Sounds.read(try parts(1, "mp3")[0]), []]
        let server = try LoopbackServer { request in
            .bytes(LoopbackServer.file(parts[request.path == "/0" ? 0 : 1], type: "audio/mpeg", for: request))
        }
        let rig = try Rig(streams(["\(server.address)/0", "\(server.address)/1"], seconds: 6), at: .seconds(2))
        try await rig.go(until: .ready(at: .seconds(2)))
        let playbin = rig.turn.pipeline.outlet.pipeline
        playbin.retain()
        rig.turn.set(playing: true)
        try await until("it fails") {
            if let (note, stamp) = rig.next() { rig.turn.hear(note, stamp: stamp) }
            if case .failed = rig.reports.all.last?.word { return true }
            return false
        }
        try await until("it is stopped") { playbin.element.pointee.current_state == GST_STATE_NULL }
        playbin.release()
        server.stop()
    }

    /// As playbin has it for a moment, when it has put in what reads the next file.
    @Test func whatIsBroughtUpWithNoFileIsOpenedAgain() async throws {
        let rig = try Rig(try threeParts("flac"), at: .seconds(2))
        try await rig.go(until: .ready(at: .seconds(2)))
        let playbin = rig.turn.pipeline.outlet.pipeline.element
        let bin = UnsafeMutableRawPointer(playbin).assumingMemoryBound(to: GstBin.self)
        let bare = try #require(gst_element_factory_make("uridecodebin", nil))
        gst_object_ref(bare)
        gst_bin_add(bin, bare)
        rig.turn.set(playing: true)
        let (note, stamp) = try await eventually("the complaint") {
            while let (note, stamp) = rig.next() {
                if case .complaint = note { return (note, stamp) }
                rig.turn.hear(note, stamp: stamp)
            }
            return nil
        }
        gst_element_set_state(bare, GST_STATE_NULL)
        gst_bin_remove(bin, bare)
        gst_object_unref(bare)
        rig.turn.hear(note, stamp: stamp)
        try await until("the sound") {
            if let (note, stamp) = rig.next() { rig.turn.hear(note, stamp: stamp) }
            return rig.needle.position.map { $0 > .seconds(2.2) } ?? false
        }
        #expect(rig.reports.all.map(\.word) == [.ready(at: .seconds(2))])
        rig.turn.close()
    }

    @Test func whatHasFailedIsAskedNothing() async throws {
        let rig = try Rig(try threeParts("flac"), at: .second)
        try await rig.go(until: .ready(at: .second))
        rig.turn.fade(Fading(left: .seconds(10), length: .seconds(20)))
        let complaint = Complaint(domain: .stream, code: 0, text: "broken", origin: .other)
        rig.turn.hear(.complaint(complaint), stamp: rig.turn.since)
        guard case .failed = rig.reports.all.last?.word else {
            Issue.record("\(rig.reports.all)")
            return
        }
        rig.turn.fade(nil)
        rig.turn.set(SoundOptions(boost: 6, skipsSilence: true))
        rig.turn.set(volume: 0.5)
        rig.turn.seek(to: .seconds(2), aim: rig.needle.take(aim: .seconds(2)))
        rig.turn.close()
    }
}
