import Foundation
import GRDB
import Listening
import TestSupport
import Testing

@testable import Store

@Suite struct OpeningTests {
    private func open(_ path: String) throws -> Store { try Store.open(at: path) { Issue.record("\($0)") } }

    @Test func theInstallationKeepsItsName() async throws {
        try await withTemporaryFolder { folder in
            let first = try open("\(folder)/state.sqlite").deviceID
            #expect(UUID(uuidString: first) != nil && first == first.lowercased())
            #expect(try open("\(folder)/state.sqlite").deviceID == first)
            #expect(try open("\(folder)/other.sqlite").deviceID != first)
        }
    }

    @Test func nobodyElseMayRead() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state/dogear/state.sqlite"
            let store = try open(path)
            try await store.write(.place(place(emma, 1)))
            #expect(mode(of: "\(folder)/state") == 0o700)
            #expect(mode(of: "\(folder)/state/dogear") == 0o700)
            for suffix in ["", "-wal", "-shm"] { #expect(mode(of: path + suffix) == 0o600, "\(suffix)") }
        }
    }

    @Test func rightsThatWereTooWideAreTakenBack() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/dogear/state.sqlite"
            try await open(path).write(.place(place(emma, 1)))
            chmod("\(folder)/dogear", 0o755)
            chmod(path, 0o644)
            let store = try open(path)
            #expect(mode(of: "\(folder)/dogear") == 0o700)
            #expect(mode(of: path) == 0o600)
            #expect(try await store.place(of: emma) == place(emma, 1))
        }
    }

    @Test(arguments: [
        "not a database, but long enough to look like one: " + String(repeating: "x", count: 4096), "short",
    ])
    func whatIsNoDatabaseIsSetAside(text: String) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            let store = try open(path)
            let notice = try #require(store.notice)
            let aside = try #require(notice.setAside)
            #expect(aside.wholeMatch(of: /.*\/state\.sqlite\.damaged-\d{8}-\d{6}/) != nil)
            #expect(try String(contentsOfFile: aside, encoding: .utf8) == text)
            #expect(notice.accounts == 0 && notice.places == 0)
            try await store.write(.place(place(emma, 1)))
            #expect(try open(path).notice == nil)
        }
    }

    /// As some file systems leave it after a power cut.
    @Test func whatWasEmptiedIsSaid() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let notice = try #require(try open(path).notice)
            let aside = try #require(notice.setAside)
            #expect(notice.places == 0 && FileManager.default.fileExists(atPath: aside))
            #expect(try open(path).notice == nil)
        }
    }

    /// With an emptied database: all that it held is in its log, as a power cut leaves it.
    private func withEmptied(_ body: (_ folder: String, _ path: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let whole = "\(folder)/whole.sqlite"
            let store = try Store.open(at: whole, checkpointAfter: nil) { Issue.record("\($0)") }
            for second in 1...100 { store.journal(place: place(emma, Double(second)), stretch: nil, at: 1) }
            #expect(try await store.place(of: emma) == place(emma, 100))
            try FileManager.default.copyItem(atPath: whole + "-wal", toPath: path + "-wal")
            withExtendedLifetime(store) {}
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try await body(folder, path)
        }
    }

    @Test func theLogOfAnEmptiedDatabaseIsRead() async throws {
        try await withEmptied { _, path throws in
            let store = try open(path)
            let notice = try #require(store.notice)
            #expect(notice.places == 1 && notice.setAside != nil)
            #expect(try await store.place(of: emma) == place(emma, 100))
        }
    }

    @Test func theLogOfAnEmptiedDatabaseIsReadIntoMemory() async throws {
        try await withEmptied { _, path throws in
            let store = try Store.inMemory(for: path)
            #expect(try await store.place(of: emma) == place(emma, 100))
            try await store.write(.place(place(ulysses, 30)))
            try await store.flush()
            let found = try open(path)
            #expect(try await found.place(of: emma) == place(emma, 100))
            #expect(try await found.place(of: ulysses) == place(ulysses, 30))
        }
    }

    /// What another program made, or somebody changed by hand, is set aside, with what can be read of it carried over.
    @Test(arguments: [
        "CREATE TABLE places (id INTEGER PRIMARY KEY, url TEXT)", "CREATE TABLE urls (url TEXT)",
        "DELETE FROM grdb_migrations WHERE rowid = (SELECT max(rowid) FROM grdb_migrations)",
    ]) func whatIsNotWhatItSaysIsBegunAnew(_ change: String) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let isOurs = change.hasPrefix("DELETE")
            if isOurs { try await open(path).write(.place(place(emma, 100))) }
            try await DatabaseQueue(path: path).write { try $0.execute(sql: change) }
            let refuge = try Store.inMemory(for: path, retryAfter: .seconds(3600)) { _ in }
            #expect(try await refuge.place(of: emma) == (isOurs ? place(emma, 100) : nil))
            let store = try open(path)
            #expect(store.notice?.setAside != nil && store.notice?.places == (isOurs ? 1 : 0))
            #expect(try await store.place(of: emma) == (isOurs ? place(emma, 100) : nil))
            #expect(try open(path).notice == nil)
        }
    }

    @Test func theLogThatARemovedDatabaseLeftBehindIsRead() async throws {
        try await withEmptied { _, path throws in
            try FileManager.default.removeItem(atPath: path)
            let store = try open(path)
            #expect(store.notice?.places == 1)
            #expect(try await store.place(of: emma) == place(emma, 100))
        }
    }

    /// `max_page_count` makes SQLite say that the disk is full. What is begun anew is then given up, and tried again.
    @Test func whatCannotBeCarriedOverIsNotPassedOver() throws {
        let (damaged, fresh) = (try DatabaseQueue(), try DatabaseQueue())
        for queue in [damaged, fresh] { try Schema.migrator.migrate(queue) }
        try damaged.write { db in
            for number in 0..<500 { try Entry.place(place(ItemID(source: "file", key: "\(number)"), 1)).write(to: db) }
        }
        func places() throws -> Int? { try fresh.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM places") } }
        func limit(_ pages: Int) throws { try fresh.write { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") } }
        try limit(1)
        let error = #expect(throws: DatabaseError.self) { try Opening(path: "/j").rescue(from: damaged, to: fresh) }
        #expect(error?.resultCode == .SQLITE_FULL)
        #expect(try places() == 0)
        try limit(100_000)
        // What was never written like this.
        try damaged.write { try $0.execute(sql: "CREATE TABLE x AS SELECT * FROM rates") }
        try damaged.write { try $0.execute(sql: "DROP TABLE rates; ALTER TABLE x RENAME TO rates") }
        try damaged.write { try $0.execute(sql: "INSERT INTO rates VALUES ('a', 'fast'), ('b', 2)") }
        try Opening(path: "/j").rescue(from: damaged, to: fresh)
        #expect(try places() == 500)
        #expect(try fresh.read { try String.fetchAll($0, sql: "SELECT item FROM rates") } == ["b"])
    }

    @Test func aGlanceLeavesTheLogOfAnEmptiedDatabase() async throws {
        try await withEmptied { _, path throws in
            #expect(StoreGlance(path: path)?.accounts == nil)
            #expect(try await open(path).place(of: emma) == place(emma, 100))
        }
    }

    /// Where the damaged one could not be opened for want of room, and is to be replaced when there is some.
    @Test func aDamagedDatabaseIsReadIntoMemoryAndReplaced() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let queue = try DatabaseQueue(path: path)
            try Schema.migrator.migrate(queue)
            try await queue.write { try Entry.place(place(emma, 1)).write(to: $0) }
            // A store closes when it likes, and would write the page once more.
            try queue.close()
            try await spoil("moves", of: path)
            let (troubles, trouble) = AsyncStream.makeStream(of: StoreTrouble.self)
            let store = try Store.inMemory(for: path, retryAfter: .seconds(3600)) { trouble.yield($0) }
            #expect(try await store.place(of: emma) == place(emma, 1))
            #expect(try await store.moves().isEmpty)
            try await store.write(.place(place(ulysses, 30)))
            try await store.flush()
            trouble.finish()
            let told = await Array(troubles)
            #expect(told.count == 2 && told.first == .ended)
            guard case .replaced(let notice)? = told.last else {
                Issue.record("\(told)")
                return
            }
            #expect(notice.places == 1 && notice.setAside != nil)
            let found = try open(path)
            #expect(try await found.place(of: emma) == place(emma, 1))
            #expect(try await found.place(of: ulysses) == place(ulysses, 30))
        }
    }

    /// As a full disk does: what is damaged waits where it is looked for until a new one can be begun.
    @Test func whatCannotBeReplacedStaysInItsPlace() async throws {
        try await withEmptied { folder, path throws in
            let obstacle = "\(path)-journal"
            try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
            #expect(throws: StoreError.self) { try open(path) }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!names.contains { $0.contains("damaged") }, "\(names)")
            try FileManager.default.removeItem(atPath: obstacle)
            #expect(try await open(path).place(of: emma) == place(emma, 100))
        }
    }

    @Test func aLaterVersionsDatabaseIsKnownForThat() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            try await open(path).perform { db in
                try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('v99')")
            }
            let memory = try DatabaseQueue()
            try Schema.migrator.migrate(memory)
            let keeper = Keeper(memory, path, refuge: Refuge(isWhole: false))
            #expect(!keeper.isOutdated && !keeper.leaveRefuge(isUrgent: true).isDone && keeper.isOutdated)
            try FileManager.default.removeItem(atPath: path)
            #expect(keeper.leaveRefuge(isUrgent: true).isDone && !keeper.isOutdated)
        }
    }

    @Test func aTableThatIsMissingCostsOnlyItself() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            do {
                let store = try open(path)
                try await store.write(.place(place(emma, 1)), .account(account("a")))
                try await store.perform { db in try db.execute(sql: "DROP TABLE moves; DROP TABLE queue") }
            }
            let store = try open(path)
            #expect(store.notice?.places == 1 && store.notice?.accounts == 1)
            #expect(try await store.moves().isEmpty)
            #expect(try await store.place(of: emma) == place(emma, 1))
        }
    }

    @Test func twoDamagedDatabasesOfOneSecondAreBothKept() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            var names: Set<String> = []
            for number in 1...3 {
                try "damaged \(number)".write(toFile: path, atomically: false, encoding: .utf8)
                names.insert(try #require(try open(path).notice?.setAside))
            }
            #expect(names.count == 3)
            #expect(names.allSatisfy { FileManager.default.fileExists(atPath: $0) })
        }
    }

    /// Overwrites pages in the middle of a database of a hundred pages or more.
    @Test func whatCanStillBeReadIsCarriedOver() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            var device = ""
            do {
                // On a busy machine all this takes longer than it would wait with a checkpoint, which finds another file.
                let store = try Store.open(at: path, checkpointAfter: nil) { Issue.record("\($0)") }
                device = store.deviceID
                for number in 0..<5000 { store.post(.place(place(ItemID(source: "file", key: "\(number)"), 1))) }
                try await store.write(.account(account("a")), .stretch(stretch("s", listened: 3)))
            }
            let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.seek(toOffset: UInt64(size / 2 / 4096 * 4096))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 8 * 4096))
            try file.close()
            let store = try open(path)
            let notice = try #require(store.notice)
            #expect(notice.accounts == 1)
            #expect(notice.places > 2500 && notice.places < 5000)
            #expect(store.deviceID == device)
            #expect(try await store.accounts() == [account("a")])
            #expect(try await store.unsent() == [stretch("s", listened: 3)])
        }
    }

    @Test func aLaterVersionsDatabaseIsNotTouched() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            do {
                let store = try open(path)
                try await store.perform { db in
                    try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('v99')")
                }
            }
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(throws: StoreError.newer(path: path)) { try open(path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            #expect("\(StoreError.newer(path: path))".contains("later version"))
        }
    }

    /// As the first release left it.
    @Test func aDatabaseOfTheFirstShapeIsTakenOver() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            do {
                let old = try DatabaseQueue(path: path)
                try Schema.migrator.migrate(old, upTo: "v1")
                try await old.write { db in
                    #expect(
                        try db.columns(in: "progress").map(\.name) == ["item", "kind", "position", "duration", "made"])
                    try db.execute(
                        sql: """
                            INSERT INTO meta VALUES ('deviceId', 'the-old-name');
                            INSERT INTO progress VALUES ('\(emma)', 'unfinish', 7000000, 9000000, 5);
                            INSERT INTO moves VALUES (3, 1000, '\(emma)', 0, 1000000, 'seek');
                            INSERT INTO places VALUES ('\(emma)', 1000000, 3600000000, 0, 1, 5);
                            """)
                }
                try old.close()
            }
            let store = try open(path)
            #expect(store.notice == nil)
            #expect(store.deviceID == "the-old-name")
            #expect(
                try await store.progressWrites() == [
                    ProgressWrite(item: emma, kind: .unfinish, position: .seconds(7), duration: .seconds(9), made: 5)
                ])
            #expect(try await store.place(of: emma) == place(emma, 1))
            #expect(
                try await store.moves() == [Move(at: 1000, item: emma, from: .zero, to: .second, cause: .seek)])
            try await store.write(.queue(Queue([item(emma)])))
            #expect(try await store.queue().next?.item.title == "Emma")
        }
    }

    @Test func aFolderThatCannotBeIsNamed() async throws {
        try await withTemporaryFolder { folder in
            try "".write(toFile: "\(folder)/file", atomically: false, encoding: .utf8)
            for path in ["\(folder)/file/dogear/state.sqlite", "/proc/dogear/state.sqlite"] {
                let error = #expect(throws: StoreError.self) { try open(path) }
                let parent = (path as NSString).deletingLastPathComponent
                #expect(error?.description.contains(parent) == true, "\(String(describing: error))")
                #expect(error?.description.contains("XDG_STATE_HOME") == true)
            }
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write anywhere"))
    func aReadOnlyFolderIsNamed() async throws {
        await withTemporaryFolder { folder in
            chmod(folder, 0o500)
            defer { chmod(folder, 0o700) }
            let path = "\(folder)/dogear/state.sqlite"
            let error = #expect(throws: StoreError.self) { try open(path) }
            #expect(error?.description.contains("\(folder)/dogear") == true)
        }
    }

    @Test func absurdNumbersAreReadAsTheyAre() async throws {
        try await withTemporaryFolder { folder in
            let store = try open("\(folder)/state.sqlite")
            let absurd = Place(
                item: emma, position: BookTime(microseconds: .min), duration: BookTime(microseconds: .max),
                updated: .min)
            try await store.write(.played(absurd, at: .max))
            var long = stretch("s")
            long.listened = BookTime(microseconds: .max)
            try await store.write(.stretch(long), .item(item(emma)))
            #expect(try await store.place(of: emma) == absurd)
            #expect(try await store.unsent() == [long])
            #expect(try await store.lastPlayed()?.at == .max)
            // Nothing is later, and what is played after it is written all the same.
            try await store.write(.played(place(ulysses, 7), at: 9))
            #expect(try await store.place(of: ulysses) == place(ulysses, 7))
        }
    }

    @Test func rowsThatMakeNoSenseAreAsGoodAsNone() async throws {
        try await withTemporaryFolder { folder in
            let store = try open("\(folder)/state.sqlite")
            try await store.write(.account(account("a")), .stretch(stretch("s")), .item(item(emma)))
            try await store.write(.played(place(emma, 1), at: 1))
            try await store.perform { db in
                try db.execute(sql: "UPDATE accounts SET login = 'carrier pigeon'; UPDATE stretches SET delivery = ''")
                try db.execute(sql: #"UPDATE items SET json = '{"kind":"book","title":1e999,"duration":1e999}'"#)
            }
            #expect(try await store.accounts() == [])
            #expect(try await store.stretches() == [])
            #expect(try await store.item(emma) == nil)
            #expect(try await store.lastPlayed() == nil)
            #expect(try await store.place(of: emma) == place(emma, 1))
        }
    }

    @Test func itemsOnlyLookedAtAreForgottenSometime() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/state.sqlite"
            let ids = (0..<600).map { ItemID(source: "abs", key: "a/\($0)") }
            do {
                let store = try open(path)
                try await store.write(ids.map { .item(item($0)) })
                try await store.write(.played(place(ids[0], 1), at: 1), .stretch(stretch("s", ids[1])))
            }
            let store = try open(path)
            var kept: [Int] = []
            for (index, id) in ids.enumerated() where try await store.item(id) != nil { kept.append(index) }
            #expect(kept == [0, 1] + Array(100..<600))
        }
    }
}
