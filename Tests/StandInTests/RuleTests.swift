import Foundation
import StandIn
import Testing

/// Rules that no single recording shows, and the controls that tests have.
@Suite struct RuleTests {
    @Test func finishedEpisodesAreNotRecent() async throws {
        try await Bench.use { (bench: Bench) async throws in
            func recent() async throws -> [String] {
                let answer = try await bench.get("/api/libraries/l2/recent-episodes?limit=5")
                return try bench.json(answer)["episodes"]?.elements.compactMap { $0["id"]?.text } ?? []
            }
            #expect(try await recent() == [Bench.second, Bench.first])
            bench.server.setProgress(of: "ann", item: Bench.podcast, episode: Bench.second, ["isFinished": true])
            #expect(try await recent() == [Bench.first])
        }
    }

    @Test func aRepeatedSyncCountsTwiceAndALocalSessionOnce() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let session = try await bench.play()
            for _ in 0..<2 {
                _ = try await bench.post("/api/session/\(session)/sync", ["currentTime": 10, "timeListened": 10])
            }
            #expect(bench.server.history(of: "ann").map(\.timeListening) == [20])
            bench.server.restart()
            #expect(bench.server.openSessions(of: "ann").isEmpty)
            let body: JSON = [
                "id": .string(session), "libraryItemId": .string(Bench.book), "mediaType": "book", "currentTime": 15,
                "timeListening": 15, "startedAt": 0, "updatedAt": 4_000_000_000_000,
            ]
            for _ in 0..<2 { #expect(try await bench.post("/api/session/local", body).text == "OK") }
            #expect(bench.server.history(of: "ann").map(\.timeListening) == [15])
            #expect(bench.server.progress(of: "ann", item: Bench.book)?.currentTime == 15)
        }
    }

    @Test func aDeletedItemIsGone() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let session = try await bench.play()
            bench.server.deleteItem(Bench.book)
            #expect(try await bench.get("/api/items/\(Bench.book)").status == 404)
            #expect(try await bench.post("/api/session/\(session)/sync", ["currentTime": 1]).status == 500)
            let list = try bench.json(try await bench.get("/api/libraries/l1/items"))
            #expect(list["total"]?.integer == 0)
        }
    }

    @Test func usersDoNotSeeEachOthersProgress() async throws {
        try await Bench.use { (bench: Bench) async throws in
            bench.server.setProgress(of: "bob", item: Bench.book, ["currentTime": 5])
            #expect(try await bench.get("/api/me/progress/\(Bench.book)").status == 404)
            #expect(bench.server.progress(of: "BOB", item: Bench.book)?.currentTime == 5)
        }
    }

    @Test func aTokenTellsWhenItEnds() async throws {
        let bench = try await Bench { $0.accessExpiry = 90 }
        let middle = String(bench.token.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
        let padded = middle + String(repeating: "=", count: (4 - middle.count % 4) % 4)
        let claims = try JSON(parsing: try #require(Data(base64Encoded: padded)))
        await bench.end()
        let issued = try #require(claims["iat"]?.integer)
        #expect(claims["exp"]?.integer == issued + 90)
        #expect(claims["type"]?.text == "access")
    }

    @Test func anotherServersTokenIsRefused() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let other = StandInServer(configuration: bench.server.configuration)
            let token = other.makeAccessToken(for: "ann")
            #expect(try await bench.http.send("GET", "/api/me?token=\(token)").status == 401)
        }
    }

    @Test func aManifestSaysWhatIsWrongWithIt() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "standin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func complaint(_ text: String) throws -> String {
            try Data(text.utf8).write(to: folder.appending(path: "library.json"))
            do {
                _ = try StandInLibrary.load(folder: folder.path)
                return ""
            } catch { return "\(error)" }
        }
        #expect(try complaint("{").contains("not JSON"))
        #expect(
            try complaint(#"{"libraries":[{"name":"B","mediaType":"book","items":[{}]}]}"#) == "an item has no 'title'")
        let file =
            #"{"libraries":[{"name":"B","mediaType":"book","items":[{"title":"T","files":[{"path":"x","duration":1}]}]}]}"#
        #expect(try complaint(file) == "T names 'x', which is no file")
    }
}
