internal import Folders
internal import GRDB
public import Listening

/// What a catalogue is told of single things.
extension Catalogue {
    /// Items that were added or changed; those that are known and the same cost next to nothing.
    public func put(_ items: [CatalogueItem], library id: String, account: String) async throws(CatalogueError) {
        try await write { db in
            guard let library = try db.library(account, id) else { return }
            let pass = try db.number("SELECT pass FROM libraries WHERE number = ?", [library]) ?? 0
            for item in items { try db.put(item, library: library, parent: nil, pass: pass) }
        }
    }

    /// All episodes of a podcast: others it had are gone.
    public func put(episodes: [CatalogueItem], of podcast: ItemID) async throws(CatalogueError) {
        try await write { db in
            guard
                let row = try db.first(
                    "SELECT number, library, pass FROM items WHERE id = ?", [podcast.description])
            else { return }
            let (number, library, pass): (Int64, Int64, Int64) = (
                try row.get("number"), try row.get("library"), try row.get("pass")
            )
            let kept = Set(episodes.map(\.id.description))
            for episode in try db.all("SELECT number, id FROM items WHERE parent = ?", [number])
            where !kept.contains(try episode.get("id")) {
                try db.remove(item: try episode.get("number"))
            }
            for episode in episodes { try db.put(episode, library: library, parent: number, pass: pass) }
            try db.run("UPDATE items SET stale = 0 WHERE number = ?", [number])
        }
    }

    /// Items that are no longer there, podcasts with their episodes.
    public func remove(_ items: [ItemID]) async throws(CatalogueError) {
        try await write { db in
            for item in items {
                guard let number = try db.number("SELECT number FROM items WHERE id = ?", [item.description]) else {
                    continue
                }
                try db.remove(item: number)
            }
            try db.forgetWords()
        }
    }

    /// Places that were told or reached; older ones than are known change nothing.
    public func note(_ places: [Place]) async throws(CatalogueError) {
        try await write { db in
            for place in places {
                try db.put(CataloguePlace(place), onConflict: "WHERE excluded.updated >= updated", keepsHidden: true)
            }
        }
    }

    /// All places of an account.
    public func setProgress(_ places: [CataloguePlace], account: String) async throws(CatalogueError) {
        try await write { db in
            try db.run("DELETE FROM progress WHERE \(owned("item"))", [account.prefix, account.end])
            for place in places where place.place.item.belongs(to: account) {
                try db.put(place, onConflict: "", keepsHidden: false)
            }
        }
    }

    public func setCover(_ path: String, of item: ItemID) async throws(CatalogueError) {
        try await write { db in
            try db.run("INSERT OR REPLACE INTO covers (item, path) VALUES (?, ?)", [item.description, path])
        }
    }

    /// All collections or playlists of a library.
    public func setLists(
        _ lists: [CatalogueList], _ kind: CatalogueList.Kind, library id: String, account: String
    ) async throws(CatalogueError) {
        try await write { db in
            guard let library = try db.library(account, id) else { return }
            try db.removeLists(of: library, kind: kind.rawValue)
            for list in lists where list.kind == kind {
                try db.run(
                    "INSERT OR REPLACE INTO lists (library, id, kind, name, folded) VALUES (?, ?, ?, ?, ?)",
                    [library, list.id, kind.rawValue, list.name, Words.fold(list.name)])
                let number = db.lastInsertedRowID
                for (rank, item) in list.items.enumerated() {
                    try db.run(
                        "INSERT OR REPLACE INTO listed (list, rank, item) VALUES (?, ?, ?)",
                        [number, rank, item.description])
                }
            }
        }
    }

    // MARK: Accounts and libraries

    /// The libraries an account has: others are gone, with all that is in them.
    public func setLibraries(_ libraries: [CatalogueLibrary], account: String) async throws(CatalogueError) {
        try await write { db in
            let kept = Set(libraries.map(\.id))
            for row in try db.all("SELECT number, id FROM libraries WHERE account = ?", [account])
            where !kept.contains(try row.get("id")) {
                try db.remove(library: try row.get("number"))
            }
            for (rank, library) in libraries.enumerated() {
                try db.run(
                    """
                    INSERT INTO libraries (account, id, name, isPodcasts, rank) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (account, id) DO UPDATE SET name = excluded.name, rank = excluded.rank
                    """, [account, library.id, library.name, library.isPodcasts, rank])
            }
            try db.forgetWords()
        }
    }

