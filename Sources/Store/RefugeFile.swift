internal import Folders
internal import GRDB
internal import Glibc

/// Where a journal is whose own file cannot be opened: in the session's runtime folder, which is in memory, and outlives the
/// process.
struct RefugeFile {
    private let path: String
    /// Of the journal's own file.
    private let home: String

    /// - Parameter folder: nil: there is none.
    init?(in folder: String?, for home: String?) {
        guard let folder, let home else { return nil }
        var hash = ContentHash()
        hash.add(home)
        path = "\(folder)/\(hash.hex).sqlite"
        self.home = home
    }

    /// What a process that died has left, which may be newer than what is in the journal's own file.
    func left() -> Opening.Copy? {
        guard FileIdentity.size(of: path) ?? 0 > 0, let database = try? Opening(path: path).connect() else {
            return nil
        }
        let version = try? database.read { try Int64.fetchOne($0, sql: "PRAGMA user_version") }
        return Opening.Copy(database: database, isWhole: version.map { $0 != 0 && $0 == changed } ?? false)
    }

    /// - Parameter found: what there is of the journal's own file.
    /// - Returns: nil if there is no room for it either.
    func begin(with found: Opening.Copy?) -> DatabaseQueue? {
        remove()
        do {
            try PrivateFiles.makeFolder(above: path)
            try PrivateFiles.makeFile(path)
            if let found {
                let file = try DatabaseQueue(path: path)
                try found.database.backup(to: file)
                if found.isWhole { try file.write { try $0.execute(sql: "PRAGMA user_version = \(changed)") } }
                try file.close()
            }
            return try Opening(path: path).connect()
        } catch {
            remove()
            return nil
        }
    }

    func remove() { Opening(path: path).remove() }

    /// When the journal's own file was last written, in seconds since 1970: what was not written since is known whole.
    private var changed: Int64 {
        [home, "\(home)-wal"].map { file in
            var status = stat()
            return stat(file, &status) == 0 ? Int64(Int32(truncatingIfNeeded: status.st_mtim.tv_sec)) : 0
        }.max() ?? 0
    }
}
