import Glibc
import TestSupport

/// A server on 127.0.0.1 that does with each connection whatever the test says: answers by halves, goes silent, hangs up.
final class RawServer: Sendable {
    private let listener: ListeningSocket

    /// - Parameter serve: called with each connection and its number, counted from 0, on a thread of its own.
    init(_ serve: @escaping @Sendable (RawConnection, Int) -> Void) throws {
        listener = try ListeningSocket { descriptor, number in
            let connection = RawConnection(descriptor: descriptor)
            serve(connection, number)
            connection.end()
        }
    }

    var port: UInt16 { listener.port }
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
