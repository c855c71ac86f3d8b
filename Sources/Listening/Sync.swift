/// Keeps the servers in step with the journal: decides what to send, when, and what an answer means. One request at a time
/// for each account, so that progress writes for an item are serial. Pure: the daemon performs the effects in order, rows
/// before requests, and reports the answers.
public struct Sync: Sendable {
    /// Names a request, so that only its own answer counts.
    public typealias Ticket = UInt64

    public enum Request: Hashable, Sendable {
        /// `POST /api/session/:id/sync`: `listened` is what is new since the last one.
        case sync(stretch: String, item: ItemID, place: BookTime, listened: BookTime, duration: BookTime)
        /// `POST /api/session/:id/close` with `{}`.
        case close(stretch: String, item: ItemID)
        /// `POST /api/session/local-all`, newest first: an item without progress takes the place of the first.
        case local([Stretch])
        case progress(ProgressWrite)
        /// `POST` or `DELETE /api/me/item/:id/bookmark`: safe to repeat.
        case bookmark(Bookmark)

        /// It tells a place of this item.
        func isAbout(_ item: ItemID) -> Bool {
            switch self {
            case .sync(_, item, _, _, _): true
            case .local(let rows): rows.contains { $0.item == item }
            case .progress(let write): write.item == item
            case .sync, .close, .bookmark: false
            }
        }

        /// For the log.
        public var name: String {
            switch self {
            case .sync: "sync"
            case .close: "close"
            case .local: "local sessions"
            case .progress(let write): write.kind.rawValue
            case .bookmark(let bookmark): bookmark.owed == .removal ? "bookmark removed" : "bookmark"
            }
        }
    }

    /// What came of a request.
    public enum Outcome: Hashable, Sendable {
        case accepted
        /// Of `local`: what became of each row, by stretch id; a sentence where it was refused.
        case rows([String: String?])
        /// 404: the server does not hold this session.
        case gone
        /// The server may or may not have acted.
        case doubtful
        /// Nothing reached the server, or it asked for patience: the same again later.
        case later(retryAfter: Double?)
        /// Only a new login helps.
        case signedOut
        /// For good: a sentence.
        case refused(String)

        /// The server itself has said so.
        public var isAnswer: Bool {
            switch self {
            case .accepted, .rows, .gone, .refused: true
            case .doubtful, .later, .signedOut: false
            }
        }

        /// For the log, which has no names of sessions: with one anybody can listen to what it is of.
        public var text: String {
            guard case .rows(let rows) = self else { return "\(self)" }
            let refusals = rows.values.compactMap(\.self)
            return "\(rows.count) sessions" + (refusals.isEmpty ? "" : ", refused: \(Set(refusals).sorted())")
        }
    }

    public enum Effect: Hashable, Sendable {
        case save(Stretch)
        case remove(stretch: String)
        case saveWrite(ProgressWrite)
        case removeWrite(ItemID)
        case saveBookmark(Bookmark)
        case removeBookmark(Bookmark.ID)
        case send(account: String, Ticket, Request)
        /// Call ``Sync/kick(at:)`` when so much time has passed.
        case wake(after: BookTime)
        /// For the log and the listener.
        case tell(String)
    }

    /// While playing, so much listening makes a sync due.
    public static let interval = BookTime.seconds(30)

    struct Lane: Sendable {
        var busy: Ticket?
        /// The request that was under way when a sign came that the server may answer again: should it fail, it was sent
        /// too early, and is sent once more without waiting.
        var hurried: Ticket?
        var backOff = BackOff()
        /// Monotonic microseconds before which nothing is sent.
        var notBefore: Int64 = 0
        /// Local sessions are not taken now: what goes in other ways need not wait for them.
        var localNotBefore: Int64 = 0
        var isSignedOut = false
        /// How often in a row what an item owes did not get through.
        var failures: [ItemID: Int] = [:]
    }

    /// A server that does not take local sessions is asked again after this: it may be moving, or behind a proxy that is.
    static let localPause = BookTime.seconds(300)

