import Control
import DBus
import FoundationEssentials
import Screen
import Terminal
import TestSupport
import Testing

@testable import View

/// The view without a terminal and without a daemon: what it asks for and what it shows.
@Suite struct ViewStateTests {
    private static func json(_ report: some Encodable) -> String {
        String(decoding: (try? JSONEncoder().encode(report)) ?? Data(), as: UTF8.self)
    }

    private static func row(_ title: String, kind: String = "book") -> ItemRow {
        var row = ItemRow(item: ItemHead(id: "abs:1/\(title)", title: title, authors: ["Somebody"], kind: kind))
        row.duration = 3600
        return row
    }

    private static func playing(at position: Double = 10, rate: Double = 1) -> StatusReport {
        var report = StatusReport()
        report.state = .playing
        report.item = ItemHead(id: "abs:1/emma", title: "Emma", authors: ["Jane Austen"], kind: "book")
        (report.position, report.duration, report.rate) = (position, 3600, rate)
        return report
    }

    /// A view with a daemon; what it asked for at first is dropped.
    private func connected(_ status: StatusReport = StatusReport(), columns: Int = 80, rows: Int = 24) -> ViewState {
        var view = ViewState(
            size: Size(columns: columns, rows: rows), surface: Surface(now: 1_700_000_000_000), pictures: .blocks)
        _ = view.handle(.appeared, at: 0)
        _ = view.handle(.answered(.status, .success(Self.json(status))), at: 0)
        return view
    }

    private func press(_ view: inout ViewState, _ keys: String, at now: Int64 = 0) -> [ViewRequest] {
        keys.flatMap { view.handle(.input(.key($0 == "\r" ? .enter : .text($0))), at: now) }
    }

    private func shown(_ view: ViewState, at now: Int64 = 0) -> String {
        let frame = view.draw(at: now).frame
        return (0..<frame.size.rows).map(frame.line).joined(separator: "\n")
    }

    private func questions(_ requests: [ViewRequest]) -> [Question] {
        requests.compactMap { if case .ask(let question) = $0 { question } else { nil } }
    }

    @Test func oneSearchAtATimeAndTheLatestWordsWin() {
        var view = connected()
        _ = press(&view, "/")
        #expect(questions(press(&view, "h")) == [.search("h")])
        // While the answer is on its way nothing more is asked.
        #expect(questions(press(&view, "obbit")).isEmpty)
        let late = ListReport(items: [Self.row("Tardy")])
        let next = view.handle(.answered(.search("h"), .success(Self.json(late))), at: 0)
        #expect(questions(next) == [.search("hobbit")])
        let answer = ListReport(items: [Self.row("The Hobbit")])
        #expect(view.handle(.answered(.search("hobbit"), .success(Self.json(answer))), at: 0).isEmpty)
        #expect(shown(view).contains("The Hobbit") && !shown(view).contains("Tardy"))
        // One that fails does not stop the next.
        #expect(questions(press(&view, "s")) == [.search("hobbits")])
        _ = press(&view, "x")
        let error = ControlError(.failed, "no index")
        #expect(questions(view.handle(.answered(.search("hobbits"), .failure(error)), at: 0)) == [.search("hobbitsx")])
    }

