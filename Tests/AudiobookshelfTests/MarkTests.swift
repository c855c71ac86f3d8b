import EventLoop
import HTTP
import Listening
import Testing

@testable import Audiobookshelf

/// Bookmarks, the listening history and statistics, as the real server answered them.
@Suite struct MarkTests {
    private let tide = ItemID("abs:\(accountID)/e5f6d6b7-e059-4b34-b996-c83b1448fe67")!

    @Test func bookmarksOfAllItems() async throws {
        let shelf = try client(try replay("bm-09-list"))
        #expect(
            try await shelf.bookmarks() == [
                Bookmark(
                    item: tide, time: .seconds(312), title: "Renamed by patch", created: 1_795_223_876_193, number: 312,
                    made: 1_795_223_876_193),
                Bookmark(
                    item: tide, time: .seconds(500.75), title: "Half a second", created: 1_795_223_876_198,
                    number: 500.75, made: 1_795_223_876_198),
            ])
    }

    @Test func aTimeThatIsATextIsOne() throws {
        let list = try #require(BookmarkPayload.list(try Fixture("bm-16-list-after").body["bookmarks"]))
        #expect(list.map(\.time) == [77])
    }

    @Test func anOlderServerTellsThemWithTheUser() async throws {
        let me: JSON = [
            "username": "lena",
            "bookmarks": [["libraryItemId": "i", "time": 3, "title": "t", "createdAt": 4], ["time": 1], 7],
        ]
        let missing = try Fixture("old-v2.30.0-18-me-bookmarks").response
        let shelf = try client(
            FakeTransport { $0.url.hasSuffix("/api/me") ? HTTPResponse.json(me) : missing })
        #expect(try await shelf.bookmarks().map(\.time) == [.seconds(3)])
    }

    @Test(arguments: [#"{}"#, #"{"bookmarks":null}"#, #"{"bookmarks":{}}"#])
    func noListIsNotAnEmptyOne(_ answer: String) async throws {
        let shelf = try client(
            FakeTransport { _ in .json(JSON(Array(answer.utf8)) ?? .null) })
        let error = await failure { () throws(ShelfError) in _ = try await shelf.bookmarks() }
        guard case .missing? = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }

    @Test func oneIsPutUnderItsTimeAndRemovedUnderTheSameDigits() async throws {
        let sent = Locked<[String]>([])
        let shelf = try client(
            FakeTransport { request in
                sent.withLock { $0.append("\(request.description) \(request.json["time"]) \(request.json["title"])") }
                return .text("OK")
            })
        var mark = Bookmark(item: tide, time: .seconds(312), title: "The bell", created: 0, owed: .put)
        try await shelf.write(mark)
        mark.owed = .removal
        try await shelf.write(mark)
        try await shelf.write(
            Bookmark(
                item: tide, time: .seconds(1 / 3), title: "", created: 0, number: 1.0 / 3, owed: .removal))
        let path = "/abs/api/me/item/e5f6d6b7-e059-4b34-b996-c83b1448fe67/bookmark"
        #expect(
            sent.withLock { $0 } == [
                "POST \(path) number(312.0) string(\"The bell\")", "DELETE \(path)/312 null null",
                "DELETE \(path)/0.3333333333333333 null null",
            ])
    }

    @Test func whatIsRefusedSaysSo() async throws {
        let mark = Bookmark(
            item: ItemID("abs:\(accountID)/00000000-0000-4000-8000-000000000000")!, time: .second, title: "x",
            created: 0, owed: .put)
        let shelf = try client(try replay("bm-08-create-unknown-item"))
        let error = await failure { () throws(ShelfError) in try await shelf.write(mark) }
        guard case .notFound? = error else { return #expect(Bool(false)) }
    }

    @Test func theHistoryIsOfAllDevices() async throws {
        let shelf = try client(try replay("local-18-listening-sessions"))
        let (rows, isLast) = try await shelf.sessions(limit: 3)
        #expect(rows.count == 3 && !isLast)
        let first = try #require(rows.first)
        #expect(first.id == "d5f04f63-fcf4-45aa-a234-ab614fa2d041" && first.title == "Notes from the Orchard")
        #expect(first.device == "TextCast, Linux Desktop" && first.day == Day("2026-11-21"))
        #expect(first.listened == .seconds(5) && first.from == .seconds(20) && first.to == .seconds(333))
        #expect(first.started == 1_795_223_756_393 && first.updated == 1_795_227_476_393)
    }

    @Test func statisticsByDay() async throws {
        let counted = try await client(try replay("local-20-stats")).statistics()
        #expect(counted.total == .seconds(424.25))
        #expect(counted.days == [Day("2026-11-21")!: .seconds(419.25), Day("2026-11-20")!: .seconds(5)])
    }
}
