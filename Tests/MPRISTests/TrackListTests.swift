import DBus
import Listening
import Testing

@testable import MPRIS

private let start = Moment(monotonic: 0, wall: 0)

private func item(_ name: String, chapters: Int = 0, cover: String? = nil) -> Item {
    var item = Item(
        id: ItemID(source: "file", key: name), kind: .file, title: name,
        tracks: [Track(start: .zero, duration: .seconds(600), audio: .file(path: "/\(name)"))],
        chapters: (0..<chapters).map {
            Chapter(title: "Chapter \($0)", start: .seconds(Double($0) * 10), end: .seconds(Double($0) * 10 + 10))
        })
    item.coverPath = cover
    return item
}

private func player(_ item: Item) -> Player {
    var player = Player()
    _ = player.handle(.opening(play: true), at: start, engine: nil)
    _ = player.handle(.open(item, at: .zero, play: true, rate: 1), at: start, engine: nil)
    return player
}

private func line(_ names: String..., present: Int = 0) -> [Queue.Entry] { names.map { Queue.Entry(item($0)) } }

private func rows(_ names: String...) -> TrackRows {
    TrackRows(of: player(item(names[0])), line: names.map { Queue.Entry(item($0)) })
}

@Suite struct TrackListTests {
    @Test func chaptersAreListedAndFixed() throws {
        let player = player(item("book", chapters: 3))
        let rows = TrackRows(of: player, line: line("book", "next"))
        #expect(rows.ids.count == 3 && Set(rows.ids).count == 3 && !rows.canEdit)
        #expect(rows.index(of: player.trackID) == 0)
        let all = try rows.metadata(of: [rows.ids[2], MPRISName.noTrack, rows.ids[0], rows.ids[2]]).array()
        #expect(
            try all.map { try $0.dictionary().first { $0.key == "xesam:title" }?.value } == [
                .string("Chapter 2"), .string("Chapter 0"),
            ])
        #expect(rows.metadata(of: []) == .array(.variants, []))
    }

    @Test func itemsWithoutPartsStandInTheLine() {
        let rows = rows("A", "B", "C")
        #expect(rows.canEdit && rows.ids.count == 3)
        #expect(rows.ids[0] == player(item("A")).trackID)
        #expect(TrackRows(of: Player(), line: line("A")).ids.isEmpty)
    }

    @Test func copiesOfAnItemHaveIdsOfTheirOwn() {
        let rows = TrackRows(of: player(item("A")), line: [Queue.Entry(item("A")), Queue.Entry(item("A"), copy: 1)])
        #expect(Set(rows.ids).count == 2)
        #expect(rows.ids.allSatisfy { ObjectPath($0.text) != nil })
    }

    /// Of what waits little is known until it is opened.
    @Test(
        arguments: [
            { $0.genres = ["Sea"] }, { $0.summary = "Much" }, { $0.published = "1999" }, { $0.coverPath = "/a.png" },
            { $0.album = "All" }, { $0.url = "file:///a.mp3" },
        ] as [@Sendable (inout Item) -> Void])
    func whateverIsToldOfATrackIsToldAnew(_ change: @Sendable (inout Item) -> Void) {
        let (before, entry) = (rows("A", "B"), Queue.Entry(item("A")))
        var known = item("B")
        change(&known)
        let after = TrackRows(of: player(item("A")), line: [entry, Queue.Entry(known)])
        #expect(after.changes(since: before) == [.metadata(after.ids[1])])
    }

    @Test func picturesAreNamedByURLs() throws {
        var book = item("A")
        book.coverPath = "/home/A B/50%#1.png"
        let facts = try TrackFacts(item: book).metadata().dictionary()
        #expect(facts.first { $0.key == "mpris:artUrl" }?.value == .string("file:///home/A%20B/50%25%231.png"))
    }

    @Test func fewChangesAreToldOneByOne() {
        let before = rows("A", "B", "C")
        #expect(before.changes(since: before).isEmpty)
        let added = rows("X", "A", "B", "Y", "C")
        #expect(
            added.changes(since: before) == [
                .added(added.ids[0], after: MPRISName.noTrack), .added(added.ids[3], after: added.ids[2]),
            ])
        #expect(before.changes(since: added) == [.removed(added.ids[0]), .removed(added.ids[3])])
        #expect(rows("C", "B", "A").changes(since: before) == [.replaced])
        #expect(rows("A", "B", "C", "1", "2", "3", "4", "5").changes(since: before) == [.replaced])
        #expect(rows("X", "Y").changes(since: before) == [.replaced])
        let chapters = TrackRows(of: player(item("A", chapters: 3)), line: [])
        #expect(chapters.changes(since: before) == [.replaced] && before.changes(since: chapters) == [.replaced])
    }

    @Test func aCoverChangesTheMetadataAndNothingElse() {
        let before = rows("A", "B")
        let after = TrackRows(
            of: player(item("A")), line: [Queue.Entry(item("A", cover: "/cover.png")), Queue.Entry(item("B"))])
        #expect(after.changes(since: before) == [.metadata(before.ids[0])])
        let chapters = TrackRows(of: player(item("A", chapters: 9)), line: [])
        let pictured = TrackRows(of: player(item("A", chapters: 9, cover: "/cover.png")), line: [])
        #expect(pictured.changes(since: chapters) == [.replaced], "many at once are a new list")
    }
}

