/// `undo`.
public struct UndoReport: Codable, Hashable, Sendable {
    public var item: ItemHead
    /// Where the listener was when it was asked for.
    public var from: Double
    /// Where the listener is again.
    public var position: Double
    /// It counts as finished again.
    @OrNull public var finished: Bool?
    /// What was taken back.
    public var undone: MovesReport.Row

    public init(item: ItemHead, from: Double, position: Double, finished: Bool = false, undone: MovesReport.Row) {
        self.item = item
        self.from = from
        self.position = position
        self.finished = finished
        self.undone = undone
    }
}

/// `undo --list`, the newest first.
public struct MovesReport: Codable, Hashable, Sendable {
    public struct Row: Codable, Hashable, Sendable {
        /// Milliseconds since 1970.
        public var at: Int64
        public var item: ItemHead
        public var from: Double
        public var to: Double
        /// `seek`, `chapter`, `undo`, `restart`, `finish`, `unfinish`, `sleep`, `device` (another device's newer place) or
        /// `begin` (playing was begun at another place).
        public var cause: String
        /// A later undo took it back.
        public var undone: Bool

        public init(at: Int64, item: ItemHead, from: Double, to: Double, cause: String, undone: Bool = false) {
            self.at = at
            self.item = item
            self.from = from
            self.to = to
            self.cause = cause
            self.undone = undone
        }
    }
    public var moves: [Row]

    public init(moves: [Row]) { self.moves = moves }
}

/// `sync`: what waited for a server, and what became of it.
public struct SyncReport: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Sendable {
        case accepted
        /// A command that was not carried out, for another device went on after it.
        case outdone
        /// For good; kept until it is sent again, superseded by a later command, or given up.
        case refused
        /// Kept, and sent when the server answers.
        case unreachable
        /// Kept, and sent after the next login.
        case signedOut
    }

    public struct Row: Codable, Hashable, Sendable {
        /// Of a stretch of listening its session's; of a command the item's; of a bookmark the item's with its time.
        public var id: String
        /// `listening`, or the command: `finish`, `unfinish`, `restart`, `place`, `bookmark`, `unbookmark`.
        public var kind: String
        public var item: ItemHead
        @OrNull public var account: String?
        /// When it began, in milliseconds since 1970.
        public var at: Int64
        /// Where the listener was at its end, or where the bookmark is.
        @OrNull public var position: Double?
        /// Seconds; null for a command.
        @OrNull public var listened: Double?
        public var outcome: Outcome
        /// A sentence; null if it was accepted.
        @OrNull public var reason: String?
        /// Seconds until it is tried again; null if that is not by time.
        @OrNull public var again: Double?

        public init(
            id: String, kind: String, item: ItemHead, account: String?, at: Int64, position: Double?, listened: Double?,
            outcome: Outcome = .accepted, reason: String? = nil, again: Double? = nil
        ) {
            self.id = id
            self.kind = kind
            self.item = item
            self.at = at
            self.outcome = outcome
            self.account = account
            self.position = position
            self.listened = listened
            self.reason = reason
            self.again = again
        }
    }
    public var rows: [Row]

    public init(rows: [Row] = []) { self.rows = rows }

    /// What the command line says of it all: the outcome that needs the listener most.
    public var problem: ControlError.Kind? {
        let outcomes = Set(rows.map(\.outcome))
        if outcomes.contains(.signedOut) { return .notSignedIn }
        if outcomes.contains(.unreachable) { return .unreachable }
        return outcomes.contains(.refused) ? .failed : nil
    }
}

/// `queue`, in the order in which it plays.
public struct QueueReport: Codable, Hashable, Sendable {
    public var items: [ItemRow]
    /// Seconds of all of them that were not heard yet, at normal speed.
    public var left: Double
    /// How it goes on: `off`, `track` (the present track begins again) or `queue` (round and round).
    @OrNull public var loop: String? = "off"
    @OrNull public var shuffle: Bool? = false
    /// Number, from 1, of what plays next; null when it is empty.
    @OrNull public var next: Int?
    /// A sentence for each that could not be added, where several were asked for.
    @OrNull public var problems: [String]?

    public init(items: [ItemRow]) {
        self.items = items
        left = items.reduce(0) { $0 + $1.left }
    }
}

extension ItemRow {
    /// Seconds not heard yet; what is finished begins anew.
    fileprivate var left: Double {
        guard let duration else { return 0 }
        return max(0, duration - (finished ? 0 : position ?? 0))
    }
}
