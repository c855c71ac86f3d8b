internal import EventLoop
internal import Glibc

/// A Unix socket that takes connections and never says a word, as a sound server that hangs does.
public final class MuteServer: Sendable {
    private let path: String
    private let listener: Int32
    private let taken = Locked<[Int32]>([])

    /// How many have come.
    public var count: Int { taken.withLock { $0.count } }

    /// - Parameter address: as in `PULSE_SERVER`.
    public init(at address: String) throws {
        path = String(address.dropFirst("unix:".count))
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        precondition(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path), "too long for a socket: \(path)")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = listener
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) | listen(listener, 16)
            }
        }
        guard code == 0 else {
            let failure = ToolFailure(tool: "listen", code: errno)
            close(listener)
            throw failure
        }
        let taken = taken
        spawnThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                taken.withLock { $0.append(connection) }
            }
            close(listener)
        }
    }

    /// Once. Hangs up on everybody, and makes room for a server that answers.
    public func stop() {
        unlink(path)
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in taken.withLock({ $0 }) { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    deinit {
        for connection in taken.withLock({ $0 }) { close(connection) }
    }
}
