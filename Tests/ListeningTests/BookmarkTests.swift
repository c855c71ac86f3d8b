import Testing

@testable import Listening

@Suite struct BookmarkTests {
    private let episode = ItemID(source: "abs", key: "a/pod/ep")

    private func mark(
        _ seconds: Double, _ title: String = "here", owed: Bookmark.Owed? = .put, of item: ItemID = emma.id,
        made: Int64 = 1
    ) -> Bookmark {
        Bookmark(item: item, time: .seconds(seconds), title: title, created: 1, owed: owed, made: made)
    }

    // MARK: Delivery

    @Test func itIsKeptBeforeItIsSentAndStaysWhenAccepted() {
        var wire = Wire()
        wire.take(wire.sync.bookmark(mark(312), wire.now))
        #expect(wire.bookmarks[mark(312).id]?.owed == .put)
        #expect(wire.request == .bookmark(mark(312)))
        #expect(wire.sync.overdue == 1 && wire.sync.rows == [.bookmark(mark(312))])
        wire.answer(.accepted)
        #expect(wire.bookmarks[mark(312).id]?.owed == .some(nil))
        #expect(wire.sync.overdue == 0 && wire.sync.rows.isEmpty && wire.sent.isEmpty)
        #expect(wire.sync.standing(of: .bookmark(mark(312)), at: wire.now) == .accepted)
    }

    @Test(arguments: [Sync.Outcome.doubtful, .later(retryAfter: nil)])
    func withoutAnAnswerItIsSentAgain(_ outcome: Sync.Outcome) {
        var wire = Wire()
        wire.take(wire.sync.bookmark(mark(312), wire.now))
        wire.answer(outcome)
        #expect(wire.sent.isEmpty, "not at once")
        #expect(wire.sync.overdue == 1)
        wire.pass(2)
        #expect(wire.request == .bookmark(mark(312)))
        wire.answer(.accepted)
        #expect(wire.sync.overdue == 0)
    }

    @Test func whatHappensToItWhileItIsOnItsWayIsSentBehind() {
        var wire = Wire()
        wire.take(wire.sync.bookmark(mark(312), wire.now))
        wire.take(wire.sync.bookmark(mark(312, "better"), wire.now))
        #expect(wire.sent.count == 1)
        wire.answer(.accepted)
        #expect(wire.bookmarks[mark(312).id]?.owed == .put, "the answer was to the other title")
        #expect(wire.request == .bookmark(mark(312, "better")))
        wire.take(wire.sync.bookmark(mark(312, "better", owed: .removal), wire.now))
        wire.answer(.accepted)
        #expect(wire.request == .bookmark(mark(312, "better", owed: .removal)))
        wire.answer(.accepted)
        #expect(wire.bookmarks.isEmpty && wire.sync.rows.isEmpty)
    }

    @Test func whatIsToGoAndIsNotThereIsGone() {
        var wire = Wire()
        wire.take(wire.sync.bookmark(mark(312, owed: .removal), wire.now))
        wire.answer(.gone)
        #expect(wire.bookmarks.isEmpty && wire.sync.rows.isEmpty)
    }

    @Test(arguments: [Sync.Outcome.refused("no permission"), .gone])
    func aRefusedOneIsKeptAndShownUntilTheListenerDecides(_ outcome: Sync.Outcome) throws {
        var wire = Wire()
        wire.take(wire.sync.bookmark(mark(312), wire.now))
        wire.answer(outcome)
        let kept = try #require(wire.bookmarks[mark(312).id])
        #expect(kept.refusal != nil && kept.isThere)
        #expect(wire.sync.parked == 1 && wire.sync.overdue == 0)
        wire.pass(10_000)
        #expect(wire.sent.isEmpty, "not again by itself")
        var later = Wire()
        later.take(later.sync.restore([], [], [kept], at: later.now))
        #expect(later.sent.isEmpty && later.sync.parked == 1, "nor after a restart")
        later.take(later.sync.retry(at: later.now))
        #expect(later.request == .bookmark(mark(312)))
        later.answer(.refused("still no"))
        later.take(later.sync.drop(later.sync.rows[0]))
        #expect(later.sync.rows.isEmpty && later.bookmarks.isEmpty)
    }

    @Test func aRemovalThatIsRefusedAndGivenUpLeavesItThere() throws {
        var wire = Wire()
        wire.take(wire.sync.bookmark(mark(312, owed: .removal), wire.now))
        wire.answer(.refused("no"))
        #expect(try #require(wire.bookmarks[mark(312).id]).isThere)
        wire.take(wire.sync.drop(wire.sync.rows[0]))
        #expect(wire.bookmarks[mark(312).id]?.owed == .some(nil) && wire.sync.rows.isEmpty)
    }

