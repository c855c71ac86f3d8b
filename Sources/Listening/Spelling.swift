/// What was meant by a word that is none.
public enum Spelling {
    /// The candidate that a third of its letters at most are off; nil: none is near.
    public static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        // The rows below are as long.
        guard word.utf8.count <= 100 else { return nil }
        let nearest = candidates.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
        return nearest.flatMap { $0.1 <= max(1, word.count / 3) ? $0.0 : nil }
    }

    /// How many letters must be added, dropped, changed, or swapped with the next.
    static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a), Array(b))
        var (last, row) = ([Int](), Array(0...b.count))
        for i in a.indices {
            let before = last
            (last, row) = (row, [i + 1])
            for j in b.indices {
                var least = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
                row.append(least)
            }
        }
        return row[b.count]
    }
}
