internal import GRDB
public import Listening

/// What to list. Everything that is named has to fit.
public struct CatalogueQuery: Hashable, Sendable {
    public enum Sort: String, Hashable, Sendable, CaseIterable {
        case title, author, added, duration, published, progress
    }

    /// Account and id of the libraries; nil: all.
    public var libraries: [CatalogueLibrary]?
    /// Of names, as ``Catalogue/names(_:like:)`` gives them; one of each list has to fit.
    public var authors: [String] = []
    public var narrators: [String] = []
    public var series: [String] = []
    public var genres: [String] = []
    /// Ids, as ``Catalogue/lists(_:like:)`` gives them.
    public var lists: [Int64] = []
    public var unfinished = false
    /// nil: a series in its order, a list in its own, all others by title.
    public var sort: Sort?
    public var isReversed = false
    public var limit = 50
    /// Rows to skip.
    public var offset = 0

    public init() {}
}

public struct CataloguePage: Hashable, Sendable {
    public var rows: [CatalogueRow]
    /// Of the whole list.
    public var total: Int
}

extension Catalogue {
    public func list(_ query: CatalogueQuery) async throws(CatalogueError) -> CataloguePage {
        try await read { db in
            let found = try Selection(query, db)
            let total = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM items \(found.condition)", arguments: found.arguments)
            let numbers = try Int64.fetchAll(
                db,
                sql: "SELECT items.number FROM items \(found.condition) ORDER BY \(found.order) LIMIT ? OFFSET ?",
                arguments: found.arguments + found.orderArguments + [query.limit, query.offset])
            return CataloguePage(rows: try db.rows(numbers), total: total ?? 0)
        }
    }

    /// Names of this kind (`author`, `narrator`, `series`, `genre`) that read alike, or else have all words; folded.
    public func names(_ kind: String, like text: String) async throws(CatalogueError) -> [String] {
        let wanted = Words.split(text)
        return try await read { db in
            let folded = wanted.joined(separator: " ")
            if try db.number("SELECT 1 FROM links WHERE kind = ? AND folded = ? LIMIT 1", [kind, folded]) != nil {
                return [folded]
            }
            // SQLite leaves out what has not even the longest word in it.
            guard let longest = wanted.max(by: { $0.utf8.count < $1.utf8.count }) else { return [] }
            let sql = "SELECT DISTINCT folded FROM links WHERE kind = ? AND instr(folded, ?) > 0"
            return try String.fetchAll(db.cachedStatement(sql: sql), arguments: [kind, longest]).filter { name in
                Words.fit(title: name.split(separator: " ").map(String.init), others: [], wanted) > 0
            }
        }
    }

    /// The numbers of the collections or playlists with this name or id.
    public func lists(_ kind: CatalogueList.Kind, like text: String) async throws(CatalogueError) -> [Int64] {
        let wanted = Words.split(text)
        return try await read { db in
            let exact = try db.numbers(
                "SELECT number FROM lists WHERE kind = ? AND (id = ? OR folded = ?)",
                [kind.rawValue, text, wanted.joined(separator: " ")])
            if !exact.isEmpty { return exact }
            return try db.all("SELECT number, folded FROM lists WHERE kind = ?", [kind.rawValue]).filter { row in
                let name = (try row.get("folded") as String).split(separator: " ").map(String.init)
                return Words.fit(title: name, others: [], wanted) > 0
            }.map { try $0.get("number") }
        }
    }

    /// What was begun and not finished, the last listened to first.
    public func continueListening(limit: Int) async throws(CatalogueError) -> [CatalogueRow] {
        try await read { try $0.continued(limit) }
    }

    /// Episodes and books that were not finished, the newest first.
    public func latest(limit: Int, offset: Int = 0) async throws(CatalogueError) -> [CatalogueRow] {
        try await read { try $0.latest(limit, offset, library: nil) }
    }

    /// One item.
    public func row(_ id: ItemID) async throws(CatalogueError) -> CatalogueRow? {
        try await read { db in
            guard let number = try db.number("SELECT number FROM items WHERE id = ?", [id.description]) else {
                return nil
            }
            var row = try db.rows([number]).first
            row?.item.summary = try String.fetchOne(
                db.cachedStatement(sql: "SELECT text FROM summaries WHERE item = ?"), arguments: [number])
            return row
        }
    }

    public func rows(_ ids: [ItemID]) async throws(CatalogueError) -> [CatalogueRow] {
        try await read { db in
            try db.rows(
                try ids.compactMap { try db.number("SELECT number FROM items WHERE id = ?", [$0.description]) })
        }
    }

    /// Of a podcast, the newest first.
    public func episodes(of podcast: ItemID) async throws(CatalogueError) -> [CatalogueRow] {
        try await read { db in
            try db.rows(
                try db.numbers(
                    """
                    SELECT number FROM items WHERE parent = (SELECT number FROM items WHERE id = ?)
                    ORDER BY published DESC, number DESC LIMIT 1000
                    """, [podcast.description]))
        }
    }

