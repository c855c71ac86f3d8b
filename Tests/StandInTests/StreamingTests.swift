import Foundation
import StandIn
import Testing

@Suite struct StreamingTests {
    private let url = "/api/items/\(Bench.book)/file/11"

    @Test(arguments: [
        ("bytes=0-9", 0..<10), ("bytes=299990-", 299_990..<300_000), ("bytes=-7", 299_993..<300_000),
        ("bytes=65530-65545", 65_530..<65_546), ("bytes=100-999999", 100..<300_000), ("bytes=-999999", 0..<300_000),
    ])
    func aRangeGivesTheseBytes(range: String, expected: Range<Int>) async throws {
        try await Bench.use { (bench: Bench) async throws in
            let answer = try await bench.get(url, headers: ["Range": range])
            #expect(answer.status == 206)
            #expect(answer.body == Bench.bytes[expected])
            #expect(
                answer.header("content-range") == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/300000")
        }
    }

    @Test func anUnsatisfiableRangeIsAPage() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let answer = try await bench.get(url, headers: ["Range": "bytes=300000-"])
            #expect(answer.status == 416 && answer.header("content-range") == "bytes */300000")
        }
    }

    @Test func headersComeWithoutBytes() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let session = try await bench.play()
            let answer = try await bench.http.send("HEAD", "/public/session/\(session)/track/1")
            #expect(answer.status == 200 && answer.body.isEmpty && answer.header("content-length") == "300000")
        }
    }

    @Test func aTrackDiesWithItsSession() async throws {
        try await Bench.use { (bench: Bench) async throws in
            let session = try await bench.play()
            #expect(try await bench.http.send("GET", "/public/session/\(session)/track/2").body.count == 1000)
            bench.server.restart()
            #expect(try await bench.http.send("GET", "/public/session/\(session)/track/2").status == 404)
        }
    }

    @Test func onePageOfAHundredThousandBooks() async throws {
        let items = StandInItems.synthetic(count: 100_000)
        let library = StandInLibrary(name: "Many", mediaType: .book, items: items, id: "many")
        var user = StandInUser(name: "ann", password: "secret")
        user.seesExplicit = true
        let server = StandInServer(configuration: StandInConfiguration(users: [user], libraries: [library]))
        let http = RawHTTP(address: try await server.start())
        let token = server.makeAccessToken(for: "ann")
        let query = "limit=50&page=1999&sort=media.metadata.title&token=\(token)"
        let page = try JSON(parsing: try await http.send("GET", "/api/libraries/many/items?\(query)").body)
        await server.stop()
        #expect(page["total"]?.integer == 100_000)
        #expect(page["results"]?.elements.last?["media"]?["metadata"]?["title"]?.text == "Book 100000")
        #expect(items.index(of: StandInItems.syntheticID(99_999)) == 99_999)
        #expect(items.index(of: StandInItems.syntheticID(100_000)) == nil)
    }
}