    /// A second `f` takes the first one back, whatever the daemon lists without what is finished.
    @Test func whatWasFinishedStaysChosen() throws {
        let rows = ["Emma", "Persuasion", "Sanditon"].map { Self.row($0) }
        var rest = ListReport(items: [rows[0], rows[2]])
        rest.page = 1
        for tab in ["1", "2", "3/a\r"] {
            var view = connected()
            var asked = questions(press(&view, tab))
            asked += view.underWay
            for question in Set(asked) {
                switch question {
                case .continued, .latest, .search:
                    _ = view.handle(.answered(question, .success(Self.json(ListReport(items: rows)))), at: 0)
                default: break
                }
            }
            _ = press(&view, "j")
            #expect(view.currentRow == rows[1], "\(tab)")
            let act = try #require(questions(press(&view, "f")).first)
            guard case .act(let finish) = act else { throw Unexpected() }
            #expect(finish.member == "Finish" && finish.arguments == [.string(rows[1].item.id)])
            _ = view.handle(.answered(act, .success("{}")), at: 0)
            // Whatever else reads the list again.
            for question in [Question.continued, .search("a")] {
                _ = view.handle(.answered(question, .success(Self.json(rest))), at: 0)
            }
            #expect(view.currentRow?.item.id == rows[1].item.id && view.currentRow?.finished == true, "\(tab)")
            guard case .act(let back)? = questions(press(&view, "f")).first else { throw Unexpected() }
            #expect(back.member == "Unfinish" && back.arguments == [.string(rows[1].item.id)])
            // Whoever comes back finds the list as it is.
            let left = questions(press(&view, "5"))
            if tab == "2" { #expect(left.contains(.latest(page: 1))) }
        }
    }

    @Test(arguments: [false, true]) func ofWhatIsLoadedAFinishIsTakenBack(_ isFinished: Bool) throws {
        var status = Self.playing()
        (status.state, status.finished) = (.stopped, isFinished)
        var view = connected(status)
        _ = press(&view, "5")
        guard case .act(let act)? = questions(press(&view, "f")).first else { throw Unexpected() }
        #expect(act.member == (isFinished ? "Unfinish" : "Finish") && act.arguments == [.string("")])
    }

    private struct Unexpected: Error {}

    @Test func theClockRunsOnlyWhilePlayingAndAtMostFourTimesASecond() {
        var view = connected(Self.playing(at: 10.25, rate: 2))
        #expect(shown(view, at: 0).contains("0:10"))
        #expect(view.wake(at: 0) == 376)
        #expect(shown(view, at: 380).contains("0:11"))
        var fast = connected(Self.playing(at: 10.9, rate: 3))
        #expect(fast.wake(at: 0) == 250)
        // It stops at the end, in pause, and without a daemon.
        #expect(shown(view, at: 10_000_000).contains("1:00:00 ━"))
        #expect(view.wake(at: 10_000_000) == nil)
        var paused = Self.playing()
        paused.state = .paused
        _ = view.handle(.changed(paused), at: 0)
        #expect(view.wake(at: 0) == nil)
        _ = fast.handle(.left, at: 1000)
        #expect(fast.wake(at: 1000) == nil && shown(fast, at: 5000).contains("0:13"))
        #expect(shown(fast).contains("The daemon does not run"))
    }

    @Test func thatTheDaemonIsGoneGoesBeforeWhatItCouldNotAnswer() {
        var view = connected()
        let failure = ControlError(.failed, "the daemon stopped before it answered")
        _ = view.handle(.answered(.status, .failure(failure)), at: 0)
        #expect(shown(view).contains("The daemon stopped before it answered"))
        _ = view.handle(.left, at: 0)
        #expect(shown(view).contains("The daemon does not run"))
    }

    @Test func onlyWhatTheListenerWantsStartsADaemon() {
        var view = connected()
        _ = view.handle(.left, at: 0)
        #expect(questions(press(&view, "1234567")).isEmpty)
        #expect(questions(press(&view, " ")).map(\.call.member) == ["Toggle"])
        let again = questions(view.handle(.appeared, at: 0))
        #expect(again.contains(.status) && again.contains(.queue))
    }

    @Test func movesInTheQueueAreShownAtOnceAndOnlyTheLastAnswerCounts() {
        var status = StatusReport()
        status.queued = 3
        var view = connected(status)
        _ = press(&view, "4")
        let queue = QueueReport(items: ["One", "Two", "Three"].map { Self.row($0) })
        _ = view.handle(.answered(.queue, .success(Self.json(queue))), at: 0)
        let moves = questions(press(&view, "JJ"))
        #expect(moves.map(\.call.arguments) == [[.int32(1), .int32(2)], [.int32(2), .int32(3)]])
        func order() -> [String] {
            shown(view).split(separator: "\n").compactMap { line in
                ["One", "Two", "Three"].first { line.contains($0) && !line.contains("item") }
            }
        }
        #expect(order() == ["Two", "Three", "One"])
        let between = QueueReport(items: ["Two", "One", "Three"].map { Self.row($0) })
        _ = view.handle(.answered(moves[0], .success(Self.json(between))), at: 0)
        #expect(order() == ["Two", "Three", "One"])
        let last = QueueReport(items: ["Two", "Three", "One"].map { Self.row($0) })
        _ = view.handle(.answered(moves[1], .success(Self.json(last))), at: 0)
        #expect(order() == ["Two", "Three", "One"])
        // What is refused is read anew.
        _ = view.handle(.answered(.queue, .success(Self.json(last))), at: 0)
        let refused = questions(press(&view, "x"))
        let after = view.handle(.answered(refused[0], .failure(ControlError(.notFound, "there is none"))), at: 0)
        #expect(questions(after).contains(.queue) && shown(view).contains("There is none"))
    }

    @Test func whatIsPlayedFromTheQueueIsTakenOutByTheDaemon() {
        var view = connected()
        _ = press(&view, "4")
        let queue = QueueReport(items: ["One", "Two"].map { Self.row($0) })
        _ = view.handle(.answered(.queue, .success(Self.json(queue))), at: 0)
        _ = press(&view, "j")
        let play = questions(press(&view, "\r"))
        #expect(play.map(\.call.member) == ["Play"])
        // The daemon takes out what plays; by a number it might be another one by now.
        let done = questions(view.handle(.answered(play[0], .success(Self.json(Self.playing()))), at: 0))
        #expect(!done.contains { $0.call.member == "QueueRemove" })
    }

    @Test func aPodcastOpensItsEpisodes() {
        var view = connected()
        _ = press(&view, "2")
        let latest = ListReport(items: [Self.row("The Hour", kind: "podcast")])
        _ = view.handle(.answered(.latest(page: 1), .success(Self.json(latest))), at: 0)
        let opened = questions(press(&view, "\r"))
        #expect(opened == [.show("abs:1/The Hour")])
        var report = ShowReport(row: Self.row("The Hour", kind: "podcast"))
        report.episodes = [Self.row("Echoes", kind: "episode")]
        _ = view.handle(.answered(opened[0], .success(Self.json(report))), at: 0)
        #expect(shown(view).contains("‹ The Hour") && shown(view).contains("Echoes"))
        #expect(questions(press(&view, "\r")).map(\.call.arguments) == [[.string("abs:1/Echoes"), .string("")]])
        _ = view.handle(.input(.key(.escape)), at: 0)
        #expect(!shown(view).contains("Echoes"))
    }

    @Test func pressedTwiceTheSpeedGoesOnFromWhatIsShown() {
        var view = connected(Self.playing())
        let asked = questions(press(&view, "]]"))
        #expect(asked.map(\.call.arguments) == [[.double(1.1)], [.double(1.2)]])
        #expect(shown(view).contains("1.2×"))
        let refused = view.handle(.answered(asked[1], .failure(ControlError(.failed, "no"))), at: 0)
        #expect(questions(refused) == [.status])
    }

    @Test func sleepIsChosenFromAMenu() {
        var view = connected(Self.playing())
        #expect(press(&view, "s").isEmpty && shown(view).contains("at the end of the chapter"))
        #expect(questions(press(&view, "c")).map(\.call.arguments) == [[.string("chapter")]])
        #expect(!shown(view).contains("at the end of the chapter"))
        _ = press(&view, "s")
        #expect(view.handle(.input(.key(.escape)), at: 0).isEmpty)
        #expect(!shown(view).contains("in an hour"))
        _ = press(&view, "s")
        let lines = shown(view).split(separator: "\n", omittingEmptySubsequences: false)
        let row = lines.firstIndex { $0.contains("in an hour") } ?? 0
        let clicked = view.handle(.input(.mouse(Mouse(.press, x: 6, y: row))), at: 0)
        #expect(questions(clicked).map(\.call.arguments) == [[.string("1h")]])
    }

    @Test func theBedroomIsDarkAndAsksWhenListeningEnds() throws {
        var status = Self.playing()
        var view = connected(status)
        _ = press(&view, "4b")
        #expect(view.tab == .player && shown(view).contains("in 30 minutes"))
        let requests = press(&view, "2")
        #expect(
            requests.contains { if case .ask(.act(let act)) = $0 { act.member == "Sleep" } else { false } })
        let frame = view.draw(at: 0).frame
        #expect(frame.cells.allSatisfy { $0.style.background == .ember(.ground) })
        // With a timer there is nothing to ask.
        status.sleep = SleepRow(kind: "time", left: 600)
        _ = view.handle(.answered(.status, .success(Self.json(status))), at: 0)
        _ = press(&view, "b")
        #expect(view.draw(at: 0).frame.cells.allSatisfy { $0.style.background == nil })
        _ = press(&view, "b")
        #expect(view.menu == nil && view.isDark)
    }