    var live: Stretch?
    /// Sessions that are over, the last of them: their late echoes are still ours.
    var past: [String] = []
    /// Sessions whose end was answered with 404, which may have been a proxy's word: what they owe is delivered, then they
    /// are ended once more.
    var seemsGone: Set<String> = []
    /// The session that last took a place, and when: see ``Moment/sinceStart``, for clocks are set now and then.
    var confirmed: (id: String, at: Int64)?
    /// When the place of each session of this run was true, by the same measure.
    var reached: [String: Int64] = [:]
    /// The place of another device that was taken over last, while nothing else has been heard.
    var taken: Place?
    /// A sync of the live stretch is wanted now.
    var isDue = false
    /// Closed or inherited stretches, by id.
    var waiting: [String: Stretch] = [:]
    var writes: [ItemID: ProgressWrite] = [:]
    /// When the listener's last command for each item was given, delivered or not.
    var commanded: [ItemID: Int64] = [:]
    /// When each item was listened to last, delivered or not.
    var listened: [ItemID: Int64] = [:]
    /// Delivered as local sessions, where the server said that it does not hold them. Should it hold one after all, it
    /// writes its own count over ours when it ends it, which is when the next one is opened.
    var denied: [Stretch] = []
    /// Those that a server has yet to be told of, and those it refused.
    var bookmarks: [Bookmark.ID: Bookmark] = [:]
    var lanes: [String: Lane] = [:]
    var tickets: Ticket = 0
    var inFlight: [Ticket: Request] = [:]

    public init() {}

    /// What a server has yet to accept.
    public var unsent: [Stretch] {
        (waiting.values.filter { $0.isUnsent || $0.delivery == .parked } + (live.map { $0.isUnsent ? [$0] : [] } ?? []))
            .sorted { $0.started < $1.started }
    }
    /// Refused ones among them.
    public var unsentWrites: [ProgressWrite] {
        writes.values.sorted { ($0.made, $0.item.key) < ($1.made, $1.item.key) }
    }
    /// Refused ones among them.
    public var unsentBookmarks: [Bookmark] {
        bookmarks.values.sorted { ($0.made, $0.item.key, $0.time) < ($1.made, $1.item.key, $1.time) }
    }
    /// How many of those a server should have had by now: the live session owes up to half a minute while all is well.
    public var overdue: Int {
        unsent.count(where: isLate) + writes.values.count { $0.refusal == nil }
            + bookmarks.values.count { $0.refusal == nil }
    }
    /// Sessions among them.
    public func overdueSessions(of account: String) -> Int { unsent.count { $0.item.account == account && isLate($0) } }

    /// Its server may yet end a session with its own count, over what it was told otherwise.
    public func isHeld(by account: String) -> Bool {
        waiting.values.contains { stretch in
            stretch.item.account == account && stretch.isHeldByServer && stretch.delivery == .local
                && stretch.listened > .zero
        }
    }

    private func isLate(_ stretch: Stretch) -> Bool {
        guard stretch.delivery != .parked else { return false }
        guard stretch.id == live?.id, stretch.delivery == .open else { return true }
        return stretch.item.account.flatMap { lanes[$0] }.map { $0.backOff.failures > 0 || $0.isSignedOut } ?? false
    }
    /// Refused for good: kept until they are sent again, superseded or given up.
    public var parked: Int {
        waiting.values.count { $0.delivery == .parked } + writes.values.count { $0.refusal != nil }
            + bookmarks.values.count { $0.refusal != nil }
    }
    /// A request is on its way.
    public var isSending: Bool { !inFlight.isEmpty }
    public func isSending(to account: String) -> Bool { lanes[account]?.busy != nil }
    /// The present session, for the one that streams from it.
    public func liveID(of item: ItemID) -> String? { live.flatMap { $0.item == item ? $0.id : nil } }

    /// When the place of this stretch was true, in milliseconds of the server's clock.
    public func updated(_ stretch: String) -> Int64? {
        (live.flatMap { $0.id == stretch ? $0 : nil } ?? waiting[stretch])?.updated
    }

    /// The live one too.
    func stretches(of item: ItemID) -> [Stretch] {
        (Array(waiting.values) + (live.map { [$0] } ?? [])).filter { $0.item == item }
    }

    // MARK: What happens

