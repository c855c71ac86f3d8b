import Foundation

/// One HTTP answer, read from a socket byte by byte: no redirects, no decoding, nothing hidden.
struct RawResponse: Sendable {
    var status: Int
    /// Names in lower case, in the order they came.
    var headers: [(name: String, value: String)]
    var body: Data
    /// Whether the body had the length that was promised.
    var isComplete: Bool

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    func headers(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// The server closed the connection without a whole header, or there was none.
struct NoAnswer: Error {
    /// What the system said, where it was asked.
    var code: Int32 = 0
}

/// The smallest HTTP/1.1 client: one connection for each request, closed by the server.
struct RawHTTP: Sendable {
    let port: UInt16

    /// - Parameter address: as ``StandInServer/start()`` gives it.
    init(address: String) { port = UInt16(address.split(separator: ":").last ?? "") ?? 0 }

    func send(_ method: String = "GET", _ target: String, headers: [String: String] = [:], body: Data? = nil)
        async throws -> RawResponse
    {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
        lines += headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        if body != nil || method != "GET" { lines.append("Content-Length: \(body?.count ?? 0)") }
        let request = Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? Data())
        return try Self.parse(try await exchange(request), isHead: method == "HEAD")
    }

    /// Sends bytes and reads until the server closes. Sockets block, so a thread of its own does it.
    func exchange(_ request: Data) async throws -> Data {
        let port = port
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try Self.exchange(request, port: port) }) }
        }
    }

    private static func exchange(_ request: Data, port: UInt16) throws -> Data {
        let descriptor = try connected(to: port)
        defer { close(descriptor) }
        try write(request, to: descriptor)
        var answer = Data()
        var buffer = [UInt8](repeating: 0, count: 262_144)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return answer }
            answer.append(contentsOf: buffer[..<count])
        }
    }

    static func connected(to port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw NoAnswer(code: code)
        }
        return descriptor
    }

    static func write(_ bytes: Data, to descriptor: Int32) throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw NoAnswer(code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    static func parse(_ bytes: Data, isHead: Bool) throws -> RawResponse {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { throw NoAnswer() }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ")
        guard parts.count > 1, let status = Int(parts[1]) else { throw NoAnswer() }
        let headers = lines.dropFirst().map { line -> (name: String, value: String) in
            let pair = line.split(separator: ":", maxSplits: 1)
            return (pair[0].lowercased(), pair.count > 1 ? pair[1].trimmingCharacters(in: .whitespaces) : "")
        }
        var response = RawResponse(
            status: status, headers: headers, body: Data(bytes[end.upperBound...]), isComplete: true)
        if response.header("transfer-encoding") == "chunked" {
            (response.body, response.isComplete) = unchunked(response.body)
        } else if let length = response.header("content-length").flatMap({ Int($0) }), !isHead {
            response.isComplete = response.body.count == length
        }
        return response
    }

    private static func unchunked(_ bytes: Data) -> (Data, Bool) {
        var rest = bytes
        var whole = Data()
        while let line = rest.firstRange(of: Data("\r\n".utf8)) {
            guard let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) else { break }
            if size == 0 { return (whole, true) }
            whole.append(rest[line.upperBound...].prefix(size))
            rest = Data(rest[line.upperBound...].dropFirst(size + 2))
        }
        return (whole, false)
    }
}