    /// Everything of an account, after a logout.
    public func remove(account: String) async throws(CatalogueError) {
        try await write { db in
            for number in try db.numbers("SELECT number FROM libraries WHERE account = ?", [account]) {
                try db.remove(library: number)
            }
            for table in ["progress", "covers"] {
                try db.run("DELETE FROM \(table) WHERE \(owned("item"))", [account.prefix, account.end])
            }
            try db.forgetWords()
            // What was removed stays in the segments of the index until they are joined.
            try db.run("INSERT INTO words (words) VALUES ('optimize')")
        }
    }

    /// Accounts that are known here, whether or not they still exist.
    public func accounts() async throws(CatalogueError) -> [String] {
        try await read { db in try String.fetchAll(db, sql: "SELECT DISTINCT account FROM libraries") }
    }
}

/// Of the items of one account: between `abs:<account>/` and what follows it.
func owned(_ column: String) -> String { "\(column) >= ? AND \(column) < ?" }

extension String {
    var prefix: String { "\(ItemID.shelf):\(self)/" }
    var end: String { "\(ItemID.shelf):\(self)0" }
}

extension ItemID {
    func belongs(to account: String) -> Bool { description.hasPrefix(account.prefix) }
}

extension Database {
    func library(_ account: String, _ id: String) throws -> Int64? {
        try number("SELECT number FROM libraries WHERE account = ? AND id = ?", [account, id])
    }

    /// Writes an item unless it is known and the same.
    /// - Parameters:
    ///   - parent: of an episode its podcast.
    ///   - pass: the reading it was seen in.
    func put(_ item: CatalogueItem, library: Int64, parent: Int64?, pass: Int64) throws {
        let fingerprint = item.fingerprint
        var number: Int64?
        if let known = try first("SELECT number, fingerprint FROM items WHERE id = ?", [item.id.description]) {
            let old: Int64 = try known.get("number")
            if try known.get("fingerprint") == fingerprint {
                return try run("UPDATE items SET pass = ?, library = ? WHERE number = ?", [pass, library, old])
            }
            number = old
            try unlink(item: old)
        }
        let folded = Words.fold(item.title)
        try run(
            """
            INSERT INTO items (number, id, library, parent, kind, title, folded, subtitle, authors, byAuthor, narrators,
                series, genres, podcast, duration, added, published, released, episodes, isPlayable, fingerprint, pass,
                stale)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (number) DO UPDATE SET library = excluded.library, parent = excluded.parent,
                kind = excluded.kind, title = excluded.title, folded = excluded.folded, subtitle = excluded.subtitle,
                authors = excluded.authors, byAuthor = excluded.byAuthor, narrators = excluded.narrators,
                series = excluded.series, genres = excluded.genres, podcast = excluded.podcast, duration = excluded.duration,
                added = excluded.added, published = excluded.published, released = excluded.released,
                episodes = excluded.episodes, isPlayable = excluded.isPlayable, fingerprint = excluded.fingerprint,
                pass = excluded.pass, stale = excluded.stale
            """,
            [
                number, item.id.description, library, parent, item.kind.rawValue, item.title, folded, item.subtitle,
                Texts.join(item.authors), Words.fold(item.authors.first ?? ""), Texts.join(item.narrators),
                Texts.join(item.series.map(\.text)),
                Texts.join(item.genres), item.podcast, item.duration.microseconds, item.added, item.published,
                item.released, item.episodes, item.isPlayable, fingerprint, pass, item.kind == .podcast,
            ])
        let row = number ?? lastInsertedRowID
        if let summary = item.summary, !summary.isEmpty {
            try run("INSERT INTO summaries (item, text) VALUES (?, ?)", [row, String(summary.prefix(20_000))])
        }
        try link(item, row)
        let title = Words.indexed([item.title])
        let names = Words.indexed(
            [item.subtitle, item.podcast].compactMap(\.self) + item.authors + item.narrators + item.series.map(\.name))
        try run("INSERT INTO words (rowid, title, names) VALUES (?, ?, ?)", [row, title, names])
        for word in Set((title + " " + names).split(separator: " ")) { try learn(String(word)) }
    }

    private func link(_ item: CatalogueItem, _ row: Int64) throws {
        let names =
            item.authors.map { ("author", $0, Double?.none) } + item.narrators.map { ("narrator", $0, nil) }
            + item.genres.map { ("genre", $0, nil) } + item.series.map { ("series", $0.name, $0.rank) }
        for (kind, name, rank) in names {
            try run(
                "INSERT OR IGNORE INTO links (kind, folded, item, name, rank) VALUES (?, ?, ?, ?, ?)",
                [kind, Words.fold(name), row, name, rank])
        }
    }

