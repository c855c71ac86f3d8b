internal import Folders
internal import GRDB
public import Listening

/// The index as a program sees it that asks once and leaves, such as a shell that completes a word: read only, nothing
/// is made, and no daemon is needed.
public struct CatalogueGlance {
    public struct Title: Hashable, Sendable {
        public let id: ItemID
        public let title: String
        /// Whose it is: the podcast, or the authors.
        public let by: String
    }

    private let database: DatabaseQueue

    /// - Returns: nil if there is no index that can be read, or only one of another version.
    public init?(path: String) {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(0.02)
        // Where the index of the write-ahead log is missing and cannot be made, what was checkpointed is enough.
        for name in [path, immutableDatabase(path)] {
            guard let found = try? DatabaseQueue(path: name, configuration: configuration),
                (try? found.read({ try Int.fetchOne($0, sql: "PRAGMA user_version") })) == Schema.version
            else { continue }
            database = found
            return
        }
        return nil
    }

    /// What can be played and has all these words, the last as a beginning; without any, what was begun and what is new.
    public func titles(_ text: String, limit: Int) -> [Title] {
        let wanted = Array(Words.split(text.prefix(500)).prefix(12))
        return rows { db in
            guard !wanted.isEmpty else { return try db.continued(limit) + db.latest(limit, 0, library: nil) }
            return try db.rows(try db.hits(wanted, limit))
        }
    }

    /// What has an id that begins so.
    public func titles(idBeginning beginning: String, limit: Int) -> [Title] {
        rows { db in
            try db.rows(
                try db.numbers(
                    "SELECT number FROM items WHERE id >= ? AND id < ? LIMIT ?",
                    [beginning, beginning + "\u{10FFFF}", limit]))
        }
    }

    private func rows(_ body: (Database) throws -> [CatalogueRow]) -> [Title] {
        var known: Set<ItemID> = []
        return ((try? database.read(body)) ?? []).filter { known.insert($0.item.id).inserted }.map { row in
            Title(
                id: row.item.id, title: row.item.title, by: row.item.podcast ?? row.item.authors.joined(separator: ", ")
            )
        }
    }

    /// Names of the libraries.
    public var libraries: [String] {
        (try? database.read { try String.fetchAll($0, sql: "SELECT DISTINCT name FROM libraries ORDER BY rank") }) ?? []
    }

    /// Names of this kind (`author`, `narrator`, `series`, `genre`) that begin so; where none does, those with words that
    /// do.
    public func names(_ kind: String, _ text: String, limit: Int) -> [String] {
        let folded = Words.fold(text)
        let begun = """
            SELECT name FROM links WHERE kind = ? AND folded >= ? AND folded < ? GROUP BY folded ORDER BY folded LIMIT ?
            """
        let inside = "SELECT DISTINCT name FROM links WHERE kind = ? AND instr(folded, ?) > 0 LIMIT ?"
        let found = try? database.read { db in
            let names = try String.fetchAll(db, sql: begun, arguments: [kind, folded, folded + "\u{10FFFF}", limit])
            guard names.isEmpty else { return names }
            return try String.fetchAll(db, sql: inside, arguments: [kind, " " + folded, limit])
        }
        return found ?? []
    }

    /// Names of collections (`collection`) or playlists (`playlist`).
    public func lists(_ kind: CatalogueList.Kind) -> [String] {
        let sql = "SELECT DISTINCT name FROM lists WHERE kind = ? ORDER BY folded"
        return (try? database.read { try String.fetchAll($0, sql: sql, arguments: [kind.rawValue]) }) ?? []
    }
}

extension Words {
    /// What somebody who has typed words of a title would type on: `page`, or `Page`, after `the dog-eared pa`.
    ///
    /// A name without marks stays as it is typed, so that a shell finds its own word at the beginning.
    /// - Parameters:
    ///   - before: words that were typed before, folded.
    ///   - typed: the beginning of the present word, or of several; it may be empty.
    /// - Returns: `typed` and the rest of the title behind it; nil if the words are not in it in this order.
    public static func completed(_ title: String, after before: [String], typed: String) -> String? {
        let wanted = before + split(typed)
        let scalars = Array(title.unicodeScalars)
        for start in scalars.indices {
            // Where a word begins.
            let isInside = start > 0 && !split(String(scalars[start - 1])).isEmpty
            guard !isInside, !split(String(scalars[start])).isEmpty else { continue }
            func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }
            if wanted.isEmpty { return text(start..<scalars.count) }
            let words = split(text(start..<scalars.count))
            guard words.count >= wanted.count, words.prefix(before.count) == before[...],
                zip(words, wanted).allSatisfy({ $0.hasPrefix($1) }),
                words.prefix(wanted.count - 1) == wanted.dropLast()
            else { continue }
            // To behind the letters that were typed.
            let letters = wanted.joined()
            var end = start
            var seen = ""
            while end < scalars.count, seen.unicodeScalars.count < letters.unicodeScalars.count {
                seen += split(String(scalars[end])).joined()
                end += 1
            }
            guard seen == letters else { continue }
            var rest = text(end..<scalars.count)
            if split(typed).isEmpty { rest = String(rest.drop { split(String($0)).isEmpty }) }
            // Behind a space that was typed no other is needed.
            if typed.last == " ", rest.first == " " { rest.removeFirst() }
            return rest.isEmpty && typed.isEmpty ? nil : typed + rest
        }
        return nil
    }
}
