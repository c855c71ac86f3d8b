import Curl
import HTTP
import TestSupport
import Testing

/// The servers of the tests themselves: in one process, one must not end another.
@Suite struct ListeningSocketTests {
    @Test func whatIsEndedTwiceEndsNobodyElse() async throws {
        let transport = CurlTransport(version: "1.2.3")
        func answers(_ server: LoopbackServer) async -> Bool {
            (try? await transport.send(HTTPRequest("GET", server.address)))?.status == 200
        }
        func server() throws -> LoopbackServer { try LoopbackServer { _ in .bytes(LoopbackServer.response("200 OK")) } }
        for _ in 0..<20 {
            let first = try server()
            #expect(await answers(first))
            first.stop()
            while await answers(first) {}
            // They take the numbers that have become free.
            let others = try (0..<8).map { _ in try server() }
            first.stop()
            for other in others { #expect(await answers(other)) }
        }
    }
}