    @Test func withoutALoginTheCommandIsTold() {
        var view = connected()
        let error = ControlError(.notSignedIn, "not signed in to any server; run 'dogear login ADDRESS' first")
        _ = view.handle(.answered(.continued, .failure(error)), at: 0)
        #expect(shown(view).contains("Not signed in to any server; run 'dogear login ADDRESS' first"))
        _ = press(&view, "3")
        _ = view.handle(.answered(.libraries, .success(Self.json(LibrariesReport(libraries: [])))), at: 0)
        #expect(shown(view).contains("sign in with 'dogear login"))
    }

    @Test func theCoverIsAskedForInTheSizeOfTheScreen() throws {
        var view = connected(Self.playing())
        var status = Self.playing()
        status.cover = "/covers/a.jpg"
        let requests = view.handle(.changed(status), at: 0)
        guard case .picture(let name, "/covers/a.jpg", let width, let height)? = requests.first else {
            Issue.record("\(requests)")
            return
        }
        #expect(width == height && width > 10)
        #expect(view.handle(.changed(status), at: 0).isEmpty, "not twice")
        let pixels = try #require(Pixels(width: 2, height: 2, bytes: Array(repeating: 9, count: 12)))
        _ = view.handle(.pictured(name: "another", .blocks(pixels)), at: 0)
        #expect(!shown(view).contains("▀"))
        _ = view.handle(.pictured(name: name, .blocks(pixels)), at: 0)
        #expect(shown(view).contains("▀▀"))
        let smaller = view.handle(.resized(Size(columns: 40, rows: 10)), at: 0)
        #expect(smaller.isEmpty && !shown(view).contains("▀"))
    }

