import Foundation
import StandIn
import Testing

/// The stand-in against the recordings of the real server.
@Suite struct ContractTests {
    private static let lena = "JWT-e057e09f393c"
    private static let laterLena = "JWT-35ae9eeb97f7"
    private static let tide = "e5f6d6b7-e059-4b34-b996-c83b1448fe67"
    private static let orchard = "7e282bdf-7e87-4950-b8c0-ba04eb687de7"
    private static let podcast = "c50ec295-17b3-440b-83f6-c00f39becba7"
    private static let ten = "95f1b549-f3ed-4a5b-8d85-4885fb4d2a95"
    private static let desktop: JSON = [
        "deviceId": "3f0c1d2e-1111-4222-8333-444455556666", "clientName": "TextCast", "clientVersion": "1.0.0",
        "manufacturer": "Linux", "model": "Desktop",
    ]

    /// Shapes learned from every recording.
    static let shape: Shape = {
        let bodies = Recording.names.compactMap { try? Recording.json($0)["response"]?["body"] }
        var shape = Shape(learningFrom: bodies)
        shape.comparedValues = [
            "title", "currentTime", "progress", "isFinished", "duration", "timeListening", "total", "success",
            "progressSynced", "error", "playMethod", "startOffset", "contentUrl", "mimeType", "numTracks", "mediaType",
            "startTime", "displayTitle", "displayAuthor", "isOldToken", "username", "episodeId", "libraryItemId",
        ]
        return shape
    }()

    /// The one recording that the stand-in answers with the help of a program.
    private static let needsFFmpeg = "stream-11-hls-segment"
    private static let hasFFmpeg = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/ffmpeg") }

