import Testing

@testable import GStreamer

@Suite struct SegmentMapTests {
    let second: UInt64 = 1_000_000_000

    func part(start: UInt64 = 0, base: UInt64 = 0, rate: Double = 1) -> SegmentMap.Part {
        SegmentMap.Part(start: start, base: base, rate: rate)
    }

    @Test func nothingIsTouchedAtRateOne() {
        let map = SegmentMap()
        #expect(map.map(part()) == nil)
        #expect(map.map(part(base: 6 * second)) == nil)
    }

    @Test func theNextFilesKeepTheRateAndFollowWithoutAGap() {
        let map = SegmentMap()
        map.expect(target: 4 * second, rate: 2)
        map.flushed()
        #expect(map.map(part(start: 4 * second, rate: 2)) == nil)
        // Two seconds of file at rate 2: one second of running time, as it came.
        #expect(map.map(part(base: second)) == part(base: second, rate: 2))
        // Six seconds of file, which playbin thinks are played at rate 1.
        #expect(map.map(part(base: 7 * second)) == part(base: 4 * second, rate: 2))
    }

    @Test func aSeekThatLandsEarlyStartsAtItsTarget() {
        let map = SegmentMap()
        map.expect(target: 20 * second, rate: 1)
        map.flushed()
        #expect(map.map(part(start: 19 * second)) == part(start: 20 * second))
        // Only the first segment after the seek, and without a gap behind what is left of it.
        #expect(map.map(part(base: 3 * second)) == part(base: 2 * second))
        #expect(map.map(part(base: 9 * second)) == part(base: 8 * second))
    }
}
