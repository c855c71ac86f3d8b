/// Which bytes of a file are here: ranges in order, apart from each other.
struct ByteRanges: Hashable, Sendable {
    private(set) var list: [Range<Int64>] = []

    var total: Int64 { list.reduce(0) { $0 + Int64($1.count) } }
    var end: Int64 { list.last?.upperBound ?? 0 }

    mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        var (lower, upper) = (range.lowerBound, range.upperBound)
        let first = list.firstIndex { $0.upperBound >= lower } ?? list.endIndex
        var last = first
        while last < list.endIndex, list[last].lowerBound <= upper {
            lower = min(lower, list[last].lowerBound)
            upper = max(upper, list[last].upperBound)
            last += 1
        }
        list.replaceSubrange(first..<last, with: [lower..<upper])
    }

    mutating func remove(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        list = list.flatMap { here in
            [
                here.lowerBound..<max(here.lowerBound, min(here.upperBound, range.lowerBound)),
                min(here.upperBound, max(here.lowerBound, range.upperBound))..<here.upperBound,
            ].filter { !$0.isEmpty }
        }
    }

    /// How many bytes are here, without a gap, from `offset` on.
    func run(from offset: Int64) -> Int64 { (range(holding: offset)?.upperBound ?? offset) - offset }

    /// How many bytes are here, without a gap, up to `offset`.
    func run(upTo offset: Int64) -> Int64 { offset - (range(holding: offset - 1)?.lowerBound ?? offset) }

    func firstMissing(in range: Range<Int64>) -> Int64? {
        let offset = range.lowerBound + run(from: range.lowerBound)
        return offset < range.upperBound ? offset : nil
    }

    /// The first byte that is here at or behind `offset`.
    func firstHere(from offset: Int64) -> Int64? {
        list.first { $0.upperBound > offset }.map { max($0.lowerBound, offset) }
    }

    private func range(holding offset: Int64) -> Range<Int64>? { list.first { $0.contains(offset) } }
}
