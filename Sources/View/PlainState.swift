public import Control
internal import DBus
internal import FoundationEssentials
public import Terminal

/// The view in lines: the listener types numbers and words, and every change is a line. One thing is done after another:
/// what is typed while an answer is on its way waits for it.
public struct PlainState: Sendable {
    public enum Event: Sendable {
        case typed(String)
        /// Nothing more will be typed.
        case ended
        case changed(StatusReport)
        case answered(Question, Result<String, ControlError>)
        case appeared, left
    }

    public enum Request: Hashable, Sendable {
        case say(String)
        case ask(Question)
        case leave
    }

    /// What a number means now.
    enum Listing: Hashable, Sendable {
        case menu
        case items([ItemRow], isQueue: Bool)
        case chapters([ChapterRow])
        case libraries([LibrariesReport.Row])
    }

    private static let atOnce = 10

    let surface: Surface
    var status: StatusReport?
    var listing = Listing.menu
    /// How many of the listing were told.
    var told = 0
    var skip = (back: "15", forward: "30")
    private var said = ""
    /// What the listener asked for last, until it is answered.
    private var pending: Question?
    private var waiting: [Event] = []
    var requests: [Request] = []

    public init(surface: Surface) {
        self.surface = surface
        waiting = []
    }

    public mutating func handle(_ event: Event) -> [Request] {
        requests = []
        switch event {
        case .typed, .ended: waiting.append(event)
        case .changed(let report): changed(report)
        case .answered(let question, let answer):
            if question == pending { pending = nil }
            self.answered(question, answer)
        case .appeared: say("The daemon is there.")
        case .left: say("The daemon has left. The next thing you ask for starts it again.")
        }
        while pending == nil, !waiting.isEmpty {
            switch waiting.removeFirst() {
            case .typed(let line): typed(line)
            case .ended: requests.append(.leave)
            case .changed, .answered, .appeared, .left: break
            }
        }
        return requests
    }

    // MARK: Saying

    mutating func say(_ line: String) { requests.append(.say(Clean.line(line))) }

    mutating func ask(_ question: Question) {
        pending = question
        requests.append(.ask(question))
    }

    /// Where one is, in a sentence; not told again because time passes.
    private mutating func changed(_ report: StatusReport) {
        let isFirst = status == nil
        status = report
        let line = sentence(report, withPlace: false)
        guard line != said else { return }
        said = line
        say(sentence(report, withPlace: true))
        if isFirst { showMenu() }
    }

    private func sentence(_ report: StatusReport, withPlace: Bool) -> String {
        guard let item = report.item else {
            let what = report.opening.map { "Opening \($0)." } ?? "Nothing is loaded."
            return ([what] + [report.error].compactMap(\.self)).joined(separator: " ")
        }
        var parts = ["\(report.stateWord): \(item.byline)"]
        if let chapter = report.chapter { parts.append(report.name(of: chapter)) }
        if withPlace {
            parts.append(
                "\(Figures.clock(report.position))"
                    + (report.duration > 0 ? " of \(Figures.clock(report.duration))" : ""))
        }
        parts += report.extras
        return parts.joined(separator: ", ") + "." + (report.error.map { " Trouble: \($0)" } ?? "")
    }

    mutating func showMenu() {
        listing = .menu
        for (index, entry) in Self.menu.enumerated() { say("\(index + 1). \(entry.name)") }
        say("Type a number or a word. help lists the words, quit leaves; what plays goes on.")
    }

    static let menu: [(name: String, word: String)] = [
        ("Play or pause", "toggle"), ("Continue listening", "continue"), ("Latest", "latest"),
        ("Libraries", "libraries"), ("Queue", "queue"), ("Chapters", "chapters"), ("Where am I", "where"),
    ]

    /// The next rows of what is listed.
    mutating func tellMore() {
        let lines: [String]
        switch listing {
        case .menu: return showMenu()
        case .items(let rows, _): lines = rows.map(line)
        case .chapters(let rows):
            lines = rows.map { row in
                (row.title.isEmpty ? "Chapter" : row.title) + ", from \(Figures.clock(row.start))"
            }
        case .libraries(let rows): lines = rows.map(\.name)
        }
        let next = lines.dropFirst(told).prefix(Self.atOnce)
        if next.isEmpty { return say(lines.isEmpty ? "Nothing here." : "That was all.") }
        for (index, line) in next.enumerated() { say("\(told + index + 1). \(line)") }
        told += next.count
        say(told < lines.count ? "\(told) of \(lines.count). more goes on; a number chooses." : "A number chooses.")
    }

    private func line(_ row: ItemRow) -> String {
        var parts = [row.item.byline]
        if let episodes = row.episodes { parts.append(Figures.count(episodes, "episode")) }
        if row.finished {
            parts.append("finished")
        } else if let progress = row.progress {
            parts.append("\(Figures.percent(progress)) heard")
        }
        if let duration = row.duration, !row.finished {
            parts.append("\(Figures.length(max(0, duration - (row.position ?? 0)))) left")
        }
        return parts.joined(separator: ", ")
    }

    // MARK: Answers

    private mutating func answered(_ question: Question, _ answer: Result<String, ControlError>) {
        let json: Data
        switch answer {
        case .success(let text): json = Data(text.utf8)
        case .failure(let error): return say("That did not work: \(error.message)")
        }
        func read<Report: Decodable>(_ type: Report.Type) -> Report? { try? JSONDecoder().decode(type, from: json) }
        switch question {
        case .status:
            if let report = read(StatusReport.self) {
                said = ""
                changed(report)
            }
        case .continued, .latest, .browse, .search: list(read(ListReport.self))
        case .queue: if let report = read(QueueReport.self) { list(report.items, isQueue: true) }
        case .show: if let report = read(ShowReport.self) { shown(report) }
        case .libraries:
            guard let report = read(LibrariesReport.self) else { return }
            (listing, told) = (.libraries(report.libraries), 0)
            for problem in report.problems { say(problem) }
            tellMore()
        case .chapters:
            guard let report = read(ChaptersReport.self) else { return }
            (listing, told) = (.chapters(report.chapters), 0)
            tellMore()
        case .logs:
            guard let report = read(LogsReport.self) else { return }
            let rows = report.records.filter { (LogLevel(named: $0.level) ?? .error) >= .info }
            for row in rows.suffix(20) { say(row.line(on: surface)) }
        case .settings:
            for row in read(SettingsReport.self)?.settings ?? [] {
                if row.key == "playback.skip-back" { skip.back = row.value }
                if row.key == "playback.skip-forward" { skip.forward = row.value }
            }
        case .act(let act): done(act, read(StatusReport.self))
        }
    }

    /// What plays and where, unless that was said already when it changed.
    private mutating func done(_ act: Act, _ report: StatusReport?) {
        if let done = act.done { return say(done) }
        guard let report, report.item != nil else { return say("Done.") }
        guard sentence(report, withPlace: false) == said else { return changed(report) }
        status = report
        say("\(report.stateWord) at \(Figures.clock(report.position)).")
    }

    private mutating func list(_ report: ListReport?) {
        guard let report else { return }
        for problem in report.problems { say(problem) }
        list(report.items, isQueue: false)
    }

    private mutating func list(_ rows: [ItemRow], isQueue: Bool) {
        (listing, told) = (.items(rows, isQueue: isQueue), 0)
        tellMore()
    }

    /// A podcast is its episodes; anything else is told about.
    private mutating func shown(_ report: ShowReport) {
        if !report.episodes.isEmpty { return list(report.episodes, isQueue: false) }
        for line in report.lines(on: surface) where !line.isEmpty { say(line) }
    }
}
