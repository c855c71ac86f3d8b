internal import Folders
internal import Glibc

/// The last second that was heard, in a file of the session's runtime folder, which is in memory: it outlives the process,
/// no disk has to turn for it, and nothing is waited for.
final class TickFile: @unchecked Sendable {  // only touched under the lock of whoever has it
    private let path: String
    /// Of a plain file, and locked; negative: there is none.
    private var descriptor: Int32 = -1

    init(_ path: String) { self.path = path }
    deinit { shut() }

    /// What a process that died has left.
    var record: TickRecord? {
        guard let bytes = try? PrivateFiles.read(path), bytes.count <= Self.most else { return nil }
        return TickRecord(text: String(decoding: bytes, as: UTF8.self))
    }

    /// Within one page, so that a kill leaves it whole.
    private static let most = 4096

    /// - Returns: false if it could not be kept.
    func write(_ record: TickRecord) -> Bool {
        var text = record.text
        return text.withUTF8 { bytes in
            bytes.count <= Self.most && isOpen && pwrite(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count
        }
    }

    /// One that somebody removed is made anew: what is written would be found by nobody.
    private var isOpen: Bool {
        var status = stat()
        if descriptor >= 0, fstat(descriptor, &status) == 0, status.st_nlink > 0 { return true }
        shut()
        guard (try? PrivateFiles.makeFolder(above: path)) != nil, (try? PrivateFiles.makeFile(path)) != nil else {
            return false
        }
        // A pipe would be waited for.
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
        // That of a copy of this database, used by another daemon, has the same name.
        let isOurs =
            fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && flock(descriptor, LOCK_EX | LOCK_NB) == 0
        if !isOurs { shut() }
        return isOurs
    }

    private func shut() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
