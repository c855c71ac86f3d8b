internal import GRDB
internal import Glibc

/// The open database, and what is known between two writes.
final class Keeper: @unchecked Sendable {  // only touched on the store's line
    private(set) var database: DatabaseQueue
    private let path: String
    /// Which file the path named when it was opened; nil for a database in memory.
    private var identity: FileIdentity?
    var isFailing = false
    var checkpointIsDue = false
    /// What could not be written, the oldest first.
    private(set) var held: [Entry] = []

    init(_ database: DatabaseQueue, _ path: String) {
        self.database = database
        self.path = path
        identity = FileIdentity(of: path)
    }

    /// Somebody removed the file or put another in its place: what is written now would be found by nobody.
    var isGone: Bool {
        guard let identity else { return false }
        guard let present = FileIdentity(of: path) else { return errno == ENOENT || errno == ENOTDIR }
        return present != identity
    }

    /// Puts all that was in the removed file, which is still open here, into a new one.
    /// - Returns: where the file is now that was found in its place, if one was.
    func renew() throws -> String? {
        let (renewed, aside) = try Opening(path: path).renew(from: database)
        database = renewed
        identity = FileIdentity(of: path)
        return aside
    }

    /// Room enough for the log to grow.
    var hasRoom: Bool {
        var facts = statvfs()
        return statvfs(path, &facts) != 0 || UInt64(facts.f_bavail) * UInt64(facts.f_frsize) >= 64 << 10
    }

    func hold(_ entries: [Entry]) {
        let subjects = Set(entries.compactMap(\.subject))
        held.removeAll { entry in entry.subject.map(subjects.contains) ?? false }
        held += entries
        let moves = held.indices.filter { held[$0].subject == nil }
        for index in moves.dropLast(50).reversed() { held.remove(at: index) }
    }

    func letGo() { held = [] }
}

/// A file, whatever its name.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// - Returns: nil if there is none or it cannot be looked at; `errno` says which.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