    /// What comes after an item: the next book of its series, the next episode of its podcast.
    /// - Parameter isNew: only what can be played and was not finished before.
    public func next(after id: ItemID, isNew: Bool = false) async throws(CatalogueError) -> CatalogueRow? {
        let isMeant = """
            (NOT ? OR items.isPlayable AND NOT EXISTS (
                SELECT 1 FROM progress WHERE progress.item = items.id AND progress.isFinished))
            """
        return try await read { db in
            guard
                let row = try db.first(
                    "SELECT number, library, parent, published FROM items WHERE id = ?", [id.description])
            else { return nil }
            let number: Int64 = try row.get("number")
            if let parent: Int64 = try row.get("parent") {
                return try db.rows(
                    try db.numbers(
                        """
                        SELECT number FROM items WHERE parent = ? AND (published, number) > (?, ?) AND \(isMeant)
                        ORDER BY published, number LIMIT 1
                        """, [parent, try row.get("published") as Int64?, number, isNew])
                ).first
            }
            return try db.rows(
                try db.numbers(
                    """
                    SELECT other.item FROM links AS own JOIN links AS other
                        ON other.kind = 'series' AND other.folded = own.folded AND other.rank > own.rank
                    JOIN items ON items.number = other.item AND items.library = ?
                    WHERE own.item = ? AND own.kind = 'series' AND \(isMeant) ORDER BY other.rank LIMIT 1
                    """, [try row.get("library") as Int64, number, isNew])
            ).first
        }
    }
}

extension Database {
    func continued(_ limit: Int) throws -> [CatalogueRow] {
        try rows(
            try numbers(
                """
                SELECT items.number FROM progress JOIN items ON items.id = progress.item
                WHERE NOT progress.isFinished AND NOT progress.isHidden AND progress.position > 0 AND items.isPlayable
                ORDER BY progress.updated DESC LIMIT ?
                """, [limit]))
    }

    func latest(_ limit: Int, _ offset: Int, library: Int64?) throws -> [CatalogueRow] {
        try rows(
            try numbers(
                """
                SELECT items.number FROM items LEFT JOIN progress ON progress.item = items.id
                WHERE items.isPlayable AND coalesce(progress.isFinished, 0) = 0 AND (?1 IS NULL OR items.library = ?1)
                ORDER BY coalesce(items.published, items.added) DESC LIMIT ?2 OFFSET ?3
                """, [library, limit, offset]))
    }
}

/// A query as SQL.
private struct Selection {
    private(set) var condition: String
    private(set) var arguments = StatementArguments()
    private(set) var order: String
    private(set) var orderArguments = StatementArguments()

    init(_ query: CatalogueQuery, _ db: Database) throws {
        var terms: [String] = []
        var arguments = StatementArguments()
        func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }
        if let libraries = query.libraries {
            let numbers = try libraries.compactMap { try db.library($0.account, $0.id) }
            terms.append("items.library IN (\(marks(numbers.count)))")
            arguments += StatementArguments(numbers)
        }
        let links = [
            ("author", query.authors), ("narrator", query.narrators), ("series", query.series), ("genre", query.genres),
        ]
        for (kind, names) in links where !names.isEmpty {
            terms.append(
                "items.number IN (SELECT item FROM links WHERE kind = '\(kind)' AND folded IN (\(marks(names.count))))")
            arguments += StatementArguments(names)
        }
        if query.lists.isEmpty {
            terms.append("items.parent IS NULL")
        } else {
            terms.append("items.id IN (SELECT item FROM listed WHERE list IN (\(marks(query.lists.count))))")
            arguments += StatementArguments(query.lists)
        }
        if query.unfinished { terms.append(Self.unfinished) }
        condition = "WHERE " + terms.joined(separator: " AND ")
        self.arguments = arguments

        let direction = query.isReversed ? "DESC" : "ASC"
        var keys: [String]
        switch query.sort {
        case nil where !query.lists.isEmpty:
            keys = [
                "(SELECT min(rank) FROM listed WHERE listed.item = items.id AND list IN (\(marks(query.lists.count))))"
            ]
            orderArguments = StatementArguments(query.lists)
        case nil where !query.series.isEmpty:
            let rank = """
                (SELECT min(coalesce(rank, 1e9)) FROM links
                WHERE links.item = items.number AND kind = 'series' AND folded IN (\(marks(query.series.count))))
                """
            keys = [rank, "items.folded"]
            orderArguments = StatementArguments(query.series)
        case nil, .title: keys = ["items.folded"]
        case .author: keys = ["items.byAuthor", "items.folded"]
        case .added: keys = ["items.added"]
        case .duration: keys = ["items.duration"]
        case .published: keys = ["coalesce(items.released, '')", "items.published"]
        case .progress: keys = ["(SELECT updated FROM progress WHERE progress.item = items.id)"]
        }
        keys.append("items.number")
        order = keys.map { "\($0) \(direction)" }.joined(separator: ", ")
    }

    /// A podcast is not finished while one of its episodes is not.
    private static let unfinished = """
        CASE WHEN items.kind = 'podcast' THEN EXISTS (
            SELECT 1 FROM items AS episode LEFT JOIN progress ON progress.item = episode.id
            WHERE episode.parent = items.number AND coalesce(progress.isFinished, 0) = 0)
        ELSE NOT EXISTS (SELECT 1 FROM progress WHERE progress.item = items.id AND progress.isFinished) END
        """
}