    /// Rows of an earlier run. What it left open is delivered in absolute numbers: nobody knows which sync arrived.
    public mutating func restore(
        _ stretches: [Stretch], _ writes: [ProgressWrite], _ bookmarks: [Bookmark] = [], at now: Moment
    ) -> [Effect] {
        var effects: [Effect] = []
        for var stretch in stretches {
            if stretch.delivery == .open { stretch.delivery = .local }
            listened[stretch.item] = max(listened[stretch.item] ?? .min, stretch.updated)
            stretch.isClosed = true
            effects.append(keep(relieved(stretch)))
        }
        for write in writes { (self.writes[write.item], commanded[write.item]) = (write, write.made) }
        for bookmark in bookmarks where bookmark.owed != nil { self.bookmarks[bookmark.id] = bookmark }
        return effects + pump(now)
    }

    /// The server opened a session for this item.
    /// - Parameters:
    ///   - serverNow: milliseconds since 1970 by the server's clock.
    ///   - serverPlace: where it has the listener; nil if there is nothing to tell it before something is heard.
    public mutating func opened(
        session: String, item: ItemID, at place: BookTime, duration: BookTime, serverNow: Int64,
        serverPlace: BookTime? = nil, _ now: Moment
    ) -> [Effect] {
        let effects = retire()
        guard let account = item.account else { return effects }
        lanes[account]?.isSignedOut = false
        let mayStillMove = mayStillMove(item)
        live = Stretch(
            id: session, item: item, started: serverNow, startPlace: place, duration: duration, delivery: .open)
        listened[item] = max(listened[item] ?? .min, serverNow)
        reached = reached.filter { waiting[$0.key] != nil }
        reached[session] = now.sinceStart
        taken = nil
        // Begun elsewhere on purpose: the server is told, however short the listening.
        live?.sentPlace = serverPlace.map { mayStillMove ? .unknown : $0 }
        return effects + [.save(live!)] + pump(now)
    }

    /// Whether what was said before may yet take the server elsewhere, be it the older word: it compares no dates of what an
    /// open session is told, nor of a command.
    private func mayStillMove(_ item: ItemID) -> Bool {
        owes(item)
            || waiting.values.contains { $0.item == item && $0.delivery == .open && $0.isUnsent }
    }

    /// A server was asked to open a session for this item, whatever it answered: it has ended those before.
    public mutating func ended(before item: ItemID, _ now: Moment) -> [Effect] {
        let account = item.account
        var effects: [Effect] = []
        for stretch in denied where stretch.item.account == account && waiting[stretch.id] == nil {
            effects.append(keep(stretch))
        }
        denied.removeAll { $0.item.account == account }
        return effects + pump(now)
    }

    /// The listener listened, or moved the place.
    public mutating func heard(_ heard: Player.Heard, serverNow: Int64, _ now: Moment) -> [Effect] {
        guard var stretch = live, stretch.item == heard.item else { return [] }
        var effects: [Effect] = []
        let isGoneBackTo = leavesTaken(for: heard.place, of: heard.item)
        if isGoneBackTo { (taken, stretch.sentPlace) = (nil, .unknown) }
        // Last words of one that was paused are no news: another device may have gone on since.
        if heard.listened > .zero || heard.place != stretch.place || isGoneBackTo {
            // Whatever the clock says, it comes after a command that was given before.
            let after = commanded[heard.item].map { $0 &+ 1 } ?? .min
            stretch.updated = max(stretch.updated, serverNow, after)
            reached[stretch.id] = now.sinceStart
            listened[heard.item] = stretch.updated
            // Outlived by this: sent again when the listener asks for it, a refused one would move the place back.
            if writes[heard.item]?.refusal != nil {
                writes[heard.item] = nil
                effects.append(.removeWrite(heard.item))
            }
        }
        stretch.listened += heard.listened
        stretch.place = heard.place
        live = stretch
        // Begun at a place that was asked for, it is news at once, and not before it sounds.
        let hasBegun = stretch.listened == .zero
        if heard.why != .tick || hasBegun || stretch.listened - stretch.sentListened >= Self.interval { isDue = true }
        return effects + [.save(stretch)] + pump(now)
    }

