internal import GRDB
public import Listening

/// One thing to write to the journal. Several given together are one transaction: all are kept, or none.
public enum Entry: Hashable, Sendable {
    /// A place as a server told it: when the item was last played here stays as it is.
    case place(Place)
    /// The same where another device went on: see ``Store/borrowed()``.
    case borrowed(Place)
    /// A place reached by playing here, at this time of this computer's clock in milliseconds since 1970.
    case played(Place, at: Int64)
    case stretch(Stretch)
    case removeStretch(id: String)
    /// Replaces an earlier one for the same item.
    case progress(ProgressWrite)
    case removeProgress(ItemID)
    /// The description only: no stream address and no header is written.
    case item(Item)
    case account(Account)
    case removeAccount(id: String)
    /// Of the last 50 only. One that goes on where the last ended is joined to it: see ``Move/joined(by:)``.
    case move(Move)
    /// All that waits, in order, and how it goes on: the one before is replaced.
    case queue(Queue)
    /// The rate chosen for an item; nil forgets it. Not a number is not written.
    case rate(ItemID, Double?)
    /// 0 to 1. Not a number is not written.
    case volume(Double)
    /// Whether the player stands stopped, rather than plays or is paused.
    case stopped(Bool)
    /// A place that a server is about to be told. Its answer may never be heard.
    case asked(Place)
    case answered(ItemID)
    /// Replaces an earlier one of the same item and time.
    case bookmark(Bookmark)
    case removeBookmark(Bookmark.ID)
    /// Those that the server of an account keeps, and knows all about.
    case removeBookmarks(account: String)
    /// Replaces an earlier one with the same id. The history is bounded: the oldest go.
    case sitting(Sitting)

