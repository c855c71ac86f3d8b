internal import Folders
internal import Glibc

/// The open file with the bytes of one stream, of mode 0600, as sparse as what is known of it.
@StreamingActor final class KeptFile {
    /// Writes at an offset. - Returns: how much was written, or a negative error code.
    typealias Write = @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int

    /// - Returns: how many bytes the disk of the file has left for us; nil if it does not say.
    typealias Room = @Sendable (_ descriptor: Int32) -> Int64?

    /// What is left to everybody else, the journal of places among them.
    nonisolated static let spared: Int64 = 64 << 20
    /// How a file without a name begins, for as long as it has one.
    nonisolated static let unkept = "unkept-"
    /// The room is looked at each time so much was written.
    private static let step: Int64 = 4 << 20

    private let descriptor: Int32
    private let write: Write
    private let room: Room
    private var sinceLook: Int64

    /// - Parameter path: nil for a file without a name in `folder`, gone when it is closed.
    /// - Returns: nil if the file cannot be had.
    init?(_ path: String?, in folder: String, write: @escaping Write, room: @escaping Room) {
        self.write = write
        self.room = room
        sinceLook = Self.step
        if let path {
            descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        } else {
            var name = Array("\(folder)/\(Self.unkept)XXXXXX".utf8CString)
            descriptor = mkstemp(&name)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            if descriptor >= 0 { unlink(name) }
        }
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    var size: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// - Returns: whether all of it was written.
    func write(_ bytes: [UInt8], at offset: Int64) -> Bool {
        sinceLook += Int64(bytes.count)
        if sinceLook >= Self.step {
            if let room = room(descriptor), room < Self.spared { return false }
            sinceLook = 0
        }
        return bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]), offset + Int64(done))
                if count == -Int(EINTR) { continue }
                if count <= 0 { return false }
                done += count
            }
            return true
        }
    }

    /// - Returns: nil if they cannot all be read: the disk fails, or somebody cut the file.
    func read(_ range: Range<Int64>) -> [UInt8]? {
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            while filled < range.count {
                let count = pread(
                    descriptor, buffer.baseAddress! + filled, range.count - filled,
                    off_t(range.lowerBound + Int64(filled)))
                if count < 0 && errno == EINTR { continue }
                isWhole = count > 0
                if !isWhole { return }
                filled += count
            }
        }
        return isWhole ? bytes : nil
    }

    func clear() { ftruncate(descriptor, 0) }

    /// - Returns: whether what was written is on the disk.
    func sync() -> Bool { fdatasync(descriptor) == 0 }

    nonisolated static let plainRoom: Room = { descriptor in
        var system = statvfs()
        guard fstatvfs(descriptor, &system) == 0 else { return nil }
        return Int64(clamping: UInt64(system.f_bavail) &* UInt64(system.f_frsize))
    }

    nonisolated static let plainWrite: Write = { descriptor, bytes, offset in
        let count = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        return count < 0 ? -Int(errno) : count
    }
}
