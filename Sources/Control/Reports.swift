/// What commands answer, as `--json` prints it and the bus carries it. Keys are stable: additions only. Times are decimal
/// seconds on the item's whole timeline unless a name says otherwise; absent facts are null, never left out.
public struct StatusReport: Codable, Hashable, Sendable {
    public enum State: String, Codable, Sendable { case playing, paused, buffering, stopped, empty }

    public var state: State = .empty
    @OrNull public var item: ItemHead?
    @OrNull public var chapter: ChapterRow?
    /// How many chapters the item has; null without any.
    @OrNull public var chapters: Int?
    public var position: Double = 0
    public var duration: Double = 0
    /// Heard to its end, or marked as finished; it begins anew with the next play.
    @OrNull public var finished: Bool? = false
    public var rate: Double = 1
    /// Whose speed that is: `item`, `series`, `podcast` or `default`; null while nothing is loaded.
    @OrNull public var rateOf: String?
    public var volume: Double = 1
    /// Null while none is set.
    @OrNull public var sleep: SleepRow?
    /// Seconds read ahead of the position; null when not known.
    @OrNull public var buffered: Double?
    /// Stretches of listening, commands and bookmarks not yet accepted by a server; refused ones are counted below.
    public var unsent: Int = 0
    /// Refused by a server for good, and kept: `dogear sync` lists them.
    @OrNull public var parked: Int? = 0
    /// Items in the queue.
    @OrNull public var queued: Int? = 0
    /// `user@host` of the account the item belongs to.
    @OrNull public var account: String?
    /// Path of its cover, PNG or JPEG; null while there is none.
    @OrNull public var cover: String?
    /// Title of what was asked for and is not found or opened yet; null unless that takes more than a moment.
    @OrNull public var opening: String?
    /// A sentence about what went wrong last, until something goes right.
    @OrNull public var error: String?

    public init() {}
}

/// The sleep timer.
public struct SleepRow: Codable, Hashable, Sendable {
    /// `time`, `chapter` or `item`: what ends it.
    public var kind: String
    /// Seconds of listening until it ends, at the present speed; null where it ends in an item that is not loaded yet.
    @OrNull public var left: Double?
    /// Ends of chapters until then, 1 for that of the present one; null for other kinds.
    @OrNull public var chapters: Int?
    /// The sound fades: a key puts the end off.
    public var fading: Bool

    public init(kind: String, left: Double?, chapters: Int? = nil, fading: Bool = false) {
        self.kind = kind
        self.fading = fading
        self.left = left
        self.chapters = chapters
    }
}

/// `sleep`.
public struct SleepReport: Codable, Hashable, Sendable {
    /// Null while none is set.
    @OrNull public var sleep: SleepRow?
    /// It passes only while something plays.
    public var playing: Bool

    public init(sleep: SleepRow?, playing: Bool) {
        self.playing = playing
        self.sleep = sleep
    }
}

public struct ItemHead: Codable, Hashable, Sendable {
    public var id: String
    public var title: String
    public var authors: [String]
    public var narrators: [String]
    public var series: [SeriesRow]
    /// `book`, `episode`, `podcast` or `file`.
    public var kind: String
    /// Of an episode.
    @OrNull public var podcast: String?

    public init(
        id: String, title: String, authors: [String], narrators: [String] = [], series: [SeriesRow] = [], kind: String,
        podcast: String? = nil
    ) {
        self.id = id
        self.title = title
        self.authors = authors
        self.narrators = narrators
        self.series = series
        self.kind = kind
        self.podcast = podcast
    }
}

public struct SeriesRow: Codable, Hashable, Sendable {
    public var name: String
    @OrNull public var sequence: String?

    public init(name: String, sequence: String?) {
        self.name = name
        self.sequence = sequence
    }
}

public struct ChapterRow: Codable, Hashable, Sendable {
    /// From 1.
    public var index: Int
    public var title: String
    public var start: Double
    public var end: Double

    public init(index: Int, title: String, start: Double, end: Double) {
        self.index = index
        self.title = title
        self.start = start
        self.end = end
    }
}

public struct ChaptersReport: Codable, Hashable, Sendable {
    public var item: ItemHead
    public var chapters: [ChapterRow]
    /// Index (from 1) of the chapter that is playing or would go on; null when the item has none or was never begun.
    @OrNull public var current: Int?

    public init(item: ItemHead, chapters: [ChapterRow], current: Int?) {
        self.item = item
        self.chapters = chapters
        self.current = current
    }
}

/// `continue`, `latest`, `list`, `search`, `resolve`.
public struct ListReport: Codable, Hashable, Sendable {
    public var items: [ItemRow]
    /// How many there are in all; null where the source does not say.
    @OrNull public var total: Int?
    /// From 1.
    public var page: Int
    /// Sentences about accounts that could not be asked; the rows are those of the others.
    public var problems: [String]

    public init(items: [ItemRow], total: Int? = nil, page: Int = 1, problems: [String] = []) {
        self.items = items
        self.total = total
        self.page = page
        self.problems = problems
    }
}

public struct ItemRow: Codable, Hashable, Sendable {
    public var item: ItemHead
    /// Null for a podcast.
    @OrNull public var duration: Double?
    /// Null when never begun.
    @OrNull public var position: Double?
    /// 0 to 1; null when never begun.
    @OrNull public var progress: Double?
    public var finished: Bool
    /// Milliseconds since 1970: published, for episodes; added to the library, for books.
    @OrNull public var date: Int64?
    /// Episodes of a podcast.
    @OrNull public var episodes: Int?
    @OrNull public var library: String?
    @OrNull public var account: String?

