import EventLoop
import Foundation
import TestSupport

/// What may be asked of the server, as far as faults tell requests apart.
enum Endpoint: String, Sendable {
    case sync, close, local, progress, play, refresh, item, other

    init(_ method: String, _ path: String) {
        let parts = path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        switch (method, parts.first, parts.dropFirst().first) {
        case ("POST", "auth", "refresh"): self = .refresh
        case ("POST", "api", "session") where parts.last == "sync": self = .sync
        case ("POST", "api", "session") where parts.last == "close": self = .close
        case ("POST", "api", "session"): self = .local
        case ("PATCH", "api", "me"): self = .progress
        case ("POST", "api", "items"): self = .play
        case ("GET", "api", "items") where parts.last != "cover": self = .item
        default: self = .other
        }
    }
}

/// How a request fails.
enum Fault: Hashable, Sendable, CustomStringConvertible {
    /// Waits so many seconds on its way there; then all goes on as usual.
    case delay(Int)
    /// The connection breaks, and the server acts so many seconds later.
    case late(Int)
    /// The server does not act.
    case dropBefore
    case status(Int)
    case busy(retryAfter: Int)
    case page
    /// The server acts.
    case dropAfter
    case cut
    case corrupt
    case statusAfter(Int)

    var description: String {
        switch self {
        case .delay(let seconds): "delay \(seconds) s"
        case .late(let seconds): "dropped, acts \(seconds) s late"
        case .dropBefore: "dropped before acting"
        case .status(let status): "\(status)"
        case .busy(let seconds): "429, Retry-After \(seconds)"
        case .page: "a web page"
        case .dropAfter: "dropped after acting"
        case .cut: "answer cut"
        case .corrupt: "answer corrupted"
        case .statusAfter(let status): "acts, then \(status)"
        }
    }
}

/// Between dogear and the server: an HTTP server on the loopback that fails as it is told. One thread per connection.
final class FaultProxy: Sendable {
    typealias Wait =
        @Sendable (
            _ holding: Endpoint?, _ seconds: Int, _ then: @escaping @Sendable (_ isAlive: Bool) -> Void
        ) -> Void

    let port: UInt16
    private let listener: Int32
    private let upstream: Upstream
    private let wait: Wait
    private let plan = Locked<[(endpoint: Endpoint, fault: Fault, left: Int)]>([])
    private let log = Locked<[String]>([])
    private let gate = Locked((isDown: false, isOver: false))
    private let refusals = Locked(0)
    private let slow = Locked(0)
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter wait: calls `then` when so many seconds of fake time have passed, or the client has died; meanwhile
    ///   it holds a request to this endpoint, or none.
    init(_ upstream: Upstream, wait: @escaping Wait) throws {
        self.upstream = upstream
        self.wait = wait
        (listener, port) = try Self.listen()
        Thread.detachNewThread { [self] in accept() }
    }

    /// One of this computer's own addresses for each process, and outside the range out of which the kernel takes ports by
    /// itself: a port stays ours while nothing listens.
    private static let host = 0x7f40_0000 + UInt32(getpid()) & 0x3f_ffff
    private static let ports = Locked<UInt16>(20_000)

    private static func listen() throws -> (Int32, UInt16) {
        for _ in 0..<2000 {
            let port = ports.withLock { port in
                port = port >= 31_900 ? 20_000 : port + 1
                return port
            }
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var one: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
            var address = sockaddr_in.loopback(port: port, address: host)
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if code == 0, Glibc.listen(descriptor, 64) == 0 { return (descriptor, port) }
            close(descriptor)
        }
        throw POSIXError(.EADDRINUSE)
    }

    var address: String {
        let host = [24, 16, 8, 0].map { "\(Self.host >> $0 & 255)" }.joined(separator: ".")
        return "http://\(host):\(port)"
    }
    /// Every request that came, with what became of it.
    var lines: [String] { log.withLock { $0 } }
    /// How often a login was refused its exchange of tokens: the one reason to give it up.
    var refusedLogins: Int { refusals.withLock { $0 } }
    func note(_ line: String) { log.withLock { $0.append(line) } }

    func fail(_ endpoint: Endpoint, _ fault: Fault, times: Int) {
        plan.withLock { $0.append((endpoint, fault, times)) }
    }
    func clear() { plan.withLock { $0 = [] } }

    var isDown: Bool { gate.withLock { $0.isDown } }
    /// A request has left dogear and not come to the server.
    var isSlow: Bool { slow.withLock { $0 > 0 } }

    /// Nothing listens: connections are refused.
    func setDown(_ isDown: Bool) {
        let changed = gate.withLock { gate in
            defer { gate.isDown = isDown }
            return gate.isDown != isDown
        }
        guard changed else { return }
        if isDown {
            shutdown(listener, Int32(SHUT_RDWR))
        } else {
            _ = Glibc.listen(listener, 64)
            wake.signal()
        }
    }

    func stop() {
        gate.withLock { $0.isOver = true }
        shutdown(listener, Int32(SHUT_RDWR))
        wake.signal()
    }

