import EventLoop
import Foundation
import GRDB
import Listening
import TestSupport
import Testing

@testable import Store

@Suite struct StoreTests {
    /// With a new journal in a folder of its own.
    func withStore(_ body: (Store) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(at: "\(folder)/dogear/state.sqlite") { Issue.record("\($0)") }
            try await body(store)
        }
    }

    @Test func accountsKeepTheOrderOfLoggingIn() async throws {
        try await withStore { store throws in
            var first = account("b")
            try await store.write(.account(first), .account(account("a", user: "cassandra")))
            first.isSignedOut = true
            first.serverVersion = "2.36.0"
            (first.clockOffset, first.headerLag) = (-3_600_000, 20_000)
            first.caFile = "/etc/ssl/own.pem"
            try await store.write(.account(first))
            #expect(try await store.accounts() == [first, account("a", user: "cassandra")])
            try await store.write(.removeAccount(id: "b"))
            #expect(try await store.accounts().map(\.id) == ["a"])
            #expect(try await store.formerAccounts() == [first])
            try await store.write(.account(first))
            #expect(try await store.accounts().map(\.id) == ["b", "a"])
            #expect(try await store.formerAccounts().isEmpty)
        }
    }

    @Test func aPlaceIsBorrowedUntilTheItemIsMovedHere() async throws {
        try await withStore { store throws in
            let theirs = place(emma, 30, updated: 99)
            try await store.write(.played(place(emma, 10), at: 5), .borrowed(theirs))
            try await store.write(.played(place(ulysses, 1), at: 6))
            #expect(try await store.borrowed() == [emma: theirs])
            // Said once more.
            try await store.write(.place(theirs))
            #expect(try await store.borrowed() == [emma: theirs])
            try await store.write(.played(place(emma, 31, updated: 100), at: 7))
            #expect(try await store.borrowed().isEmpty)
        }
    }

    @Test func aPlaceFromTheServerDoesNotCountAsPlayed() async throws {
        try await withStore { store throws in
            try await store.write(.item(item(emma)), .item(item(ulysses, "Ulysses")))
            try await store.write(.place(place(emma, 30, updated: 99)))
            #expect(try await store.lastPlayed() == nil)
            try await store.write(.played(place(ulysses, 10), at: 5))
            try await store.write(.place(place(ulysses, 60, updated: 7)))
            let last = try await store.lastPlayed()
            #expect(last?.item.title == "Ulysses")
            #expect(last?.place == place(ulysses, 60, updated: 7))
            #expect(last?.at == 5)
            try await store.write(.played(place(emma, 31), at: 6))
            #expect(try await store.recent(limit: 10).map(\.place.item) == [emma, ulysses])
            #expect(try await store.recent(limit: 1).map(\.place.item) == [emma])
            let heads = try await store.recentHeads(limit: 10)
            #expect(heads.map(\.place) == [place(emma, 31), place(ulysses, 60, updated: 7)])
            #expect(heads.map(\.item.title) == [item(emma).title, "Ulysses"])
            #expect(heads.allSatisfy { $0.item.tracks.isEmpty && $0.item.chapters.isEmpty && $0.item.duration > .zero })
        }
    }

    @Test func whatIsPlayedButNotDescribedIsPassedOver() async throws {
        try await withStore { store throws in
            try await store.write(.item(item(emma)), .played(place(emma, 1), at: 1), .played(place(ulysses, 1), at: 2))
            #expect(try await store.lastPlayed()?.item.id == emma)
        }
    }

    @Test func whatIsPlayedNowWasPlayedLastWhateverTheClockSaid() async throws {
        try await withStore { store throws in
            try await store.write(.item(item(emma)), .item(item(ulysses)))
            store.journal(place: place(emma, 1), stretch: nil, at: 4_000_000_000_000)
            store.journal(place: place(ulysses, 1), stretch: nil, at: 1_700_000_000_000)
            store.journal(place: place(ulysses, 2), stretch: nil, at: 1_700_000_001_000)
            #expect(try await store.recent(limit: 9).map(\.place.item) == [ulysses, emma])
            store.journal(place: place(emma, 2), stretch: nil, at: 1_700_000_002_000)
            #expect(try await store.lastPlayed()?.place.item == emma)
        }
    }

    @Test func placesOfManyItemsComeInOneAnswer() async throws {
        try await withStore { store throws in
            try await store.write(.place(place(emma, 1)), .place(place(ulysses, 2)))
            let unknown = ItemID(source: "file", key: "\"]; DROP TABLE places; --")
            let places = try await store.places(of: [emma, unknown, ulysses])
            #expect(places == [emma: place(emma, 1), ulysses: place(ulysses, 2)])
            #expect(try await store.places(of: []) == [:])
            #expect(try await store.place(of: unknown) == nil)
        }
    }

    @Test func aStretchStaysUntilItIsRemoved() async throws {
        try await withStore { store throws in
            var refused = stretch("refused", listened: 9, started: 2)
            refused.delivery = .parked
            refused.refusal = "no such item"
            refused.isClosed = true
            var sent = stretch("sent", listened: 4, started: 1)
            sent.sentListened = sent.listened
            sent.sentPlace = sent.place
            try await store.write(.stretch(refused), .stretch(sent))
            #expect(try await store.stretches() == [sent, refused])
            #expect(try await store.unsent() == [refused])
            #expect(try await store.stretch("refused") == refused)
            try await store.write(.removeStretch(id: "refused"))
            #expect(try await store.stretch("refused") == nil)
        }
    }

    @Test func theLastProgressCommandOfAnItemCounts() async throws {
        try await withStore { store throws in
            func command(_ kind: ProgressWrite.Kind, _ made: Int64) -> ProgressWrite {
                ProgressWrite(item: emma, kind: kind, position: .seconds(7), duration: .seconds(9), made: made)
            }
            try await store.write(.progress(command(.finish, 1)), .progress(command(.unfinish, 2)))
            #expect(try await store.progressWrites() == [command(.unfinish, 2)])
            try await store.write(.removeProgress(emma))
            #expect(try await store.progressWrites() == [])
        }
    }

    private func move(_ at: Int64, to seconds: Double = 9, _ cause: Player.JumpCause = .seek) -> Move {
        Move(at: at, item: emma, from: .second, to: .seconds(seconds), cause: cause)
    }

    @Test func theRingOfMovesHoldsFifty() async throws {
        try await withStore { store throws in
            for number in 1...60 { store.post(.move(move(Int64(number) * 10_000))) }
            let moves = try await store.moves()
            let last: [Int64] = (11...60).reversed().map { Int64($0 * 10_000) }
            #expect(moves.map(\.at) == last)
            #expect(moves.first == move(600_000))
        }
    }

    @Test func jumpsInARowAreOneEntry() async throws {
        try await withStore { store throws in
            store.post(.move(move(1000)), .move(move(2000, to: 20)), .move(move(3500, to: 30)))
            store.post(.move(move(3600, to: 40, .undo)), .move(move(3700, to: 50)))
            #expect(try await store.moves() == [move(3700, to: 50), move(3600, to: 40, .undo), move(3500, to: 30)])
        }
    }

    /// What is gone back to is where it was last.
    @Test func aDeviceThatPlaysBesideIsOneEntry() async throws {
        try await withStore { store throws in
            for step in 0..<60 {
                let there = BookTime.seconds(4000 + 30 * Double(step))
                try await store.write(
                    .move(
                        Move(
                            at: Int64(step) * 30_000, item: emma, from: there, to: .seconds(30 * Double(step)),
                            cause: .device)))
            }
            #expect(try await store.moves().map(\.from) == [.seconds(4000 + 30 * 59)])
        }
    }

    @Test func aMoveOfAnUnknownKindIsAsGoodAsNone() async throws {
        try await withStore { store throws in
            store.post(.move(move(1000)))
            try await store.perform { db in try db.execute(sql: "UPDATE moves SET cause = 'earthquake'") }
            store.post(.move(move(1100)))
            #expect(try await store.moves() == [move(1100)])
        }
    }

    @Test func aRefusedCommandKeepsItsReason() async throws {
        try await withStore { store throws in
            let write = ProgressWrite(
                item: emma, kind: .unfinish, position: nil, duration: .seconds(9), made: 2, refusal: "not allowed")
            try await store.write(.progress(write))
            #expect(try await store.progressWrites() == [write])
        }
    }

    @Test func theQueueIsKeptAsAWhole() async throws {
        try await withStore { store throws in
            #expect(try await store.queue() == Queue())
            try await store.write(.queue(Queue([item(emma), item(ulysses, "Ulysses")])))
            #expect(try await store.queue().items.map(\.title) == ["Emma", "Ulysses"])
            var queue = try await store.queue()
            queue.move(2, to: 1)
            try await store.write(.queue(queue))
            #expect(try await store.queue() == queue)
            queue.insert(item(emma), after: nil)
            queue.follow([item(ItemID(source: "abs", key: "a/third"))], of: "latest")
            queue.shuffle(with: .max)
            queue.loop = .queue
            try await store.write(.queue(queue))
            #expect(try await store.queue() == queue)
            #expect(queue.entries.map(\.copy) == [1, 0, 0, 0] && queue.entries.last?.playlist == "latest")
            for way in [Queue.Way.onward, .onward] {
                let next = try #require(queue.next)
                queue.begin(next.item, next.key, way)
            }
            queue.loop = .off
            let next = try #require(queue.next)
            queue.begin(next.item, next.key, .onward)
            #expect(queue.previous != nil && queue.isUnderWay)
            try await store.write(.queue(queue))
            #expect(try await store.queue() == queue)
            try await store.write(.queue(Queue()))
            #expect(try await store.queue() == Queue())
        }
    }

    @Test func ratesAreRememberedPerItem() async throws {
        try await withStore { store throws in
            try await store.write(.rate(emma, 1.35), .rate(ulysses, .nan))
            #expect(try await store.rate(of: emma) == 1.35)
            #expect(try await store.rate(of: ulysses) == nil)
            try await store.write(.rate(emma, nil))
            #expect(try await store.rate(of: emma) == nil)
        }
    }

    @Test func theNearestRateCounts() async throws {
        try await withStore { store throws in
            let series = ItemID(source: "series", key: "a/Saga")
            #expect(try await store.rate(among: [emma, series]) == nil)
            try await store.write(.rate(series, 1.5), .rate(ulysses, 2))
            let found = try await store.rate(among: [emma, series])
            #expect(found?.key == series && found?.rate == 1.5)
            try await store.write(.rate(emma, 0.8))
            #expect(try await store.rate(among: [emma, series])?.key == emma)
        }
    }

    @Test func theVolumeIsRemembered() async throws {
        try await withStore { store throws in
            #expect(try await store.volume() == nil)
            try await store.write(.volume(0.35), .volume(.nan))
            #expect(try await store.volume() == 0.35)
            try await store.write(.volume(7))
            #expect(try await store.volume() == nil, "what is no volume is as good as none")
        }
    }

    @Test func whatAServerWasAskedIsKeptUntilItAnswered() async throws {
        try await withStore { store throws in
            let austen = Place(item: emma, position: .seconds(12.5), duration: .zero, updated: 1_700_000_000_000)
            var other = austen
            other.position = .seconds(20)
            let odd = Place(
                item: ItemID(source: "abs", key: "a/it:em/e;p"), position: .seconds(3), duration: .zero, updated: 7)
            try await store.write(.asked(austen), .asked(odd), .asked(other))
            #expect(Set(try await store.asked()) == [other, odd])
            try await store.write(.answered(emma), .volume(0.5))
            #expect(try await store.asked() == [odd])
        }
    }

    @Test func anItemKeepsItsDescriptionButNoStreamAddress() async throws {
        try await withStore { store throws in
            let stream = AudioStream(
                url: "https://h/public/session/s3cret", headers: ["Authorization": "Bearer s3cret"])
            var book = Item(
                id: emma, kind: .book, title: "Emma", authors: ["Jane Austen"], narrators: ["A. Reader"],
                series: [SeriesPlace(name: "Novels", sequence: "4-6")], podcast: "P",
                tracks: [
                    Track(start: .zero, duration: .seconds(10), audio: .file(path: "/b/1.mp3"), title: "One"),
                    Track(start: .seconds(10), duration: .seconds(20.5), audio: .stream(stream)),
                ],
                chapters: [
                    Chapter(title: "I", start: .zero, end: .seconds(12)),
                    Chapter(title: "II", start: .seconds(12), end: .seconds(30.5)),
                ])
            book.subtitle = "A novel"
            book.album = "Novels"
            book.genres = ["Comedy"]
            book.published = "1815"
            book.summary = "Matches \u{1F491}"
            book.language = "en"
            book.coverPath = "/c/1.png"
            book.inspection = "0f"
            book.url = "https://h/item/li_emma"
            try await store.write(.item(book))
            let kept = try #require(try await store.item(emma))
            #expect(kept.tracks.map(\.audio) == [.file(path: "/b/1.mp3"), .stream(AudioStream(url: ""))])
            #expect(kept.tracks.map(\.start) == book.tracks.map(\.start))
            #expect(kept.duration == .seconds(30.5))
            #expect(kept.chapters == book.chapters)
            #expect([kept.subtitle, kept.podcast, kept.album, kept.published] == ["A novel", "P", "Novels", "1815"])
            #expect([kept.summary, kept.language] == ["Matches \u{1F491}", "en"])
            #expect([kept.coverPath, kept.url, kept.inspection] == ["/c/1.png", "https://h/item/li_emma", "0f"])
            #expect(kept.series == book.series && kept.authors == book.authors && kept.narrators == book.narrators)
            #expect(kept.genres == ["Comedy"] && kept.tracks[0].title == "One")
            let json = try await store.perform { db in try String.fetchOne(db, sql: "SELECT json FROM items") }
            #expect(json?.contains("s3cret") == false)
        }
    }

    @Test func writesAreDoneInTheOrderTheyWereGiven() async throws {
        try await withStore { store throws in
            for second in 1...10_000 {
                store.journal(
                    place: place(emma, Double(second)), stretch: stretch("s", listened: Double(second)), at: 1)
            }
            #expect(try await store.place(of: emma)?.position == .seconds(10_000))
            #expect(try await store.stretch("s")?.listened == .seconds(10_000))
        }
    }

    @Test func severalEntriesAreKeptTogetherOrNotAtAll() async throws {
        try await withStore { store throws in
            try await store.perform { db in try db.execute(sql: "DROP TABLE rates") }
            await #expect(throws: StoreError.self) { try await store.write(.place(place(emma, 5)), .rate(emma, 2)) }
            #expect(try await store.place(of: emma) == nil)
        }
    }

    @Test func theMemoryServesWhenNoFolderDoes() async throws {
        let store = try Store.inMemory()
        store.journal(place: place(emma, 3), stretch: nil, at: 1)
        try await store.flush()
        #expect(try await store.place(of: emma)?.position == .seconds(3))
    }

    /// Of a library that is browsed the newest descriptions stay; what waits in the queue is needed when its turn comes.
    @Test func whatWaitsIsStillKnownWhereMuchIs() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let items = (0..<600).map { item(ItemID(source: "file", key: "\($0)")) }
            do {
                let store = try Store.open(at: path) { Issue.record("\($0)") }
                var queue = Queue()
                _ = queue.add(Array(items.prefix(20)), next: false)
                try await store.write(items.map { .item($0) } + [.queue(queue)])
                try await store.flush()
            }
            let store = try Store.open(at: path) { Issue.record("\($0)") }
            for (number, isKnown) in [(0, true), (19, true), (20, false), (599, true)] {
                #expect((try await store.item(items[number].id) != nil) == isKnown, "\(number)")
            }
        }
    }

    private func filled(_ path: String) async throws -> String {
        let store = try Store.open(at: path) { Issue.record("\($0)") }
        try await store.write(
            .queue(Queue()), .place(place(emma, 5, updated: 5)), .place(place(ulysses, 7, updated: 50)),
            .stretch(stretch("old")))
        try await store.flush()
        return store.deviceID
    }

    /// A disk was full as the journal was to be opened.
    @Test func whatIsChangedInMemoryIsChangedInTheFile() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let device = try await filled(path)
            let troubles = Locked<[StoreTrouble]>([])
            let store = try Store.inMemory(for: path) { trouble in troubles.withLock { $0.append(trouble) } }
            #expect(store.deviceID == device)
            #expect(try await store.place(of: ulysses)?.position == .seconds(7))
            try await store.write(.place(place(emma, 9, updated: 9)), .removeStretch(id: "old"))
            #expect(troubles.withLock { $0 } == [.ended])
            try await store.write(.rate(emma, 2))
            let opened = try Store.open(at: path) { Issue.record("\($0)") }
            #expect(try await opened.place(of: emma)?.position == .seconds(9))
            #expect(try await opened.place(of: ulysses)?.position == .seconds(7))
            #expect(try await opened.stretches().isEmpty)
            #expect(try await opened.rate(of: emma) == 2)
            #expect(troubles.withLock { $0 } == [.ended])
        }
    }

    /// It may die before its file can be opened, and so may the next.
    @Test func whatIsInMemoryOutlivesTheProcess() async throws {
        try await withTemporaryFolder { folder in
            let (path, memory) = ("\(folder)/state.sqlite", "\(folder)/run")
            mkdir(path, 0o700)
            var devices: Set<String> = []
            for second in 1...3 as ClosedRange<Int64> {
                let store = try Store.inMemory(for: path, memory: memory, retryAfter: .seconds(3600)) { _ in }
                devices.insert(store.deviceID)
                #expect(try await store.place(of: emma)?.updated ?? 0 == second - 1)
                try await store.write(
                    .place(place(emma, 9, updated: second)), .place(place(ulysses, 5, updated: second)))
            }
            #expect(devices.count == 1)
            let kept = try FileManager.default.contentsOfDirectory(atPath: memory).filter { $0.hasSuffix(".sqlite") }
            let rights = try FileManager.default.attributesOfItem(atPath: "\(memory)/\(kept[0])")[.posixPermissions]
            #expect(kept.count == 1 && (rights as? NSNumber)?.intValue == 0o600)
            rmdir(path)
            for _ in 1...2 {
                let store = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
                #expect(try await store.place(of: emma)?.updated == 3)
                #expect(try await store.place(of: ulysses)?.position == .seconds(5))
                #expect(!FileManager.default.fileExists(atPath: "\(memory)/\(kept[0])"))
            }
        }
    }

    /// What was removed meanwhile stays removed, unless somebody else wrote to the file.
    @Test(arguments: [false, true]) func whatIsLeftInMemoryIsNewerThanTheFile(_ isWritten: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (path, memory) = ("\(folder)/state.sqlite", "\(folder)/run")
            _ = try await filled(path)
            let file = try #require(RefugeFile(in: memory, for: path))
            let left = try #require(file.begin(with: try Opening(path: path).copyInMemory()))
            try await left.write { db in
                for entry in [Entry.place(place(emma, 9, updated: 9)), .removeStretch(id: "old")] {
                    try entry.write(to: db)
                }
            }
            try left.close()
            if isWritten {
                #expect(utimes(path, [timeval(tv_sec: 9, tv_usec: 0), timeval(tv_sec: 9, tv_usec: 0)]) == 0)
            }
            if isWritten { unlink("\(path)-wal") }
            let store = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
            #expect(try await store.place(of: emma)?.position == .seconds(9))
            #expect(try await store.place(of: ulysses)?.position == .seconds(7))
            #expect(try await store.stretches().isEmpty == !isWritten)
        }
    }

    /// Nothing is written any more: the player stands paused.
    @Test func whatIsInMemoryMovesByItself() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            mkdir(path, 0o700)
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let store = try Store.inMemory(for: path, retryAfter: .milliseconds(1)) { trouble.yield($0) }
            try await store.write(.place(place(emma, 9)))
            rmdir(path)
            var told = troubles.makeAsyncIterator()
            #expect(await told.next() == .ended)
            #expect(try await Store.open(at: path) { Issue.record("\($0)") }.place(of: emma) == place(emma, 9))
        }
    }

    /// The folder was not there yet, and nothing could be read.
    @Test func whatIsInAFileThatComesLaterStays() async throws {
        try await withTemporaryFolder { folder in
            let (path, away) = ("\(folder)/state.sqlite", "\(folder)/away.sqlite")
            let device = try await filled(away)
            // What nobody can open, not even root.
            mkdir(path, 0o700)
            let troubles = Locked<[StoreTrouble]>([])
            let store = try Store.inMemory(for: path) { trouble in troubles.withLock { $0.append(trouble) } }
            store.journal(place: place(emma, 9, updated: 9), stretch: stretch("new"), at: 9)
            try await store.write(.place(place(ulysses, 3, updated: 3)))
            var queue = Queue([item(ulysses)])
            queue.loop = .queue
            try await store.write(.queue(queue))
            try await store.flush()
            #expect(try await store.place(of: emma)?.position == .seconds(9))
            #expect(troubles.withLock { $0 }.isEmpty)
            rmdir(path)
            rename(away, path)
            try await store.flush()
            #expect(troubles.withLock { $0 } == [.ended])
            let opened = try Store.open(at: path) { Issue.record("\($0)") }
            #expect(opened.deviceID == device)
            #expect(try await opened.place(of: emma)?.position == .seconds(9))
            // A later word of the listener's than what memory knew.
            #expect(try await opened.place(of: ulysses)?.position == .seconds(7))
            #expect(try await opened.stretches().map(\.id).sorted() == ["new", "old"])
            #expect(try await opened.queue() == queue)
            // Begun from nothing, because nobody knew where the listener was: there is a way back.
            let move = try #require(try await opened.moves().first)
            #expect(move.item == emma && move.from == .seconds(5) && move.to == .seconds(9))
        }
    }
}