    @Test func whatAnEarlierRunOwedIsSentAndNothingElse() {
        var wire = Wire()
        wire.take(wire.sync.restore([], [], [mark(1, owed: nil), mark(2), mark(3, owed: .removal)], at: wire.now))
        #expect(wire.request == .bookmark(mark(2)))
        wire.answer(.accepted)
        #expect(wire.request == .bookmark(mark(3, owed: .removal)))
        wire.answer(.accepted)
        #expect(wire.sent.isEmpty)
    }

    @Test func listeningGoesFirst() {
        var wire = Wire()
        wire.open("s")
        wire.take(wire.sync.bookmark(mark(1), wire.now))
        wire.take(wire.sync.bookmark(mark(2), wire.now))
        wire.hear(30, to: 30)
        wire.answer(.accepted)
        #expect(wire.request == syncOf("s", at: 30, listened: 30))
        wire.answer(.accepted)
        #expect(wire.request == .bookmark(mark(2)))
    }

    @Test func signedOutItWaitsAndAnotherAccountDoesNot() {
        let theirs = mark(5, of: ItemID(source: "abs", key: "b/emma"))
        var wire = Wire()
        wire.take(wire.sync.bookmark(mark(5), wire.now))
        wire.answer(.signedOut)
        wire.take(wire.sync.bookmark(theirs, wire.now))
        #expect(wire.sent.map(\.account) == ["b"])
        wire.answer(.accepted)
        #expect(wire.sync.standing(of: .bookmark(mark(5)), at: wire.now) == .unsent(.signedOut))
        wire.take(wire.sync.signedIn(account: "a", wire.now))
        #expect(wire.request == .bookmark(mark(5)))
        wire.take(wire.sync.forget(account: "a"))
        #expect(wire.sync.rows.isEmpty && wire.bookmarks[mark(5).id] == nil)
    }

    // MARK: Other devices

    @Test func whatTheServerSaysIsTakenOverExceptWhatItHasYetToHear() {
        let own = [
            mark(1, "same", owed: nil), mark(2, "old", owed: nil), mark(3, "removed there", owed: nil),
            mark(4, "mine", owed: .put), mark(5, "to go", owed: .removal), mark(6, "new", owed: .put),
        ]
        let there = [
            mark(1, "same", owed: nil), mark(2, "renamed there", owed: nil), mark(4, "theirs", owed: nil),
            mark(5, "to go", owed: nil), mark(7, "made there", owed: nil),
        ]
        let changes = Bookmark.changes(from: own, to: there)
        #expect(changes.saved == [mark(2, "renamed there", owed: nil), mark(7, "made there", owed: nil)])
        #expect(changes.removed == [mark(3).id])
        let again = Bookmark.changes(from: there, to: there)
        #expect(again.saved.isEmpty && again.removed.isEmpty)
    }

    @Test func aServersOwnNumberIsKept() {
        let there = Bookmark(
            item: emma.id, time: .seconds(500.123456789), title: "t", created: 1, number: 500.123456789)
        #expect(there.time == BookTime(microseconds: 500_123_457) && there.number == 500.123456789)
        #expect(Bookmark.changes(from: [mark(500.123457, "t", owed: nil)], to: [there]).saved == [there])
    }

    @Test func onlyBooksHaveThemOnAServer() {
        #expect(Bookmark.isKeptByServer(emma.id))
        #expect(!Bookmark.isKeptByServer(episode))
        #expect(!Bookmark.isKeptByServer(ItemID(source: "file", key: "9e/10")))
        #expect(Bookmark.changes(from: [mark(1, owed: nil, of: episode)], to: []).removed.isEmpty)
    }

    // MARK: Names

    @Test func itIsNamedByChapterAndTime() {
        #expect(Bookmark.time(at: .seconds(61.9)) == .seconds(61))
        #expect(Bookmark.time(at: .seconds(-1)) == .zero)
        let named = Bookmark.title(of: emma, at: .seconds(61))
        #expect(named == "\(emma.chapters[emma.chapterIndex(at: .seconds(61))!].title), 1:01")
        let bare = Item(id: emma.id, kind: .book, title: "E", duration: .seconds(100), tracks: [])
        #expect(Bookmark.title(of: bare, at: .seconds(61)) == "1:01")
        let long = Item(
            id: emma.id, kind: .book, title: "E", duration: .seconds(100), tracks: [],
            chapters: [Chapter(title: String(repeating: "x", count: 9999), start: .zero, end: .seconds(100))])
        #expect(Bookmark.title(of: long, at: .zero).count <= Bookmark.longestTitle)
    }

    @Test func aJumpToOne() {
        #expect(Jump("bookmark:2") == .bookmark(2))
        for text in ["bookmark:0", "bookmark:", "bookmark:-1", "bookmark:x"] { #expect(Jump(text) == nil) }
    }

    @Test func aRowIsNamedByItemAndTime() {
        #expect(mark(312).id.description == "abs:a/emma#312")
        #expect(mark(500.75).id.description == "abs:a/emma#500.75")
    }
}
