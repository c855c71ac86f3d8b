internal import EventLoop
internal import Glibc

/// A web server on 127.0.0.1 for tests that must see, or break, what goes over the wire: one thread per connection, one
/// request per connection.
public final class LoopbackServer: Sendable {
    public struct Request: Sendable {
        public let method: String
        /// With the query, as sent.
        public let path: String
        /// Names in lower case.
        public let headers: [String: String]
    }

    public enum Answer: Sendable {
        /// Sent as it is, then closed.
        case bytes([UInt8])
        /// Sent, then nothing more until the client goes or the server stops.
        case stall(after: [UInt8])
        /// Sent, then the connection is reset.
        case reset(after: [UInt8])
    }

    private let listener: ListeningSocket
    private let log = Locked<[Request]>([])
    private let sent = Locked(0)

    public var port: UInt16 { listener.port }
    public var address: String { "http://127.0.0.1:\(port)" }
    public var requests: [Request] { log.withLock { $0 } }
    /// That the sockets took so far, over all connections.
    public var bytesSent: Int { sent.withLock { $0 } }

    /// - Parameter port: 0 for any; that of an earlier server for one that comes back.
    public init(port: UInt16 = 0, _ handler: @escaping @Sendable (Request) -> Answer) throws {
        let (log, sent) = (log, sent)
        listener = try ListeningSocket(port: port) { connection, _ in
            defer { close(connection) }
            guard let request = Self.request(on: connection) else { return }
            log.withLock { $0.append(request) }
            Self.give(handler(request), to: connection, counting: sent)
        }
    }

    /// Ends the listening; open connections end with their clients.
    public func stop() { listener.end() }

    private static func give(_ answer: Answer, to connection: Int32, counting sent: Locked<Int>) {
        let send = { (bytes: [UInt8]) in Self.send(bytes, to: connection, counting: sent) }
        switch answer {
        case .bytes(let bytes): send(bytes)
        case .stall(let bytes):
            send(bytes)
            var byte: UInt8 = 0
            while read(connection, &byte, 1) > 0 {}
        case .reset(let bytes):
            send(bytes)
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
    }

    private static func request(on connection: Int32) -> Request? {
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while !text.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = read(connection, &block, block.count)
            guard count > 0 else { return nil }
            text += block[..<count]
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        return Request(method: String(words[0]), path: String(words[1]), headers: headers)
    }

    private static func send(_ bytes: [UInt8], to connection: Int32, counting total: Locked<Int>) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    connection, $0.baseAddress! + sent, min($0.count - sent, 1 << 18), Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
            total.withLock { $0 += count }
        }
    }

    /// An answer with head and body.
    public static func response(
        _ status: String, headers: [String: String] = [:], body: [UInt8] = [], length: Int? = nil
    ) -> [UInt8] {
        var head = "HTTP/1.1 \(status)\r\nContent-Length: \(length ?? body.count)\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }

    /// The whole of a file, or the range that was asked for.
    public static func file(_ bytes: [UInt8], type: String, for request: Request) -> [UInt8] {
        let headers = ["Content-Type": type, "Accept-Ranges": "bytes"]
        guard let range = request.headers["range"]?.dropFirst("bytes=".count).split(separator: "-"),
            let first = range.first.flatMap({ Int($0) }), first < bytes.count
        else { return response("200 OK", headers: headers, body: bytes) }
        let last = min(range.count > 1 ? Int(range[1]) ?? .max : .max, bytes.count - 1)
        let partial = headers.merging(["Content-Range": "bytes \(first)-\(last)/\(bytes.count)"]) { $1 }
        return response("206 Partial Content", headers: partial, body: Array(bytes[first...max(first, last)]))
    }
}
