import Control
import Terminal
import Testing

/// What people see, letter by letter: in a pipe and on terminals of several widths.
struct LinesTests {
    let pipe = Surface()

    func terminal(_ columns: Int) -> Surface { Surface(columns: columns) }
    func text(_ lines: [String]) -> String { lines.joined(separator: "\n") }

    var playing: StatusReport {
        var report = StatusReport()
        report.state = .playing
        report.item = ItemHead(id: "abs:1/h", title: "The Hobbit", authors: ["J. R. R. Tolkien"], kind: "book")
        report.chapter = ChapterRow(index: 3, title: "A Short Rest", start: 4300, end: 7780)
        report.chapters = 12
        report.position = 5025
        report.duration = 35940
        return report
    }

    @Test func statusInAPipe() {
        #expect(
            text(playing.lines(on: pipe)) == """
                Playing  The Hobbit — J. R. R. Tolkien
                         chapter 3/12 “A Short Rest”   12:05 / 58:00  (1:23:45 of 9:59:00)
                """)
    }

    @Test func statusOnATerminal() {
        var report = playing
        report.state = .paused
        report.rate = 1.25
        report.volume = 0.4
        report.sleep = SleepRow(kind: "time", left: 720)
        report.unsent = 2
        report.error = "cannot reach\u{1B}[0m books.example.org"
        #expect(
            text(report.lines(on: terminal(80))) == """
                Paused  The Hobbit — J. R. R. Tolkien
                        chapter 3/12 “A Short…   ━─────────  12:05 / 58:00  (1:23:45 of 9:59:00)
                        1.25×, 6 h 52 min left · volume 40% · sleeps in 12 min · 2 not sent yet
                ! cannot reach [0m books.example.org
                """)
    }

    /// Which chapter it is counts for more than a bar.
    @Test func statusOnANarrowTerminal() {
        #expect(
            text(playing.lines(on: terminal(70))) == """
                Playing  The Hobbit — J. R. R. Tolkien
                         chapter 3/12 “A Short…   12:05 / 58:00  (1:23:45 of 9:59:00)
                """)
        #expect(
            text(playing.lines(on: terminal(40))) == """
                Playing  The Hobbit — J. R. R. Tolkien
                         chapter 3/12 “A Short Rest”
                         12:05 / 58:00 (1:23:45 of
                         9:59:00)
                """)
        for columns in 20...120 {
            #expect(playing.lines(on: terminal(columns)).allSatisfy { Width.of($0) <= max(columns, 30) }, "\(columns)")
        }
    }

    @Test func whatWaitsAndWhatWasRefusedAreTwoThings() {
        var report = playing
        (report.unsent, report.parked, report.queued) = (1, 2, 3)
        #expect(
            report.lines(on: pipe).last?.hasSuffix(
                "1 not sent yet · 2 refused, see 'dogear sync' · 3 in the queue") == true)
    }

    @Test func movesOnATerminal() {
        let item = ItemHead(id: "abs:1/h", title: "The Hobbit", authors: [], kind: "book")
        let report = MovesReport(moves: [
            .init(at: 1_700_000_000_000, item: item, from: 3723, to: 125, cause: "undo"),
            .init(at: 1_699_900_000_000, item: item, from: 125, to: 3723, cause: "seek", undone: true),
        ])
        let surface = Surface(columns: 80, now: 1_700_000_100_000)
        #expect(
            text(report.lines(on: surface)) == """
                TIME                 TITLE          FROM       TO  WHAT MOVED IT
                22:13:20             The Hobbit  1:02:03     2:05  undo
                2023-11-13 18:26:40  The Hobbit     2:05  1:02:03  a jump, undone
                """)
    }

    @Test(arguments: [
        (SleepRow(kind: "time", left: 720), "Sleeps in 12 min."),
        (SleepRow(kind: "chapter", left: 40, chapters: 1), "Sleeps in 40 s, with the chapter."),
        (SleepRow(kind: "chapter", left: 3600, chapters: 3), "Sleeps in 1 h, after 3 chapters."),
        (SleepRow(kind: "chapter", left: nil, chapters: 9), "Sleeps after 9 chapters."),
        (SleepRow(kind: "item", left: 7500), "Sleeps in 2 h 5 min, at the end."),
    ])
    func theSleepTimer(_ row: SleepRow, _ words: String) {
        #expect(SleepReport(sleep: row, playing: true).lines(on: pipe) == [words])
        #expect(SleepReport(sleep: row, playing: false).lines(on: pipe).last?.contains("stands still") == true)
    }

    @Test func aFadeIsToldWithItsWayOut() {
        let row = SleepRow(kind: "time", left: 9, fading: true)
        #expect(
            SleepReport(sleep: row, playing: true).lines(on: pipe) == [
                "Sleeps in 9 s.", "The sound fades: 'dogear sleep +10m' or any key puts it off.",
            ])
        #expect(SleepReport(sleep: nil, playing: true).lines(on: pipe) == ["No sleep timer is set."])
        var report = playing
        report.sleep = row
        #expect(report.lines(on: pipe).last?.hasSuffix("sleeps in 9 s, the sound fades") == true)
    }

    @Test func rowsOfASync() {
        let item = ItemHead(id: "abs:1/h", title: "The Hobbit", authors: [], kind: "book")
        let report = SyncReport(rows: [
            .init(id: "a", kind: "listening", item: item, account: nil, at: 0, position: 125, listened: 720),
            .init(
                id: "abs:1/h", kind: "finish", item: item, account: nil, at: 0, position: 125, listened: nil,
                outcome: .refused, reason: "no permission"),
            .init(
                id: "b", kind: "place", item: item, account: nil, at: 0, position: 125, listened: nil,
                outcome: .unreachable, reason: "cannot reach it", again: 30),
        ])
        #expect(
            text(report.lines(on: pipe)) == """
                ✓ The Hobbit  12 min of listening, to 2:05: accepted
                ✗ The Hobbit  finished: refused
                    no permission  (abs:1/h)
                ! The Hobbit  the place 2:05: not sent yet
                    cannot reach it; tried again in 30 s
                What was refused is kept: 'dogear sync --retry' sends it again, 'dogear sync --forget ID' gives it up.
                """)
    }

    @Test func theQueueOnATerminal() {
        var row = ItemRow(item: ItemHead(id: "abs:1/h", title: "The Hobbit", authors: ["Tolkien"], kind: "book"))
        row.duration = 7200
        #expect(
            text(QueueReport(items: [row, row]).lines(on: terminal(80))) == """
                   TITLE       BY       LEFT
                1  The Hobbit  Tolkien   2 h
                2  The Hobbit  Tolkien   2 h
                2 items, 4 h left
                """)
    }

    @Test func statusWithoutChaptersOrAnything() {
        var report = playing
        report.chapter = nil
        report.chapters = nil
        #expect(report.line(on: pipe) == "Playing  The Hobbit — J. R. R. Tolkien  1:23:45 of 9:59:00")
        #expect(StatusReport().line(on: pipe) == "Nothing is loaded.")
        #expect(StatusReport().lines(on: pipe).count == 1)
    }

    @Test func onlyAStyledTerminalGetsEscapes() {
        #expect(!text(playing.lines(on: terminal(80))).contains("\u{1B}"))
        #expect(playing.lines(on: Surface(columns: 80, styled: true))[0].hasPrefix("\u{1B}[1mPlaying\u{1B}[0m  The"))
    }

    var shelf: ListReport {
        var begun = ItemRow(item: ItemHead(id: "abs:1/a", title: "Emma", authors: ["Jane Austen"], kind: "book"))
        begun.duration = 60000
        begun.position = 25200
        begun.progress = 0.42
        begun.date = 1_700_000_000_000
        var done = ItemRow(
            item: ItemHead(id: "abs:1/b", title: "ノルウェイの森", authors: ["村上春樹"], kind: "book"), finished: true)
        done.duration = 3600
        done.date = 1_600_000_000_000
        var podcast = ItemRow(
            item: ItemHead(id: "abs:1/c", title: "A Very Long\nPodcast Title Indeed", authors: [], kind: "podcast"))
        podcast.episodes = 12
        return ListReport(items: [begun, done, podcast], total: 30)
    }

    @Test func listInAPipe() {
        #expect(
            text(shelf.lines(on: pipe)) == """
                Emma\tJane Austen\t42%\t9 h 40 min\t2023-11-14\t\tabs:1/a
                ノルウェイの森\t村上春樹\tfinished\t\t2020-09-13\t\tabs:1/b
                A Very Long Podcast Title Indeed\t\t\t12 episodes\t\t\tabs:1/c
                """)
    }

    @Test func listOnATerminal() {
        #expect(
            text(shelf.lines(on: terminal(80))) == """
                TITLE                      BY           HEARD                   LEFT  DATE
                Emma                       Jane Austen  ━━━━──────  42%   9 h 40 min  2023-11-14
                ノルウェイの森             村上春樹     finished                      2020-09-13
                A Very Long Podcast Titl…                                12 episodes
                page 1, 30 in all; more with --page 2 or --limit
                """)
    }

    @Test func listOnANarrowTerminal() {
        for line in shelf.lines(on: terminal(50)).dropLast() { #expect(Width.of(line) <= 50) }
        #expect(!text(shelf.lines(on: terminal(50))).contains("━"))
    }

    @Test func chapters() {
        let report = ChaptersReport(
            item: playing.item!,
            chapters: [
                ChapterRow(index: 1, title: "An Unexpected Party", start: 0, end: 2400),
                ChapterRow(index: 2, title: "", start: 2400, end: 4300),
            ], current: 2)
        #expect(
            text(report.lines(on: pipe)) == """
                The Hobbit — J. R. R. Tolkien
                \t1\tAn Unexpected Party\t0:00\t40 min
                ▶\t2\t\t40:00\t32 min
                """)
    }

    @Test func everythingAboutOne() {
        var row = shelf.items[0]
        row.item.narrators = ["Nadia May"]
        row.item.series = [SeriesRow(name: "Austen", sequence: "4")]
        var report = ShowReport(row: row)
        report.published = "1815"
        report.genres = ["Classics"]
        report.tracks = 1
        report.summary = "Handsome, clever, and rich.\n\n\nNearly twenty-one years."
        #expect(
            text(report.lines(on: pipe)) == """
                Emma
                Jane Austen, read by Nadia May
                Austen 4 · 1815 · Classics
                16 h 40 min · 1 file
                42%, 9 h 40 min left
                abs:1/a

                Handsome, clever, and rich.

                Nearly twenty-one years.
                """)
    }

    @Test func settingsSayAllAboutThemWhereverTheyAreShown() {
        let report = SettingsReport(
            settings: [
                .init(key: "a.b", value: "2", default: "1", meaning: "What it does", allowed: "1 to 3"),
                .init(key: "a.c", value: "x", default: "x", meaning: "What else it does", allowed: "x, y"),
            ], problems: [])
        #expect(
            report.lines(on: Surface(columns: 40)) == [
                "a.b = 2", "    What it does (1 to 3; normally 1)", "a.c = x", "    What else it does (x, y)",
            ])
        let wide = report.lines(on: Surface(columns: 200)).joined(separator: "\n")
        for word in ["USUALLY", "What it does", "1 to 3", "x, y"] { #expect(wide.contains(word)) }
        #expect(report.lines(on: Surface())[0].contains("What it does"))
    }

    @Test func doctor() {
        let report = DoctorReport(checks: [
            .init("keyring", .good, "unlocked"), .init("sound", .warning, "no device", advice: "plug one in"),
            .init("server", .bad, "cannot reach it", advice: "check the address"),
        ])
        #expect(
            text(report.lines(on: pipe)) == """
                ✓ keyring: unlocked
                ! sound: no device
                    plug one in
                ✗ server: cannot reach it
                    check the address
                """)
    }

    @Test func oneSettingAndAll() {
        let speed = SettingsReport.Row(
            key: "speed", value: "1.2", default: "1", meaning: "How fast books begin", allowed: "0.5 to 3.0")
        let report = SettingsReport(settings: [speed], problems: [])
        #expect(
            text(report.lines(on: pipe)) == "speed = 1.2\nHow fast books begin (0.5 to 3.0; normally 1)")
    }

    @Test func logLineInTheListenersTime() {
        let row = LogsReport.Row(
            time: 1_700_000_000_123, level: "warning", room: "Sync", message: "sent\tlater",
            facts: ["n": "2", "a": "b c"])
        let surface = Surface(secondsEastOfUTC: { _ in 3600 })
        #expect(row.line(on: surface) == "2023-11-14 23:13:20.123  warning  Sync        sent later  a=\"b c\" n=2")
    }

    @Test func dates() {
        func date(_ time: Int64) -> String {
            let row = LogsReport.Row(time: time, level: "info", room: "", message: "", facts: [:])
            return String(row.line(on: pipe).prefix(23))
        }
        #expect(date(0) == "1970-01-01 00:00:00.000")
        #expect(date(-1) == "1969-12-31 23:59:59.999")
        #expect(date(951_782_400_000) == "2000-02-29 00:00:00.000")
        #expect(date(4_107_542_399_999) == "2100-02-28 23:59:59.999")
        #expect(date(.max).hasPrefix("9000-01-01"))
        #expect(date(.min).hasPrefix("1900-01-01"))
    }

    @Test func figures() {
        #expect(
            [0.0, 0.001, 0.42, 0.999, 1, .nan, 7].map(Figures.percent) == [
                "0%", "1%", "42%", "99%", "100%", "0%", "100%",
            ])
        #expect([1.0, 1.25, 0.5, 1.1].map(Figures.speed) == ["1×", "1.25×", "0.5×", "1.1×"])
        #expect([0.0, 0.01, 0.99, 1].map { pipe.bar($0, columns: 4) } == ["────", "━───", "━━━─", "━━━━"])
    }
}
