import Glibc

/// A server on 127.0.0.1 that does with each connection whatever the test says: answers by halves, goes silent, hangs up.
final class RawServer: Sendable {
    let port: UInt16
    private let listener: Int32

    /// - Parameter serve: called with each connection and its number, counted from 0, on a thread of its own.
    init(_ serve: @escaping @Sendable (RawConnection, Int) -> Void) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            precondition(bind(listener, pointer, size) == 0 && listen(listener, 256) == 0)
            getsockname(listener, pointer, &size)
        }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        onThread {
            var number = 0
            while true {
                let client = accept(listener, nil, nil)
                if client < 0 { break }
                let connection = RawConnection(descriptor: client)
                let mine = number
                onThread {
                    serve(connection, mine)
                    connection.end()
                }
                number += 1
            }
            close(listener)  // here, so that its number is not another test's before this thread has left it
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}

struct RawConnection: Sendable {
    let descriptor: Int32

    /// - Returns: the next request's line and headers, with its body behind them; nil when the client hung up.
    func request() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.reversed().starts(with: [10, 13, 10, 13]) {
            guard read(descriptor, &byte, 1) == 1 else { return nil }
            bytes.append(byte)
        }
        let head = String(decoding: bytes, as: UTF8.self)
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        for _ in 0..<(length.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0) {
            guard read(descriptor, &byte, 1) == 1 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func send(_ text: String) {
        let bytes = [UInt8](text.utf8)
        let flags = Int32(MSG_NOSIGNAL)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
            if count <= 0 { return }
            sent += count
        }
    }

    func answer(_ body: String, status: String = "200 OK") {
        send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Ends with a reset instead of an orderly close.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Blocks until the client hangs up.
    func waitForEnd() {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) > 0 {}
    }

    func end() { close(descriptor) }
}

func onThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var id = pthread_t()
    pthread_create(
        &id, nil,
        { context in
            Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        }, Unmanaged.passRetained(Box(body)).toOpaque())
    pthread_detach(id)
}
