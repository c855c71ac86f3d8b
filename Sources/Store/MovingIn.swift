internal import Folders
internal import GRDB
internal import Glibc
internal import Listening

/// A journal that had to begin in memory, because its file could not be opened or written, moves into the file as soon as
/// that can be: a disk may have been full, or a folder not yet mounted.
extension Opening {
    /// What a file holds, as far as it can be read.
    struct Copy {
        let database: DatabaseQueue
        /// No row is missing: what is removed from it may be removed from the file.
        let isWhole: Bool
    }

    /// - Returns: nil if there is nothing that can be read, or it is of a later version.
    func copyInMemory() throws -> Copy? {
        // Where the index of the write-ahead log is missing and cannot be made, only what was checkpointed can be read.
        for (name, isWhole) in [(path, true), (immutableDatabase(path), !Self.hasLog(path))] {
            guard let found = try? Self.reader(of: name),
                (try? found.read { try Schema.migrator.hasBeenSuperseded($0) }) == false
            else { continue }
            let copy = try DatabaseQueue()
            guard (try? found.backup(to: copy)) != nil else { continue }
            if (try? copy.read { try checkPages($0) }) != nil, (try? migrate(copy)) != nil {
                return Copy(database: copy, isWhole: isWhole)
            }
            // Damage would be copied with the rest, and whatever met it later would fail.
            let rescued = try DatabaseQueue()
            try Schema.migrator.migrate(rescued)
            try? rescue(from: found, to: rescued)
            return Copy(database: rescued, isWhole: false)
        }
        return nil
    }

    /// Opens the file and puts everything from memory into it, all or nothing.
    /// - Parameter isWhole: all that was in the file has been in memory since; else rows that are only in it stay.
    func moveIn(from memory: DatabaseQueue, isWhole: Bool) throws -> (DatabaseQueue, StoreNotice?) {
        let (file, notice) = try open()
        try memory.read { source in
            try file.write { db in
                let moves = isWhole ? [] : try db.placesThatChange(by: source)
                for table in Schema.tables { try db.take(table, from: source, isWhole: isWhole) }
                for move in moves { try Entry.move(move).write(to: db) }
            }
        }
        return (file, notice)
    }
}

extension Database {
    fileprivate func take(_ table: String, from source: Database, isWhole: Bool) throws {
        let rows = try Row.fetchAll(source, sql: "SELECT * FROM \(table) ORDER BY rowid")
        // A queue, or the way back, is one thing as a whole: two of them do not mix.
        let isOneThing = ["queue", "moves"].contains(table)
        if isWhole || isOneThing && !rows.isEmpty { try execute(sql: "DELETE FROM \(table)") }
        // The history's numbers are no more than an order.
        let isNumbered = isWhole || table != "history"
        let columns = try columns(in: table).map(\.name).filter { isNumbered || $0 != "number" }
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        for row in rows {
            // This installation is known by what the file says.
            let way = table == "meta" && row.text("key") == "deviceId" ? "IGNORE" : "REPLACE"
            if !isWhole, table == "places", try knowsNewer(row) { continue }
            try run(
                "INSERT OR \(way) INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))",
                StatementArguments(columns.map { row[$0] as DatabaseValue }))
        }
    }

    /// Who did not know where the listener was began elsewhere: there is a way back.
    fileprivate func placesThatChange(by source: Database) throws -> [Move] {
        try Row.fetchAll(source, sql: "SELECT * FROM places ORDER BY updated").compactMap { row in
            guard let new = Place(row), try !knowsNewer(row),
                let old = try Row.fetchOne(
                    self, sql: "SELECT * FROM places WHERE item = ?", arguments: [new.item.description]
                ).flatMap(Place.init)
            else { return nil }
            let move = Move(at: new.updated, item: new.item, from: old.position, to: new.position, cause: .begin)
            return move.isWorthKeeping ? move : nil
        }
    }

    private func knowsNewer(_ place: Row) throws -> Bool {
        try Bool.fetchOne(
            self, sql: "SELECT updated > ? FROM places WHERE item = ?",
            arguments: [place["updated"] as DatabaseValue, place["item"] as DatabaseValue]) ?? false
    }
}
