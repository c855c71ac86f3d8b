import Control
import Terminal
import Testing

struct MarkLinesTests {
    private let hobbit = ItemHead(id: "abs:1/h", title: "The Hobbit", authors: ["J. R. R. Tolkien"], kind: "book")

    private func row(
        _ number: Int, _ time: Double, _ title: String, unsent: Bool = false, refused: String? = nil,
        of item: ItemHead? = nil
    ) -> BookmarksReport.Row {
        .init(
            number: number, item: item ?? hobbit, time: time, title: title, chapter: "A Short Rest", created: 0,
            kept: "server", unsent: unsent, refused: refused)
    }

    private func text(_ lines: [String]) -> String { lines.joined(separator: "\n") }

    @Test func bookmarksOnATerminal() {
        let report = BookmarksReport(
            item: hobbit,
            bookmarks: [
                row(1, 5, "Run\u{1B}[31mes"), row(2, 5025, "Elrond", unsent: true), row(3, 6000, "x", refused: "no"),
            ])
        #expect(
            text(report.lines(on: Surface(columns: 80)))
                == """
                      TIME  TITLE       CHAPTER       KEPT
                1     0:05  Run [31mes  A Short Rest
                2  1:23:45  Elrond      A Short Rest  not sent yet
                3  1:40:00  x           A Short Rest  refused: no
                """)
    }

    @Test func hostileTitlesMakeNoMarkdown() {
        var item = hobbit
        item.title = "# <script>\n* \u{202E}evil"
        let report = BookmarksReport(
            item: item,
            bookmarks: [row(1, 5, "[a](javascript:x) `b` _c_ d-e", of: item), row(2, 9, "1984. Mr. Baggins", of: item)])
        #expect(
            report.markdown == """
                # \\# \\<script\\> \\* evil

                J. R. R. Tolkien

                - **0:05** \\[a\\](javascript:x) \\`b\\` \\_c\\_ d-e (A Short Rest)
                - **0:09** 1984\\. Mr. Baggins (A Short Rest)

                """)
        #expect(BookmarksReport(item: nil, bookmarks: []).markdown == "")
    }

    @Test func thoseOfEverythingAreGrouped() {
        var emma = hobbit
        (emma.id, emma.title, emma.authors) = ("file:1", "Emma", [])
        let report = BookmarksReport(item: nil, bookmarks: [row(1, 5, "a"), row(2, 6, "b"), row(1, 7, "c", of: emma)])
        let lines = report.lines(on: Surface())
        #expect(lines.count == 5 && lines[0] == "The Hobbit — J. R. R. Tolkien" && lines[3] == "Emma")
        #expect(report.markdown.components(of: "# ") == 2)
    }

    @Test func whatWasDone() {
        func first(_ outcome: BookmarkReport.Outcome, unsent: Bool = false) -> [String] {
            BookmarkReport(outcome, row(2, 65, "Elrond", unsent: unsent)).lines(on: Surface())
        }
        #expect(first(.made) == ["The Hobbit — J. R. R. Tolkien", "Bookmark 2 at 1:05: “Elrond”"])
        #expect(first(.renamed)[1] == "Bookmark 2 at 1:05 is now called “Elrond”")
        #expect(first(.removed)[1] == "Removed: the bookmark at 1:05, “Elrond”")
        #expect(first(.unchanged)[1] == "There is a bookmark at 1:05: 2, “Elrond”")
        #expect(first(.made, unsent: true)[2].contains("sent when it answers"))
    }

    @Test func historyOnATerminal() {
        let report = HistoryReport(rows: [
            .init(
                started: 1_700_000_000_000, ended: 1_700_000_600_000, item: hobbit, from: 60, to: 660, listened: 600,
                source: "here"),
            .init(
                started: 1_699_900_000_000, ended: 1_699_900_600_000, item: hobbit, from: 0, to: 60, listened: 45,
                source: "server", device: "Phone"),
        ])
        #expect(
            text(report.lines(on: Surface(columns: 80))) == """
                TIME              TITLE       FROM     TO  LISTENED  WITH
                2023-11-14 22:13  The Hobbit  1:00  11:00    10 min
                2023-11-13 18:26  The Hobbit  0:00   1:00      45 s  Phone
                """)
    }

    // MARK: Statistics

    private func stats(_ seconds: [Double], local: Double = 0, servers: [String] = []) -> StatsReport {
        var days = seconds.enumerated().map { index, value in
            StatsReport.DayRow(date: "2026-11-\(index < 9 ? "0" : "")\(index + 1)", server: value, local: 0)
        }
        if local > 0 { days[days.count - 1].local = local }
        return StatsReport(
            total: .init(server: 90_000, local: 0), streak: 3,
            days: days.map { .init(date: $0.date, server: $0.server, local: $0.local) },
            items: [.init(item: hobbit, server: 5400, local: 0)], servers: servers)
    }

    @Test func statisticsOnATerminal() {
        #expect(
            text(stats([0, 1800, 3600, 60]).lines(on: Surface(columns: 80)))
                == """
                The last 4 days  1 h 31 min, 3 days in a row
                In all: 25 h

                       1 h       ██
                                 ██
                                 ██
                              ██ ██
                              ██ ██
                         0    ██ ██ ▁▁
                           11-01  11-04

                  LISTENED  TITLE
                1 h 30 min  The Hobbit — J. R. R. Tolkien
                """)
    }

    @Test func withoutUnicodeTheChartIsOfHashes() {
        let lines = stats([0, 1800, 3600, 60]).lines(on: Surface(columns: 80, isASCII: true))
        let chart = lines[3...9].joined()
        #expect(chart.contains("##") && chart.utf8.allSatisfy { $0 < 128 })
    }

    @Test(arguments: [1, 2, 30, 69, 70, 365, 3660], [20, 40, 80, 200])
    func theChartFitsAndKeepsEverything(_ days: Int, _ columns: Int) {
        let report = StatsReport(
            total: .init(server: 0, local: 0), streak: 0,
            days: (0..<days).map { .init(date: "2026-11-21", server: Double($0 % 7) * 600, local: 5) }, items: [],
            servers: [])
        for line in report.lines(on: Surface(columns: columns)).dropFirst(3) {
            #expect(Width.of(line) <= max(columns, 20), "\(line)")
        }
    }

    @Test func nothingListenedToIsNoChart() {
        let lines = stats([0, 0]).lines(on: Surface(columns: 80))
        #expect(lines.prefix(3) == ["The last 2 days  0 s, 3 days in a row", "In all: 25 h", ""] && lines.count == 5)
    }

    @Test func inAPipeEveryDayIsALine() {
        #expect(stats([0, 90.5]).lines(on: Surface()) == ["2026-11-01\t0", "2026-11-02\t90.5"])
    }

    @Test func whoCountedIsTold() {
        let lines = stats([3600], local: 120, servers: ["ada@books.example.org"]).lines(on: Surface(columns: 80))
        #expect(lines.last == "Counted by ada@books.example.org; 2 min only here.")
    }

    @Test func thePictureIsWellFormedWhateverTheTitles() {
        var report = stats([1800, 3600, 0], local: 90, servers: ["ada@<b>&\"'"])
        report.items[0].item.title = "</text><script>alert(1)</script> & \u{1B}[31m \"quoted\" 'x'"
        let svg = report.svg
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        #expect(!svg.contains("<script") && !svg.contains("\u{1B}") && svg.contains("&lt;/text&gt;"))
        #expect(svg.contains("prefers-color-scheme: dark"))
        #expect(
            svg.components(of: "class=\"server\"") == 3 && svg.components(of: "class=\"local\"") == 2, "with a legend")
        #expect(svg.components(of: "<text") == svg.components(of: "</text>"))
        #expect(svg.components(of: "<rect") == svg.components(of: "</rect>") + 3, "the page and the legend")
    }
}

extension String {
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