    private func learn(_ word: String) throws {
        guard Typos.isWord(word) else { return }
        try run(
            "INSERT OR IGNORE INTO terms (term, first, length) VALUES (?, ?, ?)",
            [word, String(word.unicodeScalars.prefix(1)), word.unicodeScalars.count])
        guard changesCount > 0 else { return }
        for variant in Typos.variants(word) {
            try run("INSERT OR IGNORE INTO typos (variant, term) VALUES (?, ?)", [variant, word])
        }
    }

    func put(_ known: CataloguePlace, onConflict condition: String, keepsHidden: Bool) throws {
        let place = known.place
        try run(
            """
            INSERT INTO progress (item, position, duration, isFinished, isHidden, updated) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (item) DO UPDATE SET position = excluded.position, duration = excluded.duration,
                isFinished = excluded.isFinished, updated = excluded.updated
                \(keepsHidden ? "" : ", isHidden = excluded.isHidden") \(condition)
            """,
            [
                place.item.description, place.position.microseconds, place.duration.microseconds, place.isFinished,
                known.isHidden, place.updated,
            ])
    }

    // MARK: Removing

    /// What hangs on an item.
    private func unlink(item number: Int64) throws {
        try run("DELETE FROM links WHERE item = ?", [number])
        try run("DELETE FROM words WHERE rowid = ?", [number])
        try run("DELETE FROM summaries WHERE item = ?", [number])
    }

    func remove(item number: Int64) throws {
        for episode in try numbers("SELECT number FROM items WHERE parent = ?", [number]) {
            try unlink(item: episode)
        }
        try unlink(item: number)
        try run("DELETE FROM items WHERE parent = ?", [number])
        try run("DELETE FROM items WHERE number = ?", [number])
    }

    func remove(library: Int64) throws {
        for (table, column) in [("links", "item"), ("words", "rowid"), ("summaries", "item")] {
            try run(
                "DELETE FROM \(table) WHERE \(column) IN (SELECT number FROM items WHERE library = ?)", [library])
        }
        try run("DELETE FROM items WHERE library = ?", [library])
        for kind in ["collection", "playlist"] { try removeLists(of: library, kind: kind) }
        try run("DELETE FROM libraries WHERE number = ?", [library])
    }

    func removeLists(of library: Int64, kind: String) throws {
        try run(
            "DELETE FROM listed WHERE list IN (SELECT number FROM lists WHERE library = ? AND kind = ?)",
            [library, kind])
        try run("DELETE FROM lists WHERE library = ? AND kind = ?", [library, kind])
    }

    /// Words that only what was removed had.
    func forgetWords() throws {
        try run("DELETE FROM terms WHERE term NOT IN (SELECT term FROM vocabulary)")
        if changesCount > 0 { try run("DELETE FROM typos WHERE term NOT IN (SELECT term FROM terms)") }
    }
}

/// Lists of texts in one column.
enum Texts {
    private static let mark = "\u{1F}"

    static func join(_ texts: [String]) -> String {
        texts.map { $0.contains(mark) ? $0.replacing(mark, with: " ") : $0 }.joined(separator: mark)
    }

    static func split(_ text: String) -> [String] {
        text.isEmpty ? [] : text.split(separator: mark, omittingEmptySubsequences: false).map(String.init)
    }
}

extension SeriesPlace {
    private static let mark: Character = "\u{1E}"

    var text: String { [name, sequence].compactMap(\.self).joined(separator: String(Self.mark)) }

    init(text: String) {
        let parts = text.split(separator: Self.mark, maxSplits: 1).map(String.init)
        self.init(name: parts.first ?? "", sequence: parts.count > 1 ? parts[1] : nil)
    }

    /// "2" of "2-4", "1.5" of "1.5": where it comes among the others; nil: at their end.
    var rank: Double? {
        guard let sequence else { return nil }
        return Double(sequence.drop { !$0.isASCII || !$0.isNumber }.prefix { $0.isASCII && ($0.isNumber || $0 == ".") })
    }
}

extension CatalogueItem {
    /// Of everything that is kept, so that what did not change need not be written. The same in every run.
    fileprivate var fingerprint: Int64 {
        var hash = ContentHash()
        func add(_ text: String) {
            hash.add(text)
            hash.add([0x1D])
        }
        add(kind.rawValue)
        for text in [title, subtitle, podcast, released, summary] { add(text ?? "\u{0}") }
        for list in [authors, narrators, series.map(\.text), genres] { add(Texts.join(list)) }
        add(
            "\(duration.microseconds) \(added ?? -1) \(published ?? -1) \(updated ?? -1) \(episodes ?? -1) \(isPlayable)"
        )
        return Int64(truncatingIfNeeded: UInt64(hash.hex.prefix(16), radix: 16) ?? 0)
    }
}
