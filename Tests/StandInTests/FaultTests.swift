import Foundation
import StandIn
import Testing

@Suite struct FaultTests {
    @Test func aStatusTakesThePlaceOfTheAnswerAsOftenAsAsked() async throws {
        try await Bench.use { (bench: Bench) async throws in
            bench.server.fail(.tooManyRequests(retryAfter: 7), path: "/api/me", times: 2)
            for _ in 0..<2 {
                let answer = try await bench.get("/api/me")
                #expect(answer.status == 429)
                #expect(answer.header("retry-after") == "7")
            }
            #expect(try await bench.get("/audiobookshelf/api/me").status == 200)
        }
    }

    @Test func onlyTheNamedMethodAndPathFail() async throws {
        try await Bench.use { (bench: Bench) async throws in
            bench.server.fail(.status(500), method: "POST", path: "/api/session/*/sync", times: .max)
            bench.server.fail(.html(), path: "/api/libraries/**")
            let session = try await bench.play()
            #expect(
                try await bench.post("/api/session/\(session)/sync", ["currentTime": 5, "timeListened": 5]).status
                    == 500)
            #expect(bench.server.progress(of: "ann", item: Bench.book) == nil)
            let page = try await bench.get("/api/libraries/l1/items")
            #expect(page.header("content-type") == "text/html; charset=utf-8")
            bench.server.clearFaults()
            #expect(
                try await bench.post("/api/session/\(session)/sync", ["currentTime": 5, "timeListened": 5]).status
                    == 200)
        }
    }

    @Test func aConnectionClosedBeforeLeavesNoTrace() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let session = try await bench.play()
            bench.server.fail(.dropBefore, path: "/api/session/*/sync")
            await #expect(throws: NoAnswer.self) {
                try await bench.post("/api/session/\(session)/sync", ["currentTime": 9, "timeListened": 9])
            }
            #expect(bench.server.openSessions(of: "ann").first?.timeListening == 0)
        }
    }

    @Test func aConnectionClosedAfterHasDoneItsWork() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let session = try await bench.play()
            bench.server.fail(.dropAfter, path: "/api/session/*/sync")
            await #expect(throws: NoAnswer.self) {
                try await bench.post("/api/session/\(session)/sync", ["currentTime": 9, "timeListened": 9])
            }
            #expect(bench.server.openSessions(of: "ann").first?.timeListening == 9)
            #expect(bench.server.progress(of: "ann", item: Bench.book)?.currentTime == 9)
        }
    }

    @Test func aBodyCanBreakOff() async throws {
        try await Bench.use { (bench: Bench) async throws in
            bench.server.fail(.truncated, path: "/api/me")
            let half = try await bench.get("/api/me")
            #expect(half.status == 200 && !half.isComplete && !half.body.isEmpty)
            #expect((try? bench.json(half)) == nil)
            bench.server.fail(.cut(afterBytes: 100_000), path: "/api/items/*/file/*")
            let part = try await bench.get("/api/items/\(Bench.book)/file/11")
            #expect(part.body == Bench.bytes.prefix(100_000) && !part.isComplete)
        }
    }

    @Test func aHeldRequestWaitsForItsGate() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let gate = StandInGate()
            bench.server.fail(.hold(gate), path: "/api/me/progress/*")
            async let answer = bench.post("/api/me/progress/\(Bench.book)", ["currentTime": 3], method: "PATCH")
            await gate.waitForArrivals()
            #expect(bench.server.progress(of: "ann", item: Bench.book) == nil)
            gate.release()
            let text = try await answer.text
            #expect(text == "OK")
            #expect(bench.server.progress(of: "ann", item: Bench.book)?.currentTime == 3)
        }
    }

    @Test func requestsAreLogged() async throws {
        try await Bench.use { (bench: Bench) async throws in
            _ = try await bench.get("/audiobookshelf/api/me?x=1")
            let request = try #require(bench.server.requests.last)
            #expect(request.path == "/audiobookshelf/api/me" && request.query == "x=1" && request.method == "GET")
            #expect(request.headers["authorization"] == "Bearer \(bench.token)")
        }
    }

    @Test func tokensEndWhenTold() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let refresh = bench.server.makeRefreshToken(for: "ann")
            bench.server.expireAccessTokens()
            #expect(try await bench.get("/api/me").status == 401)
            let headers = ["x-refresh-token": refresh]
            let fresh = try await bench.http.send("POST", "/auth/refresh", headers: headers)
            let token = try bench.json(fresh)["user"]?["accessToken"]?.text ?? ""
            #expect(try await bench.http.send("GET", "/api/me?token=\(token)").status == 200)
            bench.server.revokeRefreshTokens()
            #expect(try await bench.http.send("POST", "/auth/refresh", headers: headers).status == 401)
        }
    }

    @Test func aProxyMayWantAHeader() async throws {
        let bench = try await Bench { $0.requiredHeader = (name: "X-Proxy-Key", value: "k") }
        let without = try await bench.http.send("GET", "/status")
        let with = try await bench.http.send("GET", "/status", headers: ["x-proxy-key": "k"])
        await bench.end()
        #expect(without.status == 403 && with.status == 200)
    }

    @Test func aTakenPortIsAnErrorAtOnce() async throws {
        try await Bench.use { (bench: Bench) async throws in
            var configuration = StandInConfiguration(users: [])
            configuration.port = bench.http.port
            await #expect(throws: (any Error).self) { try await StandInServer(configuration: configuration).start() }
        }
    }
}
