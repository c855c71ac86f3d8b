internal import Folders
internal import FoundationEssentials
internal import GRDB
internal import GRDBSQLite
internal import Glibc

/// Opens the database whatever state it is in.
struct Opening {
    let path: String
    /// Seconds for which another program that has the database locked is waited for.
    static let patience = 5.0

    func open() throws -> (DatabaseQueue, StoreNotice?) {
        do {
            // One that was moved away without its log, of which that is to keep what it has.
            if FileIdentity.size(of: path) == nil, Self.hasLog(path) { try PrivateFiles.makeFile(path) }
            // SQLite would take it for a new one, and its log for another's.
            if FileIdentity.size(of: path) == 0 { throw StoreError.damaged(path: path) }
            return (try connect(), nil)
        } catch {
            guard case .damaged = StoreError(error, path: path) else { throw error }
            return try replace()
        }
    }

    /// Sets a damaged file aside and begins a new one with what can be read of it.
    /// - Parameter old: what has it open, and may know more than the file.
    func replace(_ old: DatabaseQueue? = nil) throws -> (DatabaseQueue, StoreNotice) {
        let aside = try setAside("damaged")
        do {
            let queue = try connect()
            return (queue, try rescue(from: aside, old, to: queue))
        } catch {
            // What there is of the new one: its log would be taken for that of the old.
            remove(path)
            if let aside { putBack(aside) }
            throw error
        }
    }

    static func deviceID(_ db: Database) throws -> String {
        try db.run(
            "INSERT OR IGNORE INTO meta (key, value) VALUES ('deviceId', ?)", [UUID().uuidString.lowercased()])
        return try db.meta("deviceId") ?? ""
    }

    static func setDeviceID(_ id: String, _ db: Database) throws {
        try db.setMeta("deviceId", id)
    }

