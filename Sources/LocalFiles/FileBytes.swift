internal import Glibc
internal import Listening

/// Sole owner of one open file, read at any offset. Everything read from it is checked against its size first.
final class FileBytes: Sendable {
    let path: String
    private let descriptor: Int32
    let size: Int
    /// Nanoseconds since 1970.
    let modified: Int

    /// - Throws: ``LocalFilesError/notFound(path:)``, ``LocalFilesError/forbidden(path:)`` or
    ///   ``LocalFilesError/notRegular(path:)``.
    init(_ path: String) throws(LocalFilesError) {
        self.path = path
        // A pipe in the folder must not hold us up.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.error(path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notRegular(path: path)
        }
        size = Int(status.st_size)
        modified = status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec
    }

    deinit { close(descriptor) }

    static func error(_ path: String) -> LocalFilesError {
        switch errno {
        case EACCES, EPERM: .forbidden(path: path)
        case ENOENT, ENOTDIR: .notFound(path: path)
        case let code: .unreadable(path: path, reason: String(cString: strerror(code)))
        }
    }

    /// - Returns: nil if the file does not have all of them.
    func bytes(at offset: Int, count: Int) -> [UInt8]? {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + done, count - done, off_t(offset + done))
            }
            if read < 0 && errno == EINTR { continue }
            guard read > 0 else { return nil }
            done += read
        }
        return bytes
    }
}

/// The same for rooms that read what may be far away.
final class FileReader: ByteReader {
    private let file: FileBytes

    init(_ file: FileBytes) { self.file = file }

    func size() async throws(EngineFailure) -> Int64 { Int64(file.size) }
    func read(at offset: Int64, count: Int) async throws(EngineFailure) -> [UInt8] {
        file.bytes(at: Int(offset), count: min(count, max(0, file.size - Int(offset)))) ?? []
    }
    func available(from offset: Int64) -> Int64 { max(0, Int64(file.size) - offset) }
    func close() {}
}
