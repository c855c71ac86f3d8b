internal import Control
internal import FoundationEssentials
internal import Terminal

/// What the daemon says to what was asked.
extension ViewState {
    mutating func answered(_ question: Question, _ answer: Result<String, ControlError>, at now: Int64) {
        underWay.remove(question)
        if case .act(let act) = question, act.isOfQueue { queueChanges = max(0, queueChanges - 1) }
        switch answer {
        case .success(let json): succeeded(question, Data(json.utf8), at: now)
        case .failure(let error): failed(question, error)
        }
        if again.remove(question) != nil { ask(question) }
    }

    private mutating func succeeded(_ question: Question, _ json: Data, at now: Int64) {
        switch question {
        case .status:
            if let report = decode(StatusReport.self, json) { changed(report, at: now) }
        case .chapters:
            guard let report = decode(ChaptersReport.self, json), report.item.id == status.item?.id else { return }
            chapters = report.chapters
            chapterPlace.chosen = (status.chapter?.index ?? report.current ?? 1) - 1
        case .queue: if let report = decode(QueueReport.self, json) { queued(report) }
        case .libraries:
            guard let report = decode(LibrariesReport.self, json) else { return }
            libraries = report.libraries
            library = min(library, max(0, libraries.count - 1))
            if panes[.library]?.isKnown != true { read(again: .library) }
            if libraries.isEmpty, panes[.library] != nil {
                panes[.library]?.isKnown = true
                panes[.library]?.problems = report.problems
            }
        case .settings: if let report = decode(SettingsReport.self, json) { learn(report) }
        case .logs:
            guard let report = decode(LogsReport.self, json) else { return }
            logs = []
            logPlace.chosen = .max
            logged(report.records)
            logPlace.chosen = max(0, shownLogs.count - 1)
        case .continued:
            if let report = decode(ListReport.self, json) {
                panes[.continued, default: Pane()].take(report.items, problems: report.problems, keeping: kept)
            }
        case .latest(let page):
            if let report = decode(ListReport.self, json) { panes[.latest, default: Pane()].take(report, page: page) }
        case .browse(let request):
            // An answer to what was asked before the order or the library changed is of no use.
            guard request == browsing(page: request.page), let report = decode(ListReport.self, json) else { return }
            panes[.library, default: Pane()].take(report, page: request.page)
        case .search(let words): searched(words, decode(ListReport.self, json))
        case .show(let id): if let report = decode(ShowReport.self, json) { shown(id, report) }
        case .act(let act): done(act, json)
        }
    }

    private mutating func failed(_ question: Question, _ error: ControlError) {
        let sentence = Self.sentence(error)
        switch question {
        case .act(let act):
            notice = Notice(text: sentence, isBad: true)
            // What was shown before it was done is taken back.
            if act.isOfQueue { ask(.queue) }
            if act.member == "Speed" || act.member == "Volume" { ask(.status) }
        case _ where !isConnected: break
        case .continued: panes[.continued, default: Pane()].fail(sentence)
        case .latest: panes[.latest, default: Pane()].fail(sentence)
        case .browse, .libraries: panes[.library, default: Pane()].fail(sentence)
        case .show:
            if opened != nil { panes[.episodes, default: Pane()].fail(sentence) }
            if page == nil { notice = Notice(text: sentence, isBad: true) }
        case .search(let words):
            searching = nil
            found = words
            var pane = Pane()
            pane.fail(sentence)
            panes[.found] = pane
            search()
        case .queue: queueError = sentence
        // An item without chapters is none the worse for it.
        case .chapters: break
        case .status, .settings, .logs: notice = Notice(text: sentence, isBad: true)
        }
    }

    private static func sentence(_ error: ControlError) -> String {
        let text = Clean.line(error.message)
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    private mutating func decode<Report: Decodable>(_ type: Report.Type, _ json: Data) -> Report? {
        if let report = try? JSONDecoder().decode(type, from: json) { return report }
        notice = Notice(
            text: "The daemon's answer makes no sense here; is it an older or newer one?",
            isBad: true)
        return nil
    }

    private mutating func queued(_ report: QueueReport) {
        guard queueChanges == 0 else { return }
        queue = report
        queueError = nil
    }

    private mutating func learn(_ report: SettingsReport) {
        for row in report.settings {
            if row.key == "playback.skip-back" { skip.back = row.value }
            if row.key == "playback.skip-forward" { skip.forward = row.value }
        }
    }

    private mutating func searched(_ words: String, _ report: ListReport?) {
        searching = nil
        if let report {
            var pane = words == found ? panes[.found] ?? Pane() : Pane()
            pane.take(report.items, problems: report.problems, keeping: kept)
            panes[.found] = pane
            found = words
        } else {
            found = words
        }
        search()
    }

    private mutating func shown(_ id: String, _ report: ShowReport) {
        if opened?.id == id {
            panes[.episodes, default: Pane()].take(report.episodes)
        } else {
            var surface = surface
            surface.columns = max(20, min(size.columns - 4, 100))
            page = Page(title: Clean.line(report.row.item.title), lines: report.lines(on: surface))
        }
    }

    private mutating func done(_ act: Act, _ json: Data) {
        if let done = act.done {
            notice = Notice(text: done, isBad: false)
        } else if act.doing != nil, notice?.isBad != true {
            notice = nil
        }
        if act.isOfQueue, let report = decode(QueueReport.self, json) { queued(report) }
        if act.member == "Finish" || act.member == "Unfinish" {
            if case .string(let id)? = act.arguments.first { finished(id, act.member == "Finish") }
        }
    }

    private mutating func finished(_ id: String, _ isFinished: Bool) {
        let here = currentList
        kept.insert(id)
        for list in panes.keys where list != here { read(again: list) }
        guard let here else { return }
        for index in panes[here]?.rows.indices ?? 0..<0 where panes[here]?.rows[index]?.item.id == id {
            panes[here]?.rows[index]?.finished = isFinished
        }
    }
}

extension Pane {
    mutating func fail(_ sentence: String) {
        error = sentence
        isKnown = true
        rows = []
    }
}
