/// What was meant by a word that is none.
public enum Spelling {
    /// The candidate that a third of its letters at most are off; nil: none is near.
    public static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        // The rows below are as long.
        guard word.utf8.count <= 100 else { return nil }
        let limit = max(1, word.count / 3)
        return candidates.compactMap { known in distance(word, known, limit: limit).map { (known, $0) } }
            .min { $0.1 < $1.1 }?.0
    }

    /// Letters to add, drop, change or swap with their neighbour.
    /// - Returns: nil if there are more than `limit`.
    public static func distance(_ a: String, _ b: String, limit: Int) -> Int? {
        let a = Array(a.unicodeScalars)
        let b = Array(b.unicodeScalars)
        guard abs(a.count - b.count) <= limit else { return nil }
        var before = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            row.reserveCapacity(b.count + 1)
            var least = i + 1
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
                row.append(cost)
                least = min(least, cost)
            }
            if least > limit { return nil }
            (before, last) = (last, row)
        }
        return last[b.count] <= limit ? last[b.count] : nil
    }
}
