public import Listening

/// Chapters in Vorbis comments, which Ogg, Opus and FLAC files have: `CHAPTER001=00:01:02.500` and
/// `CHAPTER001NAME=The Whale`.
public enum CommentChapters {
    /// - Parameter comments: `KEY=value` each, in any order.
    public static func read(_ comments: [String]) -> [Chapter] {
        var starts: [Int: BookTime] = [:]
        var names: [Int: String] = [:]
        for comment in comments {
            let parts = comment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased().hasPrefix("chapter") else { continue }
            let key = parts[0].dropFirst("chapter".count)
            let digits = key.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits) else { continue }
            switch key.dropFirst(digits.count).lowercased() {
            case "": if let start = time(parts[1]) { starts[number] = start }
            case "name": names[number] = String(parts[1])
            default: break
            }
        }
        let sorted = starts.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        return sorted.enumerated().map { index, entry in
            let end = index + 1 < sorted.count ? sorted[index + 1].value : entry.value
            return Chapter(title: names[entry.key] ?? "", start: entry.value, end: end)
        }
    }

    /// `hours:minutes:seconds.fraction`.
    private static func time(_ text: Substring) -> BookTime? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = fields.compactMap { Double($0.filter { $0 != " " }) }
        guard numbers.count == 3, fields.count == 3, numbers.allSatisfy({ $0 >= 0 && $0 < 1_000_000 }) else {
            return nil
        }
        return .seconds(numbers[0] * 3600 + numbers[1] * 60 + numbers[2])
    }
}
