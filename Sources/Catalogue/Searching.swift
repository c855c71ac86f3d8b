internal import GRDB
internal import Listening

/// What was found, best first.
public struct CatalogueFound: Hashable, Sendable {
    public var rows: [CatalogueRow]
    /// The words that were found: those asked for, or what they seem to have meant.
    public var words: [String]
}

extension Catalogue {
    /// Finds items by words of their titles, people and series. The last word, and where that finds too little all of
    /// them, may be the beginning of one; where still next to nothing is found, words may be mistyped. Whatever is
    /// asked, it is only words.
    public func search(_ text: String, limit: Int) async throws(CatalogueError) -> CatalogueFound {
        let wanted = Words.asked(text)
        guard !wanted.isEmpty else { return CatalogueFound(rows: [], words: []) }
        return try await read { db in
            var hits = try db.hits(wanted, limit)
            var words = wanted
            if hits.count < min(limit, 3) {
                for meant in try db.meanings(wanted) {
                    let more = try db.hits(meant, limit)
                    if more.isEmpty { continue }
                    if hits.isEmpty { words = meant }
                    let known = Set(hits)
                    hits += more.filter { !known.contains($0) }
                    break
                }
            }
            return CatalogueFound(rows: try db.rows(Array(hits.prefix(limit))), words: words)
        }
    }
}

/// A candidate and how well it fits.
private struct Hit {
    let number: Int64
    let fit: Int
    /// See ``Words/whole(_:_:)``.
    let whole: Int
    /// In words.
    let length: Int
}

extension Database {
    /// How many candidates are looked at for each way of fitting: more would not be read by anyone.
    private static let most = 200

    /// The best items for these words, by number.
    func hits(_ words: [String], _ limit: Int) throws -> [Int64] {
        if words.isEmpty { return [] }
        let quoted = words.map { "\"\($0)\"" }
        // Whole titles, titles that begin so, titles, whole words, everything: each looked for only while there is room for
        // more.
        var known: Set<Int64> = []
        var found: [Hit] = []
        func add(_ rows: [Row]) throws {
            for row in rows where known.insert(try row.get("number")).inserted {
                let title = (try row.get("title") as String).split(separator: " ").map(String.init)
                let names = (try row.get("names") as String).split(separator: " ").map(String.init)
                found.append(
                    Hit(
                        number: try row.get("number"), fit: Words.fit(title: title, others: names, words),
                        whole: Words.whole(title + names, words), length: title.count))
            }
        }
        try add(
            all(
                """
                SELECT items.number, words.title, words.names FROM items JOIN words ON words.rowid = items.number
                WHERE items.folded = ? LIMIT \(Self.most)
                """, [words.joined(separator: " ")]))
        let run = quoted.joined(separator: " + ")
        let each = quoted.joined(separator: " AND ")
        var ways = ["title : ^ \(run) *", "title : (\(each) *)", each, "\(each) *"]
        if words.count > 1 {
            ways.insert(run, at: 2)
            ways.append(quoted.map { "\($0) *" }.joined(separator: " AND "))
        }
        for way in ways where found.count < limit {
            try add(
                all(
                    "SELECT rowid AS number, title, names FROM words WHERE words MATCH ? LIMIT \(Self.most)", [way]))
        }
        return found.sorted {
            ($1.fit, $1.whole, $0.length, $1.number) < ($0.fit, $0.whole, $1.length, $0.number)
        }.map(\.number)
    }

    /// What words may have meant, the likeliest first.
    fileprivate func meanings(_ words: [String]) throws -> [[String]] {
        var meanings: [(words: [String], cost: Int)] = [([], 0)]
        for word in words {
            let isKnown = try isKnown(word)
            var choices = try near(word)
            if choices.isEmpty, !isKnown { choices = try slips(word) }
            // A word that exists may be meant all the same.
            let all = (isKnown || choices.isEmpty ? [(term: word, distance: 0)] : []) + choices
            meanings = meanings.flatMap { meaning in
                all.map { (meaning.words + [$0.term], meaning.cost + $0.distance) }
            }
            meanings.sort { $0.cost < $1.cost }
            meanings = Array(meanings.prefix(8))
        }
        return meanings.map(\.words).filter { $0 != words }
    }

    private func isKnown(_ word: String) throws -> Bool {
        try number("SELECT 1 FROM vocabulary WHERE term >= ? AND term <= ? LIMIT 1", [word, word + "\u{10FFFF}"]) != nil
    }

    /// The beginnings of words that this short one could have been, three at most: two letters swapped before one letter
    /// changed, then what is a whole word, the most frequent first.
    private func slips(_ word: String) throws -> [(term: String, distance: Int)] {
        let (swapped, changed) = Typos.slips(word)
        for slips in [swapped, changed] {
            let known = try slips.filter(isKnown).map { slip in
                (slip, try number("SELECT doc FROM vocabulary WHERE term = ?", [slip]) ?? 0)
            }
            if known.isEmpty { continue }
            return known.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(3).map { ($0.0, 1) }
        }
        return []
    }

    /// The words of the index that this one could have been, three at most: the fewest mistakes first, then the most
    /// frequent.
    private func near(_ word: String) throws -> [(term: String, distance: Int)] {
        let limit = Typos.limit(word)
        guard limit > 0, Typos.isWord(word) else { return [] }
        let variants = Typos.variants(word)
        let marks = variants.map { _ in "?" }.joined(separator: ", ")
        var terms = Set(
            try String.fetchAll(
                cachedStatement(sql: "SELECT DISTINCT term FROM typos WHERE variant IN (\(marks))"),
                arguments: StatementArguments(variants)))
        var found = self.found(terms, word, limit)
        if limit > 1, found.isEmpty {
            // Two mistakes, the first letter right: the few that begin so and are about as long.
            let length = word.unicodeScalars.count
            terms = Set(
                try String.fetchAll(
                    cachedStatement(sql: "SELECT term FROM terms WHERE first = ? AND length BETWEEN ? AND ?"),
                    arguments: [String(word.unicodeScalars.prefix(1)), length - limit, length + limit]))
            found = self.found(terms, word, limit)
        }
        let counted = try found.sorted { ($0.distance, $0.term) < ($1.distance, $1.term) }.prefix(12).map { found in
            (found, try number("SELECT doc FROM vocabulary WHERE term = ?", [found.term]) ?? 0)
        }
        return counted.filter { $0.1 > 0 }.sorted { ($0.0.distance, $1.1) < ($1.0.distance, $0.1) }.prefix(3).map(\.0)
    }

    private func found(_ terms: Set<String>, _ word: String, _ limit: Int) -> [(term: String, distance: Int)] {
        terms.compactMap { term in
            guard term != word, let distance = Spelling.distance(word, term, limit: limit) else { return nil }
            return (term, distance)
        }
    }
}
