import DBus
import Listening
import Testing

@testable import MPRIS

private let start = Moment(monotonic: 0, wall: 0)

private func book(chapters: Int, title: String = "Emma", authors: [String] = ["Jane Austen"]) -> Item {
    let track = Track(start: .zero, duration: .seconds(600), audio: .file(path: "/emma.m4b"))
    let length = 600 / Double(max(1, chapters))
    return Item(
        id: ItemID(source: "abs", key: "a/é"), kind: .book, title: title, authors: authors, tracks: [track],
        chapters: (0..<chapters).map { (index: Int) -> Chapter in
            let start = Double(index) * length
            let title = index == 1 ? "" : "Part \(index + 1)"
            return Chapter(title: title, start: .seconds(start), end: .seconds(start + length))
        })
}

private func player(_ item: Item, at place: Double = 0) -> Player {
    var player = Player()
    _ = player.handle(.opening(play: true), at: start, engine: nil)
    _ = player.handle(.open(item, at: .seconds(place), play: true, rate: 1), at: start, engine: nil)
    return player
}

private func metadata(_ player: Player) throws -> [String: Value] {
    let pairs = try PlayerProperties(of: player).metadata.dictionary()
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0.key, $0.value) })
}

@Suite struct PropertiesTests {
    @Test func aChapterIsATrack() throws {
        let facts = try metadata(player(book(chapters: 3), at: 450))
        #expect(facts["xesam:title"] == .string("Part 3"))
        #expect(facts["xesam:album"] == .string("Emma"))
        #expect(facts["xesam:trackNumber"] == .int32(3))
        #expect(facts["mpris:length"] == .int64(200_000_000))
    }

    @Test func aFileIsOfItsAlbumAndAChapterOfItsBook() throws {
        for (chapters, album) in [(0, "Novels"), (3, "Emma")] {
            var item = book(chapters: chapters)
            item.album = "Novels"
            #expect(try metadata(player(item))["xesam:album"] == .string(album))
        }
    }

    @Test func anItemWithoutChaptersIsOne() throws {
        let facts = try metadata(player(book(chapters: 0)))
        #expect(facts["xesam:title"] == .string("Emma"))
        #expect(facts["mpris:length"] == .int64(600_000_000))
        #expect(facts["xesam:trackNumber"] == nil)
    }

    @Test(arguments: [
        ("1815", "1815-01-01T00:00:00Z"), ("2020-05", "2020-05-01T00:00:00Z"), ("2020-05-07", "2020-05-07T00:00:00Z"),
        ("2020-05-07T06:30:00.5Z", "2020-05-07T06:30:00.5Z"),
        ("2020-05-07T06:30:00+02:00", "2020-05-07T06:30:00+02:00"),
        ("2020-05-07T06:30", "2020-05-07T06:30"), ("2020-05-07T06:30:00-0330", "2020-05-07T06:30:00-0330"),
        ("2020-05-07T06:30.5Z", nil), ("2020-05-07T06:30:00.Z", nil), ("2020-05-07T06", nil), ("2020-5", nil),
        ("Thu, 07 May 2020 06:30:00 GMT", nil), ("soon", nil), ("", nil),
    ])
    func aDateHasATimeOrIsNone(_ published: String, _ moment: String?) throws {
        var item = book(chapters: 0)
        item.published = published
        #expect(try metadata(player(item))["xesam:contentCreated"] == moment.map { .string($0) })
    }

    @Test func severalAuthorsAreOneStringForEveryClient() throws {
        let facts = try metadata(player(book(chapters: 0, authors: ["A", "B"])))
        #expect(facts["xesam:artist"] == .strings(["A, B"]))
        #expect(facts["xesam:albumArtist"] == .strings(["A", "B"]))
    }

    @Test func whatIsMissingIsLeftOutAndNothingIsEmpty() throws {
        let facts = try metadata(player(book(chapters: 2, authors: []), at: 400))
        #expect(facts["xesam:albumArtist"] == nil)
        #expect(facts["mpris:artUrl"] == nil)
        #expect(facts["xesam:title"] == .string("Chapter 2"), "a chapter without a title still has one to show")
    }