    /// The listening to this item is over for now.
    public mutating func closed(_ item: ItemID, _ now: Moment) -> [Effect] {
        guard live?.item == item else { return [] }
        return retire() + pump(now)
    }

    /// When a command of this moment was given: whatever the clock says, it comes after what was heard before, and after
    /// the commands before it.
    public func time(ofCommandFor item: ItemID, _ serverNow: Int64) -> Int64 {
        max(serverNow, listened[item].map { $0 &+ 1 } ?? .min, commanded[item] ?? .min)
    }

    /// Takes the place of an earlier one for the item, a refused one too.
    public mutating func write(_ write: ProgressWrite, _ now: Moment) -> [Effect] {
        var write = write
        write.made = time(ofCommandFor: write.item, write.made)
        (writes[write.item], commanded[write.item]) = (write, write.made)
        return [.saveWrite(write)] + pump(now)
    }

    /// The listener made, named or removed a bookmark. Takes the place of what was owed of it before, a refused one too.
    public mutating func bookmark(_ bookmark: Bookmark, _ now: Moment) -> [Effect] {
        bookmarks[bookmark.id] = bookmark.owed == nil ? nil : bookmark
        return [.saveBookmark(bookmark)] + pump(now)
    }

    /// Time passed, the network is back, or the listener asked: try what waits.
    public mutating func kick(at now: Moment, isSign: Bool = false) -> [Effect] {
        if isSign {
            for (id, var lane) in lanes {
                (lane.notBefore, lane.localNotBefore, lane.hurried) = (0, 0, lane.busy)
                // The keyring may be there by now; who is really signed out is told so once more.
                lane.isSignedOut = false
                lanes[id] = lane
            }
        }
        return pump(now)
    }

    public mutating func signedIn(account: String, _ now: Moment) -> [Effect] {
        lanes[account, default: Lane()].isSignedOut = false
        lanes[account]?.notBefore = 0
        return pump(now)
    }

    /// The account is gone: its rows go with it.
    public mutating func forget(account: String) -> [Effect] {
        lanes[account] = nil
        denied.removeAll { $0.item.account == account }
        var effects: [Effect] = []
        for stretch in waiting.values where stretch.item.account == account {
            waiting[stretch.id] = nil
            effects.append(.remove(stretch: stretch.id))
        }
        for item in writes.keys where item.account == account {
            writes[item] = nil
            effects.append(.removeWrite(item))
        }
        for id in bookmarks.keys where id.item.account == account {
            bookmarks[id] = nil
            effects.append(.removeBookmark(id))
        }
        if let live, live.item.account == account {
            self.live = nil
            effects.append(.remove(stretch: live.id))
        }
        return effects
    }

    /// The live stretch takes its place among those that wait.
    private mutating func retire() -> [Effect] {
        guard var stretch = live else { return [] }
        live = nil
        isDue = false
        stretch.isClosed = true
        past = past.suffix(19) + [stretch.id]
        return [keep(relieved(stretch))]
    }

    /// Begun and not listened to, where another row already tells that place: sent on its own it would only be a row of
    /// no length in the server's history.
    private func relieved(_ stretch: Stretch) -> Stretch {
        guard stretch.listened == .zero, stretch.isUnsent, stretch.delivery != .parked,
            waiting.values.contains(where: {
                $0.item == stretch.item && $0.id != stretch.id && $0.isUnsent && $0.delivery != .parked
                    && $0.reportable == stretch.reportable
            })
        else { return stretch }
        var stretch = stretch
        stretch.sentPlace = stretch.reportable
        return stretch
    }

    /// A closed row waits until it is wholly delivered and the server has let go of it.
    mutating func keep(_ stretch: Stretch) -> Effect {
        let isDone = !stretch.isHeldByServer && !stretch.isUnsent && stretch.delivery != .parked
        waiting[stretch.id] = isDone ? nil : stretch
        // Of an earlier run perhaps; the server may be about to tell of it.
        if isDone, !past.contains(stretch.id) { past = past.suffix(19) + [stretch.id] }
        return isDone ? .remove(stretch: stretch.id) : .save(stretch)
    }
}