    private func accept() {
        while !gate.withLock({ $0.isOver }) {
            let connection = Glibc.accept(listener, nil, nil)
            if connection >= 0 {
                Thread.detachNewThread { [self] in serve(connection) }
            } else if gate.withLock({ $0.isDown && !$0.isOver }) {
                wake.wait()
            }
        }
        close(listener)
    }

    // MARK: One request

    private struct Request {
        let method: String
        let path: String
        let headers: [String: String]
        let body: [UInt8]
    }

    private func serve(_ connection: Int32) {
        guard let request = read(connection) else {
            close(connection)
            return
        }
        let endpoint = Endpoint(request.method, request.path)
        let fault = plan.withLock { plan -> Fault? in
            guard let index = plan.firstIndex(where: { $0.endpoint == endpoint && $0.left > 0 }) else { return nil }
            plan[index].left -= 1
            return plan[index].fault
        }
        note("  \(request.method) \(request.path.prefix(60)) \(summary(request))\(fault.map { "   !! \($0)" } ?? "")")
        switch fault {
        case nil: answer(connection, request, act(request))
        case .delay(let seconds):
            slow.withLock { $0 += 1 }
            wait(endpoint, seconds) { isAlive in
                Thread.detachNewThread { [self] in
                    // Whoever died with a request under way may have been heard or not; here by the length of its wait.
                    let answer = isAlive || seconds % 2 == 0 ? act(request) : nil
                    slow.withLock { $0 -= 1 }
                    if let answer { self.answer(connection, request, answer) } else { close(connection) }
                }
            }
        case .late(let seconds):
            slow.withLock { $0 += 1 }
            wait(nil, seconds) { [self] _ in
                _ = act(request)
                slow.withLock { $0 -= 1 }
            }
            close(connection)
        case .dropBefore: close(connection)
        case .status(let status): answer(connection, request, error(status))
        case .busy(let seconds):
            var busy = error(429)
            busy.headers.append(("Retry-After", "\(seconds)"))
            answer(connection, request, busy)
        case .page: answer(connection, request, page)
        case .dropAfter:
            _ = act(request)
            close(connection)
        case .cut: answer(connection, request, act(request), cut: true)
        case .corrupt:
            var answer = act(request)
            for index in answer.body.indices where index % 3 == 0 { answer.body[index] ^= 0x15 }
            self.answer(connection, request, answer)
        case .statusAfter(let status):
            _ = act(request)
            answer(connection, request, error(status))
        }
    }

    private func summary(_ request: Request) -> String {
        guard request.method != "GET", !request.path.contains("/play"), !request.path.contains("auth"),
            !request.path.contains("login")
        else { return "" }
        let text = String(decoding: request.body, as: UTF8.self)
        guard request.path.contains("local") else { return text }
        return text.split(separator: "{").filter { $0.contains("timeListening") }.map { row in
            row.split(separator: ",").filter {
                $0.contains("currentTime") || $0.contains("timeListening") || $0.contains("updatedAt")
                    || $0.hasPrefix("\"id")
            }.joined(separator: ",")
        }.joined(separator: " | ")
    }

    private func act(_ request: Request) -> Upstream.Answer {
        upstream.answer(request.method, request.path, request.headers, request.body)
    }

    private func error(_ status: Int) -> Upstream.Answer {
        Upstream.Answer(status: status, headers: [("Content-Type", "text/plain")], body: Array("\(status)".utf8))
    }

    private var page: Upstream.Answer {
        Upstream.Answer(
            status: 200, headers: [("Content-Type", "text/html; charset=utf-8")],
            body: Array("<html><body>Sign in to continue</body></html>".utf8))
    }

    private func answer(_ connection: Int32, _ request: Request, _ answer: Upstream.Answer, cut: Bool = false) {
        if Endpoint(request.method, request.path) == .refresh, answer.status == 401 { refusals.withLock { $0 += 1 } }
        var head = "HTTP/1.1 \(answer.status) Fine\r\nContent-Length: \(answer.body.count)\r\nConnection: close\r\n"
        for (name, value) in answer.headers { head += "\(name): \(value)\r\n" }
        var bytes = Array((head + "\r\n").utf8)
        if cut {
            bytes += answer.body.prefix(answer.body.count / 2)
        } else if request.method != "HEAD" {
            bytes += answer.body
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(connection, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        close(connection)
    }

    private func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 8192)
        let end = Array("\r\n\r\n".utf8)
        var head: Range<Int>?
        while head == nil {
            let count = Glibc.read(connection, &block, block.count)
            guard count > 0 else { return nil }
            bytes += block[..<count]
            head = bytes.firstRange(of: end)
        }
        guard let head else { return nil }
        let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while bytes.count < head.upperBound + length {
            let count = Glibc.read(connection, &block, block.count)
            guard count > 0 else { return nil }
            bytes += block[..<count]
        }
        return Request(
            method: String(words[0]), path: String(words[1]), headers: headers, body: Array(bytes[head.upperBound...]))
    }
}
