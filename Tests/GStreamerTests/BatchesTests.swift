import Testing

@testable import GStreamer

@Suite struct BatchesTests {
    private let full = Batches.frames - 1
    private let long = Int64(Batches.pause) + 1

    /// Which of the frames that come then, to a queue that holds so many, wait.
    private func waits(_ frames: [(at: Int64, level: Int32)]) -> [Bool] {
        var batches = Batches()
        return frames.map { at, level in
            let waits = batches.comes(at: at, level: level)
            if waits { batches.waited(until: at + Int64(Batches.pause)) }
            return waits
        }
    }

    @Test func theFirstFrameBehindAFullQueueWaits() {
        #expect(waits([(0, full), (long, full), (long * 10, full)]) == [false, true, true])
    }

    @Test func theRestOfTheBatchGoesOn() {
        let batch = (1...20).map { (at: 2 * long + $0, level: full) }
        #expect(waits([(0, full), (long, full)] + batch) == [false, true] + batch.map { _ in false })
    }

    /// After a seek the queue is empty, and behind a slow network or disk as well: nothing is held up then.
    @Test func nothingWaitsWhereFramesAreWanted() {
        let frames = (0...Batches.frames / 2).map { (at: Int64($0) * 10 * long, level: $0) }
        #expect(!waits(frames).contains(true))
    }
}
