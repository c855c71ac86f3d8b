import Control
import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

/// The interactive view at a pseudo-terminal, against a daemon that is made up.
@Suite(.enabled(if: PrivateBus.isPossible)) struct ViewTests {
    let home: Program.Home
    let bus: PrivateBus
    let daemon: FakeDaemon

    init() async throws {
        home = try Program.Home()
        bus = try PrivateBus(in: home)
        daemon = try await FakeDaemon(on: bus.address)
        await daemon.answers(Self.answer)
    }

    static let emma = ItemHead(id: "abs:1/emma", title: "Emma", authors: ["Jane Austen"], kind: "book")

    static func status(_ title: String = "Emma", state: StatusReport.State = .paused) -> StatusReport {
        var report = StatusReport()
        report.state = state
        report.item = ItemHead(id: "abs:1/emma", title: title, authors: ["Jane Austen"], kind: "book")
        report.chapter = ChapterRow(index: 2, title: "Chapter II", start: 600, end: 1200)
        report.chapters = 3
        (report.position, report.duration, report.queued) = (725, 1800, 2)
        return report
    }

    static func row(_ title: String) -> ItemRow {
        var row = ItemRow(item: ItemHead(id: "abs:1/\(title)", title: title, authors: ["Somebody"], kind: "book"))
        (row.duration, row.position, row.progress) = (7200, 3600, 0.5)
        return row
    }

    @Sendable static func answer(_ command: Command) throws -> any Encodable {
        switch command {
        case .chapters:
            return ChaptersReport(
                item: emma,
                chapters: (1...3).map {
                    ChapterRow(
                        index: $0, title: "Chapter " + String(repeating: "I", count: $0), start: Double($0 - 1) * 600,
                        end: Double($0) * 600)
                }, current: 2)
        case .continueListening: return ListReport(items: [row("Begun"), row("Half")])
        case .latest(_, let page):
            return ListReport(items: page == 1 ? [row("New one")] : [], page: page)
        case .libraries:
            return LibrariesReport(libraries: [.init(id: "lib", name: "Fiction", mediaType: "book", account: "ada@h")])
        case .browse(let request):
            let first = (request.page - 1) * request.limit
            return ListReport(
                items: (first..<min(5000, first + request.limit)).map { row("Title \($0 + 1)") }, total: 5000,
                page: request.page)
        case .search(let words, _): return ListReport(items: [row("Found \(words)")], total: 1)
        case .queue, .queueAdd, .queueRemove, .queueMove:
            return QueueReport(items: [row("Next up"), row("After that")])
        case .settings: return SettingsReport(settings: [], problems: [])
        case .logs:
            return LogsReport(records: [
                .init(time: 1_700_000_000_000, level: "info", room: "Daemon", message: "ready", facts: [:]),
                .init(time: 1_700_000_001_000, level: "warning", room: "Sync", message: "sent later", facts: [:]),
            ])
        case .show: return ShowReport(row: row("Shown"))
        default: return status()
        }
    }

    private func environment(_ more: [String: String] = [:]) -> [String: String] {
        let base = [
            "HOME": home.path, "PATH": "/usr/bin:/bin", "TZ": "UTC", "TERM": "xterm-256color", "LANG": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": bus.address,
        ]
        return base.merging(more) { $1 }
    }

    private func view(
        _ arguments: String..., columns: Int = 80, rows: Int = 24, variables: [String: String] = [:]
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            TestSupport.Child.built("dogear"), arguments, environment: environment(variables), columns: columns,
            rows: rows)
    }

    /// As it was found: cooked, on the main screen, with a cursor, without mouse and pastes.
    private func isAsFound(_ terminal: PseudoTerminal) async throws {
        try await terminal.until("the terminal as it was found") {
            terminal.modes == terminal.found && !$0.isAlternate && $0.modes == [7, 25]
        }
    }

    private func asked(_ what: String, _ fits: @Sendable (Command) -> Bool) async throws {
        try await until("what is asked: \(what)") { await daemon.asked.contains(where: fits) }
    }

    @Test func everyPageIsShown() async throws {
        let terminal = try view()
        let player = try await terminal.shows("Chapter III")
        #expect(player.text.contains("Jane Austen") && player.text.contains("2:05 ━"))
        #expect(player.text.contains("12:05 ━") && player.text.contains("▶ 2  Chapter II "))
        #expect(player.lines[0].contains("4 Queue (2)"))
        #expect(player.isAlternate && !player.modes.contains(25) && player.modes.isSuperset(of: [1000, 1006, 2004]))
        #expect(!terminal.modes.isCooked)
        for (key, text) in [
            ("1", "Half"), ("2", "New one"), ("3", "Title 12"), ("4", "After that"), ("5", "Chapter III"),
            ("6", "sent later"), ("?", "pause, or go on"),
        ] {
            terminal.type(key)
            let screen = try await terminal.shows(text)
            #expect(screen.unknown.isEmpty, "\(screen.unknown)")
        }
        terminal.type("\u{1B}")
        try await terminal.until("the help is gone") { !$0.text.contains("pause, or go on") }
        terminal.type("n q")
        #expect(try await terminal.end() == 0)
        try await isAsFound(terminal)
        // What was typed before it left has reached the daemon.
        try await asked("toggle") { $0 == .toggle }
    }

    @Test func keysAndTheMouseAsk() async throws {
        let terminal = try view("view")
        try await terminal.shows("Chapter III")
        for (keys, command) in [
            (" ", Command.toggle), ("n", .next), ("\u{1B}[D", .seek("-15")), ("l", .seek("+30")), ("]", .speed(1.1)),
            ("-", .volume(0.95)), ("u", .undo(what: "")), ("j\r", .seek("chapter:3")),
        ] {
            terminal.type(keys)
            try await asked("\(command)") { $0 == command }
        }
        // The line of the whole book, in its middle.
        let line = try #require(terminal.screen.lines.lastIndex { $0.contains("30:00") && $0.contains("━") })
        terminal.click(40, line)
        try await asked("a seek near the middle") {
            if case .seek(let place) = $0 { place.hasPrefix("14:") || place.hasPrefix("15:") } else { false }
        }
        let queue = try #require(terminal.screen.lines[0].range(of: "4 Queue"))
        terminal.click(
            terminal.screen.lines[0].distance(from: terminal.screen.lines[0].startIndex, to: queue.lowerBound), 0)
        try await terminal.shows("After that")
        terminal.type("x")
        try await asked("remove") { $0 == .queueRemove(1) }
        terminal.type("J")
        try await asked("move") { $0 == .queueMove(1, to: 2) }
        terminal.type("1")
        try await terminal.shows("Half")
        terminal.type("ja")
        try await asked("add") { $0 == .queueAdd(what: "abs:1/Half", next: false) }
        terminal.type("A")
        try await asked("add next") { $0 == .queueAdd(what: "abs:1/Half", next: true) }
        terminal.type("\r")
        try await asked("play") { $0 == .play(what: "abs:1/Half", at: "") }
        terminal.type("f")
        try await asked("finish") { $0 == .finish(what: "abs:1/Half") }
    }

    @Test func theLatestWordsWin() async throws {
        let terminal = try view()
        terminal.type("/")
        try await terminal.shows("1 Continue")
        terminal.type("/hob")
        terminal.type("\u{1B}[200~bit\nand\u{1B}[31m more\u{1B}[201~")
        try await terminal.shows("Found /hobbit and [31m more")
        let searches = await daemon.asked.filter { if case .search = $0 { true } else { false } }
        #expect(searches.last == .search(words: "/hobbit and [31m more", limit: 100))
        terminal.type("\u{1B}")
        try await terminal.shows("Title 1 ")
    }

    @Test func fiveThousandItemsAreReadAsTheyComeIntoSight() async throws {
        let terminal = try view()
        terminal.type("3")
        try await terminal.shows("5000 items")
        try await terminal.shows("Title 10 ")
        terminal.type("G")
        try await terminal.shows("Title 5000")
        let pages = await daemon.asked.compactMap { command -> Int? in
            if case .browse(let request) = command { request.page } else { nil }
        }
        #expect(Set(pages) == [1, 100])
        terminal.type("\u{1B}[<64;10;10M")
        try await terminal.shows("Title 4982")
    }

    @Test(arguments: [(40, 10), (300, 100), (20, 4), (1, 1), (80, 24)])
    func itFitsAnyScreen(_ columns: Int, _ rows: Int) async throws {
        let terminal = try view()
        try await terminal.shows("Chapter III")
        terminal.resize(columns: columns, rows: rows)
        for key in ["1", "2", "3", "4", "6", "?", "\u{1B}", "5"] { terminal.type(key) }
        if columns >= 40 {
            try await terminal.until("the player, drawn anew") {
                $0.lines[0].contains("5 Player") && $0.text.contains("Emma") && !$0.text.contains("pause, or go on")
            }
        }
        terminal.resize(columns: 80, rows: 24)
        try await terminal.shows("3  Chapter III")
        #expect(terminal.screen.unknown.isEmpty)
        terminal.type("q")
        #expect(try await terminal.end() == 0)
    }

    @Test func hostileTitlesDoNothing() async throws {
        let evil =
            "\u{1B}]0;pwned\u{7}\u{1B}[2J\u{9B}31m\u{202E}live\u{2066}\r\nnext"
            + String(repeating: "\u{301}", count: 300)
        await daemon.answers { command in
            switch command {
            case .status: return Self.status(evil)
            case .continueListening: return ListReport(items: [Self.row(evil), Self.row("Fine")], problems: [evil])
            case .logs:
                return LogsReport(records: [
                    .init(time: 1, level: "info", room: "Sync", message: "said \(evil)", facts: [evil: evil])
                ])
            default: return try Self.answer(command)
            }
        }
        let terminal = try view()
        for (key, text) in [("5", "live"), ("1", "Fine"), ("6", "said"), ("\r", "Log line")] {
            terminal.type(key)
            let screen = try await terminal.shows(text)
            #expect(screen.unknown.isEmpty, "\(screen.unknown)")
            #expect(!screen.text.unicodeScalars.contains { [0x202E, 0x2066, 0x9B].contains($0.value) })
        }
    }

    @Test func nothingIsWrittenWhileNothingChanges() async throws {
        let terminal = try view()
        try await terminal.shows("Chapter III")
        let before = try await terminal.until("all is there") { $0.text.contains("Chapter III") }.frames
        for _ in 0..<50 { try await daemon.emit("Changed", Self.status()) }
        try await daemon.emit("Changed", Self.status("Persuasion"))
        #expect(try await terminal.shows("Persuasion").frames == before + 1)
    }

    @Test func itFollowsAndItsClockGoesOn() async throws {
        let terminal = try view()
        try await terminal.shows("Chapter III")
        try await daemon.emit("Changed", Self.status(state: .playing))
        func clocks(_ text: String) -> [Substring] { text.split(separator: "\n").filter { $0.contains("━") } }
        let begun = clocks(try await terminal.shows("Playing").text)
        // Between signals by its own clock.
        try await terminal.until("its clocks have gone on") { clocks($0.text) != begun }
        var later = Self.status(state: .buffering)
        (later.position, later.error) = (1300, "the server does not answer")
        try await daemon.emit("Changed", later)
        try await terminal.shows("! the server does not answer")
        #expect(terminal.text.contains("Buffering") && terminal.text.contains("21:40"))
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGSEGV])
    func aSignalLeavesTheTerminalAsItWas(_ signal: Int32) async throws {
        let terminal = try view()
        try await terminal.shows("Chapter III")
        terminal.send(signal)
        #expect(try await terminal.end() == -signal)
        try await isAsFound(terminal)
    }

    @Test func stoppedAndContinuedItIsThereAgain() async throws {
        let script = """
            set -m; "$0" view; echo "stopped: $?"; stty -a | grep -o ' echo '; read line; echo "typed $line"; fg; echo "over: $?"
            """
        let terminal = try PseudoTerminal(
            "/bin/sh", ["-c", script, TestSupport.Child.built("dogear")], environment: environment())
        try await terminal.shows("Chapter III")
        terminal.type("\u{1A}")
        let shell = try await terminal.shows("stopped: ")
        #expect(!shell.isAlternate && shell.modes == [7, 25])
        terminal.type("in between\n")
        try await terminal.until("the view again") { $0.isAlternate && $0.text.contains("Chapter III") }
        terminal.resize(columns: 70, rows: 20)
        terminal.type("1")
        try await terminal.shows("Half")
        terminal.type("\u{3}")
        let screen = try await terminal.shows("over: 0")
        #expect(screen.text.contains("typed in between") && screen.lines.contains(" echo"))
        #expect(!screen.isAlternate && screen.modes == [7, 25])
    }

    @Test func stoppedWithoutBeingAskedItDrawsAnew() async throws {
        let terminal = try view()
        let before = try await terminal.shows("Chapter III")
        terminal.send(SIGSTOP)
        terminal.send(SIGCONT)
        try await terminal.until("a frame more") { $0.frames > before.frames }
        #expect(terminal.text == before.text)
        terminal.type("1")
        try await terminal.shows("Half")
    }

    @Test func withoutItsDaemonItWaitsForTheNext() async throws {
        let terminal = try view()
        try await terminal.shows("Chapter III")
        await daemon.leave()
        try await terminal.shows("The daemon does not run.")
        terminal.type("1")
        try await terminal.shows("Begun")
        let next = try await FakeDaemon(on: bus.address)
        await next.answers { command in
            if case .status = command { return Self.status("Another") }
            return try Self.answer(command)
        }
        try await next.emit("Changed", Self.status("Another"))
        try await terminal.shows("Another")
        try await terminal.until("no more complaint") { !$0.text.contains("does not run") }
        await next.leave()
    }

    @Test func aDaemonThatLeavesAsTheViewOpensIsMissed() async throws {
        await daemon.answers { [daemon] command in
            // The answer still goes out; nobody follows the name yet.
            if case .status = command { Task { @LoopActor in daemon.leave() } }
            return try Self.answer(command)
        }
        let terminal = try view()
        try await terminal.shows("The daemon does not run.")
        #expect(terminal.text.contains("Emma"))
    }

    @Test func linesOfTheLogAreCopied() async throws {
        let terminal = try view()
        terminal.type("6")
        try await terminal.shows("sent later")
        terminal.type("y")
        let clipboard = try #require(try await terminal.until("a copy") { $0.clipboard != nil }.clipboard)
        let text = String(decoding: try #require(Data(base64Encoded: clipboard)), as: UTF8.self)
        #expect(text.split(separator: "\n").count == 2 && text.contains("sent later"))
        terminal.type("e")
        try await terminal.shows("from notice on")
        try await terminal.until("only warnings") { !$0.text.contains("ready") }
        terminal.type("c")
        try await terminal.until("nothing") { !$0.text.contains("sent later") }
        try await daemon.emit(
            "Logged",
            LogsReport.Row(time: 1_800_000_000_000, level: "error", room: "Sync", message: "new one", facts: [:]))
        try await terminal.shows("new one")
    }

    @Test func coloursAreTheTerminalsOwn() async throws {
        let plain = try view(variables: ["NO_COLOR": "1"])
        let colourful = try view()
        try await plain.shows("Chapter III")
        try await colourful.shows("Chapter III")
        func codes(_ terminal: PseudoTerminal) -> Set<String> {
            Set(terminal.screen.styles.joined().flatMap { $0.split(separator: ";").map(String.init) })
        }
        #expect(codes(plain).isSubset(of: ["0", "1", "2", "4", "7"]))
        #expect(codes(colourful).contains("36") && !codes(colourful).contains("38"))
        #expect(plain.text == colourful.text)
    }

    // MARK: In lines

    @Test func inLinesNothingMoves() async throws {
        let terminal = try view("--plain", columns: 120)
        try await terminal.shows(
            "Paused: Emma — Jane Austen, chapter 2/3 “Chapter II”, 12:05 of 30:00, 2 in the queue.")
        try await terminal.shows("quit leaves")
        #expect(terminal.modes == terminal.found)
        terminal.type("2\n")
        try await terminal.shows("2. Half — Somebody, 50% heard, 1 h left")
        terminal.type("2\n")
        try await asked("play") { $0 == .play(what: "abs:1/Half", at: "") }
        terminal.type("add 1 next\nspeed 1.5\nback\nnonsense\n")
        try await terminal.shows("means nothing here")
        let asked = await daemon.asked
        #expect(asked.contains(.queueAdd(what: "abs:1/Begun", next: true)))
        #expect(asked.contains(.speed(1.5)) && asked.contains(.seek("-15")))
        try await daemon.emit("Changed", Self.status(state: .playing))
        try await terminal.shows("Playing: Emma")
        #expect(terminal.screen.unknown.isEmpty && terminal.screen.frames == 0)
        #expect(terminal.screen.styles.joined().allSatisfy { $0 == "0" })
        terminal.type("\u{4}")
        #expect(try await terminal.end() == 0)
    }

    @Test func aDumbTerminalGetsLinesAndAPipeMayAsk() async throws {
        let terminal = try view(variables: ["TERM": "dumb"])
        try await terminal.shows("quit leaves")
        let dogear = Program(home: home, bus: bus.address)
        let outcome = try await dogear("view", "--plain", input: "search emma\npause\n")
        #expect(outcome.code == 0 && outcome.output.contains("1. Found emma — Somebody"))
        let asked = await daemon.asked
        let search = try #require(asked.firstIndex(of: .search(words: "emma", limit: 100)))
        #expect(asked[search...].contains(.pause), "one after the other")
        let refused = try await dogear("view")
        #expect(refused.code == 64 && refused.errors.contains("--plain"))
    }
}
