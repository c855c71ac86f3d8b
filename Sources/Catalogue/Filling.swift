internal import GRDB
public import Listening

/// One reading of a library from end to end, in the order of addition: what is not seen in it is gone.
public struct CataloguePass: Hashable, Sendable {
    /// Items to skip.
    public var offset: Int
}

/// Items that are known and were not seen in a reading.
public struct Unseen: Hashable, Sendable {
    public let items: [ItemID]
    /// The reading saw as many items as the library has. If not, what moved while it was read may be among these.
    public let isSure: Bool
}

/// How libraries are filled and kept true.
extension Catalogue {
    public func states() async throws(CatalogueError) -> [LibraryState] {
        try await read { db in
            // Counted over all at once: a scan of the index, without a row of it being read.
            let counts = try db.all(
                "SELECT library, count(*) AS count FROM items WHERE parent IS NULL GROUP BY library")
            let known = Dictionary(try counts.map { (try $0.get("library") as Int64, try $0.get("count") as Int) }) {
                first, _ in first
            }
            return try db.all("SELECT * FROM libraries ORDER BY account, rank").map { row in
                LibraryState(
                    library: CatalogueLibrary(
                        account: try row.get("account"), id: try row.get("id"), name: try row.get("name"),
                        isPodcasts: try row.get("isPodcasts")),
                    items: known[try row.get("number")] ?? 0, total: try row.get("total"),
                    filled: try row.get("filled"), checked: try row.get("checked"),
                    isUnderWay: (try row.get("offset") as Int?) != nil)
            }
        }
    }

    /// Goes on with the reading that was left, or begins another.
    public func begin(library id: String, account: String) async throws(CatalogueError) -> CataloguePass? {
        try await write { db in
            guard let row = try db.first("SELECT * FROM libraries WHERE account = ? AND id = ?", [account, id]) else {
                return nil
            }
            if let offset: Int = try row.get("offset") { return CataloguePass(offset: offset) }
            try db.run(
                "UPDATE libraries SET pass = pass + 1, offset = 0, passTotal = NULL WHERE number = ?",
                [try row.get("number") as Int64])
            return CataloguePass(offset: 0)
        }
    }

    /// Takes the next page of a reading.
    /// - Parameter total: of the whole library, as this page said.
    /// - Returns: false if the library changed its size since the last page, and the reading has to begin again.
    public func take(
        _ items: [CatalogueItem], library id: String, account: String, next offset: Int, total: Int
    ) async throws(CatalogueError) -> Bool {
        try await write { db in
            guard let row = try db.first("SELECT * FROM libraries WHERE account = ? AND id = ?", [account, id]) else {
                return true
            }
            let (library, pass): (Int64, Int64) = (try row.get("number"), try row.get("pass"))
            for item in items { try db.put(item, library: library, parent: nil, pass: pass) }
            let before: Int? = try row.get("passTotal")
            guard before == nil || before == total else {
                try db.run("UPDATE libraries SET offset = NULL, total = ? WHERE number = ?", [total, library])
                return false
            }
            try db.run(
                "UPDATE libraries SET offset = ?, passTotal = ?, total = ? WHERE number = ?",
                [offset, total, total, library])
            return true
        }
    }

    /// What a reading that came to its end has not seen.
    public func unseen(library id: String, account: String) async throws(CatalogueError) -> Unseen {
        try await read { db in
            guard let row = try db.first("SELECT * FROM libraries WHERE account = ? AND id = ?", [account, id]) else {
                return Unseen(items: [], isSure: false)
            }
            let (library, pass): (Int64, Int64) = (try row.get("number"), try row.get("pass"))
            let seen = try db.number(
                "SELECT count(*) FROM items WHERE library = ? AND parent IS NULL AND pass = ?", [library, pass])
            let items = try String.fetchAll(
                db, sql: "SELECT id FROM items WHERE library = ? AND parent IS NULL AND pass < ?",
                arguments: [library, pass])
            let total: Int64? = try row.get("passTotal")
            return Unseen(items: items.compactMap { ItemID($0) }, isSure: seen == total)
        }
    }

    /// The reading is over.
    /// - Parameter complete: it saw what there is; false if only the newest were looked at.
    public func end(
        library id: String, account: String, complete: Bool, at now: Int64
    ) async throws(CatalogueError) {
        try await write { db in
            try db.run(
                """
                UPDATE libraries SET offset = NULL, checked = ?, filled = CASE WHEN ? THEN ? ELSE filled END
                WHERE account = ? AND id = ?
                """, [now, complete, now, account, id])
        }
    }

    /// Takes the items that were added last.
    /// - Returns: how many of them were not known.
    public func take(
        newest items: [CatalogueItem], library id: String, account: String, total: Int
    ) async throws(CatalogueError) -> Int {
        try await write { db in
            guard let library = try db.library(account, id) else { return 0 }
            let pass = try db.number("SELECT pass FROM libraries WHERE number = ?", [library]) ?? 0
            var news = 0
            for item in items {
                if try db.number("SELECT 1 FROM items WHERE id = ?", [item.id.description]) == nil { news += 1 }
                try db.put(item, library: library, parent: nil, pass: pass)
            }
            try db.run("UPDATE libraries SET total = ? WHERE number = ?", [total, library])
            return news
        }
    }

    /// How many items of a library are known, episodes not counted.
    public func count(library id: String, account: String) async throws(CatalogueError) -> Int {
        try await read { db in
            guard let library = try db.library(account, id) else { return 0 }
            return Int(try db.number("SELECT count(*) FROM items WHERE library = ? AND parent IS NULL", [library]) ?? 0)
        }
    }

    /// Podcasts that changed since their episodes were read, a few at a time.
    public func stalePodcasts(
        library id: String, account: String, limit: Int
    ) async throws(CatalogueError) -> [ItemID] {
        try await read { db in
            guard let library = try db.library(account, id) else { return [] }
            return try String.fetchAll(
                db.cachedStatement(
                    sql:
                        "SELECT id FROM items WHERE library = ? AND parent IS NULL AND stale ORDER BY added DESC LIMIT ?"
                ),
                arguments: [library, limit]
            ).compactMap { ItemID($0) }
        }
    }
}