    func write(to db: Database) throws {
        switch self {
        case .place(let place): try Self.write(place, to: db)
        case .borrowed(let place): try Self.write(place, isServers: true, to: db)
        case .played(let place, let at): try Self.write(place, played: at, to: db)
        case .stretch(let stretch): try Self.write(stretch, to: db)
        case .removeStretch(let id): try db.run("DELETE FROM stretches WHERE id = ?", [id])
        case .progress(let write):
            try db.run(
                """
                INSERT OR REPLACE INTO progress (item, kind, position, isPlaceKnown, duration, made, refusal)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    write.item.description, write.kind.rawValue, write.position?.microseconds ?? 0,
                    write.position != nil, write.duration.microseconds, write.made, write.refusal,
                ])
        case .removeProgress(let item): try db.run("DELETE FROM progress WHERE item = ?", [item.description])
        case .item(let item):
            let json = try ItemRecord(item).json()
            try db.run("INSERT OR REPLACE INTO items (id, json) VALUES (?, ?)", [item.id.description, json])
        case .account(let account): try Self.write(account, to: db)
        case .removeAccount(let id): try db.run("UPDATE accounts SET isRemoved = 1 WHERE id = ?", [id])
        case .move(let move): try Self.write(move, to: db)
        case .queue(let queue): try Self.write(queue, to: db)
        case .rate(let item, let rate?) where rate.isFinite:
            try db.run("INSERT OR REPLACE INTO rates (item, rate) VALUES (?, ?)", [item.description, rate])
        case .rate(_, .some): break
        case .volume(let volume) where volume.isFinite:
            try db.setMeta("volume", "\(volume)")
        case .volume: break
        case .stopped(let isStopped): try db.setMeta("stopped", isStopped ? "1" : "")
        case .asked(let place):
            try db.setMeta(
                Self.askedKey + place.item.description, "\(place.position.microseconds) \(place.updated)")
        case .answered(let item):
            try db.run("DELETE FROM meta WHERE key = ?", [Self.askedKey + item.description])
        case .bookmark(let bookmark):
            try db.run(
                """
                INSERT OR REPLACE INTO bookmarks (item, time, title, created, number, owed, made, refusal)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    bookmark.item.description, bookmark.time.microseconds, bookmark.title, bookmark.created,
                    bookmark.number.isFinite ? bookmark.number : bookmark.time.seconds, bookmark.owed?.rawValue,
                    bookmark.made, bookmark.refusal,
                ])
        case .removeBookmark(let id):
            try db.run(
                "DELETE FROM bookmarks WHERE item = ? AND time = ?", [id.item.description, id.time.microseconds])
        case .removeBookmarks(let account):
            try db.run("DELETE FROM bookmarks WHERE \(Self.isKeptByServer) AND owed IS NULL", Self.books(of: account))
        case .sitting(let sitting): try Self.write(sitting, to: db)
        case .rate(let item, nil): try db.run("DELETE FROM rates WHERE item = ?", [item.description])
        }
    }

    /// What is played now was played last, although the clock was ahead as another was played.
    private static func write(
        _ place: Place, played: Int64? = nil, isServers: Bool = false, to db: Database
    ) throws {
        try db.run(
            """
            INSERT INTO places (item, position, duration, isFinished, updated, played, isServers)
            VALUES (?1, ?2, ?3, ?4, ?5, max(?6, coalesce((
                SELECT min(played, \(Int64.max - 1)) + 1 FROM places WHERE played IS NOT NULL AND item <> ?1
                ORDER BY played DESC LIMIT 1), 0)), ?7)
            ON CONFLICT (item) DO UPDATE SET
                isServers = excluded.isServers OR isServers AND (position, isFinished, updated)
                    = (excluded.position, excluded.isFinished, excluded.updated),
                position = excluded.position, duration = excluded.duration, isFinished = excluded.isFinished,
                updated = excluded.updated, played = coalesce(excluded.played, played)
            """,
            [
                place.item.description, place.position.microseconds, place.duration.microseconds, place.isFinished,
                place.updated, played, isServers,
            ])
    }

    private static func write(_ stretch: Stretch, to db: Database) throws {
        try db.run(
            """
            INSERT INTO stretches (id, item, started, updated, startPlace, place, duration, listened, sentListened,
                sentPlace, delivery, isClosed, isHeldByServer, refusal)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, place = excluded.place,
                listened = excluded.listened, sentListened = excluded.sentListened, sentPlace = excluded.sentPlace,
                delivery = excluded.delivery, isClosed = excluded.isClosed,
                isHeldByServer = excluded.isHeldByServer, refusal = excluded.refusal
            """,
            [
                stretch.id, stretch.item.description, stretch.started, stretch.updated,
                stretch.startPlace.microseconds, stretch.place.microseconds, stretch.duration.microseconds,
                stretch.listened.microseconds, stretch.sentListened.microseconds, stretch.sentPlace?.microseconds,
                stretch.delivery.rawValue, stretch.isClosed, stretch.isHeldByServer, stretch.refusal,
            ])
    }

    /// In place, so that the list keeps the order of logging in.
    private static func write(_ account: Account, to db: Database) throws {
        try db.run(
            """
            INSERT INTO accounts
                (id, server, user, login, serverVersion, hasHeaders, caFile, isSignedOut, clockOffset, headerLag, userId)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET server = excluded.server, user = excluded.user, login = excluded.login,
                serverVersion = excluded.serverVersion, hasHeaders = excluded.hasHeaders, caFile = excluded.caFile,
                isSignedOut = excluded.isSignedOut, clockOffset = excluded.clockOffset,
                headerLag = excluded.headerLag, userId = excluded.userId, isRemoved = 0
            """,
            [
                account.id, account.server, account.user, account.login.rawValue, account.serverVersion,
                account.hasHeaders, account.caFile, account.isSignedOut, account.clockOffset, account.headerLag,
                account.userID,
            ])
    }

    private static func write(_ move: Move, to db: Database) throws {
        let last = try Row.fetchOne(db.kept("SELECT * FROM moves ORDER BY number DESC LIMIT 1"))
        if let joined = last.flatMap(Move.init)?.joined(by: move) {
            try db.run(
                "UPDATE moves SET at = ?, origin = ?, target = ? WHERE number = (SELECT max(number) FROM moves)",
                [joined.at, joined.from.microseconds, joined.to.microseconds])
            return
        }
        try db.run(
            "INSERT INTO moves (at, item, origin, target, cause) VALUES (?, ?, ?, ?, ?)",
            [move.at, move.item.description, move.from.microseconds, move.to.microseconds, move.cause.rawValue])
        try db.run(
            "DELETE FROM moves WHERE number <= (SELECT number FROM moves ORDER BY number DESC LIMIT 1 OFFSET 50)", [])
    }

    /// Books of an account: no episodes, whose bookmarks are kept here alone. Takes ``books(of:)``.
    static let isKeptByServer = "substr(item, 1, length(?1)) = ?1 AND instr(substr(item, length(?1) + 1), '/') = 0"
    static func books(of account: String) -> StatementArguments { ["\(ItemID.shelf):\(account)/"] }

    private static func write(_ sitting: Sitting, to db: Database) throws {
        try db.run(
            "UPDATE history SET ended = ?, place = ?, listened = ? WHERE id = ?",
            [sitting.ended, sitting.to.microseconds, sitting.listened.microseconds, sitting.id])
        guard db.changesCount == 0 else { return }
        try db.run(
            """
            INSERT INTO history (id, item, session, day, started, ended, origin, place, listened)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                sitting.id, sitting.item.description, sitting.session, sitting.day.number, sitting.started,
                sitting.ended, sitting.from.microseconds, sitting.to.microseconds, sitting.listened.microseconds,
            ])
        // By their number: by their dates a clock that is wrong for a second would take all.
        try db.run(
            "DELETE FROM history WHERE number <= (SELECT number FROM history ORDER BY number DESC LIMIT 1 OFFSET ?)",
            [Schema.historyRows])
    }

    private static func write(_ queue: Queue, to db: Database) throws {
        try db.run("DELETE FROM queue", [])
        let present = queue.present.map { [$0] } ?? []
        for (stand, entries) in [(-1, queue.played), (0, present), (1, queue.entries)] {
            for entry in entries {
                try db.run(
                    "INSERT INTO queue (item, copy, playlist, isNext, round, json, stand) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [
                        entry.item.id.description, entry.copy, entry.playlist, entry.isNext, entry.round,
                        try ItemRecord(entry.item).json(), stand,
                    ])
            }
        }
        try db.setMeta("queue.underWay", queue.isUnderWay ? "1" : "")
        try db.setMeta("queue.loop", queue.loop.rawValue)
        try db.setMeta("queue.seed", queue.isShuffled ? "\(queue.seed)" : "")
    }

    /// A later entry of the same subject makes an earlier one that could not be written superfluous. Moves add up.
    var subject: String? {
        switch self {
        case .place(let place), .borrowed(let place): "place \(place.item)"
        case .played(let place, _): "played \(place.item)"
        case .stretch(let stretch): "stretch \(stretch.id)"
        case .removeStretch(let id): "stretch \(id)"
        case .progress(let write): "progress \(write.item)"
        case .removeProgress(let item): "progress \(item)"
        case .item(let item): "item \(item.id)"
        case .account(let account): "account \(account.id)"
        case .removeAccount(let id): "account \(id)"
        case .rate(let item, _): "rate \(item)"
        case .bookmark(let bookmark): "bookmark \(bookmark.id)"
        case .removeBookmark(let id): "bookmark \(id)"
        case .sitting(let sitting): "sitting \(sitting.id)"
        case .removeBookmarks(let account): "bookmarks of \(account)"
        case .queue: "queue"
        case .volume: "volume"
        case .stopped: "stopped"
        case .asked(let place): "asked \(place.item)"
        case .answered(let item): "asked \(item)"
        case .move: nil
        }
    }

    var isPlace: Bool {
        switch self {
        case .place, .borrowed, .played: true
        default: false
        }
    }

    /// Before the item, in `meta`.
    static let askedKey = "asked:"
}

extension Database {
    /// Prepared once for as long as the connection lives.
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// What there is only one of.
    func setMeta(_ key: String, _ value: String) throws {
        try run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", [key, value])
    }
}