    private func story(
        _ name: String, _ change: (inout StandInConfiguration) -> Void = { _ in },
        before: (String, Replay) async throws -> Void = { _, _ in }
    ) async throws {
        let library = try ContractLibrary()
        defer { library.remove() }
        let recordings = try Coverage().recordings(of: name)
        let clock = StandInClock(milliseconds: recordings.first?.recordedAt ?? 0)
        var configuration = StandInConfiguration(
            users: ContractLibrary.users, libraries: library.libraries, clock: clock)
        change(&configuration)
        let server = StandInServer(configuration: configuration)
        let replay = Replay(
            server: server, address: try await server.start(), clock: clock, shape: Self.shape,
            fixed: library.ids.union(ContractLibrary.users.map(\.id)))
        do {
            for recording in recordings where recording.name != Self.needsFFmpeg || Self.hasFFmpeg {
                replay.setTime(recording.recordedAt)
                try await before(recording.name, replay)
                try await replay.play(recording)
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test func aDayOnTheCurrentServer() async throws {
        try await story("main") { configuration in
            configuration.authRateLimit = 40
        } before: { name, replay in
            if name == "boot-04-status" { introduce(replay) }
            try await browse(name, replay)
            try await listen(name, replay)
            try await goOffline(name, replay)
        }
    }

    /// Tokens of logins that were not recorded.
    private func introduce(_ replay: Replay) {
        let tokens = [
            "JWT-db5fa0d71982": "guest", "JWT-3198b9115422": "nodl", "JWT-196baeaff4b5": "root",
            "JWT-f55446601e2b": "lena", "JWT-aba3b737aa29": "lena", "JWT-f390c317a504": "nodl", Self.lena: "lena",
            "JWT-8e590d1cb009": "nodl", "JWT-1daaf729ab98": "lena", "JWT-f53b19aeac65": "lena",
            "JWT-5b7f97e2d75f": "lena", "JWT-c10e1c678db2": "restricted", Self.laterLena: "lena",
        ]
        for (token, user) in tokens { replay.learn(token, as: replay.server.makeAccessToken(for: user)) }
        replay.learn("JWT-7dfb8e990369", as: replay.server.makeRefreshToken(for: "nodl"))
        let root = replay.server.configuration.users[0].id
        replay.learn("132a5e67-36c4-4ed7-a648-c008a3081068", as: root)
    }

    private func browse(_ name: String, _ replay: Replay) async throws {
        switch name {
        case "auth-23-refresh-cookie":
            try await replay.logInForCookie(user: "lena", password: "listen-1")
        case "lib-01-libraries":
            replay.setTime(1_795_223_703_776)
            try await replay.ask(
                "PATCH", "/api/me/progress/\(Self.tide)", token: Self.lena,
                ["currentTime": 300.5, "duration": 2118.374, "progress": 0.1418540824235947])
            try await replay.ask(
                "PATCH", "/api/me/progress/\(Self.podcast)/6d5a8eae-101d-4a63-b85e-19cd5308d116", token: Self.lena,
                ["currentTime": 30, "duration": 103.262041, "progress": 0.29])
        case "lib-40-cache-2-filter-finished-after":
            try await replay.ask(
                "PATCH", "/api/me/progress/ada1c75c-1ea5-45e1-be19-568fdaacf69d", token: Self.lena,
                ["isFinished": true, "duration": 50.4])
        default: break
        }
    }

    private func listen(_ name: String, _ replay: Replay) async throws {
        func open(_ id: String, _ item: String, _ device: JSON) async throws {
            try await replay.open(id, item: item, device: device, token: Self.lena)
        }
        switch name {
        case "sess-26-close-empty-never-synced":
            try await open("f8d22f4a-7a9d-4fb2-a337-583f2b6a4a7b", Self.orchard, Self.desktop)
        case "sess-28-sync-session-replaced-by-same-device":
            try await open("d84ebe05-a6b6-411e-9688-236493506ade", Self.orchard, Self.desktop)
            try await open("3fa06da6-2a24-4368-92b4-578151091e97", Self.orchard, Self.desktop)
        case "sess-29-two-devices-sync-1":
            try await open(
                "ec479604-5d78-49ae-a33c-728c59917602", Self.orchard, ["deviceId": "other", "clientName": "o"])
        case "play-02-multifile":
            try await open("third", Self.orchard, ["deviceId": "third", "clientName": "t"])
            try await replay.sync("third", token: Self.lena, ["currentTime": 21, "timeListened": 1])
        case "stream-10-hls-playlist-no-auth":
            try await replay.open(
                "6e958c12-ba61-4a24-85bb-65101d4a4a09", item: "19765288-d0d4-46a7-bbec-0e848a4097ca",
                device: ["deviceId": "hls"], token: Self.lena, direct: false)
        case "sess-32-sync-negative-and-huge":
            let session = "1067f261-60fa-49f1-b4be-32ff7aa8a690"
            try await open(session, Self.ten, Self.desktop)
            try await replay.sync(session, token: Self.lena, ["currentTime": 18000, "timeListened": 10])
        case "sess-36-stale-client-close":
            let session = "017eae1d-5f5a-45e6-80ae-e0cb4390ea3f"
            try await open(session, Self.ten, Self.desktop)
            try await replay.sync(session, token: Self.lena, ["currentTime": 18000, "timeListened": 1])
            try await open("device-b", Self.ten, ["deviceId": "b", "clientName": "b"])
            try await replay.sync("device-b", token: Self.lena, ["currentTime": 30000, "timeListened": 1])
        default: break
        }
    }

    private func goOffline(_ name: String, _ replay: Replay) async throws {
        switch name {
        case "bm-01-create":
            try await replay.ask(
                "PATCH", "/api/me/progress/86b6152f-ffac-46ec-a089-9e0c2526f1e7", token: Self.lena,
                ["currentTime": 100, "progress": 0.25])
        case "local-17-other-users-session-id":
            // The id in this recording belongs to a session of somebody else.
            try await replay.ask(
                "POST", "/api/session/local", token: "JWT-f390c317a504",
                [
                    "id": "46f70ceb-7c72-4a17-b600-4010e4574fd0", "libraryItemId": .string(Self.orchard),
                    "currentTime": 1, "timeListening": 1, "startedAt": 1_795_223_876_000,
                    "updatedAt": 1_795_223_876_000,
                ])
        case "local-14-live-sync-wins":
            try await replay.open(
                "f4a1ff8e-ed1f-4aa2-b169-dad561605564", item: Self.orchard,
                device: ["deviceId": "z1", "clientName": "x"],
                token: Self.lena)
        case "finish-05-live-first-sync-at-end":
            let answer = try await replay.ask(
                "POST", "/api/items/\(Self.podcast)/play/34eef147-2a39-49c4-868b-58409851d990", token: Self.lena,
                ["deviceInfo": Self.desktop, "forceDirectPlay": true])
            replay.learn("e0af5ddb-a11b-4bab-af07-fb91106e06b6", as: answer["id"]?.text ?? "")
        case "restart-01-token-still-valid":
            replay.setTime(1_795_223_917_611)
            let session = "41d9f3fc-45b6-494c-b282-2b1bc4a0f1d3"
            let discs = "fa948f4b-cb82-44f9-967c-692b4bc29158"
            try await replay.open(session, item: discs, device: Self.desktop, token: Self.lena)
            try await replay.sync(session, token: Self.lena, ["currentTime": 25, "timeListened": 20])
            let untagged = "43e78a88-c44d-4ec7-b3ea-55149094c045"
            try await replay.open("untagged", item: untagged, device: ["deviceId": "u"], token: Self.lena)
            try await replay.sync("untagged", token: Self.lena, ["currentTime": 33, "timeListened": 5])
            try await replay.sync("untagged", token: Self.lena, ["timeListened": 5])
            replay.server.restart()
        default: break
        }
    }

    @Test func shortLivedTokens() async throws {
        try await story("expiry") { configuration in
            configuration.accessExpiry = 2
            configuration.refreshExpiry = 8
            configuration.refreshGrace = 2
            configuration.authRateLimit = 12
        } before: { name, replay in
            switch name {
            case "expiry-01-access-token-expired":
                let end = try Recording(name).recordedAt
                replay.setTime(end - 3000)
                replay.learn("JWT-01011712ca40", as: replay.server.makeAccessToken(for: "root"))
                replay.learn("JWT-bcd371d9c5fb", as: replay.server.makeRefreshToken(for: "root"))
            case "expiry-07-rate-limited":
                let http = replay.http
                for _ in 0..<12 { _ = try await http.send("POST", "/login", headers: [:], body: Data()) }
            default: break
            }
        }
    }

    @Test func anotherBasePath() async throws {
        try await story("base") { configuration in
            configuration.basePath = "/abs"
            configuration.users[0].password = "p"
        }
    }

    @Test func release225() async throws {
        try await old(
            .v225, library: "f9b57f98-b059-4395-881f-99c9973f9e0c", item: "b5624398-2527-4fbf-a038-4c75081a68b8")
    }

    @Test func release230() async throws {
        try await old(
            .v230, library: "12fd5881-45b2-4716-9a5f-fd9047779490", item: "26eb3c1e-ac9f-403a-b469-19de67e9297e")
    }

    /// The older servers had the same files under other ids.
    private func old(_ version: StandInVersion, library: String, item: String) async throws {
        try await story("old-v\(version.rawValue)") { configuration in
            configuration.version = version
            configuration.accessExpiry = StandInConfiguration(users: [], version: version).accessExpiry
            configuration.refreshGrace = 0
            // These servers had one author's folder only.
            let books = configuration.libraries[0].items.filter { $0.authors == ["Sam Field"] }
            configuration.libraries[0].items = StandInItems(
                books.sorted { $0.title == "Only Paper" && $1.title != $0.title })
        } before: { name, replay in
            guard name.contains("-02-status") else { return }
            replay.learn(library, as: "e038225c-28c8-4cca-b5d9-6afeda736d3e")
            replay.learn(item, as: "19765288-d0d4-46a7-bbec-0e848a4097ca")
        }
    }
}