    /// For a database another is to take the place of: else it would take the new one's log, of the same name, away with
    /// it when it is closed.
    static func keepLog(of old: DatabaseQueue) throws {
        try old.writeWithoutTransaction { db in
            let code = keepLog(of: db.sqliteConnection)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
    }

    private static func keepLog(of connection: OpaquePointer?) -> Int32 {
        var keeps: Int32 = 1
        return sqlite3_file_control(connection, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
    }

    /// Read through what SQLite has open: to open and close the file besides would take its locks away, all of the process.
    static func beginsAsItShould(_ db: Database) -> Bool {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let read = file.pointee.pMethods?.pointee.xRead
        else { return true }
        let magic = Array("SQLite format 3\0".utf8)
        var bytes = magic.map { _ in UInt8(0) }
        // What cannot be read at all is for the write to find out.
        return read(file, &bytes, Int32(bytes.count), 0) != SQLITE_OK || bytes == magic
    }

    /// A new file with all that is in a database whose own is gone.
    /// - Returns: where what was found in its place is now.
    func renew(from old: DatabaseQueue) throws -> (DatabaseQueue, aside: String?) {
        try makeFolder()
        let fresh = "\(path).new"
        remove(fresh)
        defer { remove(fresh) }
        try PrivateFiles.makeFile(fresh)
        let copy = try DatabaseQueue(path: fresh)
        try old.backup(to: copy)
        // Else it would be set aside by each further try.
        try copy.read { try checkPages($0) }
        try copy.close()
        try Self.keepLog(of: old)
        let aside = try setAside("replaced")
        guard rename(fresh, path) == 0 else { throw FolderError(path: path, code: errno) }
        return (try connect(), aside)
    }

    /// Room enough on its disk for the log to grow.
    var hasRoom: Bool {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return (try? Room.left(in: folder)).map { $0 >= 64 << 10 } ?? true
    }

    private func makeFolder() throws {
        try PrivateFiles.makeFolder(above: path)
    }

    func connect() throws -> DatabaseQueue {
        let isNew = FileIdentity.size(of: path) == nil
        do { return try connected() } catch {
            // One that nothing could be written to would be taken for one that was emptied.
            if isNew, FileIdentity.size(of: path) == 0 { unlink(path) }
            throw error
        }
    }

    private func connected() throws -> DatabaseQueue {
        try makeFolder()
        // SQLite gives the write-ahead log and the index of it the rights of the database itself.
        try PrivateFiles.makeFile(path)
        var configuration = Configuration()
        configuration.label = "dogear.store"
        configuration.busyMode = .timeout(Self.patience)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            // Asked first, while nothing has been written.
            if try Schema.migrator.hasBeenSuperseded(db) { throw StoreError.newer(path: path) }
            try checkPages(db)
            // Another program's.
            let isMade = try Bool.fetchOne(db, sql: "SELECT count(*) > 0 FROM sqlite_schema") ?? false
            if try isMade && !db.tableExists("grdb_migrations") { throw StoreError.damaged(path: path) }
            try db.execute(sql: "PRAGMA journal_mode = WAL")
        }
        try migrate(queue)
        try queue.write { db in
            for table in Schema.tables where try !db.tableExists(table) { throw StoreError.damaged(path: path) }
            try db.execute(sql: Schema.prune)
        }
        return queue
    }

    /// - Throws: ``StoreError/damaged(path:)`` for one that is not what it says that it is.
    func migrate(_ queue: DatabaseQueue) throws {
        do { try Schema.migrator.migrate(queue) } catch let error as DatabaseError
            where error.resultCode == .SQLITE_ERROR
        {
            throw StoreError.damaged(path: path)
        }
    }

    /// Brings what is in the write-ahead log into the file, beside who writes to that: with a connection of its own, which
    /// leaves the log where it is.
    /// - Returns: false if it could not, whatever the reason.
    func checkpoint() -> Bool {
        var db: OpaquePointer?
        defer { sqlite3_close(db) }
        // SQLite looks for a log only when it reads.
        return sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK
            && Self.keepLog(of: db) == SQLITE_OK
            && sqlite3_exec(db, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK
            && sqlite3_wal_checkpoint_v2(db, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) == SQLITE_OK
    }

    func checkPages(_ db: Database) throws {
        if try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") != "ok" { throw StoreError.damaged(path: path) }
    }

    /// - Returns: the new name of the database, whose write-ahead log and index go with it; nil if there was none.
    private func setAside(_ why: String) throws -> String? {
        let aside = "\(path).\(stamp(why))"
        guard rename(path, aside) == 0 else {
            let code = errno
            guard code == ENOENT else { throw FolderError(path: path, code: code) }
            // A log that was left behind would be taken for the new one's.
            for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
            return nil
        }
        for suffix in ["-wal", "-shm"] where rename(path + suffix, aside + suffix) != 0 {
            let code = errno
            guard code != ENOENT else { continue }
            putBack(aside)
            throw FolderError(path: path + suffix, code: code)
        }
        return aside
    }

    private func putBack(_ aside: String) {
        for suffix in ["", "-wal", "-shm"] where access(aside + suffix, F_OK) == 0 {
            rename(aside + suffix, path + suffix)
        }
    }

    func remove() { remove(path) }

    private func remove(_ database: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(database + suffix) }
    }

    /// `WHY-YYYYMMDD-HHMMSS` by the clock on the wall, with `-2`, `-3` behind it when that is taken.
    private func stamp(_ why: String) -> String {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
        let stamp = "\(why)-\(date)-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
        var name = stamp
        var number = 1
        while access("\(path).\(name)", F_OK) == 0 {
            number += 1
            name = "\(stamp)-\(number)"
        }
        return name
    }

    /// To read from only, whatever state it is in.
    /// - Returns: nil if it is empty, and so is its log.
    static func reader(of path: String) throws -> DatabaseQueue? {
        guard hasPages(path) else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// SQLite takes an empty file for a new database, and removes its log as another's: that may be all that is left of the
    /// places. It reads the log if there is but a page, of nothing, to put it on.
    private static func hasPages(_ path: String) -> Bool {
        guard FileIdentity.size(of: path) == 0 else { return true }
        return hasLog(path) && truncate(path, 4096) == 0
    }

    static func hasLog(_ path: String) -> Bool { FileIdentity.size(of: path + "-wal") ?? 0 > 0 }

    private func rescue(from aside: String?, _ old: DatabaseQueue?, to queue: DatabaseQueue) throws -> StoreNotice {
        if let old { try rescue(from: old, to: queue) }
        if let aside, let damaged = try? Self.reader(of: aside) { try rescue(from: damaged, to: queue) }
        func count(_ table: String) -> Int {
            (try? queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }) ?? 0
        }
        return StoreNotice(setAside: aside, accounts: count("accounts"), places: count("places"))
    }

    /// Copies every row that can still be read, from both ends of each table: damage in the middle hides only itself.
    /// - Throws: if one that can be read could not be written.
    func rescue(from damaged: DatabaseQueue, to queue: DatabaseQueue) throws {
        for table in Schema.tables {
            for order in ["ASC", "DESC"] {
                var failure: (any Error)?
                try? damaged.read { db in
                    let rows = try Row.fetchCursor(db, sql: "SELECT * FROM \(table) ORDER BY rowid \(order)")
                    do { try copy(rows, table, queue) } catch { failure = error }
                }
                if let failure { throw failure }
            }
        }
    }

    /// One transaction for as many rows as can be read. One that makes no sense is left out.
    private func copy(_ rows: RowCursor, _ table: String, _ queue: DatabaseQueue) throws {
        try queue.write { db in
            let known = Set(try db.columns(in: table).map(\.name))
            while let row = try? rows.next() {
                let columns = row.columnNames.filter(known.contains)
                let marks = columns.map { _ in "?" }.joined(separator: ", ")
                do {
                    try db.run(
                        "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))",
                        StatementArguments(columns.map { row[$0] as DatabaseValue }))
                } catch  where StoreError(error, path: path).mayPass { throw error } catch {}
            }
        }
    }
}