    @Test func somebodyIsAlwaysNamed() throws {
        func artist(_ item: Item) throws -> Value? { try metadata(player(item))["xesam:artist"] }
        func placed(_ path: String, _ kind: Item.Kind) -> Item {
            Item(
                id: ItemID(source: "file", key: "1"), kind: kind, title: "Emma", authors: [],
                tracks: [Track(start: .zero, duration: .seconds(60), audio: .file(path: path))], chapters: [])
        }
        #expect(try artist(placed("/home/ada/Jane Austen/Emma.mp3", .file)) == .strings(["Jane Austen"]))
        #expect(try artist(placed("/home/ada/Jane Austen/Emma/1.mp3", .book)) == .strings(["Jane Austen"]))
        #expect(try artist(placed("/Emma.mp3", .file)) == .strings(["Emma"]))
        var item = placed("/home/ada/x/Emma.mp3", .file)
        item.narrators = ["Nora"]
        #expect(try artist(item) == .strings(["Nora"]))
        item.podcast = "Echoes"
        #expect(try artist(item) == .strings(["Echoes"]))
    }

    @Test func whatChangedIsToldWithTheMetadataLast() throws {
        var player = player(book(chapters: 3))
        let before = PlayerProperties(of: player)
        _ = player.handle(.open(book(chapters: 1), at: .zero, play: true, rate: 2), at: start, engine: nil)
        let names = PlayerProperties(of: player).changes(since: before)
        #expect(names.count > 1 && names.last == "Metadata", "\(names)")
    }

    @Test func controlCharactersDoNotReachTheBus() throws {
        let facts = try metadata(player(book(chapters: 0, title: "A\u{0}B\u{1b}[31mC")))
        #expect(facts["xesam:title"] == .string("A B [31mC"))
    }

    @Test func trackIdsAreValidAndDifferByPlace() {
        let first = player(book(chapters: 3)).trackID
        let last = player(book(chapters: 3), at: 500).trackID
        #expect(ObjectPath(first.text) != nil)
        #expect(first != last)
        #expect(first == player(book(chapters: 3)).trackID)
        #expect(Player().trackID == MPRISName.noTrack)
    }

    @Test func theAddressOfAServerIsNotShown() throws {
        var item = book(chapters: 0)
        item.url = "https://books.example.org/item/1"
        #expect(try metadata(player(item))["xesam:url"] == nil)
        item.url = "file:///emma.m4b"
        #expect(try metadata(player(item))["xesam:url"] == .string("file:///emma.m4b"))
    }

    /// Stopped is what Plasma has no place for, and XFCE no name.
    @Test func whatIsGoneOnWithAfterARestartIsPaused() {
        var player = Player()
        _ = player.handle(
            .restore(book(chapters: 3), at: .second, rate: 1, finished: false, paused: true), at: start, engine: nil)
        let paused = PlayerProperties(of: player)
        #expect(paused.status == .paused && paused.canPlay)
        _ = player.handle(.play, at: start, engine: nil)
        #expect(PlayerProperties(of: player, previous: paused).status == .paused, "not Playing before sound can come")
        _ = player.handle(.stop, at: start, engine: nil)
        #expect(PlayerProperties(of: player, previous: paused).changes(since: paused) == ["PlaybackStatus"])
    }

    @Test func onlyWhatChangedIsAnnounced() {
        var player = player(book(chapters: 3))
        let loading = PlayerProperties(of: player)
        #expect(loading.status == .stopped, "not Playing before sound can come")
        _ = player.handle(.report(EngineReport(player.load, .ready(at: .zero))), at: start, engine: .zero)
        let playing = PlayerProperties(of: player, previous: loading)
        #expect(playing.changes(since: loading) == ["PlaybackStatus"])
        _ = player.handle(.tick, at: Moment(monotonic: 1_000_000, wall: 1000), engine: .second)
        #expect(PlayerProperties(of: player, previous: playing).changes(since: playing).isEmpty)
        _ = player.handle(.next, at: start, engine: .second)
        #expect(PlayerProperties(of: player, previous: playing).changes(since: playing) == ["Metadata"])
    }
}
