internal import FoundationEssentials
internal import GRDB
public import Listening

/// An item that was played here, with the listener's place in it.
public struct Played: Hashable, Sendable {
    public let place: Place
    /// From the cache: tracks that are not files of this computer have an empty stream address. To play them, ask the
    /// item's source for it again.
    public let item: Item
    /// Milliseconds since 1970, this computer's clock.
    public let at: Int64
}

/// Reading. Each sees everything that was given to the store before; a row that makes no sense is as good as none.
extension Store {
    public func accounts() async throws(StoreError) -> [Account] { try await accounts(areRemoved: false) }

    /// Those that were logged out of.
    public func formerAccounts() async throws(StoreError) -> [Account] { try await accounts(areRemoved: true) }

    private func accounts(areRemoved: Bool) async throws(StoreError) -> [Account] {
        try await perform { db in
            let sql = "SELECT * FROM accounts WHERE isRemoved = ? ORDER BY rowid"
            return try Row.fetchAll(db.kept(sql), arguments: [areRemoved]).compactMap(Account.init)
        }
    }

    public func place(of item: ItemID) async throws(StoreError) -> Place? {
        try await perform { db in
            try Row.fetchOne(db.kept("SELECT * FROM places WHERE item = ?"), arguments: [item.description])
                .flatMap(Place.init)
        }
    }

    /// - Returns: false also where it cannot be read.
    public func wasNeverBegun(_ item: ItemID) async -> Bool {
        do throws(StoreError) { return try await place(of: item) == nil } catch { return false }
    }

    /// The places written last, whether reached here or told by a server.
    public func recentPlaces(limit: Int) async throws(StoreError) -> [Place] {
        try await perform { db in
            let sql = "SELECT * FROM places ORDER BY max(coalesce(played, 0), updated) DESC LIMIT ?"
            return try Row.fetchAll(db.kept(sql), arguments: [limit]).compactMap(Place.init)
        }
    }

    /// - Returns: those of these items that have one.
    public func places(of items: [ItemID]) async throws(StoreError) -> [ItemID: Place] {
        try await perform { db in
            let ids = String(decoding: try JSONEncoder().encode(items.map(\.description)), as: UTF8.self)
            let sql = "SELECT * FROM places WHERE item IN (SELECT value FROM json_each(?))"
            return Self.byItem(try Row.fetchAll(db.kept(sql), arguments: [ids]))
        }
    }

    /// Those to which another device moved the item, and at which nothing has happened to it here since.
    public func borrowed() async throws(StoreError) -> [ItemID: Place] {
        try await perform { db in
            Self.byItem(try Row.fetchAll(db.kept("SELECT * FROM places WHERE isServers = 1")))
        }
    }

    private static func byItem(_ rows: [Row]) -> [ItemID: Place] {
        Dictionary(rows.compactMap(Place.init).map { ($0.item, $0) }) { first, _ in first }
    }

    /// What was listened to last here, finished or not. Places that only a server told do not count.
    public func lastPlayed() async throws(StoreError) -> Played? { try await recent(limit: 1).first }

    /// What was played here and is described here, the latest first. Of files that lay at one path, one after the other,
    /// the latest are what is there.
    public func recent(limit: Int) async throws(StoreError) -> [Played] { try await recent("items.json", limit: limit) }

    /// The same for lists and searches: without tracks, chapters and summaries, which are most of what there is to read.
    public func recentHeads(limit: Int) async throws(StoreError) -> [Played] {
        try await recent(
            "json_remove(json_set(items.json, '$.tracks', json_array()), '$.chapters', '$.summary')", limit: limit)
    }

    private func recent(_ json: String, limit: Int) async throws(StoreError) -> [Played] {
        try await perform { db in
            let sql = """
                SELECT places.*, \(json) AS json FROM places JOIN items ON items.id = places.item
                WHERE played IS NOT NULL AND json_valid(items.json) ORDER BY played DESC
                """
            var (found, paths): ([Played], Set<String>) = ([], [])
            let rows = try Row.fetchCursor(db.kept(sql))
            while found.count < limit, let row = try rows.next() {
                guard let place = Place(row), let item = row.item(place.item) else { continue }
                if item.id.source == "file", let path = item.url, !paths.insert(path).inserted { continue }
                found.append(Played(place: place, item: item, at: row.number("played")))
            }
            return found
        }
    }

