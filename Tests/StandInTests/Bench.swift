import Foundation
import StandIn

/// A small server with one book of two files, one big file and one podcast, for tests of single rules.
struct Bench: Sendable {
    static let book = "b0000000-0000-4000-8000-000000000001"
    static let podcast = "b0000000-0000-4000-8000-000000000002"
    static let first = "e0000000-0000-4000-8000-000000000001"
    static let second = "e0000000-0000-4000-8000-000000000002"

    let server: StandInServer
    let http: RawHTTP
    let token: String
    private let folder: URL

    /// The bytes of the book's first file: each byte is its own place modulo 251.
    static let bytes = Data((0..<300_000).map { UInt8($0 % 251) })

    init(_ change: (inout StandInConfiguration) -> Void = { _ in }) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "standin-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, data) in [("1.mp3", Self.bytes), ("2.mp3", Data(count: 1000)), ("e1.mp3", Data(count: 100))] {
            try data.write(to: folder.appending(path: name))
        }
        try Data(Self.manifest.utf8).write(to: folder.appending(path: "library.json"))
        var configuration = StandInConfiguration(
            users: [StandInUser(name: "ann", password: "secret"), StandInUser(name: "bob", password: "other")],
            libraries: try StandInLibrary.load(folder: folder.path))
        change(&configuration)
        server = StandInServer(configuration: configuration)
        http = RawHTTP(address: try await server.start())
        token = server.makeAccessToken(for: "ann")
    }

    /// Runs a test with a bench and stops it, whatever happens.
    static func use(_ body: (Bench) async throws -> Void) async throws {
        let bench = try await Bench()
        do {
            try await body(bench)
        } catch {
            await bench.end()
            throw error
        }
        await bench.end()
    }

    func end() async {
        await server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func get(_ target: String, headers: [String: String] = [:]) async throws -> RawResponse {
        try await http.send(
            "GET", target, headers: headers.merging(["Authorization": "Bearer \(token)"]) { one, _ in one })
    }

    func post(_ target: String, _ body: JSON, method: String = "POST") async throws -> RawResponse {
        let headers = ["Authorization": "Bearer \(token)", "Content-Type": "application/json"]
        return try await http.send(method, target, headers: headers, body: body.bytes)
    }

    func json(_ response: RawResponse) throws -> JSON { try JSON(parsing: response.body) }

    func play(_ target: String = "/api/items/\(Bench.book)/play") async throws -> String {
        let body: JSON = ["deviceInfo": ["deviceId": "d", "clientName": "c", "model": "m"], "forceDirectPlay": true]
        return try json(try await post(target, body))["id"]?.text ?? ""
    }

    private static let manifest = """
        { "libraries": [
          { "id": "l1", "name": "Books", "mediaType": "book", "items": [
            { "id": "\(book)", "title": "Two Files", "authors": ["Ann Author"],
              "files": [ { "path": "1.mp3", "duration": 60, "ino": "11" }, { "path": "2.mp3", "duration": 40 } ] } ] },
          { "id": "l2", "name": "Podcasts", "mediaType": "podcast", "items": [
            { "id": "\(podcast)", "title": "Pod", "authors": ["Pod Caster"], "episodes": [
              { "id": "\(first)", "path": "e1.mp3", "duration": 30, "title": "One", "publishedAt": 1000 },
              { "id": "\(second)", "path": "e1.mp3", "duration": 30, "title": "Two", "publishedAt": 2000 } ] } ] } ] }
        """
}
