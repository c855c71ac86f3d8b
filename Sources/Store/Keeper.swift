internal import GRDB
internal import GRDBSQLite
internal import Glibc

/// The open database, and what is known between two writes.
final class Keeper: @unchecked Sendable {  // only touched on the store's line
    private(set) var database: DatabaseQueue
    private let path: String
    /// It is in memory, and moves into its file as soon as that can be opened. Nil: it is there, or has none.
    private var refuge: Refuge?
    /// Which file the path named when it was opened; nil for a database in memory.
    private var identity: FileIdentity?
    /// Of that file, in bytes. SQLite never makes it smaller.
    private var size: Int64 = 0
    /// The write-ahead log as it was when it was last sound, in which the latest is that the file has not got yet.
    private var log: (identity: FileIdentity, size: Int64)?
    /// When a damaged one was last replaced, and how often that was. What failed is not counted.
    private var replaced: (at: ContinuousClock.Instant, count: Int)?
    /// Of the last write that nobody waited for.
    var failure: StoreError? { didSet { wait(isUrgent: false) } }
    var checkpointIsDue = false
    /// Beside the line.
    var isCheckpointing = false
    /// What failed last was not a write.
    var checkpointFailed = false
    var retryIsDue = false
    /// What could not be written, the oldest first.
    private(set) var held: [Entry] = []

    init(_ database: DatabaseQueue, _ path: String, refuge: Refuge? = nil) {
        self.database = database
        self.path = path
        self.refuge = refuge
        if refuge == nil { meet() }
    }

    private func meet() {
        identity = FileIdentity.look(at: path)?.identity
        log = nil
        measure()
    }

    /// To be called when the file has grown.
    func measure() { size = FileIdentity.size(of: path) ?? 0 }

    var isInRefuge: Bool { refuge != nil }
    /// Only the listener can change that, and whatever is written meanwhile tries it too.
    var isOutdated: Bool { refuge?.isOutdated == true && held.isEmpty }
    var isFailing: Bool { failure != nil || isInRefuge }
    var mayRecover: Bool { !held.isEmpty || failure?.mayPass ?? isInRefuge }

    /// Tries to move into the file; not again within two seconds, unless it is urgent.
    /// - Returns: whether it is there now, and what was wrong with what was found there.
    func leaveRefuge(isUrgent: Bool) -> (isDone: Bool, notice: StoreNotice?) {
        guard let refuge, isUrgent || refuge.tried.map({ .now - $0 > .seconds(2) }) ?? true else { return (false, nil) }
        self.refuge?.tried = .now
        do {
            let (file, notice) = try Opening(path: path).moveIn(from: database, isWhole: refuge.isWhole)
            database = file
            meet()
            refuge.file?.remove()
            self.refuge = nil
            return (true, notice)
        } catch {
            self.refuge?.isOutdated = if case .newer = StoreError(error, path: path) { true } else { false }
            return (false, nil)
        }
    }

    /// Another program that has the database locked is waited for, but not again as long as it has: all that is asked for
    /// would wait in turn, a second's worth for five.
    /// - Parameter isUrgent: all the same.
    func wait(isUrgent: Bool) {
        let isLocked = if case .busy = failure { true } else { false }
        let patience = isLocked && !isUrgent ? 0 : Opening.patience
        database.writeWithoutTransaction { _ = sqlite3_busy_timeout($0.sqliteConnection, Int32(patience * 1000)) }
    }

    enum Finding {
        case sound
        /// Somebody removed the file or its log, or put another in its place: what is written now would be found by nobody.
        case gone
        /// The log is shorter, as after a checkpoint of another program, or cut off.
        case shortened
        /// Somebody wrote over it or made it shorter, which SQLite would notice only when it reads what it has in its memory.
        case spoiled
    }

    /// What became of the file.
    func look() -> Finding {
        guard let identity else { return .sound }
        guard let present = FileIdentity.look(at: path) else {
            return errno == ENOENT || errno == ENOTDIR ? .gone : .sound
        }
        if present.identity != identity { return .gone }
        guard present.size >= size, database.writeWithoutTransaction(Opening.beginsAsItShould) else { return .spoiled }
        guard let now = FileIdentity.look(at: path + "-wal") else { return log == nil ? .sound : .gone }
        if let log {
            if now.identity != log.identity { return .gone }
            if now.size < log.size { return .shortened }
        }
        log = now
        return .sound
    }

    /// It is in its file, and nothing is known to be wrong with that.
    var isSound: Bool { identity != nil && look() == .sound }

    /// All that was in the log is in the file.
    func acceptLog() { log = nil }

    /// Puts all that was in the removed file, which is still open here, into a new one.
    /// - Returns: where the file is now that was found in its place, if one was.
    func renew() throws -> String? {
        let (renewed, aside) = try Opening(path: path).renew(from: database)
        database = renewed
        meet()
        return aside
    }

    /// Sets the damaged file aside and begins a new one with what can be read of it.
    /// - Parameter isUrgent: however short a time after the last.
    /// - Returns: nil: it is in memory, or has just been replaced: a disk that spoils each of them is not to be filled, and
    ///   each time it takes twice as long.
    func replace(deviceID: String, isUrgent: Bool) throws -> StoreNotice? {
        guard identity != nil else { return nil }
        if !isUrgent, let replaced, .now - replaced.at < .seconds(60 << min(replaced.count - 1, 6)) { return nil }
        try? Opening.keepLog(of: database)
        let (fresh, notice) = try Opening(path: path).replace(database)
        try fresh.write { try Opening.setDeviceID(deviceID, $0) }
        replaced = (.now, (replaced?.count ?? 0) + 1)
        database = fresh
        meet()
        return notice
    }

    /// Room enough for the log to grow.
    var hasRoom: Bool { Opening(path: path).hasRoom }

    func hold(_ entries: [Entry]) {
        let subjects = Set(entries.compactMap(\.subject))
        held.removeAll { entry in entry.subject.map(subjects.contains) ?? false }
        held += entries
        let moves = held.indices.filter { held[$0].subject == nil }
        for index in moves.dropLast(50).reversed() { held.remove(at: index) }
    }

    func letGo() { held = [] }

    /// What could not be written is there for whoever reads: for as long as that takes it is in the database's memory. Where
    /// there is not room enough for that either, the places are.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try database.writeWithoutTransaction { db in
            for entries in [held, held.filter(\.isPlace)] where !entries.isEmpty {
                var value: Value?
                try? db.inTransaction(.immediate) {
                    for entry in entries { try entry.write(to: db) }
                    value = try body(db)
                    return .rollback
                }
                if let value { return value }
            }
            return try body(db)
        }
    }
}

/// Why a journal is in memory.
struct Refuge {
    /// See ``Opening/moveIn(from:isWhole:)``.
    let isWhole: Bool
    /// Nil: it ends with the process.
    var file: RefugeFile?
    var tried: ContinuousClock.Instant?
    /// The file is of a later version.
    var isOutdated = false
}

/// A file, whatever its name.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// - Returns: with its size in bytes; nil if there is none or it cannot be looked at; `errno` says which.
    static func look(at path: String) -> (identity: FileIdentity, size: Int64)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return (
            FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino)), Int64(status.st_size)
        )
    }

    /// Bytes.
    static func size(of path: String) -> Int64? { look(at: path)?.size }
}
