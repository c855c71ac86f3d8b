import Curl
import Glibc
import HTTP
import TestSupport
import Testing

private let transport = CurlTransport(version: "1.2.3")

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct CurlTransportTests {
    @Test func sendsWhatItIsGivenAndNothingElse() async throws {
        let server = try RawServer { connection, _ in
            if let request = connection.request() { connection.answer(request) }
        }
        let request = HTTPRequest(
            "POST", server.url("/api/x?q=1"), headers: [HTTPHeader("X-One", "a b"), HTTPHeader("X-None", "")],
            body: Array(#"{"a":1}"#.utf8))
        let lines = try await String(decoding: transport.send(request).body, as: UTF8.self).split(separator: "\r\n")
        #expect(
            lines == [
                "POST /api/x?q=1 HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "User-Agent: dogear/1.2.3", "Accept: */*",
                "Accept-Encoding: identity", "X-One: a b", "X-None:", "Content-Length: 7", #"{"a":1}"#,
            ])
    }

    @Test(arguments: ["GET", "HEAD", "PATCH", "DELETE", "POST"]) func sendsEachMethod(method: String) async throws {
        let server = try RawServer { connection, _ in
            guard let request = connection.request() else { return }
            connection.send("HTTP/1.1 200 OK\r\nX-Line: \(request.prefix { $0 != "/" })\r\nContent-Length: 0\r\n\r\n")
        }
        let response = try await transport.send(HTTPRequest(method, server.url("/")))
        #expect(response[header: "x-line"] == method)
    }

    @Test func twoHundredRequestsShareAFewConnections() async throws {
        let server = try RawServer { connection, _ in
            while connection.request() != nil { connection.answer("hello") }
        }
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask { try await transport.send(HTTPRequest("GET", server.url("/\(number)"))).body.count }
            }
            for try await count in group { #expect(count == 5) }
        }
    }

    @Test func cancellingEndsTheTransferAtOnce() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let server = try RawServer { connection, _ in
            _ = connection.request()
            start.finish()
            connection.waitForEnd()
            end.finish()
        }
        let task = Task { () -> TransportError? in
            do throws(TransportError) { _ = try await transport.send(HTTPRequest("GET", server.url("/"))) } catch {
                return error
            }
            return nil
        }
        for await _ in started {}
        task.cancel()
        #expect(await task.value == .cancelled)
        for await _ in ended {}
    }

    @Test func aCancelledTaskSendsNothing() async {
        let task = Task { () -> TransportError? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(HTTPRequest("GET", "http://127.0.0.1:9/"))
        }
        #expect(await task.value == .cancelled)
    }

    @Test func aSilentServerTimesOut() async throws {
        let server = try RawServer { connection, _ in connection.waitForEnd() }
        #expect(
            await failure(HTTPRequest("GET", server.url("/"), timeout: 0.2)) == .timedOut(host: "127.0.0.1"))
    }

    @Test func nothingListeningIsUnreachable() async throws {
        let port = try RawServer { _, _ in }.port
        #expect(
            await failure(HTTPRequest("GET", "http://127.0.0.1:\(port)/"))
                == .unreachable(host: "127.0.0.1", reason: "Connection refused"))
    }

    @Test func anUnknownNameIsUnreachable() async {
        #expect(
            await failure(HTTPRequest("GET", "http://nowhere.invalid/?token=secret"))
                == .unreachable(host: "nowhere.invalid", reason: "no such name"))
    }

    @Test func aTruncatedBodyIsLost() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
        }
        #expect(
            await failure(HTTPRequest("GET", server.url("/")))
                == .lost(host: "127.0.0.1", reason: "the answer ended early"))
    }

    @Test func aResetIsLost() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.reset()
        }
        guard case .lost(host: "127.0.0.1", _) = await failure(HTTPRequest("POST", server.url("/"))) else {
            Issue.record("a reset must be reported as lost")
            return
        }
    }

    @Test func anAnswerThatIsNotHTTPIsLost() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("SSH-2.0-OpenSSH_9.2\r\n")
        }
        guard case .lost(host: "127.0.0.1", _) = await failure(HTTPRequest("GET", server.url("/"))) else {
            Issue.record("another protocol must be reported as lost")
            return
        }
    }

    @Test func aLargeBodyIsRefused() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.answer(String(repeating: "x", count: 2000))
        }
        #expect(await failure(HTTPRequest("GET", server.url("/"), bodyLimit: 1999)) == .tooLarge(limit: 1999))
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "nonsense", "", "http://user:secret@127.0.0.1/",
        "http://127.0.0.1/\r\nX-Evil: 1", "http://127.0.0.1/a b", "http://127.0.0.1:99999/", "http://127.0.0.1/\0",
    ]) func badURLsAreRefused(url: String) async {
        #expect(await failure(HTTPRequest("GET", url)) == .badURL)
    }

    @Test(arguments: [("X-A", "1\r\nX-Evil: 1"), ("X-A\r\nX-Evil", "1"), ("X A", "1"), ("", "1"), ("X-A", "\0")])
    func headersCannotSmuggle(name: String, value: String) async {
        let error = await failure(HTTPRequest("GET", "http://127.0.0.1:9/", headers: [HTTPHeader(name, value)]))
        guard case .badHeader = error else {
            Issue.record("sent a header that must be refused")
            return
        }
    }

    @Test func redirectsAreNotFollowed() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
        }
        let response = try await transport.send(HTTPRequest("GET", server.url("/")))
        #expect(response.status == 302 && response[header: "location"] == "/other")
    }

    @Test func headersOf100ContinueAreNotTheAnswers() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n")
            connection.answer("x")
        }
        let response = try await transport.send(HTTPRequest("GET", server.url("/")))
        #expect(response.status == 200 && response[header: "x-early"] == nil)
    }

    private func failure(_ request: HTTPRequest) async -> TransportError? {
        do throws(TransportError) {
            _ = try await transport.send(request)
            return nil
        } catch {
            return error
        }
    }
}
