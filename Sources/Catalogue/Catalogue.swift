internal import Folders
internal import GRDB
internal import Glibc

/// The index of the libraries of all accounts: what is there, found and listed without asking a server.
///
/// A file of its own that may be deleted at any time. One writes, two read beside it; nothing here is for the Loop to
/// wait for.
public final class Catalogue: Sendable {
    let database: any DatabaseWriter
    private let path: String?

    /// Opens the index, making it and its folder if they are missing: folder 0700, file 0600. One that is damaged or of
    /// another version is made anew. Blocks while it reads: not for the Loop.
    public static func open(at path: String) throws(CatalogueError) -> Catalogue {
        do {
            do { return Catalogue(try connect(path), path) } catch let error as DatabaseError {
                // On a full disk, or where somebody else has it, it is as good as it was.
                guard [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode) else { throw error }
                remove(path)
                return Catalogue(try connect(path), path)
            }
        } catch { throw CatalogueError(error) }
    }

    /// An index that ends with the process.
    public static func inMemory() throws(CatalogueError) -> Catalogue {
        do {
            let queue = try DatabaseQueue(configuration: configuration())
            try queue.write { try Schema.create($0) }
            return Catalogue(queue, nil)
        } catch { throw CatalogueError(error) }
    }

    private init(_ database: any DatabaseWriter, _ path: String?) {
        self.database = database
        self.path = path
    }

    private static func remove(_ path: String) { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    private static func connect(_ path: String) throws -> DatabasePool {
        try PrivateFiles.makeFolder(above: path)
        // SQLite gives the write-ahead log and the index of it the rights of the database itself.
        try PrivateFiles.makeFile(path)
        let pool = try DatabasePool(path: path, configuration: configuration())
        try pool.write { db in
            switch try Int.fetchOne(db, sql: "PRAGMA user_version") {
            case 0: try Schema.create(db)
            case Schema.version: try db.execute(sql: "SELECT count(*) FROM libraries")
            default: throw DatabaseError(message: "another version")
            }
        }
        return pool
    }

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.label = "dogear.catalogue"
        configuration.maximumReaderCount = 2
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            // What is removed is gone from the disk too.
            try db.execute(
                sql: "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA cache_size = -1024")
        }
        return configuration
    }

    /// Blocks whoever runs it, as ``write(_:)`` does.
    @concurrent func read<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(CatalogueError) -> Value {
        try attempt { try database.read(body) }
    }

    @concurrent func write<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(CatalogueError) -> Value {
        try attempt { try database.write(body) }
    }

    private func attempt<Value>(_ body: () throws -> Value) throws(CatalogueError) -> Value {
        do { return try body() } catch { throw failed(error) }
    }

    /// One that turns out to be damaged is made anew at the next start.
    private func failed(_ error: any Error) -> CatalogueError {
        let code = (error as? DatabaseError)?.resultCode
        let isDamaged = code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB || error is RowDecodingError
        if let path, isDamaged { Self.remove(path) }
        return CatalogueError(error)
    }
}

extension Database {
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func first(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func all(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try Int64.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func numbers(_ sql: String, _ arguments: StatementArguments = []) throws -> [Int64] {
        try Int64.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }
}
