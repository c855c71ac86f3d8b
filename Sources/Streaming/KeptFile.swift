internal import Folders
internal import Glibc

/// The open file with the bytes of one stream, of mode 0600, as sparse as what is known of it.
@StreamingActor final class KeptFile {
    /// Writes at an offset. - Returns: how much was written, or a negative error code.
    typealias Write = @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int

    private let descriptor: Int32
    private let write: Write

    /// - Parameter path: nil for a file without a name in `folder`, gone when it is closed.
    /// - Returns: nil if the file cannot be had.
    init?(_ path: String?, in folder: String, write: @escaping Write) {
        self.write = write
        if let path {
            descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        } else {
            var name = Array("\(folder)/unkept-XXXXXX".utf8CString)
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
        bytes.withUnsafeBytes { bytes in
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

    nonisolated static let plainWrite: Write = { descriptor, bytes, offset in
        let count = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        return count < 0 ? -Int(errno) : count
    }
}