    public init(item: ItemHead, finished: Bool = false) {
        self.item = item
        self.finished = finished
    }
}

public struct ShowReport: Codable, Hashable, Sendable {
    public var row: ItemRow
    @OrNull public var subtitle: String?
    @OrNull public var published: String?
    @OrNull public var language: String?
    public var genres: [String] = []
    /// Plain text; paragraphs parted by empty lines.
    @OrNull public var summary: String?
    /// Absolute path of a picture on this computer.
    @OrNull public var cover: String?
    public var chapters: [ChapterRow] = []
    /// Audio files.
    public var tracks: Int = 0
    /// Of a podcast, newest first.
    public var episodes: [ItemRow] = []
    /// What comes next in the series or the podcast; null at its end, and where that is not known.
    @OrNull public var next: ItemRow?

    public init(row: ItemRow) { self.row = row }
}

public struct LibrariesReport: Codable, Hashable, Sendable {
    public struct Row: Codable, Hashable, Sendable {
        public var id: String
        public var name: String
        /// `book` or `podcast`.
        public var mediaType: String
        public var account: String
        /// How many items it has; null where that is not known yet.
        @OrNull public var items: Int?
        /// How many of them are known here.
        @OrNull public var known: Int?
        /// When it was last compared with its server: milliseconds since 1970; null: never.
        @OrNull public var refreshed: Int64?

        public init(id: String, name: String, mediaType: String, account: String) {
            self.id = id
            self.name = name
            self.mediaType = mediaType
            self.account = account
        }

        /// What names this one, whoever else has it.
        public var address: String { "\(account)/\(id)" }
    }
    public var libraries: [Row]
    public var problems: [String]
    /// What the problems amount to, as an exit code; null where there are none or it is not known.
    @OrNull public var code: Int32?
    /// They are being read now.
    @OrNull public var refreshing: Bool? = false

    public init(libraries: [Row], problems: [String] = []) {
        self.libraries = libraries
        self.problems = problems
    }
}

/// `finish`, `unfinish`, `restart`.
public struct ProgressReport: Codable, Hashable, Sendable {
    public var item: ItemHead
    public var position: Double
    public var finished: Bool
    /// False: the server could not be asked now; it is kept and sent later. Or it was refused.
    public var sent: Bool
    /// What the server said when it refused for good.
    @OrNull public var refused: String?

    public init(item: ItemHead, position: Double, finished: Bool, sent: Bool) {
        self.item = item
        self.position = position
        self.finished = finished
        self.sent = sent
    }
}

public struct SettingsReport: Codable, Hashable, Sendable {
    public struct Row: Codable, Hashable, Sendable {
        public var key: String
        public var value: String
        public var `default`: String
        public var meaning: String
        /// As people read it: `chapter, item` or `0.5 to 3.0`.
        public var allowed: String

        public init(key: String, value: String, default: String, meaning: String, allowed: String) {
            self.key = key
            self.value = value
            self.default = `default`
            self.meaning = meaning
            self.allowed = allowed
        }
    }
    public var settings: [Row]
    /// Of the file, each with its line.
    public var problems: [String]

    public init(settings: [Row], problems: [String]) {
        self.settings = settings
        self.problems = problems
    }
}

public struct DoctorReport: Codable, Hashable, Sendable {
    public struct Check: Codable, Hashable, Sendable {
        public enum Outcome: String, Codable, Sendable { case good, warning, bad }
        public var name: String
        public var outcome: Outcome
        /// What was found.
        public var finding: String
        /// What to do; null when nothing is to be done.
        @OrNull public var advice: String?

        public init(_ name: String, _ outcome: Outcome, _ finding: String, advice: String? = nil) {
            self.name = name
            self.outcome = outcome
            self.finding = finding
            self.advice = advice
        }
    }
    public var checks: [Check]

    public init(checks: [Check]) { self.checks = checks }
}

public struct AccountsReport: Codable, Hashable, Sendable {
    public struct Row: Codable, Hashable, Sendable {
        public var id: String
        public var server: String
        public var user: String
        /// `tokens`, `legacy` or `apikey`.
        public var login: String
        @OrNull public var serverVersion: String?
        public var signedIn: Bool
        public var unsent: Int
        /// After a login: where this account was before.
        @OrNull public var movedFrom: String?

        public init(
            id: String, server: String, user: String, login: String, serverVersion: String?, signedIn: Bool, unsent: Int
        ) {
            self.id = id
            self.server = server
            self.user = user
            self.login = login
            self.serverVersion = serverVersion
            self.signedIn = signedIn
            self.unsent = unsent
        }
    }
    public var accounts: [Row]

    public init(accounts: [Row]) { self.accounts = accounts }
}

public struct LogsReport: Codable, Hashable, Sendable {
    public struct Row: Codable, Hashable, Sendable {
        /// Milliseconds since 1970.
        public var time: Int64
        /// `debug`, `info`, `notice`, `warning`, `error`.
        public var level: String
        public var room: String
        public var message: String
        public var facts: [String: String]

        public init(time: Int64, level: String, room: String, message: String, facts: [String: String]) {
            self.time = time
            self.level = level
            self.room = room
            self.message = message
            self.facts = facts
        }
    }
    public var records: [Row]

    public init(records: [Row]) { self.records = records }
}
