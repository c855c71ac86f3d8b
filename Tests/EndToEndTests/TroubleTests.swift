import Control
import DBus
import EventLoop
import Foundation
import SDBus
import TestSupport
import Testing

/// What can be wrong with the computer: places are kept, listening goes on, and the listener is told.
@Suite struct TroubleTests {
    /// Leaves a place at 42 s of a book in the journal, with no daemon running.
    private func leave(_ house: House) async throws -> Double {
        let daemon = try await house.daemon()
        try await house.logIn()
        try await house.done("play", "three rooms", "--at", "42")
        try await house.done("pause")
        try await house.status("sent") { $0.unsent == 0 }
        let place = try await house.status().position
        daemon.send(SIGTERM)
        #expect(await daemon.end() == 0)
        return place
    }

    // MARK: Ends

    @Test func aLostBusKeepsThePlace() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook", "--at", "42")
            try await house.status("on its way") { $0.position > 43 }
            let last = try await house.status().position
            let cut = ContinuousClock.now
            house.bus.cut()
            #expect(await daemon.end() == 1)
            #expect(ContinuousClock.now - cut < .seconds(10 * Sanitizer.patience))
            let bus = try house.bus.revive()
            let back = try await house.status()
            #expect(back.position >= last - 0.05 && back.position < last + 5, "\(last) became \(back.position)")
            bus.send(SIGTERM)
        }
    }

    @Test func toldToLeaveItWritesAllThatIsQueued() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "three rooms", "--at", "42")
            try await house.done("pause")
            let bus = try await Bus(.at(house.bus.address)) { _ in }
            // A bus allows no more than some hundred calls at a time.
            for _ in 1...10 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 1...100 {
                        group.addTask {
                            _ = try await bus.call(
                                "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2",
                                "org.mpris.MediaPlayer2.Player", "Seek",
                                [.int64(number % 2 == 0 ? -3_000_000 : 3_000_000)])
                        }
                    }
                    try await group.waitForAll()
                }
            }
            _ = try await bus.call(
                "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player", "Seek",
                [.int64(1_500_000)])
            let last = try await bus.call(
                "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties", "Get",
                [.string("org.mpris.MediaPlayer2.Player"), .string("Position")])
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            try await house.daemon()
            try await house.status("read from the journal") { $0.item != nil }
            let back = try await bus.call(
                "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties", "Get",
                [.string("org.mpris.MediaPlayer2.Player"), .string("Position")])
            #expect(back == last)
            await bus.close()
        }
    }

    // MARK: The disk

    /// Told to leave, it waits for a disk that takes longer than the two seconds after which no server is waited for.
    @Test func aSlowDiskIsWaitedFor() async throws {
        try await House.with { house in
            let place = try await leave(house)
            let daemon = try await house.daemon()
            let holder = try house.start(
                "python3",
                script(
                    "\(house.state)/state.sqlite",
                    "d.execute('begin immediate'); print('held', flush=True); time.sleep(4); d.rollback()"))
            try await holder.first("held") { $0 == "held" }
            try await house.done("seek", "+7")
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            let back = try await house.status()
            #expect(abs(back.position - place - 7) < 0.05, "\(place) became \(back.position)")
        }
    }

    /// A file system of its own for the state, which may be filled and made read-only. Where that is not allowed the
    /// test says so.
    private func onOwnFileSystem(_ body: (House, String) async throws -> Void) async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let code = await
            (try Child(
                "mount", ["-t", "tmpfs", "-o", "size=2m", "dogear-test", folder.path],
                environment: ProcessInfo.processInfo.environment, isQuiet: true)).end()
        guard code == 0 else {
            print("not tested: mounting a small file system is not allowed here")
            return
        }
        let outcome: Result<Void, any Error>
        do {
            try await House.with(extra: ["XDG_STATE_HOME": folder.path]) { try await body($0, folder.path) }
            outcome = .success(())
        } catch { outcome = .failure(error) }
        _ = await (try Child("umount", ["-l", folder.path], environment: ProcessInfo.processInfo.environment)).end()
        try outcome.get()
    }

    /// What somebody else does with a journal, `d`: Python's arguments.
    private func script(_ journal: String, _ statements: String) -> [String] {
        ["-c", "import sqlite3,sys,time; d=sqlite3.connect(sys.argv[1], timeout=60); \(statements)", journal]
    }

    private func python(_ house: House, _ journal: String, _ statements: String) async throws {
        let outcome = try await house.run("python3", script(journal, statements))
        #expect(outcome.code == 0, "\(outcome)")
    }

    @Test(arguments: [false, true]) func aFullDiskLosesNothing(isPaused: Bool) async throws {
        try await onOwnFileSystem { house, folder in
            try await house.daemon()
            try await house.logIn()
            try await house.done("play", "tidebook", "--at", "42")
            // A log that was long before would be written from its beginning again, for which there is room.
            try await python(
                house, "\(folder)/dogear/state.sqlite",
                "sys.exit(d.execute('pragma wal_checkpoint(truncate)').fetchone()[0])")
            try await house.run("sh", ["-c", "cat /dev/zero >\(folder)/much 2>/dev/null || true"])
            let full = try await house.status("told of") { $0.error?.contains("no space left") == true }
            #expect(full.state == .playing)
            try await house.status("further on") { $0.position > full.position + 1 }
            let doctor = try await house.dogear("doctor").output
            #expect(doctor.contains("no space left") && doctor.contains("✗ disk: no room for places"), "\(doctor)")
            let speed = try await house.dogear("speed", "1.5")
            #expect(speed.code == 1 && speed.errors.contains("cannot be kept: no space left"), "\(speed)")
            if isPaused {
                try await house.done("seek", "7")
                try await house.done("pause")
            }
            try FileManager.default.removeItem(atPath: "\(folder)/much")
            let free = try await house.status("told to be over") { $0.error == nil }
            #expect(free.state == (isPaused ? .paused : .playing))
            try await house.kill()
            let back = try await house.status()
            #expect(back.position >= free.position - 1.1, "\(free.position) became \(back.position)")
            #expect(back.rate == 1.5)
            if isPaused { #expect(back.position < 30) }
        }
    }

    @Test func aFileSystemThatTurnsReadOnlyLosesNothing() async throws {
        try await onOwnFileSystem { house, folder in
            try await house.daemon()
            try await house.logIn()
            try await house.done("play", "three rooms", "--at", "42")
            func remount(_ how: String) async throws {
                // Files open for writing keep a whole file system writable; a mount of it can be made read-only.
                let outcome = try await house.run("mount", ["-o", "remount,bind,\(how)", folder])
                #expect(outcome.code == 0, "\(outcome)")
            }
            try await house.done("pause")
            let paused = try await house.status()
            try await house.kill()
            try await remount("ro")
            let daemon = try await house.daemon()
            let status = try await house.status()
            #expect(status.error?.contains("XDG_STATE_HOME") == true, "\(status)")
            let doctor = try await house.dogear("doctor")
            #expect(doctor.code == 1 && doctor.output.contains("✗ disk: places and listening cannot be kept"))
            #expect(doctor.output.contains("✗ journal: "), "\(doctor)")
            // What was known is known, the login too, and it plays.
            #expect(abs(status.position - paused.position) < 0.05 && status.item?.title == "Three Rooms")
            try await house.done("play")
            let on = try await house.status("further on") { $0.position > paused.position + 0.5 }
            #expect(on.state == .playing)
            try await house.done("pause")
            let mark = try await house.dogear("bookmark", "Kept by the server")
            #expect(mark.code == 0, "\(mark)")
            let file = "\(Sounds.folder)/e2e/rooms/01.mp3"
            try await house.done("play", file)
            let here = try await house.dogear("bookmark", "Kept here")
            #expect(here.code == 1 && here.errors.contains("is only in memory"), "\(here)")
            daemon.send(SIGTERM)
            _ = await daemon.end()
            try await remount("rw")
            let back = try await house.status()
            #expect(back.error == nil && back.item?.kind == "file", "\(back)")
            let bookmarks = try await house.report(BookmarksReport.self, "bookmarks", file)
            #expect(bookmarks.bookmarks.map(\.title) == ["Kept here"])
            try await house.done("play", "three rooms")
            #expect(try await house.status().position >= on.position - 0.05)
        }
    }

    // MARK: The journal

    @Test(arguments: ["state.sqlite", ""]) func aJournalThatIsRemovedIsMadeAnew(_ name: String) async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "three rooms", "--at", "12")
            try await house.done("play", "tidebook", "--at", "42")
            try await house.run("rm", ["-rf", "\(house.state)/\(name)"])
            let told = try await house.status("told of") { $0.error?.contains("was removed") == true }
            #expect(told.state == .playing)
            try await house.status("further on") { $0.position > told.position + 1 }
            try await house.done("pause")
            let place = try await house.status("sent") { $0.unsent == 0 }.position
            try await house.kill()
            let back = try await house.status()
            #expect(abs(back.position - place) < 0.05 && back.error == nil, "\(place) became \(back)")
            #expect(try await house.done("accounts", "--json").contains(House.user))
            try await house.done("play", "three rooms")
            #expect(try await house.status().position >= 12)
        }
    }

    enum Damage: CaseIterable {
        case noise, text, cutShort, hole

        func done(to bytes: Data) -> Data {
            switch self {
            case .noise: return Data((0..<bytes.count).map { _ in UInt8.random(in: 0...255) })
            case .text: return Data("not a database".utf8)
            case .cutShort: return bytes.prefix(bytes.count / 2 + 100)
            case .hole:
                var bytes = bytes
                bytes.replaceSubrange(4096..<12_288, with: Data(repeating: 0xa5, count: 8192))
                return bytes
            }
        }
    }

    /// - Returns: the name of the damaged database.
    private func setAside(_ house: House) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: house.state)
        let aside = names.filter {
            $0.hasPrefix("state.sqlite.damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        guard aside.count == 1 else { throw TestFailure("not one was set aside: \(names)") }
        return aside[0]
    }

    @Test(arguments: Damage.allCases) func aDamagedJournalIsSetAside(_ damage: Damage) async throws {
        try await House.with { house in
            let place = try await leave(house)
            let file = URL(fileURLWithPath: "\(house.state)/state.sqlite")
            try damage.done(to: try Data(contentsOf: file)).write(to: file)
            let daemon = try await house.daemon()
            let status = try await house.status()
            let aside = try setAside(house)
            #expect(status.error?.contains(aside) == true, "\(status), \(aside)")
            let doctor = try await house.dogear("doctor")
            #expect(doctor.output.contains("damaged"))
            // The login is in the keyring, the place on the server.
            let accounts = try await house.done("accounts", "--json")
            if accounts.contains("[]") { try await house.logIn() }
            try await house.done("play", "three rooms")
            try await house.done("pause")
            let back = try await house.status()
            #expect(abs(back.position - place) < 3)
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            let next = try await house.status()
            #expect(next.error == nil, "said once")
        }
    }

    @Test func aNewerJournalIsNotTouched() async throws {
        try await House.with { house in
            _ = try await leave(house)
            let file = "\(house.state)/state.sqlite"
            try await python(
                house, file,
                "d.execute(\"insert into grdb_migrations values ('from the future')\"); d.commit(); d.close()")
            let before = try Data(contentsOf: URL(fileURLWithPath: file))
            let daemon = try await house.daemon()
            let status = try await house.status()
            #expect(status.error?.contains("later version") == true, "\(status)")
            try await house.logIn()
            try await house.done("play", "three rooms")
            try await house.status("on its way") { $0.state == .playing && $0.position > 0.3 }
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        }
    }

    @Test func aFolderInTheJournalsPlaceIsSaid() async throws {
        try await House.with(keyring: .absent) { house in
            try FileManager.default.createDirectory(
                atPath: "\(house.state)/state.sqlite", withIntermediateDirectories: true)
            try await house.daemon()
            #expect(try await house.status().error?.contains("state.sqlite") == true)
            _ = try Library.all.get()
            try await house.done("play", "\(Sounds.folder)/e2e/hour/one.mp3")
            try await house.status("on its way") { $0.position > 0.3 }
        }
    }

    @Test func anEmptyJournalIsBegunAnewAndSaid() async throws {
        try await House.with(keyring: .absent) { house in
            try FileManager.default.createDirectory(atPath: house.state, withIntermediateDirectories: true)
            // Whatever emptied it: places that were in it are missed. And readable for all.
            try Sounds.write([], to: "\(house.state)/state.sqlite")
            chmod("\(house.state)/state.sqlite", 0o666)
            let daemon = try await house.daemon()
            #expect(try await house.status().error?.contains("state.sqlite.damaged-") == true)
            _ = try Library.all.get()
            try await house.done("play", "\(Sounds.folder)/e2e/hour/one.mp3", "--at", "20")
            daemon.send(SIGTERM)
            _ = await daemon.end()
            let back = try await house.status()
            #expect(back.position >= 20 && back.error == nil)
            let mode = try FileManager.default.attributesOfItem(atPath: "\(house.state)/state.sqlite")
            #expect(mode[.posixPermissions] as? Int == 0o600)
        }
    }

    // MARK: Folders

    @Test func aCacheAndSettingsThatCannotBeUsed() async throws {
        try await House.with(extra: ["XDG_CACHE_HOME": "HOME_/file"]) { house in
            try Sounds.write([], to: "\(house.home)/file")
            try FileManager.default.createDirectory(
                atPath: "\(house.home)/.config/dogear/config.toml", withIntermediateDirectories: true)
            try await house.daemon()
            try await house.logIn()
            try await house.done("play", "tidebook", "--at", "31")
            try await house.status("on its way") { $0.position > 31.5 && $0.error == nil }
            #expect(try await house.dogear("doctor").output.contains("config.toml"))
        }
    }

    @Test func homesThatAreNone() async throws {
        try await House.with(keyring: .absent) { house in
            var environment = house.environment
            environment["HOME"] = nil
            let none = try await house.run(Child.built("dogear"), ["daemon"], environment: environment)
            #expect(none.code == 1 && none.errors.contains("HOME"), "\(none)")
            environment["HOME"] = "relative"
            let relative = try await house.run(Child.built("dogear"), ["daemon"], environment: environment)
            #expect(relative.code == 1 && relative.errors.contains("HOME"), "\(relative)")
        }
        // A relative XDG folder counts as none.
        try await House.with(keyring: .absent, extra: ["XDG_STATE_HOME": "here"]) { house in
            let daemon = try await house.daemon()
            #expect(try await house.status().error == nil)
            #expect(FileManager.default.fileExists(atPath: "\(house.state)/state.sqlite"))
            daemon.send(SIGTERM)
            _ = await daemon.end()
        }
    }
}
