import EventLoop
import GRDBSQLite
import Glibc

/// A disk that can keep an fsync of one database's file waiting: what SQLite opens after this was made is on it. The file
/// has one with each checkpoint; its write-ahead log has others. For one database in each process.
final class SlowDisk: Sendable {
    private enum Sync { case free, held, waiting }
    private static let held = Locked<(path: String, sync: Sync)>(("", .free))
    private static let real = UncheckedPointer(sqlite3_vfs_find(nil))
    private static let sync = Locked<(@convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32)?>(nil)

    init(of path: String) {
        Self.held.withLock { $0.path = path }
        let disk = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        disk.initialize(to: Self.real.pointer!.pointee)
        disk.pointee.zName = UnsafePointer(strdup("slow"))
        disk.pointee.xOpen = { _, name, file, flags, outFlags in
            let code = SlowDisk.real.pointer!.pointee.xOpen(SlowDisk.real.pointer, name, file, flags, outFlags)
            guard code == SQLITE_OK, let name, let file, let methods = file.pointee.pMethods,
                SlowDisk.held.withLock({ $0.path == String(cString: name) })
            else { return code }
            SlowDisk.sync.withLock { $0 = methods.pointee.xSync }
            let slow = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            slow.initialize(to: methods.pointee)
            slow.pointee.xSync = { file, flags in
                SlowDisk.wait()
                return SlowDisk.sync.withLock { $0 }!(file, flags)
            }
            file.pointee.pMethods = UnsafePointer(slow)
            return code
        }
        sqlite3_vfs_register(disk, 1)
    }

    /// An fsync waits.
    var isWaiting: Bool { Self.held.withLock { $0.sync == .waiting } }

    func hold() { Self.held.withLock { $0.sync = .held } }
    /// And nothing more is opened on it.
    func letGo() {
        Self.held.withLock { $0.sync = .free }
        sqlite3_vfs_register(Self.real.pointer, 1)
    }

    /// Not for ever: a test whose writer waits, too, is to fail.
    private static func wait() {
        for _ in 0..<1000 {
            let isFree = held.withLock { held in
                if held.sync == .held { held.sync = .waiting }
                return held.sync == .free
            }
            if isFree { return }
            usleep(10_000)
        }
        held.withLock { $0.sync = .free }
    }
}

private struct UncheckedPointer: @unchecked Sendable {  // SQLite's own, which nothing changes
    let pointer: UnsafeMutablePointer<sqlite3_vfs>?
    init(_ pointer: UnsafeMutablePointer<sqlite3_vfs>?) { self.pointer = pointer }
}
