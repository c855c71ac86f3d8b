import Foundation
import GRDB
import Listening
import TestSupport
import Testing

@testable import Store

/// Every shape the database ever had is kept in `Schemas/`, with rows in it: what an older dogear wrote is still read.
@Suite struct SchemaTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Schemas"
    private static let saga = ItemID("abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001")!

    @Test(arguments: Schema.migrator.migrations) func whatAnOlderOneWroteIsRead(_ version: String) async throws {
        let rows = try String(contentsOfFile: "\(Self.folder)/\(version).sql", encoding: .utf8)
        let number = try #require(Int(version.dropFirst()))
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            try await DatabaseQueue(path: path).write { try $0.execute(sql: rows) }
            let store = try Store.open(at: path) { Issue.record("\($0)") }
            #expect(store.notice == nil && store.deviceID == "92e5a411-8940-46ff-b30d-145e6c2331a3")
            #expect(try await store.accounts().map(\.user) == ["lena"])
            let place = try #require(try await store.place(of: Self.saga))
            #expect(place.position == .seconds(2703.201) && place.updated == 1_795_000_033_341)
            #expect(try await store.recent(limit: 9).count == 1)
            #expect(try await store.unsent().map(\.listened) == [.seconds(4)])
            #expect(try await store.progressWrites().map(\.kind) == [.finish])
            #expect(try await store.item(Self.saga)?.chapters.count == 2)
            #expect(try await store.moves().map(\.to.seconds) == [2700, 3598])
            #expect(try await store.rate(of: Self.saga) == 1.25)
            if number > 1 {
                #expect(try await store.queue().items.map(\.title) == ["Saga"])
                #expect(try await store.progressWrites().first?.refusal == "it said no")
            }
            let history = try await store.history(limit: 9)
            if number < 5 {
                // What was owed when there was none yet.
                #expect(history.map(\.session) == ["0e414ac2-551f-423f-b16f-08f9ae1e96c4"])
                #expect(history.first?.listened == .seconds(4) && history.first?.from == .seconds(31))
                #expect(try await store.bookmarks().isEmpty)
            } else {
                #expect(history.map(\.item.source) == ["abs", "file"])
                #expect(history.last?.session == nil && history.last?.day == Day("2026-11-18"))
                let bookmarks = try await store.bookmarks(of: Self.saga)
                #expect(bookmarks.map(\.title) == ["Thor", "Loki"])
                #expect(bookmarks.map(\.owed) == [Bookmark.Owed?.none, .removal])
                #expect(bookmarks.last?.refusal == "it said no")
                #expect(bookmarks.map(\.number) == [12, 500.123456789])
            }
            if number >= 4 {
                let queue = try await store.queue()
                #expect(queue.loop == .queue && queue.isShuffled && queue.seed == .max && queue.next?.isNext == true)
            }
            if number >= 7 {
                let queue = try await store.queue()
                #expect(queue.line.map(\.item.title) == ["Edda", "Kalevala", "Saga"] && queue.isUnderWay)
                #expect(queue.previous?.item.title == "Edda" && queue.present?.playlist == "latest")
            }
            #expect(try await store.accounts().map(\.headerLag) == [number < 9 ? 0 : 20_000])
            let user = number < 10 ? nil : "31c57967-724c-437c-8fb4-422fe2c82746"
            #expect(try await store.accounts().map(\.userID) == [user])
            #expect(try await store.borrowed().count == (number < 8 ? 0 : 1))
            #expect(try await store.formerAccounts().map(\.user) == (number < 6 ? [] : ["max"]))
            // And written as today's.
            try await store.write(.queue(Queue([try #require(try await store.item(Self.saga))])))
            #expect(try await store.queue().contains(Self.saga))
        }
    }
}
