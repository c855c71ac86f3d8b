import Curl
import EventLoop
import Glibc
import HTTP
import TestSupport
import Testing

private let transport = CurlTransport(version: "1.2.3")

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct StreamedBodyTests {
    @Test func theHeadComesBeforeTheBody() async throws {
        let gate = Gate()
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\nX-A: b\r\n\r\n")
            gate.wait()
            connection.send("hello")
            gate.wait()
            connection.send("world")
        }
        let response = try await transport.stream(HTTPRequest("GET", server.url("/")))
        #expect(response.head.status == 206 && response.head[header: "x-a"] == "b" && response.head.body.isEmpty)
        gate.open()
        #expect(try await response.body.next() == Array("hello".utf8))
        gate.open()
        #expect(try await response.body.next() == Array("world".utf8))
        #expect(try await response.body.next() == nil)
        #expect(try await response.body.next() == nil)
    }

    @Test func whatArrivedBeforeTheCutIsHandedOver() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        }
        let response = try await transport.stream(HTTPRequest("GET", server.url("/")))
        #expect(try await response.body.next() == Array("hello".utf8))
        await #expect(throws: TransportError.lost(host: "127.0.0.1", reason: "the answer ended early")) {
            try await response.body.next()
        }
    }

    @Test func aBodyThatNobodyTakesHoldsTheServer() async throws {
        let size = 48 << 20
        let sent = Locked(0)
        let server = try RawServer { connection, number in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            let block = String(repeating: "x", count: 1 << 20)
            for _ in 0..<size >> 20 {
                connection.send(block)
                if number == 0 { sent.withLock { $0 += 1 << 20 } }
            }
        }
        let request = HTTPRequest("GET", server.url("/"), timeout: nil)
        let response = try await transport.stream(request)
        // While as much again came for somebody else, nothing but time kept this one from coming too.
        let other = try await transport.stream(request)
        while try await other.body.next() != nil {}
        // Sockets hold some megabytes of their own; the server is stuck with the rest, and so is not done.
        #expect(sent.withLock { $0 } < size / 2)
        var received = 0
        var largest = 0
        while let piece = try await response.body.next() {
            received += piece.count
            largest = max(largest, piece.count)
            #expect(piece.first == UInt8(ascii: "x") && piece.last == UInt8(ascii: "x"))
        }
        #expect(received == size)
        #expect(largest <= 256 << 10)
    }

    @Test(arguments: [true, false]) func lettingGoEndsTheTransfer(says: Bool) async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            connection.waitForEnd()
            end.finish()
        }
        var response: StreamedResponse? = try await transport.stream(HTTPRequest("GET", server.url("/")))
        if says {
            response?.body.cancel()
            await #expect(throws: TransportError.cancelled) { try await response?.body.next() }
        }
        response = nil
        for await _ in ended {}
    }

    @Test func silenceIsALostConnection() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            connection.waitForEnd()
        }
        var request = HTTPRequest("GET", server.url("/"), timeout: nil)
        request.idleTimeout = 1
        // On a slow machine the second may be over before the first byte.
        await #expect(throws: TransportError.timedOut(host: "127.0.0.1")) {
            let response = try await transport.stream(request)
            while try await response.body.next() != nil {}
        }
    }

    @Test func aRefusalIsSaidAtOnce() async throws {
        var request = HTTPRequest("GET", "http://127.0.0.1:9/", timeout: nil)
        request.connectTimeout = 1
        await #expect(throws: TransportError.unreachable(host: "127.0.0.1", reason: "Connection refused")) {
            try await transport.stream(request)
        }
    }

    @Test func streamsLeaveRoomForRequests() async throws {
        let server = try RawServer { connection, _ in
            while let request = connection.request() {
                if request.contains("/stream") {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
                    return connection.waitForEnd()
                }
                connection.answer("short")
            }
        }
        var streams: [StreamedResponse] = []
        for _ in 0..<8 { streams.append(try await transport.stream(HTTPRequest("GET", server.url("/stream")))) }
        let fifth = Task { try await transport.stream(HTTPRequest("GET", server.url("/stream"))).head.status }
        let sixth = Task { try await transport.stream(HTTPRequest("GET", server.url("/stream"))).head.status }
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { try await transport.send(HTTPRequest("GET", server.url("/"))).body.count }
            }
            for try await count in group { #expect(count == 5) }
        }
        sixth.cancel()
        await #expect(throws: TransportError.cancelled) { try await sixth.value }
        streams.removeLast()
        #expect(try await fifth.value == 200)
    }
}

/// Lets a server's thread go on.
private final class Gate: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
        var pair: [Int32] = [0, 0]
        precondition(pipe(&pair) == 0)
        ends = (pair[0], pair[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func wait() {
        var byte: UInt8 = 0
        _ = read(ends.read, &byte, 1)
    }

    func open() {
        var byte: UInt8 = 1
        _ = write(ends.write, &byte, 1)
    }
}
