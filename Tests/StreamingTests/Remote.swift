import Curl
import EventLoop
import Glibc
import HTTP
import Listening
import TestSupport
import Testing

@testable import Streaming

/// A file on a server of its own, and what goes wrong with it.
final class Remote: Sendable {
    enum Fault: Sendable {
        case none
        /// After so many bytes of the body: an orderly end, a reset, silence.
        case cut(after: Int)
        case reset(after: Int)
        case stall(after: Int)
        case silence
        case status(String, [String: String] = [:])
        /// As a portal that wants a login.
        case page
        /// The range is not looked at.
        case whole
        case wholeCut(after: Int)
        /// The whole, without saying how much it is.
        case unsized
        /// The same, and its end is that of the connection, after so many bytes.
        case unframed(after: Int, broadcast: Bool = false)
        /// The same, and after so many bytes nothing more comes.
        case unending(after: Int)
        /// No ranges for who asks for them, and a part for who does not.
        case contrary
        /// More than was announced, and other bytes than those asked for.
        case tooMuch
        case elsewhere
    }

    struct File: Sendable {
        var bytes: [UInt8]
        var etag: String?
        var modified: String?
    }

    let server: LoopbackServer
    private let file: Locked<File>
    private let faults: Locked<@Sendable (Int) -> Fault>

    /// - Parameter fault: of the request with this number, counted from 0.
    init(
        _ bytes: [UInt8], etag: String? = nil, port: UInt16 = 0,
        fault: @escaping @Sendable (Int) -> Fault = { _ in .none }
    ) throws {
        let file = Locked(File(bytes: bytes, etag: etag))
        let faults = Locked(fault)
        let count = Locked(0)
        server = try LoopbackServer(port: port) { request in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            let fault = faults.withLock { $0 }
            return Remote.answer(request, file.withLock { $0 }, fault(number))
        }
        self.file = file
        self.faults = faults
    }

    deinit { server.stop() }

    /// From the next request on; numbers go on counting.
    func breaks(_ fault: @escaping @Sendable (Int) -> Fault) { faults.withLock { $0 = fault } }
    func change(_ body: (inout File) -> Void) { file.withLock { body(&$0) } }

    func stream(_ identity: String? = "a", path: String = "/secret/track") -> AudioStream {
        AudioStream(url: server.address + path, headers: ["Authorization": "Bearer t"], identity: identity)
    }

    /// What was asked for; nil where it was the whole.
    var asked: [Range<Int>?] {
        server.requests.map { request in
            guard let range = request.headers["range"]?.dropFirst("bytes=".count).split(separator: "-"),
                range.count == 2, let first = Int(range[0]), let last = Int(range[1])
            else { return nil }
            return first..<last + 1
        }
    }

    /// - Parameter header: one more line of the head.
    private static func unframed(_ bytes: ArraySlice<UInt8>, _ header: String = "") -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n\(header)Connection: close\r\n\r\n".utf8) + bytes
    }

    private static func answer(_ request: LoopbackServer.Request, _ file: File, _ fault: Fault) -> LoopbackServer.Answer
    {
        var headers = ["Content-Type": "audio/mpeg"]
        headers["ETag"] = file.etag
        headers["Last-Modified"] = file.modified
        let size = file.bytes.count
        let isSame = request.headers["if-range"].map { $0 == file.etag || $0 == file.modified } ?? true
        var range = request.headers["range"].flatMap { text -> Range<Int>? in
            let ends = text.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
            return ends.count == 2 ? ends[0]..<ends[1] + 1 : nil
        }
        if !isSame { range = nil }
        var cut: Int?
        switch fault {
        case .none, .tooMuch: break
        case .contrary where range != nil: return .bytes(LoopbackServer.response("416 Range Not Satisfiable"))
        case .contrary: range = 0..<size / 3
        case .silence: return .stall(after: [])
        case .cut(let after), .reset(let after), .stall(let after): cut = after
        case .status(let status, let more):
            return .bytes(LoopbackServer.response(status, headers: more, body: Array("<p>no</p>".utf8)))
        case .page:
            let page = Array("<html>Log in to the train's network</html>".utf8)
            return .bytes(
                LoopbackServer.response("200 OK", headers: ["Content-Type": "text/html; charset=utf-8"], body: page))
        case .whole: range = nil
        case .wholeCut(let after):
            range = nil
            cut = after
        case .unsized:
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            let chunk = "\(String(size, radix: 16))\r\n"
            return .bytes(Array(head.utf8) + Array(chunk.utf8) + file.bytes + Array("\r\n0\r\n\r\n".utf8))
        case .unframed(let after, let isBroadcast):
            return .bytes(unframed(file.bytes.prefix(after), isBroadcast ? "icy-name: The Night\r\n" : ""))
        case .unending(let after): return .stall(after: unframed(file.bytes.prefix(after)))
        case .elsewhere: range = range.map { max(0, $0.lowerBound - 7)..<$0.upperBound }
        }
        var bytes: [UInt8]
        if let range {
            guard range.lowerBound < size else {
                return .bytes(
                    LoopbackServer.response("416 Range Not Satisfiable", headers: ["Content-Range": "bytes */\(size)"]))
            }
            let part = range.clamped(to: 0..<size)
            headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
            bytes = LoopbackServer.response("206 Partial Content", headers: headers, body: Array(file.bytes[part]))
            if let after = cut { bytes = Array(bytes.dropLast(max(0, part.count - after))) }
        } else {
            bytes = LoopbackServer.response("200 OK", headers: headers, body: file.bytes)
            if let after = cut { bytes = Array(bytes.dropLast(max(0, size - after))) }
        }
        return switch fault {
        case .reset: .reset(after: bytes)
        case .stall: .stall(after: bytes)
        case .tooMuch: .bytes(bytes + [1, 2, 3])
        default: .bytes(bytes)
        }
    }
}

/// Seeds that follow each other make nothing alike.
func numbers(_ seed: UInt64) -> SeededNumbers { SeededNumbers(seed: seed &* 0x9e37_79b9_7f4a_7c15 &+ 1) }

func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = numbers(seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    return Array(bytes[..<count])
}

/// Small, and without the patience of real life.
var hasty: StreamLimits {
    var limits = StreamLimits()
    limits.ahead = 256 << 10
    limits.first = 16 << 10
    limits.gap = 16 << 10
    limits.idle = 30
    limits.silence = 30
    limits.delays = [0.002, 0.004, 0.008]
    limits.recorded = 64 << 10
    limits.patience = 20
    return limits
}

/// For servers that go silent.
var restless: StreamLimits {
    var limits = hasty
    limits.idle = 1
    limits.silence = 1
    return limits
}

let transport = CurlTransport(version: "1.2.3")

func shelf(_ folder: String, limit: Int64 = 1 << 30, _ limits: StreamLimits = hasty) -> StreamShelf {
    StreamShelf(transport: transport, folder: folder, limit: limit, limits: limits)
}

extension ByteReader {
    /// From `offset` to the end, in pieces as a demuxer takes them.
    func all(from offset: Int64 = 0, by count: Int = 10_000) async throws(EngineFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try await read(at: offset + Int64(bytes.count), count: count)
            bytes += piece
            if piece.count < count { return bytes }
        }
    }
}

/// What a request brought twice.
func overlap(_ asked: [Range<Int>?]) -> Int {
    let ranges = asked.compactMap(\.self).sorted { $0.lowerBound < $1.lowerBound }
    var (end, twice) = (0, 0)
    for range in ranges {
        twice += max(0, min(end, range.upperBound) - range.lowerBound)
        end = max(end, range.upperBound)
    }
    return twice
}
