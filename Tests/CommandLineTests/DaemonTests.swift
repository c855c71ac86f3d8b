import Control
import Foundation
import Glibc
import Testing

/// The program against a daemon that is made up, over a real bus.
@Suite(.enabled(if: PrivateBus.isPossible)) struct DaemonTests {
    let dogear: Program
    let bus: PrivateBus
    let daemon: FakeDaemon

    init() async throws {
        let home = try Program.Home()
        bus = try PrivateBus(in: home)
        dogear = Program(home: home, bus: bus.address)
        daemon = try await FakeDaemon(on: bus.address)
    }

    static let emma = ItemHead(id: "abs:1/emma", title: "Emma", authors: ["Jane Austen"], kind: "book")
    static let emmaToo = ItemHead(id: "abs:1/emma2", title: "Emma\u{1B}[2J", authors: ["J. Austen"], kind: "book")

    static var playing: StatusReport {
        var report = StatusReport()
        report.state = .playing
        report.item = emma
        report.chapter = ChapterRow(index: 2, title: "Chapter II", start: 600, end: 1200)
        report.chapters = 55
        report.position = 725
        report.duration = 60000
        return report
    }

    @Test func statusForPeopleAndForPrograms() async throws {
        await daemon.answers { _ in Self.playing }
        let text = try await dogear("status")
        #expect(text.code == 0)
        #expect(
            text.output == """
                Playing  Emma — Jane Austen
                         chapter 2/55 “Chapter II”   2:05 / 10:00  (12:05 of 16:40:00)

                """)
        let machine = try await dogear("status", "--json")
        #expect(machine.output == (try json(Self.playing)) + "\n")
        #expect(await daemon.asked == [.status, .status])
    }

    @Test(arguments: [
        (["pause"], Command.pause), (["toggle"], .toggle), (["stop"], .stop), (["next"], .next),
        (["previous"], .previous), (["seek", "-30"], .seek("-30")), (["seek", "--", "-1:00"], .seek("-1:00")),
        (["seek", "-1:00", "--json"], .seek("-1:00")), (["seek", "+30"], .seek("+30")),
        (["seek", "50%"], .seek("50%")),
        (["seek", "chapter:7"], .seek("chapter:7")), (["seek", "bookmark:2"], .seek("bookmark:2")),
        (["play"], .play(what: "", at: "")),
        (["play", "--at", "-30"], .play(what: "", at: "-30")),
        (["play", "https://example.org/a.mp3"], .play(what: "https://example.org/a.mp3", at: "")),
        (["play", "abs:1/emma", "--at=50%"], .play(what: "abs:1/emma", at: "50%")), (["speed", "1.5"], .speed(1.5)),
        (["speed", "-0.1"], .changeSpeed(by: -0.1)), (["volume", "40%"], .volume(0.4)),
        (["volume", "-10%"], .changeVolume(by: -0.1)),
    ])
    func whatIsTypedIsWhatIsAsked(_ arguments: [String], _ command: Command) async throws {
        let outcome = try await dogear(arguments)
        #expect(outcome.code == 0)
        #expect(await daemon.asked.last == command)
    }

    @Test func undoAndItsList() async throws {
        let move = MovesReport.Row(
            at: 1_700_000_000_123, item: Self.emma, from: 725, to: 30, cause: "device", undone: true)
        await daemon.answers { command in
            if case .moves = command { return MovesReport(moves: [move]) }
            return UndoReport(item: Self.emma, from: 30, position: 725, undone: move)
        }
        let back = try await dogear("undo")
        #expect(back.code == 0 && back.output.hasPrefix("Emma — Jane Austen  back at 12:05\n"))
        let list = try await dogear("undo", "--list")
        #expect(
            list.output
                == "2023-11-14 22:13:20\tEmma\t12:05\t0:30\tanother device's newer place, undone\n", "\(list)")
        #expect(try await dogear("undo", "--list", "--json").output == (try json(MovesReport(moves: [move]))) + "\n")
        #expect(await daemon.asked == [.undo(what: ""), .moves, .moves])
        await daemon.answers { _ in throw ControlError(.notFound, "nothing to undo") }
        #expect(try await dogear("undo").code == 2)
    }

    @Test func bookmarksAndTheirFiles() async throws {
        let row = BookmarksReport.Row(
            number: 1, item: Self.emma, time: 725, title: "Out", chapter: nil, created: 1, kept: "server", unsent: true,
            refused: nil)
        var later = row
        (later.number, later.time, later.title, later.created, later.unsent) = (2, 730, "New", 2, false)
        let list = BookmarksReport(item: Self.emma, bookmarks: [row, later])
        await daemon.answers { command in
            switch command {
            case .bookmarks, .allBookmarks: list
            default: BookmarkReport(.made, row)
            }
        }
        #expect(try await dogear("bookmark", "Out", "of", "it").output.contains("Bookmark 1 at 12:05"))
        let lines = ["1\t12:05\tOut\t\tnot sent yet\n", "2\t12:10\tNew\t\t\n"]
        #expect(try await dogear("bookmarks").output == lines.joined())
        #expect(try await dogear("bookmarks", "--json").output == (try json(list)) + "\n")
        #expect(try await dogear("bookmarks", "abs:1/emma", "--rename", "1", "In", "again").code == 0)
        #expect(try await dogear("bookmarks", "abs:1/emma", "--remove", "1").code == 0)
        #expect(try await dogear("bookmarks", "--all", "--markdown").output.hasPrefix("# Emma\n"))
        #expect(
            await daemon.asked == [
                .bookmark(title: "Out of it"), .bookmarks(what: ""), .bookmarks(what: ""),
                .renameBookmark(what: "abs:1/emma", 1, title: "In again"), .removeBookmark(what: "abs:1/emma", 1),
                .allBookmarks,
            ])
        #expect(try await dogear("bookmarks", "--newest").output == lines.reversed().joined())
        let newest = BookmarksReport(item: Self.emma, bookmarks: [later, row])
        #expect(try await dogear("bookmarks", "--newest", "--json").output == (try json(newest)) + "\n")
        let file = dogear.home.path + "/marks.json"
        #expect(try await dogear("bookmarks", "--output", file).code == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == (try json(list)) + "\n")
        #expect(try await dogear("bookmarks", "--output", file).code == 1)
        #expect(try await dogear("bookmarks", "--output", file, "--force", "--markdown").code == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("# Emma"))
        await daemon.answers { _ in BookmarksReport(item: Self.emma, bookmarks: [], problems: ["no answer"]) }
        let empty = try await dogear("bookmarks")
        #expect(empty.code == 0 && empty.output.isEmpty && empty.errors.contains("dogear: no answer\nThere are no"))
    }

    @Test func historyAndStatistics() async throws {
        let row = HistoryReport.Row(
            started: 1_700_000_000_000, ended: 1_700_000_060_000, item: Self.emma, from: 0, to: 60, listened: 60,
            source: "here")
        await daemon.answers { _ in HistoryReport(rows: [row], problems: ["no answer"]) }
        let history = try await dogear("history", "abs:1/emma", "--limit", "5")
        #expect(history.output == "2023-11-14 22:13\tEmma\t0:00\t1:00\t1 min\t\n")
        #expect(history.errors.contains("no answer"))
        let stats = StatsReport(
            total: .init(server: 60, local: 0), streak: 1, days: [.init(date: "2026-11-21", server: 60, local: 0)],
            items: [], servers: ["ada@h"])
        await daemon.answers { _ in stats }
        #expect(try await dogear("stats", "--days", "1").output == "2026-11-21\t60\n")
        #expect(try await dogear("stats", "--json").output == (try json(stats)) + "\n")
        #expect(
            await daemon.asked == [.history(what: "abs:1/emma", limit: 5), .stats(days: 1), .stats(days: 30)])
        let folder = dogear.home.path + "/none/x.svg"
        let bad = try await dogear("stats", "--output", folder)
        #expect(bad.code == 1 && bad.errors.contains("cannot write"), "\(bad)")
    }

    @Test(arguments: [
        (SyncReport.Outcome.accepted, Int32(0)), (.refused, 1), (.signedOut, 3), (.unreachable, 4),
    ])
    func whatBecameOfTheRowsIsTheExitCode(_ outcome: SyncReport.Outcome, _ code: Int32) async throws {
        await daemon.answers { _ in
            SyncReport(rows: [
                .init(
                    id: "s-1", kind: "listening", item: Self.emma, account: "ada@h", at: 1, position: 725, listened: 65,
                    outcome: outcome, reason: outcome == .accepted ? nil : "a reason")
            ])
        }
        let outcome = try await dogear("sync", "--retry")
        #expect(outcome.code == code)
        #expect(outcome.output.contains("Emma — Jane Austen  1 min of listening, to 12:05: "))
        #expect(outcome.output.contains("a reason") == (code != 0))
        #expect(try await dogear("sync", "--json").code == code)
        #expect(await daemon.asked == [.sync(retry: true), .sync(retry: false)])
    }

    @Test func nothingIsGivenUpUnasked() async throws {
        await daemon.answers { _ in SyncReport() }
        #expect(try await dogear("sync").errors == "Everything is sent.\n")
        let unasked = try await dogear("sync", "--forget", "s-1")
        #expect(unasked.code == 64 && unasked.errors.contains("--yes"))
        #expect(try await dogear("sync", "--forget", "s-1", "--yes").code == 0)
        #expect(await daemon.asked == [.sync(retry: false), .forget(id: "s-1")])
    }

    @Test func theQueue() async throws {
        var row = ItemRow(item: Self.emma)
        (row.duration, row.position, row.progress) = (7200, 3600, 0.5)
        let report = QueueReport(items: [row])
        await daemon.answers { _ in report }
        #expect(try await dogear("queue").output == "1\tEmma\tJane Austen\t50%\t1 h\tabs:1/emma\n")
        #expect(try await dogear("queue", "--json").output == (try json(report)) + "\n")
        #expect(try await dogear("queue", "add", "abs:1/emma", "--next").code == 0)
        #expect(try await dogear("queue", "remove", "2").code == 0)
        #expect(try await dogear("queue", "move", "3", "1", "--json").code == 0)
        await daemon.answers { _ in QueueReport(items: []) }
        let empty = try await dogear("queue", "clear")
        #expect(empty.code == 0 && empty.output.isEmpty && empty.errors.contains("queue add"))
        #expect(
            await daemon.asked == [
                .queue, .queue, .queueAdd(what: "abs:1/emma", next: true), .queueRemove(2), .queueMove(3, to: 1),
                .queueClear,
            ])
    }

    @Test func filesAreNamedByTheirWholePath() async throws {
        try Data().write(to: URL(fileURLWithPath: dogear.home.path + "/a book.m4b"))
        _ = try await dogear("play", "a book.m4b")
        _ = try await dogear("play", "file://\(dogear.home.path)/a%20book.m4b")
        let command = Command.play(what: dogear.home.path + "/a book.m4b", at: "")
        #expect(await daemon.asked == [command, command])
    }

    @Test func wordsAreResolvedFirst() async throws {
        await daemon.answers { command in
            if case .resolve = command { ListReport(items: [ItemRow(item: Self.emma)]) } else { Self.playing }
        }
        let outcome = try await dogear("play", "jane", "austen")
        #expect(outcome.code == 0)
        #expect(await daemon.asked == [.resolve(what: "jane austen"), .play(what: "abs:1/emma", at: "")])
    }

    @Test func whereNobodyCanBeAskedSeveralAreAnError() async throws {
        await daemon.answers { _ in ListReport(items: [ItemRow(item: Self.emma), ItemRow(item: Self.emmaToo)]) }
        let outcome = try await dogear("play", "emma")
        #expect(outcome.code == 2)
        #expect(
            outcome.errors == """
                dogear: “emma” fits several; say which, by its id:
                  abs:1/emma  Emma — Jane Austen
                  abs:1/emma2  Emma [2J — J. Austen

                """)
    }

    @Test(arguments: ControlError.Kind.allCases) func errorsKeepTheirExitCode(_ kind: ControlError.Kind) async throws {
        await daemon.answers { _ in throw ControlError(kind, "a sentence") }
        let outcome = try await dogear("latest", "--json")
        #expect(outcome.code == kind.rawValue)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors == "dogear: a sentence\n")
    }

    @Test func emptyListsSayWhatToDo() async throws {
        await daemon.answers { _ in ListReport(items: []) }
        let shelf = try await dogear("continue")
        #expect(shelf.code == 0)
        #expect(shelf.output.isEmpty)
        #expect(shelf.errors.contains("dogear list"))
        let search = try await dogear("search", "nothing")
        #expect(search.code == 2)
        let machine = try await dogear("search", "nothing", "--json")
        #expect(machine.code == 2)
        #expect(machine.output == "{\"items\":[],\"page\":1,\"problems\":[],\"total\":null}\n")
    }

    @Test func secretsGoThroughThePipe() async throws {
        await daemon.answers { _ in
            AccountsReport(accounts: [
                .init(
                    id: "1", server: "https://books.example.org", user: "ada", login: "tokens", serverVersion: "2.30",
                    signedIn: true, unsent: 0)
            ])
        }
        let outcome = try await dogear(
            "login", "books.example.org", "--user", "ada", "--password-stdin", "--header", "X-Key: v:1",
            input: "pässword \r\n")
        #expect(outcome.code == 0)
        #expect(outcome.output.hasPrefix("Signed in to https://books.example.org as ada.\n"))
        let secrets = LoginSecrets(password: "pässword ", headers: ["X-Key": "v:1"])
        #expect(
            await daemon.asked == [.login(LoginRequest(address: "books.example.org", user: "ada", secrets: secrets))])
    }

    @Test func theDoctorsVerdictIsTheExitCode() async throws {
        await daemon.answers { _ in DoctorReport(checks: [.init("keyring", .warning, "locked", advice: "unlock it")]) }
        #expect(try await dogear("doctor").code == 0)
        await daemon.answers { _ in DoctorReport(checks: [.init("keyring", .bad, "none", advice: "install one")]) }
        let outcome = try await dogear("doctor")
        #expect(outcome.code == 1)
        #expect(outcome.output == "✗ keyring: none\n    install one\n")
    }

    @Test func whatCannotBeWrittenIsNoSuccess() async throws {
        let (null, full) = (try Child.open("/dev/null", O_RDWR), try Child.open("/dev/full", O_WRONLY))
        let errors = try Child.pipe()
        let process = try dogear.started(["status", "--json"], input: null, output: full, errors: errors.writer)
        for file in [null, full, errors.writer] { close(file) }
        var complaints = Child.lines(of: errors.reader).makeAsyncIterator()
        #expect(
            await complaints.next() == "dogear: standard output cannot be written: No space left on device")
        #expect(await process.ended() == 1)
    }

    @Test func followingShowsEachChangeAndEndsWithTheDaemon() async throws {
        let null = try Child.open("/dev/null", O_RDWR)
        let (output, errors) = (try Child.pipe(), try Child.pipe())
        let process = try dogear.started(
            ["status", "--follow"], input: null, output: output.writer, errors: errors.writer)
        for file in [null, output.writer, errors.writer] { close(file) }
        var lines = Child.lines(of: output.reader).makeAsyncIterator()
        var complaints = Child.lines(of: errors.reader).makeAsyncIterator()
        #expect(await lines.next() == "Nothing is loaded.")
        try await daemon.emit("Changed", Self.playing)
        #expect(
            await lines.next()
                == "Playing  Emma — Jane Austen  chapter 2/55 “Chapter II”  2:05 / 10:00  (12:05 of 16:40:00)")
        await daemon.leave()
        #expect(await lines.next() == nil)
        #expect(await complaints.next() == "The daemon has left.")
        #expect(await process.ended() == 0)
    }

    @Test func logsOfTheRunningDaemon() async throws {
        let row = LogsReport.Row(
            time: 1_700_000_000_123, level: "warning", room: "Sync", message: "sent later", facts: ["n": "2"])
        await daemon.answers { _ in LogsReport(records: [row]) }
        let outcome = try await dogear("logs", "--level", "warning")
        #expect(outcome.output == "2023-11-14 22:13:20.123  warning  Sync        sent later  n=2\n")
        #expect(await daemon.asked == [.logs(level: "warning", limit: 100)])
    }

    @Test func withoutAHomeNoDaemonIsStarted() async throws {
        await daemon.leave()
        let outcome = try await Program(home: dogear.home, bus: bus.address, isHomeless: true)("status")
        #expect(outcome.code == 1 && outcome.errors.contains("HOME holds an absolute path"), "\(outcome)")
    }

    @Test func logsWithoutADaemonComeFromTheFileAndStartNone() async throws {
        await daemon.leave()
        let folder = dogear.home.path + "/.local/state/dogear"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Later than anything in this computer's own journal.
        let row = LogsReport.Row(time: 4_102_444_800_123, level: "error", room: "Store", message: "full", facts: [:])
        try Data((LogText.line(row) + "\nIllegal instruction\n").utf8).write(
            to: URL(fileURLWithPath: folder + "/dogear.log"))
        let outcome = try await dogear("logs")
        #expect(outcome.code == 0)
        #expect(
            outcome.output.hasSuffix(
                """
                2100-01-01 00:00:00.123  error    Store       full
                2100-01-01 00:00:00.123  warning  stderr      Illegal instruction

                """))
        #expect(await daemon.asked.isEmpty)
    }
}
