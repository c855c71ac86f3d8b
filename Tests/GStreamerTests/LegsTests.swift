import Listening
import TestSupport
import Testing

@testable import GStreamer

/// The place is that of what is heard, not of what the sink was given last.
@Suite struct LegsTests {
    private static let second: Int64 = 1_000_000_000

    private func leg(_ track: Int, base: Double, start: Double, rate: Double = 1) -> Legs.Leg {
        Legs.Leg(
            track: track, base: UInt64(base * Double(Self.second)), start: Int64(start * Double(Self.second)),
            rate: rate)
    }

    private func heard(_ legs: inout Legs, at seconds: Double) -> [Double] {
        let now = UInt64(seconds * Double(Self.second))
        _ = legs.follow(now)
        let place = legs.filePosition(at: now).map { Double($0) / Double(Self.second) }
        return [Double(legs.heard?.track ?? -1), place ?? -1]
    }

    @Test func eachIsHeardWhenItsTimeHasCome() {
        var legs = Legs()
        #expect(heard(&legs, at: 1) == [-1, -1])
        let arrived = [
            legs.arrive(leg(0, base: 0, start: 10, rate: 2)), legs.arrive(leg(1, base: 5, start: 0, rate: 2)),
            legs.arrive(leg(2, base: 5.5, start: 0, rate: 2)),
        ]
        #expect(arrived == [false, true, true])
        #expect(legs.isBetween && legs.atDoor == 2)
        #expect(heard(&legs, at: 4) == [0, 18])
        // Its time has come, the sink does not have it yet: the end of the one is the start of the other.
        #expect(heard(&legs, at: 5.2) == [0, 20])
        legs.letThrough()
        #expect(heard(&legs, at: 5.2) == [1, 0.4])
        #expect(heard(&legs, at: 7) == [2, 3])
        #expect(!legs.isBetween)
    }

    @Test func aJumpIsToldOnceAndWhenItIsHeard() {
        var legs = Legs()
        func cuts() -> [UInt64] {
            let (isPast, next) = legs.takeCuts()
            return (isPast ? [0] : []) + (next.map { [$0 / UInt64(Self.second)] } ?? [])
        }
        // Said again, and said anew where the one before was anyway.
        let arrived = [
            legs.arrive(leg(0, base: 0, start: 0)), legs.arrive(leg(0, base: 0, start: 0)),
            legs.arrive(leg(0, base: 2, start: 2)), legs.arrive(leg(0, base: 3, start: 7)),
        ]
        #expect(arrived == [false, false, true, true])
        legs.letThrough()
        #expect(heard(&legs, at: 2.5) == [0, 2.5])
        #expect(cuts() == [3])
        #expect(heard(&legs, at: 3) == [0, 7])
        #expect(cuts() == [0])
        #expect(cuts() == [])
        // Where one file follows another nothing is left out.
        _ = legs.arrive(leg(1, base: 5, start: 0))
        legs.finish()
        #expect(cuts() == [])
        #expect(legs.heard?.track == 1, "one that is only a buffer long, too")
    }

    /// A sink that takes seconds of sound before they are heard, as sound cards do that want to sleep.
    private func rig(_ name: String, ahead: Int = 2) -> Rig {
        Rig(
            name, sink: "queue max-size-time=\(ahead)000000000 max-size-buffers=0 max-size-bytes=0 ! fakesink sync=true"
        )
    }

    private struct Sight {
        let place: Double
        /// Seconds since it began to play, right before and right after the look.
        let time: ClosedRange<Double>
    }

    /// - Returns: the places that were passed through, never backwards.
    private func sights(_ rig: Rig, until end: Double) async throws -> [Sight] {
        let begin = ContinuousClock.now
        func passed() -> Double { (ContinuousClock.now - begin) / .seconds(1) }
        rig.engine.play(rig.load)
        var seen: [Sight] = []
        var before = passed()
        while let place = rig.engine.position(rig.load)?.seconds {
            #expect(place >= seen.last?.place ?? 0)
            seen.append(Sight(place: place, time: before...passed()))
            guard place < end, before < 180 * Double(Sanitizer.patience) else { break }
            try await Task.sleep(for: .milliseconds(5))
            before = passed()
        }
        return seen
    }

    @Test(arguments: [1.0, 1.5]) func aFileThatLiesInTheSinkIsNotHeardYet(rate: Double) async throws {
        // A machine that stands still for seconds does not come to the end of them.
        let rig = rig("deep-\(rate)")
        _ = try await rig.open(files(try parts(15, "flac"), seconds: 6), at: .seconds(3), rate: rate)
        for sight in try await sights(rig, until: 13) {
            #expect(sight.place - 3 <= sight.time.upperBound * rate + 0.1, "\(sight)")
        }
        // The next file is in the sink by now: nobody moves in that one.
        rig.engine.seek(rig.load, to: .seconds(10.8))
        #expect(try await rig.word() == .seeked(to: .seconds(10.8)))
        let seen = try await sights(rig, until: 13)
        let first = try #require(seen.first)
        for sight in seen {
            let passed = sight.time.upperBound - first.time.lowerBound
            #expect(sight.place - first.place <= passed * rate + 0.1, "\(sight)")
        }
    }

    @Test func manyFilesThatLieInTheSink() async throws {
        let parts = try (0..<10).map { try Sounds.tone("brief\($0).flac", seconds: 0.6, offset: Double($0) * 0.6) }
        let rig = rig("deep-short")
        _ = try await rig.open(files(parts, seconds: 0.6))
        for sight in try await sights(rig, until: 5.9) {
            #expect(sight.place <= sight.time.upperBound + 0.1, "\(sight)")
        }
        #expect(try await rig.word() == .ended)
    }

    /// It is told when it is heard, also when the sound stands in between.
    @Test func aSilenceThatLiesInTheSinkIsNotLeftOutYet() async throws {
        let path = try Sounds.tone(
            "deep-silence.flac", seconds: 30, options: ["-af", "volume=0:enable='between(t,12,20)'"])
        /// Its sink has all that comes before the silence and some of what comes after it.
        func standing() async throws -> (Rig, Double) {
            let rig = self.rig("deep-silence", ahead: 12)
            rig.engine.setSound(SoundOptions(skipsSilence: true))
            _ = try await rig.open(files([path], seconds: 30), at: .seconds(8))
            _ = try await sights(rig, until: 8.5)
            rig.engine.pause(rig.load)
            return (rig, try await rig.still().seconds)
        }
        var (rig, stood) = try await standing()
        // A machine that stood still for seconds is past it.
        for _ in 0..<5 where stood > 12 { (rig, stood) = try await standing() }
        #expect((8.5...12.3).contains(stood) && rig.reports.all.allSatisfy { $0.word != .skipped })
        for sight in try await sights(rig, until: 18) {
            let isEarly = sight.place < 12.5
            #expect(
                isEarly ? sight.place <= stood + sight.time.upperBound + 0.1 : sight.time.upperBound > 12.15 - stood,
                "\(sight)")
        }
        #expect(try await rig.word() == .skipped)
    }
}
