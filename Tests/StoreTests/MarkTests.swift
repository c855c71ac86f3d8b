import GRDB
import Listening
import TestSupport
import Testing

@testable import Store

@Suite struct MarkTests {
    private func mark(
        _ seconds: Double, _ title: String = "here", of item: ItemID = emma, owed: Bookmark.Owed? = nil
    ) -> Bookmark {
        Bookmark(item: item, time: .seconds(seconds), title: title, created: 5, owed: owed, made: 6)
    }

    private func sitting(
        _ id: String, _ item: ItemID = emma, session: String? = nil, day: Int64 = 20_000, started: Int64 = 1,
        listened: Double = 10
    ) -> Sitting {
        Sitting(
            id: id, item: item, session: session, day: Day(number: day), started: started, ended: started + 10,
            from: .seconds(1), to: .seconds(11), listened: .seconds(listened))
    }

    private func withStore(_ body: (Store) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await body(try Store.open(at: "\(folder)/state.sqlite") { Issue.record("\($0)") })
        }
    }

    @Test func bookmarksAreOfAnItemAndATime() async throws {
        try await withStore { store throws in
            var refused = mark(9, "no", owed: .put)
            refused.refusal = "it said no"
            try await store.write(
                [mark(30), mark(5, "first"), refused, mark(5, of: ulysses)].map { .bookmark($0) })
            #expect(try await store.bookmarks(of: emma) == [mark(5, "first"), refused, mark(30)])
            try await store.write(.bookmark(mark(5, "renamed", owed: .put)), .removeBookmark(mark(30).id))
            #expect(try await store.bookmarks(of: emma) == [mark(5, "renamed", owed: .put), refused])
            #expect(try await store.bookmarks() == [mark(5, "renamed", owed: .put), refused, mark(5, of: ulysses)])
            #expect(try await store.owedBookmarks() == [mark(5, "renamed", owed: .put), refused])
        }
    }

    @Test func aServersNumberComesBackAsItWas() async throws {
        try await withStore { store throws in
            let there = Bookmark(item: emma, time: .seconds(1 / 3), title: "", created: 0, number: 1.0 / 3)
            let whole = Bookmark(item: emma, time: .seconds(7), title: "", created: 0, number: 7)
            try await store.write(.bookmark(there), .bookmark(whole))
            #expect(try await store.bookmarks(of: emma).map(\.number) == [1.0 / 3, 7])
        }
    }

    @Test func ofAnAccountOnlyThoseThatItsServerKeeps() async throws {
        try await withStore { store throws in
            let episode = ItemID(source: "abs", key: "4d7a/pod/ep")
            let other = ItemID(source: "abs", key: "4d7ab/li_emma")
            try await store.write([emma, episode, other, ulysses].map { .bookmark(mark(1, of: $0)) })
            #expect(try await store.bookmarks(account: "4d7a").map(\.item) == [emma])
            try await store.write(.removeBookmarks(account: "4d7a"))
            #expect(Set(try await store.bookmarks().map(\.item)) == [episode, other, ulysses])
            // What the server has yet to be told waits for the next login.
            var owed = mark(2, of: emma)
            owed.owed = .put
            try await store.write(.bookmark(owed), .removeBookmarks(account: "4d7a"))
            #expect(try await store.bookmarks(of: emma).map(\.time) == [owed.time])
        }
    }

    @Test func aSittingGrowsInItsPlace() async throws {
        try await withStore { store throws in
            try await store.write(.sitting(sitting("a")), .sitting(sitting("b", started: 2)))
            try await store.write(.sitting(sitting("a", listened: 25)))
            let rows = try await store.history(limit: 9)
            #expect(rows.map(\.id) == ["b", "a"] && rows[1].listened == .seconds(25))
            #expect(rows[0] == sitting("b", started: 2))
        }
    }

    @Test func historyByItemSessionAndDay() async throws {
        try await withStore { store throws in
            try await store.write(
                .sitting(sitting("a", session: "s")), .sitting(sitting("b", session: "s", day: 20_001, started: 2)),
                .sitting(sitting("c", ulysses, day: 20_001, started: 3)))
            #expect(try await store.history(of: emma, limit: 9).map(\.id) == ["b", "a"])
            #expect(try await store.history(limit: 1).map(\.id) == ["c"])
            #expect(try await store.known(sessions: ["s", "t'; --"]) == ["s"])
            try await store.write(.sitting(sitting("d", day: 20_001, started: 4, listened: 5)))
            #expect(
                try await store.listened() == [
                    .init(day: Day(number: 20_000), item: emma, listened: .seconds(10)),
                    .init(day: Day(number: 20_001), item: emma, listened: .seconds(15)),
                    .init(day: Day(number: 20_001), item: ulysses, listened: .seconds(10)),
                ])
        }
    }

    @Test func theHistoryIsBounded() async throws {
        try await withStore { store throws in
            try await store.write(
                (0..<Schema.historyRows + 20).map { .sitting(sitting("row-\($0)", started: Int64($0))) })
            let rows = try await store.history(limit: .max)
            #expect(rows.count == Schema.historyRows && rows.last?.id == "row-20")
            // Whatever the clock says for a second.
            try await store.write(.sitting(sitting("late", started: 4_000_000_000_000)))
            #expect(try await store.history(limit: .max).map(\.id).last == "row-21")
        }
    }

    @Test func placeStretchAndHistoryAreOneTransaction() async throws {
        try await withStore { store throws in
            store.journal(
                place: place(emma, 30), stretch: stretch("s", listened: 5), sitting: sitting("a", session: "s"), at: 9)
            #expect(try await store.history(limit: 9).map(\.session) == ["s"])
            #expect(try await store.stretch("s")?.listened == .seconds(5))
            try await store.write(.removeStretch(id: "s"))
            #expect(
                try await store.history(limit: 9).map(\.listened) == [.seconds(10)], "it stays when it is delivered")
        }
    }

    @Test func whatIsMarkedOrWasHeardStaysDescribed() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path) { Issue.record("\($0)") }
            try await store.write(
                .item(item(emma)), .item(item(ulysses)), .bookmark(mark(1)), .sitting(sitting("a", ulysses)))
            try await store.write(
                (0..<600).map { .item(item(ItemID(source: "abs", key: "x/\($0)"))) })
            try await store.flush()
            let again = try Store.open(at: path) { Issue.record("\($0)") }
            #expect(try await again.item(emma) != nil)
            #expect(try await again.item(ulysses) != nil)
            #expect(try await again.item(ItemID(source: "abs", key: "x/1")) == nil)
        }
    }

    @Test func theyAreReadOutOfADamagedDatabase() {
        #expect(Set(["bookmarks", "history"]).isSubset(of: Schema.tables))
    }
}
