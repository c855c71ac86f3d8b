import Testing

@testable import GStreamer

@Suite struct ClockWatchTests {
    /// What a watch finds, one after the other, of a clock that is so far ahead of the machine's at that moment, in
    /// microseconds, and is asked without a delay.
    private func found(_ readings: [(lead: Int64, at: Int64)]) -> [Bool] {
        var watch = ClockWatch()
        return readings.map { lead, now in
            watch.hasRunAway(UInt64(lead + now) * 1000, asked: now, answered: now)
        }
    }

    @Test func aClockThatKeepsTimeAndStopsHasNotRunAway() {
        var lead: Int64 = 10_000_000_000
        let readings = (1...72_000).map { second in
            // It gains a tenth of a second in an hour, and for the first ten jitters and stands for a while now and then.
            lead += 28
            guard second <= 36_000 else { return (lead, Int64(second) * 1_000_000) }
            if second % 600 == 0 { lead -= 15_000_000 }
            return (lead + Int64(second % 3 - 1) * 20_000, Int64(second) * 1_000_000)
        }
        #expect(!found(readings).contains(true))
    }

    @Test func aClockThatJumpsByAgesHasForAsLongAsItStandsThere() {
        var watch = ClockWatch()
        let ages: UInt64 = 15_696_369_651_791_855_616
        let found = [52_000_000_000, ages, ages, .max].enumerated().map { index, clock in
            let now = 60_000_000 + Int64(index) * 250_000
            return watch.hasRunAway(clock, asked: now, answered: now + 1)
        }
        #expect(found == [false, true, true, true])
    }

    @Test func aLittleTooFarEachTimeAddsUp() {
        let readings = (0...20).map { time in
            let gone = Int64(time)
            return (lead: -8_000_000 + gone * 70_000, at: 60_000_000 + gone * 100_000)
        }
        #expect(found(readings).firstIndex(of: true) == 8)
    }

    @Test func anAnswerThatTakesItsTimeIsNoRunning() {
        var watch = ClockWatch()
        // Whoever asked was not let go on for two seconds, after the clock was read or before.
        let found = [
            watch.hasRunAway(52_000_000_000, asked: 60_000_000, answered: 62_000_000),
            watch.hasRunAway(54_010_000_000, asked: 62_010_000, answered: 62_010_001),
            watch.hasRunAway(56_010_000_000, asked: 62_010_002, answered: 64_010_000),
        ]
        #expect(!found.contains(true))
    }
}
