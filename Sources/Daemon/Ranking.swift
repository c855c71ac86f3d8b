internal import Catalogue
internal import Control

/// How well rows fit the words of a person.
enum Ranking {
    /// As ``Catalogue/Words/fit(title:others:_:)`` says.
    static func score(_ row: ItemRow, _ wanted: [String]) -> Int {
        Words.fit(title: Words.split(row.item.title), others: others(row), wanted)
    }

    /// Folded: of the title, the people, the series and the podcast.
    static func words(_ row: ItemRow) -> [String] { Words.split(row.item.title) + others(row) }

    private static func others(_ row: ItemRow) -> [String] {
        let names = row.item.authors + row.item.narrators + row.item.series.map(\.name) + [row.item.podcast ?? ""]
        return names.flatMap { Words.split($0) }
    }

    /// All of the words are in the title.
    static func isTitled(_ row: ItemRow, _ wanted: [String]) -> Bool { score(row, wanted) > 1 }

    /// - Parameter wanted: folded words.
    /// - Returns: the rows of the best score; all of them where none fits, for the server found them by something not shown.
    static func best(_ rows: [ItemRow], for wanted: [String]) -> [ItemRow] {
        // A podcast is not played itself: its episodes are, unless the podcast is what was named.
        let top = rows.map { score($0, wanted) }.max() ?? 0
        let best = rows.filter { score($0, wanted) == top }
        let playable = best.filter { $0.item.kind != "podcast" }
        return playable.isEmpty ? best : playable
    }

    /// Best first; within one score as they came.
    static func sorted(_ rows: [ItemRow], for wanted: [String]) -> [ItemRow] { sorted(rows, by: \.self, for: wanted) }

    static func sorted<Entry>(_ entries: [Entry], by row: (Entry) -> ItemRow, for wanted: [String]) -> [Entry] {
        entries.enumerated().map { ($0.element, score(row($0.element), wanted), $0.offset) }
            .sorted { ($1.1, $0.2) < ($0.1, $1.2) }.map(\.0)
    }
}
