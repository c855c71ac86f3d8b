internal import EventLoop
internal import Glibc

/// Listens on 127.0.0.1 and gives each connection to a thread of its own. May be ended more than once: its descriptor is
/// not touched after it was closed, when the number may already be some other test's socket.
public final class ListeningSocket: Sendable {
    public let port: UInt16
    /// Nil once it is closed.
    private let descriptor: Locked<Int32?>

    /// - Parameters:
    ///   - port: 0 for any.
    ///   - serve: called with each connection's descriptor, which is then its to close, and its number, counted from 0.
    public init(port: UInt16 = 0, _ serve: @escaping @Sendable (Int32, Int) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in.loopback(port: port)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) | listen(listener, 256) | getsockname(listener, address, &length)
            }
        }
        guard code == 0 else {
            let failure = ToolFailure(tool: "listen", code: errno)
            close(listener)
            throw failure
        }
        self.port = UInt16(bigEndian: address.sin_port)
        descriptor = Locked(listener)
        let descriptor = descriptor
        spawnThread {
            var number = 0
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                let mine = number
                spawnThread { serve(connection, mine) }
                number += 1
            }
            descriptor.withLock { descriptor in
                close(listener)
                descriptor = nil
            }
        }
    }

    deinit { end() }

    /// Open connections end with their clients.
    public func end() {
        descriptor.withLock { if let listener = $0 { _ = shutdown(listener, Int32(SHUT_RDWR)) } }
    }
}

public func spawnThread(_ run: @escaping @Sendable () -> Void) {
    precondition(onOwnThread(run), "no thread to be had")
}
