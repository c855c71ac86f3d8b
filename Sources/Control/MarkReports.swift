/// `bookmarks`: of one item in the order of its timeline, or of all items.
public struct BookmarksReport: Codable, Hashable, Sendable {
    public struct Row: Codable, Hashable, Sendable {
        /// From 1, among those of its item.
        public var number: Int
        public var item: ItemHead
        public var time: Double
        public var title: String
        /// Title of the chapter it is in; null where that is not known.
        @OrNull public var chapter: String?
        /// Milliseconds since 1970.
        public var created: Int64
        /// `server`: kept there, and shared with other devices; `here`: only on this computer.
        public var kept: String
        /// The server has yet to be told. What is here only is never sent.
        public var unsent: Bool
        /// What the server said when it refused for good.
        @OrNull public var refused: String?

        public init(
            number: Int, item: ItemHead, time: Double, title: String, chapter: String?, created: Int64, kept: String,
            unsent: Bool, refused: String?
        ) {
            self.number = number
            self.item = item
            self.time = time
            self.title = title
            self.created = created
            self.kept = kept
            self.unsent = unsent
            self.chapter = chapter
            self.refused = refused
        }
    }

    /// Null where they are those of all items.
    @OrNull public var item: ItemHead?
    public var bookmarks: [Row]
    /// Sentences about servers that could not be asked now.
    public var problems: [String]

    public init(item: ItemHead?, bookmarks: [Row], problems: [String] = []) {
        self.bookmarks = bookmarks
        self.problems = problems
        self.item = item
    }
}

/// `bookmark`, and `bookmarks` with `--rename` or `--remove`.
public struct BookmarkReport: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Sendable {
        case made, renamed, removed
        /// There was one at that place, and no other title was given.
        case unchanged
    }

    public var outcome: Outcome
    public var bookmark: BookmarksReport.Row
    /// Why it lasts only until the daemon ends, where the journal cannot be written.
    @OrNull public var problem: String?

    public init(_ outcome: Outcome, _ bookmark: BookmarksReport.Row, problem: String? = nil) {
        self.outcome = outcome
        self.bookmark = bookmark
        self.problem = problem
    }
}

/// `history`, the latest first.
public struct HistoryReport: Codable, Hashable, Sendable {
    public struct Row: Codable, Hashable, Sendable {
        /// Milliseconds since 1970.
        public var started: Int64
        public var ended: Int64
        public var item: ItemHead
        /// Where the listener was at its beginning and at its end.
        public var from: Double
        public var to: Double
        /// Seconds of the clock on the wall, at whatever speed.
        public var listened: Double
        /// `here`: on this computer; `server`: on another device, or before this history began.
        public var source: String
        /// What it was listened to with, as a server knows it; null for this computer.
        @OrNull public var device: String?
        @OrNull public var account: String?

        public init(
            started: Int64, ended: Int64, item: ItemHead, from: Double, to: Double, listened: Double, source: String,
            device: String? = nil, account: String? = nil
        ) {
            self.started = started
            self.ended = ended
            self.item = item
            self.from = from
            self.to = to
            self.listened = listened
            self.source = source
            self.device = device
            self.account = account
        }
    }

    public var rows: [Row]
    /// Sentences about servers that could not be asked now.
    public var problems: [String]

    public init(rows: [Row], problems: [String] = []) {
        self.rows = rows
        self.problems = problems
    }
}

/// `stats`. Seconds, each counted once: `server` is what servers counted, of all devices; `local` what only this computer
/// knows: files, addresses, what a server has not got yet, and all of a server that could not be asked.
public struct StatsReport: Codable, Hashable, Sendable {
    public struct DayRow: Codable, Hashable, Sendable {
        /// `2026-11-21`.
        public var date: String
        public var seconds: Double
        public var server: Double
        public var local: Double

        public init(date: String, server: Double, local: Double) {
            self.date = date
            self.server = server
            self.local = local
            seconds = server + local
        }
    }

    public struct ItemTime: Codable, Hashable, Sendable {
        public var item: ItemHead
        public var seconds: Double
        public var server: Double
        public var local: Double

        public init(item: ItemHead, server: Double, local: Double) {
            self.item = item
            self.server = server
            self.local = local
            seconds = server + local
        }
    }

    public struct Total: Codable, Hashable, Sendable {
        public var seconds: Double
        public var server: Double
        public var local: Double

        public init(server: Double, local: Double) {
            self.server = server
            self.local = local
            seconds = server + local
        }
    }

    /// Since each of them has known the listener.
    public var total: Total
    /// Of the days below.
    public var period: Total
    /// Days in a row with listening, up to today or yesterday.
    public var streak: Int
    /// The oldest first, without gaps; the last is today.
    public var days: [DayRow]
    /// The longest of these days first, 10 at most.
    public var items: [ItemTime]
    /// `user@host` of the servers that counted.
    public var servers: [String]
    /// Sentences about servers that could not be asked now.
    public var problems: [String]

    public init(
        total: Total, streak: Int, days: [DayRow], items: [ItemTime], servers: [String], problems: [String] = []
    ) {
        self.total = total
        period = Total(
            server: days.reduce(0) { $0 + $1.server }, local: days.reduce(0) { $0 + $1.local })
        self.streak = streak
        self.days = days
        self.items = items
        self.servers = servers
        self.problems = problems
    }
}
