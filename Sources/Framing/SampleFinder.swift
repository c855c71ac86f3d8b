internal import Listening

/// Where decoding can begin, and which sample is heard first from there.
struct SampleMark: Hashable, Sendable {
    let byte: Int64
    let sample: Int64
}

/// Finds places in files whose pieces tell which sample they begin with, by looking where it should be.
protocol SampleFinder: Actor {
    /// Hertz.
    var rate: Int64 { get }
    /// Bytes of one look.
    var chunk: Int { get }
    /// What begins behind `start`, as it follows in the file, as far as a look tells; before `limit` only.
    func marks(at start: Int64, before limit: Int64) async throws(EngineFailure) -> [SampleMark]
}

extension SampleFinder {
    /// The last mark at `wanted` or before, or one that is less than a second before that.
    func last(
        upTo wanted: Int64, from low: SampleMark, to high: SampleMark
    ) async throws(EngineFailure) -> SampleMark {
        var (low, high) = (low, high)
        var isSlow = false
        for _ in 0..<96 {
            guard wanted - low.sample >= rate, high.byte - low.byte > 1 else { break }
            let gap = high.byte - low.byte
            // Interpolation finds the place in evenly loud files at once; halving when it is slow bounds it in any.
            let part = scaled(gap, by: wanted - low.sample, over: high.sample - low.sample)
            let aim = isSlow ? gap / 2 - Int64(chunk / 2) : min(part - Int64(chunk / 2), gap - 1)
            let start = low.byte + max(1, aim)
            let found = try await marks(at: start, before: high.byte).filter {
                $0.sample > low.sample && $0.sample < max(high.sample, wanted + 1)
            }
            if let before = found.last(where: { $0.sample <= wanted }) {
                low = before
                // One right behind the other: nothing is between them.
                if found.contains(where: { $0.sample > wanted }) { break }
            } else {
                high = SampleMark(byte: start, sample: found.first?.sample ?? high.sample)
            }
            isSlow = !isSlow && high.byte - low.byte > gap / 2
        }
        return low
    }
}
