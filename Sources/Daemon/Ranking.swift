internal import Control

/// How well rows fit the words of a person.
enum Ranking {
    static func words(_ text: String) -> [String] {
        text.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map(String.init)
    }

    /// 0: does not fit. Higher is better: the whole title, its beginning, all words in the title, all words anywhere.
    static func score(_ row: ItemRow, _ wanted: [String]) -> Int {
        let title = words(row.item.title)
        if wanted.isEmpty { return 0 }
        if title == wanted { return 4 }
        if title.starts(with: wanted) { return 3 }
        let isIn = { (pool: [String]) in wanted.allSatisfy { word in pool.contains { $0.hasPrefix(word) } } }
        if isIn(title) { return 2 }
        let people = row.item.authors + row.item.narrators + row.item.series.map(\.name) + [row.item.podcast ?? ""]
        return isIn(title + people.flatMap(words)) ? 1 : 0
    }

    /// All of the words are in the title.
    static func isTitled(_ row: ItemRow, _ text: String) -> Bool { score(row, words(text)) > 1 }

    /// The rows of the best score; all of them where none fits, for the server found them by something not shown.
    static func best(_ rows: [ItemRow], for text: String) -> [ItemRow] {
        let wanted = words(text)
        // A podcast is not played itself: its episodes are.
        let playable = rows.filter { $0.item.kind != "podcast" }
        let pool = playable.isEmpty ? rows : playable
        let top = pool.map { score($0, wanted) }.max() ?? 0
        return pool.filter { score($0, wanted) == top }
    }

    /// Best first; within one score as they came.
    static func sorted(_ rows: [ItemRow], for text: String) -> [ItemRow] {
        let wanted = words(text)
        return rows.enumerated().map { ($0.element, score($0.element, wanted), $0.offset) }
            .sorted { ($1.1, $0.2) < ($0.1, $1.2) }.map(\.0)
    }
}
