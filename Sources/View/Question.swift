public import Control
public import DBus
public import Screen

/// What the view asks of the daemon.
public enum Question: Hashable, Sendable {
    case status, chapters, queue, libraries, settings, logs
    case continued
    /// Pages count from 1.
    case latest(page: Int)
    case browse(BrowseRequest)
    case search(String)
    case show(String)
    case act(Act)

    /// The listener wants something done.
    public var isAct: Bool { if case .act = self { true } else { false } }

    /// Rows of one page.
    static let pageSize = 50

    /// The method of `org.dogear.Dogear1`.
    public var call: (member: String, arguments: [Value]) {
        switch self {
        case .status: ("Status", [])
        case .chapters: ("Chapters", [.string("")])
        case .queue: ("Queue", [])
        case .libraries: ("Libraries", [])
        case .settings: ("Settings", [])
        case .logs: ("Logs", [.string("debug"), .int32(1000)])
        case .continued: ("Continue", [.int32(100)])
        case .latest(let page): ("Latest", [.int32(Int32(Self.pageSize)), .int32(Int32(clamping: page))])
        case .browse(let request): ("Browse", [request.options])
        case .search(let words): ("Search", [.string(words), .int32(100)])
        case .show(let what): ("Show", [.string(what)])
        case .act(let act): (act.member, act.arguments)
        }
    }
}

/// Something the listener wants done.
public struct Act: Hashable, Sendable {
    var member: String
    var arguments: [Value]
    /// While it is under way, where that may take a moment.
    var doing: String?
    /// When it is done, where nothing else shows it.
    var done: String?
    /// It answers with the queue.
    var isOfQueue = false

    init(_ member: String, _ arguments: [Value] = [], doing: String? = nil, done: String? = nil) {
        self.member = member
        self.arguments = arguments
        self.doing = doing
        self.done = done
    }
}

/// What happens to the view.
public enum ViewEvent: Sendable {
    case input(Input)
    case resized(Size)
    /// The time of ``ViewState/wake(at:)`` has come.
    case tick
    /// The daemon has its name on the bus, for the first time or again.
    case appeared
    case left
    case changed(StatusReport)
    case refreshed(LibrariesReport)
    case logged(LogsReport.Row)
    /// The report as JSON, or why there is none.
    case answered(Question, Result<String, ControlError>)
    /// By the name it was asked for.
    case pictured(name: String, Cover?)
}

/// A picture as the terminal takes it.
public enum Cover: Hashable, Sendable {
    case blocks(Pixels)
    case image(Image)
}

/// What the view wants of the world.
public enum ViewRequest: Hashable, Sendable {
    case ask(Question)
    /// Into the clipboard.
    case copy(String)
    /// The picture in this file as ``Cover``, no larger than so many points; `name` comes back with it.
    case picture(name: String, path: String, width: Int, height: Int)
    case leave
    case suspend
    case redraw
}
