import Foundation
import StandIn
import Testing

/// The recorded socket conversations, spoken again with the stand-in.
@Suite struct SocketTests {
    /// The recorded conversations that are spoken here.
    static let spoken = ["socket-01-auth-failed", "socket-02-auth-basepath", "socket-03-progress-events"]

    private static let tide = "e5f6d6b7-e059-4b34-b996-c83b1448fe67"

    /// Sends each recorded step and compares status, type, and the packets by event name and shape.
    private func speak(
        _ name: String, before: (String, RawHTTP, StandInServer) async throws -> Void = { _, _, _ in }
    ) async throws {
        let library = try ContractLibrary()
        defer { library.remove() }
        let server = StandInServer(
            configuration: StandInConfiguration(users: ContractLibrary.users, libraries: library.libraries))
        let http = RawHTTP(address: try await server.start())
        var known = [
            "JWT-48b0c1871b5d": server.makeAccessToken(for: "lena"), "JWT-ac7b0c284308": server.makeAPIKey(for: "lena"),
            "JWT-446134731845": server.makeRefreshToken(for: "lena"),
        ]
        func mapped(_ text: String) -> String { known.reduce(text) { $0.replacing($1.key, with: $1.value) } }
        let steps = try Recording.json(name)["steps"]?.elements ?? []
        #expect(steps.count > 4)
        for step in steps {
            let what = step["what"]?.text ?? ""
            try await before(what, http, server)
            let request = mapped(step["request"]?.text ?? "").split(separator: " ").map(String.init)
            let answer = try await http.send(
                request[0], request[1], body: step["requestBody"]?.text.map { Data(mapped($0).utf8) })
            #expect(answer.status == step["status"]?.integer, "\(name): \(what)")
            #expect(answer.header("content-type") == step["contentType"]?.text, "\(name): \(what)")
            let ours = answer.text.split(separator: "\u{1E}").map(String.init)
            let recorded = step["response"]?.elements.compactMap(\.text) ?? []
            #expect(ours.count == recorded.count, "\(name): \(what): \(ours)")
            for (one, other) in zip(recorded, ours) {
                let found = Self.differences(one, other)
                #expect(found.isEmpty, "\(name): \(what): \(found)")
                if what == "open", let sid = Self.content(one)["sid"]?.text {
                    known[sid] = Self.content(other)["sid"]?.text
                }
            }
        }
        await server.stop()
    }

    private static func content(_ packet: String) -> JSON {
        let start = packet.firstIndex { "[{".contains($0) } ?? packet.endIndex
        return (try? JSON(parsing: packet[start...].utf8)) ?? nil
    }

    private static func differences(_ recorded: String, _ ours: String) -> [String] {
        let kind = recorded.prefix { !"[{".contains($0) }
        guard kind == ours.prefix(while: { !"[{".contains($0) }) else { return ["\(recorded) expected, \(ours) found"] }
        let (one, other) = (content(recorded), content(ours))
        guard one.elements.first == other.elements.first else { return ["\(recorded) expected, \(ours) found"] }
        return ContractTests.shape.differences(expected: one, actual: other, trimmed: "cut")
    }

    @Test(arguments: SocketTests.spoken.dropLast())
    func whoMayListen(name: String) async throws { try await speak(name) }

    @Test func whatASocketHears() async throws {
        try await speak("socket-03-progress-events") { what, http, server in
            let headers = [
                "Authorization": "Bearer \(server.makeAccessToken(for: "lena"))", "Content-Type": "application/json",
            ]
            func send(_ method: String, _ path: String, _ body: JSON) async throws -> JSON {
                let answer = try await http.send(method, path, headers: headers, body: body.bytes)
                #expect(answer.status == 200, "\(path)")
                return (try? JSON(parsing: answer.body)) ?? nil
            }
            let phone: JSON = ["deviceId": "phone", "clientName": "Phone", "model": "Phone", "clientVersion": "9.9"]
            if what.contains("bookmark") {
                _ = try await send("POST", "/api/me/item/\(Self.tide)/bookmark", ["time": 2, "title": "y"])
            } else if what.contains("/sync") {
                let session = try await send(
                    "POST", "/api/items/\(Self.tide)/play", ["deviceInfo": phone, "forceDirectPlay": true])["id"]?.text
                _ = try await send(
                    "POST", "/api/session/\(session ?? "")/sync", ["currentTime": 777, "timeListened": 5])
            } else if what.contains("PATCH") {
                let bookmark: JSON = ["time": 1, "title": "x"]
                // One bookmark and one record, as the recorded event has some of each; their events are taken first.
                _ = try await send("POST", "/api/me/item/\(Self.tide)/bookmark", bookmark)
                server.forgetEvents()
                _ = try await send("PATCH", "/api/me/progress/\(Self.tide)", ["currentTime": 5])
            } else if what.contains("local-all") {
                let session: JSON = [
                    "id": .string(UUID().uuidString.lowercased()), "mediaType": "podcast", "currentTime": 10,
                    "libraryItemId": "c50ec295-17b3-440b-83f6-c00f39becba7", "timeListening": 10,
                    "episodeId": "90d470d5-8764-4779-924d-96d6b717f215", "updatedAt": 4_000_000_000_000,
                ]
                _ = try await send("POST", "/api/session/local-all", ["sessions": [session], "deviceInfo": phone])
            } else if what.contains("close") {
                let open = server.openSessions(of: "lena").first?.id ?? ""
                _ = try await send("POST", "/api/session/\(open)/close", ["currentTime": 800, "timeListened": 3])
            }
        }
    }

    @Test func aPollWaitsUntilSomethingHappensAndPingsMeanwhile() async throws {
        let bench = try await Bench { $0.pingInterval = 0.2 }
        let open = try await bench.http.send("GET", "/socket.io/?EIO=4&transport=polling")
        let sid = try JSON(parsing: open.body.dropFirst())["sid"]?.text ?? ""
        let url = "/socket.io/?EIO=4&transport=polling&sid=\(sid)"
        let ping = try await bench.http.send("GET", url)
        #expect(ping.text == "2")
        let auth = "42[\"auth\",\"\(bench.token)\"]"
        _ = try await bench.http.send("POST", url, body: Data(auth.utf8))
        #expect(try await bench.http.send("GET", url).text.hasPrefix("42[\"init\""))
        async let event = bench.http.send("GET", url)
        bench.server.setProgress(of: "ann", item: Bench.book, ["currentTime": 5])
        let text = try await event.text
        await bench.end()
        #expect(text.hasPrefix("42[\"user_updated\"") || text == "2")
    }

    @Test func theWebsocketGreetsAndAuthenticates() async throws {
        let bench = try await Bench { $0.pingInterval = 60 }
        let socket = try await RawWebSocket(port: bench.http.port, target: "/socket.io/?EIO=4&transport=websocket")
        #expect(try await socket.receive().hasPrefix("0{\"sid\":"))
        try socket.send("40")
        #expect(try await socket.receive().hasPrefix("40{\"sid\":"))
        try socket.send("42[\"auth\",\"\(bench.token)\"]")
        #expect(try await socket.receive().hasPrefix("42[\"init\",{\"userId\":"))
        bench.server.setProgress(of: "ann", item: Bench.book, ["currentTime": 5])
        #expect(try await socket.receive().hasPrefix("42[\"user_updated\""))
        socket.close()
        await bench.end()
    }
}
