internal import Control
internal import FoundationEssentials
public import Screen
public import Terminal

/// The whole view: takes what happens, and gives what is to be done. Touches nothing itself; what it looks like is
/// ``draw(at:)``.
public struct ViewState: Sendable {
    public enum Tab: Int, CaseIterable, Sendable {
        case continued, latest, library, queue, player, logs

        var title: String {
            switch self {
            case .continued: "Continue"
            case .latest: "Latest"
            case .library: "Library"
            case .queue: "Queue"
            case .player: "Player"
            case .logs: "Logs"
            }
        }
    }

    enum List: Hashable, Sendable { case continued, latest, library, found, episodes }

    struct Notice: Hashable, Sendable {
        var text: String
        var isBad: Bool
    }

    /// A text over everything else.
    struct Page: Hashable, Sendable {
        var title: String
        var lines: [String]
        var first = 0
    }

    var size: Size
    let surface: Surface
    var tab = Tab.player
    var isConnected = false
    var hasChosenTab = false

    var status = StatusReport()
    /// Milliseconds of the clock given with events: when the status was true.
    var statusTime: Int64 = 0
    var chapters: [ChapterRow] = []
    var chapterPlace = ListPlace()
    /// Item that ``chapters`` are of.
    var chaptersOf: String?
    var cover: (name: String, picture: Cover?)?
    var coverWanted: String?
    let pictures: PictureKind

    var panes: [List: Pane] = [:]
    var libraries: [LibrariesReport.Row] = []
    var library = 0
    var sort = 0
    var field = TextField()
    var isTyping = false
    /// What the rows of ``List/found`` answer.
    var found: String?
    var searching: String?
    /// The same words are to be looked for once more.
    var searchesAgain = false
    /// Rows the listener has just finished, or begun anew, where they are shown: they stay in the list until it is left,
    /// for the next key is meant for them and not for what would take their place.
    var kept: Set<String> = []
    /// The podcast whose episodes are shown, and where.
    var opened: (id: String, title: String, tab: Tab)?

    var queue = QueueReport(items: [])
    var queuePlace = ListPlace()
    var queueError: String?
    /// Changes of the queue whose answers are on their way: only the last one tells how it is.
    var queueChanges = 0

    var logs: [LogsReport.Row] = []
    var logPlace = ListPlace()
    var logLevel = LogLevel.info
    /// Older lines are hidden.
    var logsFrom = Int64.min

    /// Bedroom mode: nothing on the screen is bright.
    var isDark = false
    var notice: Notice?
    var page: Page?
    var menu: Menu?
    var skip = (back: "15", forward: "30")
    var underWay: Set<Question> = []
    /// Asked for again while an answer was on its way: that one may be out of date.
    var again: Set<Question> = []
    var requests: [ViewRequest] = []

    static let sorts = ["title", "author", "added", "published", "duration", "progress"]
    private static let mostLogs = 5000
    /// Points of a side: sharp enough, and some hundred kilobytes over a slow line.
    private static let imageSize = 400

    /// - Parameters:
    ///   - surface: the listener's time zone.
    ///   - pictures: how covers are shown.
    public init(size: Size, surface: Surface, pictures: PictureKind) {
        self.size = size
        self.surface = surface
        self.pictures = pictures
    }

    /// Takes one event.
    /// - Parameter now: milliseconds of a clock that only goes forward.
    /// - Returns: what is to be done, in order. After that ``draw(at:)`` may give another frame.
    public mutating func handle(_ event: ViewEvent, at now: Int64) -> [ViewRequest] {
        requests = []
        let shown = currentList
        switch event {
        case .input(let input): take(input, at: now)
        case .resized(let size):
            self.size = size
            wantCover()
        case .tick: break
        case .appeared: appeared()
        case .left:
            // It stands still where it was last known to be.
            (status.position, statusTime) = (position(at: now), now)
            isConnected = false
            (underWay, again, searching) = ([], [], nil)
            // What could not be learned of it says less than that it is gone.
            if notice?.isBad == true { notice = nil }
            status.state = status.item == nil ? .empty : .stopped
        case .changed(let report): changed(report, at: now)
        case .refreshed(let report):
            libraries = report.libraries
            read(again: .library)
        case .logged(let row): logged([row])
        case .answered(let question, let answer): answered(question, answer, at: now)
        case .pictured(let name, let picture): if name == coverWanted { cover = (name, picture) }
        }
        if currentList != shown, !kept.isEmpty {
            kept = []
            if let shown { read(again: shown) }
        }
        fit()
        fill()
        return requests
    }

