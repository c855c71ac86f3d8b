import Foundation
import GRDB
import Listening
import TestSupport
import Testing

@testable import Store

@Suite struct DurabilityTests {
    @Test func killingTheWriterLosesAtMostTheWriteBeingMade() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let writer = try Child(Child.built("store-writer"), [path])
            var said: Int64 = 0
            while said < 500, let line = writer.line() { said = Int64(line) ?? 0 }
            writer.send(SIGKILL)
            while let line = writer.line() { said = max(said, Int64(line) ?? 0) }
            #expect(await writer.end() == -SIGKILL)
            #expect(said >= 500)

            let store = try Store.open(at: path) { Issue.record("\($0)") }
            #expect(store.notice == nil)
            let item = ItemID(source: "file", key: "killed")
            let place = try #require(try await store.place(of: item))
            #expect((said...said + 1).contains(place.updated))
            #expect(try await store.stretch("killed")?.place == place.position)
        }
    }

    /// The database's own file, without the log, has everything: what a checkpoint has put there it has fsynced.
    private func inDatabaseAlone(_ path: String, _ folder: String) async throws -> Place? {
        let copy = "\(folder)/copy-\(UUID().uuidString).sqlite"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        return try await Store.open(at: copy) { _ in }.place(of: emma)
    }

    @Test func flushPutsEverythingGivenBeforeIntoTheDatabase() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path, checkpointAfter: nil) { Issue.record("\($0)") }
            try await store.flush()
            for second in 1...100 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            _ = try await store.place(of: emma)
            #expect(try await inDatabaseAlone(path, folder) == nil)
            try await store.flush()
            #expect(try await inDatabaseAlone(path, folder) == place(emma, 100))
        }
    }

    @Test func aCheckpointFollowsAWriteByItself() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path, checkpointAfter: .milliseconds(1)) { Issue.record("\($0)") }
            store.post(.place(place(emma, 7)))
            while try await inDatabaseAlone(path, folder) == nil { await Task.yield() }
        }
    }

    /// As playing writes it: all of the first second, of the others what has changed.
    private func play(_ store: Store, of item: ItemID, _ seconds: ClosedRange<Int>) {
        for second in seconds {
            let tick = tick(item, second)
            store.journal(
                place: tick.place, stretch: tick.stretch, sitting: tick.sitting, at: tick.at, goesOn: second > 1)
        }
    }

    private func tick(_ item: ItemID, _ second: Int) -> Tick {
        let time = BookTime.seconds(Double(second))
        var stretch = stretch("s-\(item)", item, listened: Double(second))
        (stretch.place, stretch.updated) = (time, Int64(second) * 1000)
        let sitting = Sitting(
            id: "row-\(item)", item: item, session: item.isOfShelf ? stretch.id : nil, day: Day(number: 1), started: 0,
            ended: Int64(second) * 1000, from: .zero, to: time, listened: time)
        return Tick(
            place: place(item, Double(second), updated: Int64(second) * 1000),
            stretch: item.isOfShelf ? stretch : nil, sitting: sitting, at: Int64(second) * 1000)
    }

    private func expectHeard(_ store: Store, _ item: ItemID, _ second: Int) async throws {
        let time = BookTime.seconds(Double(second))
        #expect(try await store.place(of: item) == place(item, Double(second), updated: Int64(second) * 1000))
        let row = try #require(try await store.history(limit: 9).first { $0.item == item })
        #expect(row.listened == time && row.to == time && row.ended == Int64(second) * 1000)
        guard item.isOfShelf else { return }
        let stretch = try #require(try await store.stretch("s-\(item)"))
        #expect(stretch.listened == time && stretch.place == time && stretch.updated == Int64(second) * 1000)
    }

    private func recorded(_ path: String) async throws -> Int64? {
        try await DatabaseQueue(path: path).read {
            try Int64.fetchOne($0, sql: "SELECT listened / 1000000 FROM history")
        }
    }

    /// Of a row of seconds each tenth is written to the database, the others where they outlive the process. What was
    /// listened to is there for who asks, who comes later, and who opens what a killed one left.
    @Test(arguments: [emma, ulysses], [1, 2, 7, 10, 11, 12, 25])
    func secondsThatPassAreKept(_ item: ItemID, _ seconds: Int) async throws {
        try await withTemporaryFolder { folder in
            let (path, memory) = ("\(folder)/state.sqlite", "\(folder)/run/dogear")
            let store = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
            for second in 1...seconds {
                play(store, of: item, second...second)
                // As long as a second is.
                while store.isBusy { await Task.yield() }
            }
            #expect(try await recorded(path) == Int64((seconds - 1) / 10 * 10 + 1))
            let copy = "\(folder)/killed"
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            if seconds > 1 {
                try FileManager.default.copyItem(atPath: memory, toPath: "\(folder)/kept")
                #expect(try mode(memory) == 0o700 && mode("\(memory)/\(store.deviceID)") == 0o600)
            }
            try await expectHeard(store, item, seconds)
            // Whatever comes next takes it along, and what is kept of a second before it has nothing more to say.
            try await store.write(.volume(0.5))
            play(store, of: item, (seconds + 1)...(seconds + 1))
            try await store.flush()
            try await expectHeard(
                try Store.open(at: path, memory: "\(folder)/kept") { Issue.record("\($0)") }, item, seconds + 1)
            // Also where nothing can be written, as on a full disk: that moves into its file later.
            if seconds > 1 {
                let refuge = try Store.inMemory(for: copy, memory: "\(folder)/kept")
                try await expectHeard(refuge, item, seconds)
            }
            // As often as it is opened.
            for _ in 1...2 {
                let after = try Store.open(at: copy, memory: "\(folder)/kept") { Issue.record("\($0)") }
                try await expectHeard(after, item, seconds)
                try await after.flush()
            }
        }
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Where there is no such folder, or no file in it, all is written to the database.
    @Test(arguments: [nil, "/dev/null/dogear", "/proc/dogear"])
    func withoutMemoryEachSecondIsWritten(_ memory: String?) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
            for second in 1...5 {
                play(store, of: emma, second...second)
                while store.isBusy { await Task.yield() }
            }
            #expect(try await recorded(path) == 5)
        }
    }

    /// Whatever stands under its name: what cannot be kept there is written to the database, and nothing is waited for.
    @Test(arguments: ["pipe", "folder", "link", "locked"]) func whatIsNoFileOfItsOwnIsNotUsed(_ kind: String)
        async throws
    {
        try await withTemporaryFolder { folder in
            let (path, memory) = ("\(folder)/state.sqlite", "\(folder)/run")
            let store = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
            let file = "\(memory)/\(store.deviceID)"
            try FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: true)
            var lock: Int32 = -1
            defer { close(lock) }
            switch kind {
            case "pipe": mkfifo(file, 0o600)
            case "folder": mkdir(file, 0o700)
            case "link": symlink("\(folder)/elsewhere", file)
            default:
                // Another daemon's, whose database is a copy of this one.
                lock = open(file, O_RDWR | O_CREAT, 0o600)
                #expect(flock(lock, LOCK_EX) == 0)
            }
            for second in 1...5 {
                play(store, of: emma, second...second)
                while store.isBusy { await Task.yield() }
            }
            #expect(try await recorded(path) == 5)
            #expect(kind != "locked" || FileIdentity.size(of: file) == 0)
        }
    }

    /// What a disk takes its time for is in memory meanwhile, and is right whether it got there or not.
    @Test(arguments: [1, 11, 21, 3]) func whatIsOnItsWayToTheDiskIsKeptToo(_ last: Int) async throws {
        try await withTemporaryFolder { folder in
            let (path, memory) = ("\(folder)/state.sqlite", "\(folder)/run")
            let deviceID: String
            do {
                let store = try Store.open(at: path) { Issue.record("\($0)") }
                deviceID = store.deviceID
                // What was on the disk as it died, which is the second that was given last, one before, or something else.
                play(store, of: emma, last...last)
                try await store.flush()
            }
            var ticks = Ticks(TickFile("\(memory)/\(deviceID)"))
            for second in 1...25 {
                let tick = tick(emma, second)
                let mayWait = ticks.mayWait(tick)
                #expect(mayWait == (second % 10 != 1), "\(second)")
                guard !mayWait else { continue }
                #expect(ticks.given(tick, isOfPlace: true)?.at == nil)
                // Of the others it is not known.
                if second == 1 { ticks.wrote(tick) }
                // Neither a bookmark nor a look at anything changes the place.
                if second == 11 { #expect(ticks.given(nil, isOfPlace: false)?.at == nil) }
            }
            let after = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
            try await expectHeard(after, emma, last == 3 ? 3 : 25)
        }
    }

    /// What another says of the place stays said of it, and a file that somebody removed is made anew.
    @Test func whatElseIsWrittenBetweenSecondsIsNotLost() async throws {
        try await withTemporaryFolder { folder in
            let (path, memory) = ("\(folder)/state.sqlite", "\(folder)/run")
            let store = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
            play(store, of: emma, 1...1)
            while store.isBusy { await Task.yield() }
            play(store, of: emma, 2...3)
            try FileManager.default.removeItem(atPath: memory)
            play(store, of: emma, 4...5)
            #expect(try await recorded(path) == 1)
            try await expectHeard(store, emma, 5)
            store.post(
                .place(Place(item: emma, position: .zero, duration: .seconds(3600), isFinished: true, updated: 9)))
            play(store, of: emma, 6...7)
            try await expectHeard(store, emma, 7)
            try await store.write(.borrowed(place(emma, 7, updated: 7000)))
            #expect(try await store.borrowed().count == 1)
            play(store, of: emma, 8...9)
            #expect(try await store.borrowed().isEmpty)
            try await store.write(.removeStretch(id: "s-\(emma)"))
            #expect(try await store.stretches().isEmpty)
        }
    }

    /// What a file in memory says goes on from what the database has, and from nothing else.
    @Test(arguments: [
        "", "dogear tick 1\n", "\u{0}", String(repeating: "\n", count: 99),
        "dogear tick 2\n" + String(repeating: "1\n", count: 10) + "end\n",
    ])
    func whatIsNoTickIsPassedOver(_ text: String) async throws {
        try await withTemporaryFolder { folder in
            let (path, memory) = ("\(folder)/state.sqlite", "\(folder)/run")
            let store = try Store.open(at: path, memory: memory) { Issue.record("\($0)") }
            play(store, of: emma, 1...1)
            while store.isBusy { await Task.yield() }
            play(store, of: emma, 2...3)
            let file = "\(memory)/\(store.deviceID)"
            let good = try String(contentsOfFile: file, encoding: .utf8)
            #expect(TickRecord(text: good)?.text == good)
            for end in good.indices { #expect(TickRecord(text: String(good[..<end])) == nil || good[end...] == "\n") }
            try text.write(toFile: file, atomically: false, encoding: .utf8)
            let copy = "\(folder)/killed"
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            try await expectHeard(try Store.open(at: copy, memory: memory) { Issue.record("\($0)") }, emma, 1)
        }
    }

    @Test func aDiskThatTakesItsTimeKeepsNoPlaceWaiting() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let disk = SlowDisk(of: path)
            let store = try Store.open(at: path, checkpointAfter: .milliseconds(1)) { Issue.record("\($0)") }
            disk.hold()
            store.post(.place(place(emma, 7)))
            while !disk.isWaiting { await Task.yield() }
            for second in 8...9 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            _ = try await store.place(of: emma)
            #expect(disk.isWaiting)
            // As one that is killed now leaves it.
            let copy = "\(folder)/killed"
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            #expect(try await Store.open(at: copy) { _ in }.place(of: emma) == place(emma, 9))
            disk.letGo()
            while try await inDatabaseAlone(path, folder) != place(emma, 9) { await Task.yield() }
        }
    }

    /// `max_page_count` makes SQLite say that the disk is full.
    @Test func whatAFullDiskRefusedIsWrittenWhenThereIsRoom() async throws {
        try await withTemporaryFolder { folder in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path) { trouble.yield($0) }
            try await store.write(.place(place(emma, 1)))
            try await store.perform { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
            let long = String(repeating: "long ", count: 10_000)
            for second in 2...9 { store.post(.item(item(ulysses, long)), .played(place(emma, Double(second)), at: 1)) }
            await #expect(throws: StoreError.full(path: path)) { try await store.flush() }
            await #expect(throws: StoreError.full(path: path)) { try await store.write(.rate(emma, 2)) }
            // Whoever plays it again before there is room goes on where it was left.
            #expect(try await store.place(of: emma) == place(emma, 9))
            #expect(try await Store.open(at: path) { _ in }.place(of: emma) == place(emma, 1))

            try await store.perform { db in try db.execute(sql: "PRAGMA max_page_count = 100000") }
            try await store.flush()
            #expect(try await store.place(of: emma) == place(emma, 9))
            #expect(try await store.item(ulysses)?.title == long)
            #expect(try await store.rate(of: emma) == nil)
            trouble.finish()
            let told = await Array(troubles)
            #expect(told == [.began(.full(path: path)), .ended])
        }
    }

    /// Nothing is written any more: the player stands paused.
    @Test func whatAFullDiskRefusedIsWrittenByItself() async throws {
        try await withTemporaryFolder { folder in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path, checkpointAfter: nil, retryAfter: .milliseconds(1)) {
                trouble.yield($0)
            }
            try await store.perform { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
            let long = String(repeating: "long ", count: 10_000)
            store.post(.item(item(ulysses, long)), .played(place(emma, 9), at: 1))
            var told = troubles.makeAsyncIterator()
            #expect(await told.next() == .began(.full(path: path)))
            try await store.perform { db in try db.execute(sql: "PRAGMA max_page_count = 100000") }
            #expect(await told.next() == .ended)
            #expect(try await Store.open(at: path) { _ in }.place(of: emma) == place(emma, 9))
        }
    }

    enum Removal: CaseIterable {
        case file, folder, replaced, log

        func done(_ folder: String, _ path: String) throws {
            switch self {
            case .file: try FileManager.default.removeItem(atPath: path)
            case .folder: try FileManager.default.removeItem(atPath: folder)
            case .replaced: try Data("another".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            case .log: try FileManager.default.removeItem(atPath: path + "-wal")
            }
        }
    }

    @Test(arguments: Removal.allCases) func whatIsRemovedIsMadeAnew(_ removal: Removal) async throws {
        try await withTemporaryFolder { outer in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let folder = "\(outer)/state"
            let path = "\(folder)/state.sqlite"
            var store: Store? = try Store.open(at: path, checkpointAfter: nil) { trouble.yield($0) }
            try await store?.write(.place(place(ulysses, 30)), .rate(ulysses, 1.5))
            try await store?.flush()
            try await store?.write(.place(place(ulysses, 31)))
            try removal.done(folder, path)
            for second in 1...5 { store?.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            #expect(try await store?.place(of: emma) == place(emma, 5))
            // As after kill -9: nothing is closed or put in order.
            do {
                let found = try Store.open(at: path) { _ in }
                #expect(found.notice == nil && found.deviceID == store?.deviceID)
                #expect(try await found.place(of: emma) == place(emma, 5))
                #expect(try await found.place(of: ulysses) == place(ulysses, 31))
                #expect(try await found.rate(of: ulysses) == 1.5)
            }
            store?.journal(place: place(emma, 6), stretch: nil, at: 1)
            try await store?.flush()
            store = nil
            #expect(try await Store.open(at: path) { _ in }.place(of: emma) == place(emma, 6))
            trouble.finish()
            let told = await Array(troubles)
            guard case .renewed(path, let aside) = told.first, told.count == 1 else {
                Issue.record("\(told)")
                return
            }
            #expect((aside != nil) == (removal == .replaced || removal == .log))
            if let aside, removal == .replaced {
                #expect(try String(contentsOfFile: aside, encoding: .utf8) == "another")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!names.contains { $0.contains(".new") }, "\(names)")
        }
    }

    /// What holds the places is overwritten behind the open database's back, as a dying disk does.
    @Test func aDatabaseDamagedWhileItIsOpenLosesNothingNew() async throws {
        try await withTemporaryFolder { folder in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path, checkpointAfter: nil) { trouble.yield($0) }
            try await store.write(.place(place(ulysses, 30)), .rate(ulysses, 1.5), .account(account("a")))
            try await store.flush()
            try await damage(path, "places")
            for second in 1...5 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            try await store.write(.rate(emma, 2))
            #expect(try await store.place(of: emma) == place(emma, 5))
            try await store.flush()
            do {
                let found = try Store.open(at: path) { Issue.record("\($0)") }
                #expect(found.notice == nil && found.deviceID == store.deviceID)
                #expect(try await found.place(of: emma) == place(emma, 5))
                #expect(try await found.rate(of: ulysses) == 1.5)
                #expect(try await found.rate(of: emma) == 2)
                #expect(try await found.accounts() == [account("a")])
            }
            // Another within the minute is held until somebody waits for it.
            try await damage(path, "places")
            store.journal(place: place(emma, 6), stretch: nil, at: 1)
            try await store.flush()
            #expect(try await Store.open(at: path) { Issue.record("\($0)") }.place(of: emma) == place(emma, 6))
            trouble.finish()
            let told = await Array(troubles)
            #expect(told.count == 4 && told.dropFirst().first == .began(.damaged(path: path)) && told.last == .ended)
            for index in [0, 2] where told.indices.contains(index) {
                guard case .replaced(let notice) = told[index] else {
                    Issue.record("\(told)")
                    continue
                }
                let aside = try #require(notice.setAside)
                #expect(FileManager.default.fileExists(atPath: aside) && told[index].notice == "\(notice)")
            }
        }
    }

    /// What was in it only is lost, and what comes after is not.
    @Test(arguments: [0, 40, 5000], [false, true]) func aLogThatIsCutOffIsNoticed(_ size: Int, flushed: Bool)
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path, checkpointAfter: nil) { _ in }
            try await store.write(.place(place(ulysses, 30)))
            try await store.flush()
            for second in 1...5 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            #expect(try await store.place(of: emma) == place(emma, 5))
            #expect(truncate(path + "-wal", off_t(size)) == 0)
            if flushed { try await store.flush() }
            for second in 6...9 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            _ = try? await store.place(of: emma)
            // As after kill -9.
            let copy = "\(folder)/copy.sqlite"
            for suffix in ["", "-wal"] {
                try? FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            let found = try Store.open(at: copy) { Issue.record("\($0)") }
            #expect(try await found.place(of: emma) == place(emma, 9))
            #expect(try await found.place(of: ulysses) == place(ulysses, 30))
        }
    }

    /// As some file systems leave it.
    @Test func aDatabaseCutToNothingWhileItIsOpenIsReplaced() async throws {
        try await withTemporaryFolder { folder in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let path = "\(folder)/state.sqlite"
            try await Store.open(at: path) { trouble.yield($0) }.write(.place(place(ulysses, 30)))
            let store = try Store.open(at: path, checkpointAfter: nil) { trouble.yield($0) }
            truncate(path, 0)
            for second in 1...5 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            try? await store.flush()
            #expect(try await store.stretches().isEmpty)
            #expect(try await store.place(of: emma) == place(emma, 5))
            try await store.flush()
            #expect(try await Store.open(at: path) { Issue.record("\($0)") }.place(of: emma) == place(emma, 5))
            trouble.finish()
            let told = await Array(troubles)
            #expect(told.contains { if case .replaced = $0 { true } else { false } }, "\(told)")
            #expect(!told.contains { if case .began = $0 { true } else { false } }, "\(told)")
        }
    }

    enum Damage {
        case cutShort, beginning, another

        func done(_ path: String) throws {
            guard self != .cutShort else {
                truncate(path, 8192)
                return
            }
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let size = try file.seekToEnd()
            try file.seek(toOffset: 0)
            let count = self == .another ? Int(size) + 10_000 : 100
            try file.write(contentsOf: Data(repeating: self == .another ? 0xA5 : 0, count: count))
            try file.close()
        }
    }

    /// What SQLite has in its memory is as it was, and it would write on into what is left of the file.
    @Test(arguments: [Damage.cutShort, .beginning, .another])
    func aDatabaseSpoiledWhileItIsOpenIsReplacedByWhatIsKnown(_ damage: Damage) async throws {
        try await withTemporaryFolder { folder in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path, checkpointAfter: nil) { trouble.yield($0) }
            for number in 0..<500 { store.post(.place(place(ItemID(source: "file", key: "\(number)"), 1))) }
            try await store.flush()
            #expect(try await store.places(of: [emma, ulysses]).isEmpty)
            try damage.done(path)
            try await store.flush()
            store.journal(place: place(emma, 5), stretch: nil, at: 1)
            try await store.flush()
            let found = try Store.open(at: path) { Issue.record("\($0)") }
            #expect(found.notice == nil && found.deviceID == store.deviceID)
            #expect(try await found.place(of: emma) == place(emma, 5))
            trouble.finish()
            let told = await Array(troubles)
            guard told.count == 1, case .replaced(let notice) = told[0] else {
                Issue.record("\(told)")
                return
            }
            #expect(notice.places == 500)
        }
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private let own = ["state.sqlite", "state.sqlite-shm", "state.sqlite-wal"]

    /// A copy of the removed file would be as damaged as that was.
    @Test func whatIsDamagedAndThenRemovedLeavesNoFileBehind() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let store = try Store.open(at: path, checkpointAfter: nil) { trouble.yield($0) }
            try await store.write(.account(account("a")))
            try await store.flush()
            try await damage(path, "places")
            try FileManager.default.removeItem(atPath: path)
            for second in 3...9 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            try await store.flush()
            #expect(try names(in: folder) == own)
            trouble.finish()
            #expect(await Array(troubles) == [.replaced(StoreNotice(setAside: nil, accounts: 1, places: 0))])
            #expect(try Store.open(at: path) { Issue.record("\($0)") }.notice == nil)
        }
    }

    /// However short a time after the last: nothing may be left that is only in memory.
    @Test func whoeverWaitsForTheDiskHasADamagedDatabaseReplaced() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let store = try Store.open(at: path, checkpointAfter: nil) { trouble.yield($0) }
            for second in 1...3 {
                try await store.flush()
                try await damage(path, "places")
                store.journal(place: place(emma, Double(second)), stretch: nil, at: 1)
                try await store.flush()
                #expect(
                    try await Store.open(at: path) { Issue.record("\($0)") }.place(of: emma)
                        == place(emma, Double(second)))
            }
            trouble.finish()
            let asides = await Array(troubles).compactMap {
                if case .replaced(let notice) = $0 { notice.setAside } else { nil }
            }
            #expect(asides.count == 3)
            for aside in asides { #expect(FileManager.default.fileExists(atPath: aside)) }
        }
    }

    /// Its log cannot go with it: beside a name that `damaged` and the time still fit in, that of the log would be too long.
    @Test func whatCannotBeSetAsideStaysAndIsTriedAgainEachTime() async throws {
        try await withTemporaryFolder { folder in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let path = "\(folder)/\(String(repeating: "s", count: 230))"
            let store = try Store.open(at: path, checkpointAfter: nil) { trouble.yield($0) }
            for number in 0..<500 { store.post(.place(place(ItemID(source: "file", key: "\(number)"), 1))) }
            try await store.flush()
            let before = try names(in: folder)
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            truncate(path, 8192)
            let error = StoreError.unwritable(path: "\(path)-wal", reason: String(cString: strerror(ENAMETOOLONG)))
            for second in 1...2 {
                store.journal(place: place(emma, Double(second)), stretch: nil, at: 1)
                await #expect(throws: error) { try await store.flush() }
            }
            #expect(try names(in: folder) == before)
            // Somebody puts back what was cut off.
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.write(contentsOf: whole)
            try file.close()
            try await store.flush()
            #expect(try await Store.open(at: path) { Issue.record("\($0)") }.place(of: emma) == place(emma, 2))
            trouble.finish()
            #expect(await Array(troubles) == [.began(error), .ended])
        }
    }

    /// Takes the lock by which SQLite knows that another process is at it.
    private func holdCheckpoints(_ isHeld: Bool, _ index: Int32) {
        var lock = flock()
        lock.l_type = Int16(isHeld ? F_WRLCK : F_UNLCK)
        (lock.l_whence, lock.l_start, lock.l_len) = (Int16(SEEK_SET), 121, 1)
        // F_OFD_SETLK: SQLite's own locks, of this process, are in its way.
        #expect(fcntl(index, 37, &lock) == 0)
    }

    /// Each would wait as long as the first.
    @Test(.timeLimit(.minutes(2))) func whatIsAskedForWhileAnotherLocksItWaitsOnce() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let store = try Store.open(at: path, checkpointAfter: nil, retryAfter: .milliseconds(1)) {
                trouble.yield($0)
            }
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.beginTransaction(.exclusive) }
            for second in 1...200 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            _ = try await store.places(of: [ulysses])
            try await other.writeWithoutTransaction { try $0.rollback() }
            try await store.flush()
            trouble.finish()
            #expect(await Array(troubles) == [.began(.busy(path: path)), .ended])
            #expect(try await Store.open(at: path) { _ in }.place(of: emma) == place(emma, 200))
        }
    }

    @Test func onlyACheckpointEndsTheFailingOfOne() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let store = try Store.open(at: path, checkpointAfter: .milliseconds(1), retryAfter: .milliseconds(1)) {
                trouble.yield($0)
            }
            let index = open(path + "-shm", O_RDWR)
            try await store.flush()
            holdCheckpoints(true, index)
            try await store.write(.place(place(emma, 1)))
            var told = troubles.makeAsyncIterator()
            #expect(await told.next() == .began(.busy(path: path)))
            for second in 2...9 { try await store.write(.place(place(emma, Double(second)))) }
            holdCheckpoints(false, index)
            #expect(await told.next() == .ended)
            try await store.flush()
            trouble.finish()
            #expect(await told.next() == nil)
            close(index)
        }
    }

    private func damage(_ path: String, _ table: String) async throws {
        try await spoil(table, of: path)
        // Another's write is what makes the open one look at its file again.
        try await DatabaseQueue(path: path).write {
            try $0.execute(sql: "INSERT OR REPLACE INTO meta VALUES ('x', 'y')")
        }
    }

    @Test func aDatabaseTornAwayDoesNotEndTheProgram() async throws {
        try await withTemporaryFolder { folder in
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let path = "\(folder)/state.sqlite"
            let store = try Store.open(at: path) { trouble.yield($0) }
            try await store.perform { db in try db.execute(sql: "DROP TABLE places") }
            for second in 1...5 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            await #expect(throws: StoreError.self) { try await store.place(of: emma) }
            trouble.finish()
            #expect(await Array(troubles).count == 1)
        }
    }
}

extension Array {
    init(_ stream: AsyncStream<Element>) async {
        self = []
        for await element in stream { append(element) }
    }
}
