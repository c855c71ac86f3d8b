internal import Glibc

/// One process at a time uses a folder: for those that write whole files, or would not see what others write.
public final class FolderLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    /// Takes it, or waits for whoever has it: a process that is about to leave. Ends with the process, however that ends.
    /// Blocks.
    /// - Parameters:
    ///   - path: of a file of its own, made with its folder if it is missing. It is never removed.
    ///   - limit: how long it waits.
    /// - Returns: nil if somebody else has it still.
    /// - Throws: where there can be no such file.
    public static func take(_ path: String, within limit: Duration) throws(FolderError) -> FolderLock? {
        try PrivateFiles.makeFolder(above: path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
        guard descriptor >= 0 else { throw FolderError(path: path, code: errno) }
        let end = ContinuousClock.now + limit
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                let code = errno
                close(descriptor)
                throw FolderError(path: path, code: code)
            }
            // The kernel tells nobody who would give up sometime.
            guard ContinuousClock.now < end else {
                close(descriptor)
                return nil
            }
            usleep(20_000)
        }
        return FolderLock(descriptor)
    }
}
