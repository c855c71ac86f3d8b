internal import EventLoop
internal import Glibc
public import Listening

/// Reads files from a server on this machine with one plain ranged GET after the other, keeps what it has read, and counts.
public final class LoopbackBytes: ByteShelf {
    private let readers = Locked<[String: LoopbackReader]>([:])

    public init() {}

    public func reader(of stream: AudioStream) -> any ByteReader {
        readers.withLock { readers in
            let reader = readers[stream.url] ?? LoopbackReader(stream)
            readers[stream.url] = reader
            return reader
        }
    }

    /// How many bytes came from the server.
    public var fetched: Int { readers.withLock { $0.values.reduce(0) { $0 + $1.fetched } } }
}

final class LoopbackReader: ByteReader {
    private struct State {
        var blocks: [Int64: [UInt8]] = [:]
        var size: Int64?
        var fetched = 0
    }

    private let stream: AudioStream
    private let state = Locked(State())
    private static let blockSize: Int64 = 16_384

    init(_ stream: AudioStream) { self.stream = stream }

    var fetched: Int { state.withLock { $0.fetched } }

    func size() async throws(EngineFailure) -> Int64 {
        if let size = state.withLock({ $0.size }) { return size }
        try await fetch(0, 1)
        return state.withLock { $0.size } ?? 0
    }

    func read(at offset: Int64, count: Int) async throws(EngineFailure) -> [UInt8] {
        let size = try await size()
        let end = min(size, offset + Int64(count))
        guard offset < end else { return [] }
        let first = offset / Self.blockSize
        let last = (end - 1) / Self.blockSize
        let missing = state.withLock { state in (first...last).filter { state.blocks[$0] == nil } }
        if let from = missing.first, let to = missing.last { try await fetch(from, to - from + 1) }
        return state.withLock { state in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Int(end - offset))
            for block in first...last {
                let start = block * Self.blockSize
                let part = state.blocks[block] ?? []
                bytes += part[Int(max(0, offset - start))..<Int(min(Int64(part.count), end - start))]
            }
            return bytes
        }
    }

    func available(from offset: Int64) -> Int64 {
        state.withLock { state in
            var end = offset
            while let block = state.blocks[end / Self.blockSize] {
                let next = end / Self.blockSize * Self.blockSize + Int64(block.count)
                guard next > end else { break }
                end = next
            }
            return end - offset
        }
    }

    func close() {}

    private func fetch(_ block: Int64, _ count: Int64) async throws(EngineFailure) {
        let start = block * Self.blockSize
        let answer = await withCheckedContinuation { continuation in
            spawnThread { [stream] in
                continuation.resume(
                    returning: Answer(stream, range: start...start + count * Self.blockSize - 1))
            }
        }
        guard let answer else { throw .unreachable(reason: "the connection to the server failed or broke") }
        switch answer.status {
        case 200, 206: break
        case 404, 410: throw .notFound
        case 401, 403: throw .refused
        default: throw .unreachable(reason: "the server answered \(answer.status)")
        }
        state.withLock { state in
            state.fetched += answer.body.count
            state.size = answer.total
            for index in 0..<count {
                let part = answer.body.dropFirst(Int(index * Self.blockSize)).prefix(Int(Self.blockSize))
                if !part.isEmpty { state.blocks[block + index] = Array(part) }
            }
        }
    }
}

/// What came of one request.
private struct Answer {
    let status: Int
    /// Of the whole file.
    let total: Int64
    let body: [UInt8]

    init?(_ stream: AudioStream, range: ClosedRange<Int64>) {
        // http: / (nothing) / 127.0.0.1:port / path
        let parts = stream.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let port = parts[2].split(separator: ":").last.flatMap({ UInt16($0) }) else {
            return nil
        }
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in.loopback(port: port)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { return nil }
        var text = "GET /\(parts[3]) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        text += "Range: bytes=\(range.lowerBound)-\(range.upperBound)\r\n"
        for (name, value) in stream.headers { text += "\(name): \(value)\r\n" }
        let request = Array((text + "\r\n").utf8)
        guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(socket, &block, block.count)
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        let end = Array("\r\n\r\n".utf8)
        guard let head = (0..<max(0, bytes.count - 3)).first(where: { bytes[$0..<$0 + 4].elementsEqual(end) }) else {
            return nil
        }
        let lines = String(decoding: bytes[..<head], as: UTF8.self).split(separator: "\r\n")
        status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        body = Array(bytes[(head + 4)...])
        let stated = lines.first { $0.lowercased().hasPrefix("content-range:") }?.split(separator: "/").last
        total = stated.flatMap { Int64($0) } ?? Int64(body.count)
    }
}