    /// When the frame changes by itself: while something plays, at its next second. At most four times a second.
    /// - Returns: milliseconds from now; nil: never.
    public func wake(at now: Int64) -> Int64? {
        guard isConnected, status.state == .playing, status.rate > 0 else { return nil }
        let position = position(at: now)
        guard position < status.duration || status.duration <= 0 else { return nil }
        let left = (position.rounded(.down) + 1 - position) / status.rate * 1000
        return max(250, Int64(left.rounded(.up)) + 1)
    }

    /// Where the listener is by now, in seconds.
    func position(at now: Int64) -> Double {
        guard isConnected, status.state == .playing else { return status.position }
        let moved = status.position + Double(max(0, now - statusTime)) / 1000 * status.rate
        return status.duration > 0 ? min(moved, status.duration) : moved
    }

    /// The chapter at the position that is shown: the daemon tells a new one a moment later.
    func chapter(at now: Int64) -> ChapterRow? {
        guard chaptersOf == status.item?.id, !chapters.isEmpty else { return status.chapter }
        let position = position(at: now)
        return chapters.last { $0.start <= position } ?? chapters.first
    }

    // MARK: Asking

    mutating func ask(_ question: Question) {
        if case .act(let act) = question {
            if act.isOfQueue { queueChanges += 1 }
            requests.append(.ask(question))
            return
        }
        // Only what the listener wants may start a daemon that has left.
        guard isConnected else { return }
        if underWay.insert(question).inserted { requests.append(.ask(question)) } else { again.insert(question) }
    }

    mutating func act(_ act: Act) {
        if let doing = act.doing { notice = Notice(text: doing, isBad: false) }
        ask(.act(act))
    }

    private mutating func appeared() {
        isConnected = true
        (underWay, again, searching) = ([], [], nil)
        if notice?.isBad == true { notice = nil }
        chaptersOf = nil
        for question in [Question.status, .settings, .libraries, .continued, .queue] { ask(question) }
        for list in panes.keys where list != .episodes { read(again: list) }
        if tab == .logs { ask(.logs) }
    }

    /// Reads what a list shows once more.
    mutating func read(again list: List) {
        guard panes[list] != nil || list == currentList else { return }
        switch list {
        case .continued: ask(.continued)
        case .latest: ask(.latest(page: forget(around: .latest)))
        case .library: if let request = browsing(page: forget(around: .library)) { ask(.browse(request)) }
        case .found: search(again: true)
        case .episodes: if let opened { ask(.show(opened.id)) }
        }
    }

    /// What is out of sight is read again when it comes into sight.
    /// - Returns: the page in sight.
    private mutating func forget(around list: List) -> Int {
        let page = (panes[list]?.place.first ?? 0) / Question.pageSize + 1
        panes[list]?.forget(except: page)
        return page
    }

    func browsing(page: Int) -> BrowseRequest? {
        guard libraries.indices.contains(library) else { return nil }
        var request = BrowseRequest()
        request.library = libraries[library].address
        request.sort = Self.sorts[sort]
        request.isReversed = ["added", "published", "progress"].contains(request.sort)
        (request.limit, request.page) = (Question.pageSize, page)
        return request
    }

    /// One question at a time is under way; the latest words win.
    mutating func search(again: Bool = false) {
        let words = field.string.split(separator: " ").joined(separator: " ")
        guard !words.isEmpty, isConnected else { return }
        searchesAgain = searchesAgain || again
        guard words != found || searchesAgain, searching == nil else { return }
        searching = words
        searchesAgain = false
        requests.append(.ask(.search(words)))
    }

