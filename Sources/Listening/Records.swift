/// Where the listener is in one item, as the journal keeps it.
public struct Place: Hashable, Sendable {
    public let item: ItemID
    public var position: BookTime
    /// The item's whole length when this was written; zero if unknown.
    public var duration: BookTime
    public var isFinished: Bool
    /// Milliseconds since 1970, corrected to the server's clock where there is one.
    public var updated: Int64

    public init(item: ItemID, position: BookTime, duration: BookTime, isFinished: Bool = false, updated: Int64) {
        self.item = item
        self.position = position
        self.duration = duration
        self.isFinished = isFinished
        self.updated = updated
    }
}

extension Place {
    /// How far our clock and a server's may disagree without either being wrong: its answers carry whole seconds, and it
    /// notes the time at which a sync arrived.
    public static let clockTolerance: Int64 = 2500

    /// Whether what a server says is another device's newer place, and not our own come back.
    ///
    /// Near the end a server is told a place before the true one, see ``Stretch/reportable``: that is ours as well.
    /// - Parameter knowsOurs: the server had accepted all of ours before it said this, see ``Sync/hasTold(_:)``. A place
    ///   that is not ours is then another device's, even where the clocks cannot tell which came first.
    /// - Parameter isServers: this is the server's own word, of another device: both times are by one clock.
    /// - Parameter isAhead: this was dated by a clock that was ahead: only that the server knows of it tells which is later.
    public func isOutdone(
        by server: Place, knowsOurs: Bool = false, isServers: Bool = false, isAhead: Bool = false
    ) -> Bool {
        let told = Stretch.reportable(position, of: duration)
        let isElsewhere = (server.position - told).microseconds.magnitude > 100_000
        let ahead = server.updated.subtractingSaturating(updated)
        if isServers, ahead > 0, isElsewhere || server.isFinished != isFinished { return true }
        if ahead > Self.clockTolerance { return server.isFinished || isElsewhere }
        guard knowsOurs, !isFinished, isAhead || ahead >= -Self.clockTolerance else { return false }
        return isElsewhere || server.isFinished && !mayBeTakenForFinished
    }

    /// A library may have a rule by which this place is finished, and the mark alone is then of our own making: so much is
    /// to be heard for the end, or so many per cent.
    private var mayBeTakenForFinished: Bool {
        let rest = duration - position
        return rest <= .seconds(600) || rest.microseconds <= duration.microseconds / 2
    }
}

/// The time listened to one item under one session id, until a server has accepted all of it. The journal has it before
/// any request is made, and loses it only when the server said yes.
public struct Stretch: Hashable, Sendable {
    public enum Delivery: String, Hashable, Sendable {
        /// The server has this session open: what is new goes by `sync`, as a difference.
        case open
        /// The session is done or was never opened, or an answer was lost: the whole of it goes as a local session,
        /// in absolute numbers, as often as needed.
        case local
        /// The server refused it for good; kept and shown, not sent again by itself.
        case parked
    }

    /// The server's session id, or a uuid v4 of ours where none was open.
    public let id: String
    public let item: ItemID
    /// Milliseconds since 1970, server's clock.
    public let started: Int64
    public var updated: Int64
    public let startPlace: BookTime
    public var place: BookTime
    public let duration: BookTime
    /// Wall-clock time in Playing, all of the session.
    public var listened: BookTime
    /// The part of `listened` that the server has confirmed, and the place that it has; nil for `startPlace`.
    public var sentListened: BookTime
    public var sentPlace: BookTime?
    public var delivery: Delivery
    /// The server may still hold this session open, and would write its own count over ours when it ends.
    public var isHeldByServer: Bool
    /// No more listening will be added under this id.
    public var isClosed: Bool
    /// What the server said when it refused; for people.
    public var refusal: String?

    public init(
        id: String, item: ItemID, started: Int64, startPlace: BookTime, duration: BookTime, delivery: Delivery
    ) {
        self.id = id
        self.item = item
        self.started = started
        self.updated = started
        self.startPlace = startPlace
        self.place = startPlace
        self.duration = duration
        self.listened = .zero
        self.sentListened = .zero
        self.sentPlace = nil
        self.delivery = delivery
        self.isHeldByServer = delivery == .open
        self.isClosed = false
        self.refusal = nil
    }