    /// What was played at an address, the latest first: items of this computer are others once their content is.
    public func played(at url: String, besides item: ItemID, limit: Int) async throws(StoreError) -> [Played] {
        try await perform { db in
            let sql = """
                SELECT places.*, items.json AS json FROM places JOIN items ON items.id = places.item
                WHERE places.item > ? AND places.item < ? AND items.id <> ?
                    AND played IS NOT NULL AND json_valid(items.json) AND items.json ->> '$.url' = ?
                ORDER BY played DESC LIMIT ?
                """
            // Those of the same source: there may be thousands of others, whose descriptions are long.
            let (first, last) = ("\(item.source):", "\(item.source);")
            let rows = try Row.fetchAll(db.kept(sql), arguments: [first, last, item.description, url, limit])
            return rows.compactMap { row in
                guard let place = Place(row), let item = row.item(place.item) else { return nil }
                return Played(place: place, item: item, at: row.number("played"))
            }
        }
    }

    /// Every stretch that has not been removed, in the order they began.
    public func stretches() async throws(StoreError) -> [Stretch] {
        try await perform { db in
            try Row.fetchAll(db.kept("SELECT * FROM stretches ORDER BY started, rowid")).compactMap(Stretch.init)
        }
    }

    /// In the order they were made.
    public func progressWrites() async throws(StoreError) -> [ProgressWrite] {
        try await perform { db in
            try Row.fetchAll(db.kept("SELECT * FROM progress ORDER BY made, rowid")).compactMap(ProgressWrite.init)
        }
    }

    /// From the cache: see ``Played/item``.
    public func item(_ id: ItemID) async throws(StoreError) -> Item? {
        try await perform { db in
            try Row.fetchOne(db.kept("SELECT json FROM items WHERE id = ?"), arguments: [id.description])?.item(id)
        }
    }

    /// The latest first, 50 at most.
    public func moves() async throws(StoreError) -> [Move] {
        try await perform { db in
            try Row.fetchAll(db.kept("SELECT * FROM moves ORDER BY number DESC")).compactMap(Move.init)
        }
    }

    /// What waits and what was played before, and how it goes on.
    public func queue() async throws(StoreError) -> Queue {
        try await perform { db in
            let rows = try Row.fetchAll(db.kept("SELECT * FROM queue ORDER BY number"))
            func entries(_ stand: Int64) -> [Queue.Entry] {
                rows.filter { $0.number("stand") == stand }.compactMap(Queue.Entry.init)
            }
            return Queue(
                played: entries(-1), present: entries(0).first, entries: entries(1),
                isUnderWay: try db.meta("queue.underWay") == "1",
                loop: try db.meta("queue.loop").flatMap(Queue.Loop.init) ?? .off,
                shuffledWith: try db.meta("queue.seed").flatMap(UInt64.init))
        }
    }

    /// 0 to 1; nil before one was ever chosen.
    public func volume() async throws(StoreError) -> Double? {
        try await perform { db in
            try db.meta("volume").flatMap(Double.init).flatMap { (0...1).contains($0) ? $0 : nil }
        }
    }

    /// Whether the player was left stopped.
    public func isStopped() async throws(StoreError) -> Bool {
        try await perform { try $0.meta("stopped") == "1" }
    }

    /// Places that servers were told and that nobody has heard an answer to.
    public func asked() async throws(StoreError) -> [Place] {
        try await perform { db in
            let key = Entry.askedKey
            let rows = try Row.fetchAll(
                db.kept("SELECT key, value FROM meta WHERE key >= ? AND key < ?"), arguments: [key, "asked;"])
            return rows.compactMap { row in
                let parts = (row.text("value") ?? "").split(separator: " ").compactMap { Int64($0) }
                guard parts.count == 2, let item = row.text("key").flatMap({ ItemID(String($0.dropFirst(key.count))) })
                else { return nil }
                return Place(
                    item: item, position: BookTime(microseconds: parts[0]), duration: .zero, updated: parts[1])
            }
        }
    }