    @Test func anAnswerOfAnotherVersionIsToldAndNothingMore() {
        var view = connected()
        _ = view.handle(.answered(.continued, .success("{\"rows\": 7}")), at: 0)
        #expect(shown(view).contains("older or newer"))
    }

    @Test func whateverHappensInWhateverOrderItDraws() {
        var numbers = SeededNumbers(seed: 20)
        let keys: [Input] =
            "123456?qhl[]=-+nspub/jkgGaAfixJKLoreycC \r".map { .key($0 == "\r" ? .enter : .text($0)) } + [
                .key(.up), .key(.down), .key(.pageDown), .key(.pageUp), .key(.home), .key(.end), .key(.escape),
                .key(.tab), .key(.backTab), .key(.backspace), .key(.delete), .paste("日本 \u{1B}[2J"), .focus(true),
                .key(.control("l")), .alt(.text("x")),
            ]
        let rows = (0..<70).map { Self.row("Nr \($0)", kind: $0 % 9 == 0 ? "podcast" : "book") }
        let chapters = (1...40).map {
            ChapterRow(index: $0, title: "日本 \($0)", start: Double($0 - 1) * 90, end: Double($0) * 90)
        }
        var pending: [Question] = []
        var view = connected(Self.playing(), columns: 80, rows: 24)
        for step in 0..<2000 {
            let now = Int64(step) * 97
            let event: ViewEvent
            switch Int.random(in: 0..<20, using: &numbers) {
            case 0:
                event = .resized(
                    Size(
                        columns: Int.random(in: 0..<130, using: &numbers), rows: Int.random(in: 0..<40, using: &numbers)
                    ))
            case 1:
                var status = Int.random(in: 0..<4, using: &numbers) == 0 ? StatusReport() : Self.playing()
                status.chapter = chapters.randomElement(using: &numbers)
                status.chapters = Bool.random(using: &numbers) ? 40 : nil
                status.cover = Bool.random(using: &numbers) ? "/a.png" : nil
                status.position = Double.random(in: -10..<5000, using: &numbers)
                status.duration = [0, 3600].randomElement(using: &numbers)!
                event = .changed(status)
            case 2: event = [.left, .appeared, .tick].randomElement(using: &numbers)!
            case 3:
                event = .logged(
                    .init(time: now, level: "warning", room: "Sync", message: "line \(step)", facts: [:]))
            case 4...8 where !pending.isEmpty:
                let question = pending.remove(at: Int.random(in: 0..<pending.count, using: &numbers))
                event = .answered(question, answer(question, rows, chapters, &numbers))
            case 9:
                event = .input(
                    .mouse(
                        Mouse(
                            [.press, .wheelUp, .wheelDown, .drag, .release].randomElement(using: &numbers)!,
                            x: Int.random(in: 0..<130, using: &numbers), y: Int.random(in: 0..<40, using: &numbers))))
            default: event = .input(keys.randomElement(using: &numbers)!)
            }
            pending += questions(view.handle(event, at: now))
            _ = view.draw(at: now)
            if let wake = view.wake(at: now) { #expect(wake >= 250) }
        }
    }

    private func answer(
        _ question: Question, _ rows: [ItemRow], _ chapters: [ChapterRow], _ numbers: inout SeededNumbers
    ) -> Result<String, ControlError> {
        if Int.random(in: 0..<6, using: &numbers) == 0 { return .failure(ControlError(.unreachable, "away")) }
        let some = Array(rows.prefix(Int.random(in: 0...70, using: &numbers)))
        switch question {
        case .status: return .success(Self.json(Self.playing()))
        case .chapters:
            return .success(
                Self.json(
                    ChaptersReport(
                        item: ItemHead(id: "abs:1/emma", title: "Emma", authors: [], kind: "book"), chapters: chapters,
                        current: 3)))
        case .queue: return .success(Self.json(QueueReport(items: some)))
        case .libraries:
            let library = LibrariesReport.Row(id: "l", name: "L", mediaType: "book", account: "a")
            return .success(Self.json(LibrariesReport(libraries: Array(repeating: library, count: some.count % 3))))
        case .continued, .search: return .success(Self.json(ListReport(items: some)))
        case .latest(let page): return .success(Self.json(ListReport(items: Array(some.prefix(50)), page: page)))
        case .browse(let request):
            let total = [0, 3, 70, 5000].randomElement(using: &numbers)!
            return .success(Self.json(ListReport(items: Array(some.prefix(50)), total: total, page: request.page)))
        case .show:
            var report = ShowReport(row: rows[0])
            report.episodes = some
            return .success(Self.json(report))
        case .settings: return .success(Self.json(SettingsReport(settings: [], problems: [])))
        case .logs: return .success("nonsense")
        case .act: return .success(Self.json(QueueReport(items: some)))
        }
    }
}
