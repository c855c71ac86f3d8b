internal import Catalogue
internal import Control

/// How well rows fit the words of a person.
enum Ranking {
    /// As ``Catalogue/Words/fit(title:others:_:)`` says.
    static func score(_ row: ItemRow, _ wanted: [String]) -> Int {
        Words.fit(title: Words.split(row.item.title), others: others(row), wanted)
    }

    /// Of two that score alike the one that has more of the words whole fits better.
    private static func fit(_ row: ItemRow, _ wanted: [String]) -> (score: Int, whole: Int) {
        let (title, others) = (Words.split(row.item.title), others(row))
        return (Words.fit(title: title, others: others, wanted), Words.whole(title + others, wanted))
    }

    /// Folded: of the title, the people, the series and the podcast.
    static func words(_ row: ItemRow) -> [String] { Words.split(row.item.title) + others(row) }

    private static func others(_ row: ItemRow) -> [String] {
        let names = row.item.authors + row.item.narrators + row.item.series.map(\.name) + [row.item.podcast ?? ""]
        return names.flatMap { Words.split($0) }
    }

    /// What was typed is the name of one who wrote it, as short as that may be: Oz, Wu.
    static func isByName(_ row: ItemRow, _ wanted: [String]) -> Bool {
        wanted.count == 1 && wanted[0].count > 1 && row.item.authors.contains { Words.split($0).last == wanted[0] }
    }

    /// All of the words are in the title.
    static func isTitled(_ row: ItemRow, _ wanted: [String]) -> Bool { score(row, wanted) > 1 }

    /// - Parameter wanted: folded words.
    /// - Returns: the rows that fit best; all of them where none fits, for the server found them by something not shown.
    static func best(_ rows: [ItemRow], for wanted: [String]) -> [ItemRow] {
        // A podcast is not played itself: its episodes are, unless the podcast is what was named.
        let fits = rows.map { fit($0, wanted) }
        let top = fits.max(by: <) ?? (0, 0)
        let best = zip(rows, fits).filter { $1 == top || top.score == 0 }.map(\.0)
        let playable = best.filter { $0.item.kind != "podcast" }
        return playable.isEmpty ? best : playable
    }

    /// The first of the ways to take what was typed that fits any of them.
    static func meant(_ ways: [[String]], among rows: [ItemRow]) -> [String] {
        ways.first { words in rows.contains { score($0, words) > 0 } } ?? ways.last ?? []
    }

    /// Best first; of those that fit alike as they came.
    static func sorted(_ rows: [ItemRow], for wanted: [String]) -> [ItemRow] { sorted(rows, by: \.self, for: wanted) }

    static func sorted<Entry>(_ entries: [Entry], by row: (Entry) -> ItemRow, for wanted: [String]) -> [Entry] {
        entries.enumerated().map { (entry: $0.element, fit: fit(row($0.element), wanted), place: $0.offset) }
            .sorted { ($1.fit.score, $1.fit.whole, $0.place) < ($0.fit.score, $0.fit.whole, $1.place) }.map(\.entry)
    }
}
