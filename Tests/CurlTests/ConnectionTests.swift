import Curl
import Glibc
import HTTP
import TestSupport
import Testing

private let transport = CurlTransport(version: "1.2.3")

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct ConnectionTests {
    @Test func aGetOnAConnectionThatDiedIdleIsSentAgain() async throws {
        let server = try RawServer { connection, number in
            guard connection.request() != nil else { return }
            connection.answer("\(number)")
            if number == 0 { _ = connection.request() } else { connection.waitForEnd() }
        }
        #expect(try await text(HTTPRequest("GET", server.url("/a"))) == "0")
        #expect(try await text(HTTPRequest("GET", server.url("/b"))) == "1")
    }

    @Test func whatIsToBeSentOnceIsNotSentAgain() async throws {
        let server = try RawServer { connection, number in
            guard connection.request() != nil else { return }
            if number == 0 { connection.answer("\(number)") }
            _ = number == 0 ? connection.request() : nil
        }
        #expect(try await text(HTTPRequest("GET", server.url("/a"))) == "0")
        var request = HTTPRequest("GET", server.url("/b"))
        request.isOnce = true
        do throws(TransportError) {
            _ = try await transport.send(request)
            Issue.record("answered")
        } catch {
            guard case .lost(host: "127.0.0.1", _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func aPostNeverUsesAConnectionThatMayHaveDied() async throws {
        let server = try RawServer { connection, number in
            while let request = connection.request() { connection.answer("\(number) \(request.prefix(4))") }
        }
        #expect(try await text(HTTPRequest("GET", server.url("/"))) == "0 GET ")
        #expect(try await text(HTTPRequest("POST", server.url("/"))) == "1 POST")
    }

    @Test func aPrivateAuthorityIsTrustedOnlyWhenGiven() async throws {
        let server = try RawServer { connection, _ in
            if connection.request() != nil { connection.answer("behind TLS") }
        }
        let scratch = Scratch()
        let front = try TLSFront(to: Int(server.port), folder: scratch.path)
        let url = "\(front.address)/"
        do throws(TransportError) {
            _ = try await transport.send(HTTPRequest("GET", url))
            Issue.record("trusted an unknown authority")
        } catch {
            guard case .certificate(host: "127.0.0.1", _) = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(try await transport.send(HTTPRequest("GET", url, caFile: front.caFile)).status == 200)
        await #expect(
            throws: TransportError.certificate(host: "127.0.0.1", reason: "/nonexistent: No such file or directory")
        ) {
            try await transport.send(HTTPRequest("GET", url, caFile: "/nonexistent"))
        }
    }

    @Test func aPortWithoutTLSIsNotACertificateProblem() async throws {
        let server = try RawServer { connection, _ in connection.answer("plain") }
        do throws(TransportError) {
            _ = try await transport.send(HTTPRequest("GET", "https://127.0.0.1:\(server.port)/"))
        } catch {
            guard case .tls(host: "127.0.0.1", _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    private func text(_ request: HTTPRequest) async throws -> String {
        String(decoding: try await transport.send(request).body, as: UTF8.self)
    }
}