    /// - Parameter items: an item and what it belongs to, see ``Item/rateKeys``.
    /// - Returns: the first that has one, and which that is.
    public func rate(among items: [ItemID]) async throws(StoreError) -> (key: ItemID, rate: Double)? {
        try await perform { db in
            for item in items {
                let sql = "SELECT rate FROM rates WHERE item = ?"
                if let rate = try Double.fetchOne(db.kept(sql), arguments: [item.description]) { return (item, rate) }
            }
            return nil
        }
    }

    /// By time. Those whose removal a server has yet to be told among them.
    public func bookmarks(of item: ItemID) async throws(StoreError) -> [Bookmark] {
        try await perform { db in
            try Row.fetchAll(
                db.kept("SELECT * FROM bookmarks WHERE item = ? ORDER BY time"), arguments: [item.description]
            ).compactMap(Bookmark.init)
        }
    }

    /// Of all items, by item and time.
    public func bookmarks() async throws(StoreError) -> [Bookmark] {
        try await perform { db in
            try Row.fetchAll(db.kept("SELECT * FROM bookmarks ORDER BY item, time")).compactMap(Bookmark.init)
        }
    }

    /// Those that a server has yet to be told of, and those it refused, by item and time.
    public func owedBookmarks() async throws(StoreError) -> [Bookmark] {
        try await perform { db in
            let sql = "SELECT * FROM bookmarks WHERE owed IS NOT NULL ORDER BY item, time"
            return try Row.fetchAll(db.kept(sql)).compactMap(Bookmark.init)
        }
    }

    /// Of those items of an account whose bookmarks its server keeps.
    public func bookmarks(account: String) async throws(StoreError) -> [Bookmark] {
        try await perform { db in
            let sql = "SELECT * FROM bookmarks WHERE \(Entry.isKeptByServer) ORDER BY item, time"
            return try Row.fetchAll(db.kept(sql), arguments: Entry.books(of: account)).compactMap(Bookmark.init)
        }
    }

    /// What was listened to here, the latest first.
    /// - Parameters:
    ///   - item: nil: of all items.
    ///   - least: what was shorter is left out.
    public func history(
        of item: ItemID? = nil, least: BookTime = .zero, limit: Int
    ) async throws(StoreError) -> [Sitting] {
        try await perform { db in
            let sql = """
                SELECT * FROM history WHERE (?1 IS NULL OR item = ?1) AND listened >= ?3
                ORDER BY started DESC, number DESC LIMIT ?2
                """
            return try Row.fetchAll(db.kept(sql), arguments: [item?.description, limit, least.microseconds])
                .compactMap(Sitting.init)
        }
    }

    /// Which of these sessions have rows in the history here.
    public func known(sessions: [String]) async throws(StoreError) -> Set<String> {
        try await perform { db in
            let ids = String(decoding: try JSONEncoder().encode(sessions), as: UTF8.self)
            let sql = "SELECT DISTINCT session FROM history WHERE session IN (SELECT value FROM json_each(?))"
            return Set(try String.fetchAll(db.kept(sql), arguments: [ids]))
        }
    }

    /// How long each item was listened to here on each day.
    public func listened() async throws(StoreError) -> [Tally.Row] {
        try await perform { db in
            let sql = "SELECT day, item, sum(listened) AS listened FROM history GROUP BY day, item ORDER BY day, item"
            return try Row.fetchAll(db.kept(sql)).compactMap { row in
                row.itemID("item").map {
                    Tally.Row(day: Day(number: row.number("day")), item: $0, listened: row.time("listened"))
                }
            }
        }
    }
}

extension Database {
    func kept(_ sql: String) throws -> Statement { try cachedStatement(sql: sql) }

    func meta(_ key: String) throws -> String? {
        try String.fetchOne(kept("SELECT value FROM meta WHERE key = ?"), arguments: [key])
    }
}

