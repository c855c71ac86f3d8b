import Control
import DBus
import FoundationEssentials
import Terminal
import Testing
import View

@Suite struct PlainStateTests {
    private func json(_ report: some Encodable) -> String {
        String(decoding: (try? JSONEncoder().encode(report)) ?? Data(), as: UTF8.self)
    }

    private func said(_ requests: [PlainState.Request]) -> [String] {
        requests.compactMap { if case .say(let line) = $0 { line } else { nil } }
    }

    private var emma: StatusReport {
        var report = StatusReport()
        report.state = .paused
        report.item = ItemHead(id: "abs:1/emma", title: "Emma", authors: ["Jane Austen"], kind: "book")
        (report.position, report.duration) = (60, 3600)
        return report
    }

    @Test func aLineForEachChangeAndNoneBecauseTimePasses() {
        var view = PlainState(surface: Surface())
        let first = said(view.handle(.changed(emma)))
        #expect(first.first == "Paused: Emma — Jane Austen, 1:00 of 1:00:00.")
        #expect(first.contains("2. Continue listening"))
        var later = emma
        later.position = 70
        #expect(view.handle(.changed(later)).isEmpty)
        later.state = .playing
        later.error = "the\u{1B}[2J disk"
        #expect(
            said(view.handle(.changed(later))) == [
                "Playing: Emma — Jane Austen, 1:10 of 1:00:00. Trouble: the [2J disk"
            ])
    }

    @Test func oneThingAfterAnother() {
        var view = PlainState(surface: Surface())
        _ = view.handle(.changed(emma))
        #expect(view.handle(.typed("continue")) == [.ask(.continued)])
        // What the view asked for itself is none of it.
        _ = view.handle(.answered(.settings, .success(json(SettingsReport(settings: [], problems: [])))))
        // The number waits for the list it is of.
        #expect(view.handle(.typed("2")).isEmpty)
        #expect(view.handle(.ended).isEmpty)
        let rows = (1...12).map {
            ItemRow(item: ItemHead(id: "abs:1/\($0)", title: "Nr \($0)", authors: [], kind: "book"))
        }
        let next = view.handle(.answered(.continued, .success(json(ListReport(items: rows)))))
        #expect(said(next).count == 11 && said(next)[9] == "10. Nr 10")
        guard case .ask(let play)? = next.last else {
            Issue.record("\(next)")
            return
        }
        #expect(play.call.member == "Play" && play.call.arguments == [.string("abs:1/2"), .string("")])
        #expect(view.handle(.answered(play, .success("{}"))) == [.say("Done."), .leave])
    }

    @Test(arguments: [
        ("pause", "Pause", []), ("b", "Seek", [Value.string("-15")]), ("forward 60", "Seek", [.string("+60")]),
        ("seek 12:30", "Seek", [.string("12:30")]), ("chapter 3", "Seek", [.string("chapter:3")]),
        ("FASTER", "Speed", [.double(1.1)]), ("volume 40%", "Volume", [.double(0.4)]), ("undo", "Undo", [.string("")]),
        ("finish", "Finish", [.string("")]), ("search the hobbit", "Search", [.string("the hobbit"), .int32(100)]),
        ("1", "Toggle", []),
    ])
    func words(_ typed: String, _ member: String, _ arguments: [Value]) {
        var view = PlainState(surface: Surface())
        _ = view.handle(.changed(emma))
        guard case .ask(let question)? = view.handle(.typed(typed)).first else {
            Issue.record("\(typed) asks nothing")
            return
        }
        #expect(question.call.member == member && question.call.arguments == arguments)
    }

    @Test(arguments: ["seek soon", "speed 9", "volume loud", "add 1", "77", "bogus \u{1B}[2J", "search"])
    func whatMeansNothingIsToldAndAsksNothing(_ typed: String) {
        var view = PlainState(surface: Surface())
        _ = view.handle(.changed(emma))
        let requests = view.handle(.typed(typed))
        #expect(said(requests).count == 1 && requests.count == 1)
        #expect(!said(requests)[0].contains("\u{1B}"))
    }

    @Test func aFailureIsASentence() {
        var view = PlainState(surface: Surface())
        _ = view.handle(.changed(emma))
        _ = view.handle(.typed("latest"))
        let requests = view.handle(.answered(.latest(page: 1), .failure(ControlError(.notSignedIn, "not signed in"))))
        #expect(said(requests) == ["That did not work: not signed in"])
    }
}