    /// Inside its last ten seconds a server takes an item for finished; a little more for rounding.
    static let finishZone = BookTime.seconds(10.5)

    /// The place as a server may be told: the last seconds count only once the very end was heard.
    public var reportable: BookTime { Self.reportable(place, of: duration) }

    /// The place is within the last seconds, of which a server is told the beginning only.
    var isAtEdge: Bool { reportable != place }

    public static func reportable(_ place: BookTime, of duration: BookTime) -> BookTime {
        guard duration > .zero, place < duration else { return place }
        return min(place, max(.zero, duration - finishZone))
    }

    /// The place of an item whose finish is taken back: where it was, and of one that was heard to its very end its last
    /// seconds.
    public static func unfinished(_ place: BookTime, of duration: BookTime) -> BookTime {
        duration > .zero && place >= duration ? max(.zero, duration - finishZone) : place
    }

    /// Something the server has not confirmed yet.
    public var isUnsent: Bool { listened > sentListened || (sentPlace ?? startPlace) != reportable }
}

extension BookTime {
    /// Of a server whose place may be any: none of ours is equal to it.
    public static let unknown = BookTime(microseconds: -1)
}

/// A progress command of the listener's that a server has yet to accept. One per item: the last one counts.
public struct ProgressWrite: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case finish, unfinish
        /// To the start, not finished.
        case restart
        /// To a place the listener chose while the item was not open.
        case place
    }

    public let item: ItemID
    public let kind: Kind
    /// Where the listener is; nil if nobody here knows, and the server's own place holds.
    public let position: BookTime?
    public let duration: BookTime
    /// Milliseconds since 1970, server's clock.
    public var made: Int64
    /// What the server said when it refused for good; kept and shown, not sent again by itself.
    public var refusal: String?

    public init(
        item: ItemID, kind: Kind, position: BookTime?, duration: BookTime, made: Int64, refusal: String? = nil
    ) {
        self.item = item
        self.kind = kind
        self.position = position
        self.duration = duration
        self.made = made
        self.refusal = refusal
    }
}

/// One user on one server. Holds no secret: those are in the vault under its id.
public struct Account: Hashable, Sendable {
    public enum Login: String, Hashable, Sendable {
        /// Access and refresh tokens.
        case tokens
        /// The single token of servers before 2.26, kept as `access`.
        case legacy
        case apikey
    }

    /// A uuid made at login; the same user on the same server keeps it, also where that is at another address.
    public let id: String
    /// As typed, with scheme and base path, without a trailing slash.
    public var server: String
    public var user: String
    public var login: Login
    /// Of the last `/status` or login; for people and the doctor, not for decisions.
    public var serverVersion: String?
    /// The account has custom headers in the vault.
    public var hasHeaders: Bool
    /// Absolute path of a PEM file.
    public var caFile: String?
    /// The server no longer accepts the login.
    public var isSignedOut: Bool
    /// Milliseconds to add to this computer's clock to have the server's, as last heard: what is said before the server
    /// answers again goes under its time too.
    public var clockOffset: Int64
    /// Milliseconds to add to what the `Date` headers of its answers say to have what it stamps itself: between the two there
    /// may be a proxy with another clock.
    public var headerLag: Int64
    /// Who that is for the server: a uuid of its own, by which it is known at another address too. Nil: not known yet.
    public var userID: String?

    public init(
        id: String, server: String, user: String, login: Login, serverVersion: String? = nil, hasHeaders: Bool = false,
        caFile: String? = nil, isSignedOut: Bool = false, clockOffset: Int64 = 0, headerLag: Int64 = 0,
        userID: String? = nil
    ) {
        self.id = id
        self.server = server
        self.user = user
        self.login = login
        self.serverVersion = serverVersion
        self.hasHeaders = hasHeaders
        self.caFile = caFile
        self.isSignedOut = isSignedOut
        self.clockOffset = clockOffset
        self.headerLag = headerLag
        self.userID = userID
    }
}

extension Account {
    /// Of its server, with the port.
    public var host: String {
        let rest = server.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return rest.count == 3 ? String(rest[2].prefix { $0 != "/" }) : server
    }

    /// `user@host`.
    public var name: String { "\(user)@\(host)" }
}
