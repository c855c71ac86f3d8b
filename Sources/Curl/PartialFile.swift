internal import Glibc
internal import HTTP

/// A download on its way to disk, under a name of its own until it is whole. Only the Curl thread touches it.
@CurlActor final class PartialFile {
    private let path: String
    private let partial: String
    private var descriptor: Int32 = -1

    /// - Parameter number: of the transfer, so that two downloads of one file do not share a partial one.
    init(path: String, number: UInt64) throws(TransportError) {
        self.path = path
        partial = "\(path).\(getpid())-\(number).part"
        descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 { throw failed() }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransportError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw failed() }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives the whole file its name, replacing what had it.
    func keep() throws(TransportError) {
        let isClosed = close(descriptor) == 0
        descriptor = -1
        if !isClosed || rename(partial, path) != 0 { throw failed() }
    }

    func discard() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        unlink(partial)
    }

    private func failed() -> TransportError { .file(reason: String(cString: strerror(errno))) }
}