/// GRDB's own subscripts stop the program when a column does not hold what is asked for; these do not.
extension Row {
    fileprivate func number(_ column: String) -> Int64 { optionalNumber(column) ?? 0 }
    fileprivate func optionalNumber(_ column: String) -> Int64? {
        (self[column] as DatabaseValue?).flatMap(Int64.fromDatabaseValue)
    }
    func text(_ column: String) -> String? {
        (self[column] as DatabaseValue?).flatMap(String.fromDatabaseValue)
    }
    fileprivate func flag(_ column: String) -> Bool { number(column) != 0 }
    fileprivate func time(_ column: String) -> BookTime { BookTime(microseconds: number(column)) }
    func itemID(_ column: String) -> ItemID? { text(column).flatMap(ItemID.init) }

    func item(_ id: ItemID) -> Item? {
        text("json").flatMap { try? ItemRecord(json: $0) }.flatMap { $0.item(id) }
    }
}

extension Account {
    init?(_ row: Row) {
        guard let id = row.text("id"), let server = row.text("server"), let user = row.text("user"),
            let login = row.text("login").flatMap(Login.init)
        else { return nil }
        self.init(
            id: id, server: server, user: user, login: login, serverVersion: row.text("serverVersion"),
            hasHeaders: row.flag("hasHeaders"), caFile: row.text("caFile"), isSignedOut: row.flag("isSignedOut"),
            clockOffset: row.number("clockOffset"), headerLag: row.number("headerLag"),
            userID: row.text("userId"))
    }
}

extension Place {
    init?(_ row: Row) {
        guard let item = row.itemID("item") else { return nil }
        self.init(
            item: item, position: row.time("position"), duration: row.time("duration"),
            isFinished: row.flag("isFinished"), updated: row.number("updated"))
    }
}

extension Queue.Entry {
    fileprivate init?(_ row: Row) {
        guard let id = row.itemID("item"), let item = row.item(id) else { return nil }
        self.init(
            item, copy: Int(clamping: row.number("copy")), playlist: row.text("playlist"), isNext: row.flag("isNext"),
            round: Int(clamping: row.number("round")))
    }
}

extension Stretch {
    fileprivate init?(_ row: Row) {
        guard let id = row.text("id"), let item = row.itemID("item"),
            let delivery = row.text("delivery").flatMap(Delivery.init)
        else { return nil }
        self.init(
            id: id, item: item, started: row.number("started"), startPlace: row.time("startPlace"),
            duration: row.time("duration"), delivery: delivery)
        updated = row.number("updated")
        place = row.time("place")
        listened = row.time("listened")
        sentListened = row.time("sentListened")
        sentPlace = row.optionalNumber("sentPlace").map(BookTime.init)
        isClosed = row.flag("isClosed")
        isHeldByServer = row.flag("isHeldByServer")
        refusal = row.text("refusal")
    }
}

extension ProgressWrite {
    fileprivate init?(_ row: Row) {
        guard let item = row.itemID("item"), let kind = row.text("kind").flatMap(Kind.init) else { return nil }
        self.init(
            item: item, kind: kind, position: row.flag("isPlaceKnown") ? row.time("position") : nil,
            duration: row.time("duration"), made: row.number("made"), refusal: row.text("refusal"))
    }
}

extension Bookmark {
    fileprivate init?(_ row: Row) {
        guard let item = row.itemID("item") else { return nil }
        self.init(
            item: item, time: row.time("time"), title: row.text("title") ?? "", created: row.number("created"),
            number: (row["number"] as DatabaseValue?).flatMap(Double.fromDatabaseValue),
            owed: row.text("owed").flatMap(Owed.init), made: row.number("made"), refusal: row.text("refusal"))
    }
}

extension Sitting {
    fileprivate init?(_ row: Row) {
        guard let id = row.text("id"), let item = row.itemID("item") else { return nil }
        self.init(
            id: id, item: item, session: row.text("session"), day: Day(number: row.number("day")),
            started: row.number("started"), ended: row.number("ended"), from: row.time("origin"),
            to: row.time("place"), listened: row.time("listened"))
    }
}

extension Move {
    init?(_ row: Row) {
        guard let item = row.itemID("item"), let cause = row.text("cause").flatMap(Player.JumpCause.init) else {
            return nil
        }
        self.init(
            at: row.number("at"), item: item, from: row.time("origin"), to: row.time("target"), cause: cause)
    }
}