@Suite struct TurnTests {
    /// A player in which one item has come to its end and another is on its way.
    private func rolled(_ shown: inout PlayerProperties) -> Player {
        var player = player(item("A"))
        _ = player.handle(.lineup(Lineup(hasNext: true)), at: start, engine: nil)
        _ = player.handle(.report(EngineReport(player.load, .ready(at: .zero))), at: start, engine: nil)
        shown = PlayerProperties(of: player, previous: shown)
        _ = player.handle(.report(EngineReport(player.load, .ended)), at: start, engine: .seconds(600))
        return player
    }

    @Test func oneItemTurnsIntoTheNextInOneStep() {
        var shown = PlayerProperties(of: Player())
        var player = rolled(&shown)
        #expect(shown.status == .playing && shown.canGoNext)
        func changes() -> [String] {
            let new = PlayerProperties(of: player, previous: shown)
            defer { shown = new }
            return new.changes(since: shown)
        }
        #expect(changes() == [], "it still plays to everyone who looks")
        _ = player.handle(.lineup(Lineup(hasPrevious: true)), at: start, engine: nil)
        _ = player.handle(.opening(play: true, turns: true), at: start, engine: nil)
        #expect(changes() == [])
        _ = player.handle(.open(item("B"), at: .zero, play: true, rate: 2), at: start, engine: nil)
        #expect(changes() == [])
        _ = player.handle(.report(EngineReport(player.load, .ready(at: .zero))), at: start, engine: .zero)
        #expect(changes() == ["PlaybackStatus", "Rate", "CanGoNext", "Metadata"])
        #expect(shown.status == .playing && shown.trackID == player.trackID)
    }

    @Test func pauseOnTheWayShowsAtOnce() {
        var shown = PlayerProperties(of: Player())
        var player = rolled(&shown)
        _ = player.handle(.pause(.listener), at: start, engine: nil)
        let new = PlayerProperties(of: player, previous: shown)
        #expect(new.changes(since: shown).contains("PlaybackStatus") && new.status != .playing)
    }

    @Test func aCutShowsAsAPause() {
        var shown = PlayerProperties(of: Player())
        var player = player(item("A"))
        _ = player.handle(.report(EngineReport(player.load, .ready(at: .zero))), at: start, engine: nil)
        shown = PlayerProperties(of: player, previous: shown)
        _ = player.handle(.opening(play: true, turns: true), at: start, engine: .second)
        let brief = PlayerProperties(of: player, previous: shown, isBrief: true)
        #expect(brief.changes(since: shown) == [], "nobody need know yet")
        let cut = PlayerProperties(of: player, previous: brief)
        #expect(cut.changes(since: shown) == ["PlaybackStatus"] && cut.status == .paused)
        _ = player.handle(.open(item("B"), at: .zero, play: true, rate: 1), at: start, engine: nil)
        let open = PlayerProperties(of: player, previous: cut)
        #expect(open.changes(since: cut) == [])
        _ = player.handle(.report(EngineReport(player.load, .ready(at: .zero))), at: start, engine: .zero)
        let ready = PlayerProperties(of: player, previous: open)
        #expect(ready.changes(since: open).contains("Metadata") && ready.status == .playing)
    }
}

@Suite struct PlaylistTests {
    private let rows = PlaylistRows(
        [
            Playlist(id: "continue", name: "Continue listening", items: [item("A"), item("B", cover: "/b.png")]),
            Playlist(id: "queue", name: "Queue", items: [item("C")]),
            Playlist(id: "library:a/é", name: "audio\u{7}Books", items: [item("D")]),
        ], active: "queue")

    private func names(_ rows: [PlaylistRows.Row]) -> [String] { rows.map(\.name) }

    @Test func pagesAndOrders() {
        let user = ["Continue listening", "Queue", "audio Books"]
        #expect(names(rows.page(from: 0, most: 9, by: .user, reversed: false)) == user)
        #expect(names(rows.page(from: 0, most: 9, by: .user, reversed: true)) == user.reversed())
        #expect(names(rows.page(from: 1, most: 1, by: .user, reversed: false)) == ["Queue"])
        #expect(names(rows.page(from: 0, most: 9, by: .played, reversed: true)).first == rows.active?.name)
        #expect(Set(names(rows.page(from: 0, most: 9, by: .played, reversed: false))) == Set(user))
        #expect(rows.page(from: .max, most: .max, by: .user, reversed: false).isEmpty)
        #expect(
            names(rows.page(from: 0, most: .max, by: .alphabetical, reversed: false))
                == ["audio Books", "Continue listening", "Queue"])
    }

    @Test func idsAreValidAndPicturesAreFiles() {
        #expect(Set(rows.rows.map(\.id)).count == 3)
        #expect(rows.rows.allSatisfy { ObjectPath($0.id.text) != nil })
        #expect(rows.rows.map(\.icon) == ["file:///b.png", "", ""])
        #expect(rows.activeValue.signature == Signature("(b(oss))"))
        #expect(rows.activeValue == .structure([.bool(true), rows.rows[1].value]))
        #expect(PlaylistRows().activeValue.signature == Signature("(b(oss))"))
    }

    @Test func onlyWhatChangedIsTold() {
        #expect(rows.changes(since: rows) == ([], []))
        let fewer = PlaylistRows([Playlist(id: "continue", name: "Continue listening", items: [item("A")])])
        let changes = fewer.changes(since: rows)
        #expect(changes.properties == ["PlaylistCount", "ActivePlaylist"])
        #expect(names(changes.playlists) == ["Continue listening"], "it has another picture now")
    }
}