    // MARK: What is shown

    /// The list of items in sight.
    var currentList: List? {
        if opened?.tab == tab { return .episodes }
        switch tab {
        case .continued: return .continued
        case .latest: return .latest
        case .library: return field.string.allSatisfy({ $0 == " " }) ? .library : .found
        case .queue, .player, .logs: return nil
        }
    }

    var currentRow: ItemRow? {
        if tab == .queue {
            return queue.items.indices.contains(queuePlace.chosen) ? queue.items[queuePlace.chosen] : nil
        }
        return currentList.flatMap { panes[$0]?.chosen }
    }

    var shownLogs: [LogsReport.Row] {
        logs.filter { $0.time >= logsFrom && (LogLevel(named: $0.level) ?? .error) >= logLevel }
    }

    /// Keeps what is chosen where there is something.
    mutating func fit() {
        let rows = listRows
        if let list = currentList, var pane = panes[list] {
            pane.place.fit(count: pane.rows.count, rows: rows)
            panes[list] = pane
        }
        queuePlace.fit(count: queue.items.count, rows: rows)
        chapterPlace.fit(count: chapters.count, rows: chapterRows)
        if tab == .logs { logPlace.fit(count: shownLogs.count, rows: rows) }
        if var page {
            page.first = max(0, min(page.first, page.lines.count - pageRows))
            self.page = page
        }
    }

    /// Asks for the rows that have come into sight.
    private mutating func fill() {
        guard let list = currentList, isConnected else { return }
        guard let pane = panes[list] else {
            panes[list] = Pane()
            return read(again: list)
        }
        guard pane.isKnown, pane.error == nil else { return }
        for page in pane.missing(rows: listRows) {
            let question: Question?
            switch list {
            case .latest: question = .latest(page: page)
            case .library: question = browsing(page: page).map(Question.browse)
            case .continued, .found, .episodes: question = nil
            }
            if let question, !underWay.contains(question) { ask(question) }
        }
    }

    mutating func changed(_ report: StatusReport, at now: Int64) {
        let before = status
        status = report
        statusTime = now
        if !hasChosenTab, before.item == nil, report.item == nil { tab = .continued }
        if chaptersOf != report.item?.id { askChapters() }
        // The list goes along with what plays, unless the listener looks elsewhere in it.
        if let chapter = report.chapter,
            chapterPlace.chosen == (before.chapter?.index ?? 1) - 1 || before.item?.id != report.item?.id
        {
            chapterPlace.chosen = chapter.index - 1
        }
        wantCover()
        // A change that shows in nothing else may be one of the order.
        if tab == .queue || before.queued != report.queued { ask(.queue) }
        let hasMoved = before.item?.id != report.item?.id || before.state != report.state
        if hasMoved, panes[.continued] != nil { ask(.continued) }
    }

    private mutating func askChapters() {
        chapters = []
        chaptersOf = status.item?.id
        if chaptersOf != nil, status.chapters != nil { ask(.chapters) }
    }

    mutating func wantCover() {
        guard let path = status.cover, let area = coverArea else {
            coverWanted = nil
            return
        }
        // Blocks are made for the size they have: another screen wants another picture.
        let isImage = pictures == .kitty
        let wanted = isImage ? path : "\(path)\n\(area.columns)x\(area.rows)"
        guard wanted != coverWanted else { return }
        coverWanted = wanted
        requests.append(
            .picture(
                name: wanted, path: path, width: isImage ? Self.imageSize : area.columns,
                height: isImage ? Self.imageSize : area.rows * 2))
    }

    mutating func logged(_ rows: [LogsReport.Row]) {
        let isAtEnd = logPlace.chosen >= shownLogs.count - 1
        logs += rows
        if logs.count > Self.mostLogs { logs.removeFirst(logs.count - Self.mostLogs) }
        if isAtEnd { logPlace.chosen = max(0, shownLogs.count - 1) }
    }
}
