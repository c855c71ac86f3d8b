import Foundation

/// The least of a websocket client: short text frames over a blocking socket.
///
/// Unchecked: one test owns it and makes one call after the other; each call has a thread of its own while it blocks.
final class RawWebSocket: @unchecked Sendable {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: UInt16, target: String) async throws {
        descriptor = try RawHTTP.connected(to: port)
        try await blocking { try self.shakeHands(target) }
    }

    private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    private func shakeHands(_ target: String) throws {
        let lines = [
            "GET \(target) HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(Data(repeating: 7, count: 16).base64EncodedString())",
        ]
        try RawHTTP.write(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8), to: descriptor)
        var head = Data()
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head.append(try byte()) }
        guard String(decoding: head, as: UTF8.self).hasPrefix("HTTP/1.1 101") else { throw NoAnswer() }
    }

    func close() { Glibc.close(descriptor) }

    /// Sends a text of less than 64 KiB; clients must mask, and zero is a mask.
    func send(_ text: String) throws {
        let payload = Array(text.utf8)
        let length: [UInt8] =
            payload.count < 126
            ? [0x80 | UInt8(payload.count)] : [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        try RawHTTP.write(Data([0x81] + length + [0, 0, 0, 0] + payload), to: descriptor)
    }

    /// The next text frame.
    func receive() async throws -> String { try await blocking { try self.frame() } }

    private func frame() throws -> String {
        _ = try byte()
        var length = Int(try byte())
        if length == 126 { length = Int(try byte()) << 8 | Int(try byte()) }
        var payload: [UInt8] = []
        while payload.count < length { payload.append(try byte()) }
        return String(decoding: payload, as: UTF8.self)
    }

    private func byte() throws -> UInt8 {
        if buffer.isEmpty {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { throw NoAnswer() }
            buffer = Array(chunk[..<count])
        }
        return buffer.removeFirst()
    }
}
