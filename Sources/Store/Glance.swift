internal import Folders
internal import GRDB
public import Listening

/// The store as a program sees it that asks once and leaves, such as a shell that completes a word: read only, nothing is
/// made, and no daemon is needed.
public struct StoreGlance {
    private let database: DatabaseQueue

    /// - Returns: nil if there is no store that can be read.
    public init?(path: String) {
        // Of an emptied one SQLite would remove the log, which the daemon can still read.
        guard FileIdentity.size(of: path) != 0 else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(0.02)
        for name in [path, immutableDatabase(path)] {
            guard let found = try? DatabaseQueue(path: name, configuration: configuration),
                (try? found.read({ try $0.tableExists("accounts") })) == true
            else { continue }
            database = found
            return
        }
        return nil
    }

    public var accounts: [Account] {
        (try? database.read { try Row.fetchAll($0, sql: "SELECT * FROM accounts WHERE NOT isRemoved ORDER BY rowid") })?
            .compactMap(Account.init) ?? []
    }

    /// Of what plays, or was listened to last.
    public var chapters: [Chapter] {
        let sql = """
            SELECT places.item, items.json FROM places JOIN items ON items.id = places.item
            WHERE played IS NOT NULL ORDER BY played DESC LIMIT 1
            """
        let row = try? database.read { try Row.fetchOne($0, sql: sql) }
        return row.flatMap { row in row.itemID("item").flatMap { row.item($0) } }?.chapters ?? []
    }
}
