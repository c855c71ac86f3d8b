/// Which release of Audiobookshelf the stand-in behaves like; what differs is listed on each property.
public enum StandInVersion: String, Sendable, CaseIterable {
    case v225 = "2.25.1"
    case v230 = "2.30.0"
    case v236 = "2.36.0"

    /// Access and refresh tokens, `/auth/refresh`, API keys and the login rate limit came with 2.26.0.
    var hasRefreshTokens: Bool { self != .v225 }
    /// Seconds an access token lives by default.
    var accessExpiry: Int { self == .v236 ? 3600 : 12 * 3600 }
    /// Seconds a refresh token lives by default.
    var refreshExpiry: Int { (self == .v236 ? 30 : 7) * 86400 }
    /// Seconds a rotated refresh token is still accepted by default.
    var refreshGrace: Int { self == .v236 ? 600 : 0 }
    /// Refused since 2.36.0.
    var takesRefreshTokenAsBearer: Bool { self == .v230 }
    /// `GET /api/me/progress`, `/api/me/bookmarks`, `/api/me/sessions` and `logout?allDevices` came with 2.36.0.
    var hasMeLists: Bool { self == .v236 }
    /// From 2.33.0 on progress writes leave cached library answers as they are.
    var keepsLibraryCache: Bool { self == .v236 }
}

/// One account on the stand-in.
public struct StandInUser: Sendable {
    /// What Audiobookshelf calls the user's type; root and admin may use the admin routes.
    public enum Kind: String, Sendable { case root, admin, user, guest }

    /// A UUID; derived from the name unless given.
    public var id: String
    /// Compared without regard to case at login.
    public var name: String
    public var password: String
    public var kind: Kind
    /// An inactive user gets 401 at login.
    public var isActive = true
    /// Whether `/file/:ino/download` is allowed; streaming never needs it.
    public var mayDownload = true
    /// Whether explicit items are shown.
    public var seesExplicit: Bool
    /// Ids of the libraries the user may see; `nil` is all of them.
    public var libraries: [String]?

    public init(name: String, password: String, kind: Kind = .user, id: String? = nil, libraries: [String]? = nil) {
        self.id = id ?? DerivedID.uuid("user/" + name.lowercased())
        self.name = name
        self.password = password
        self.kind = kind
        self.libraries = libraries
        seesExplicit = kind == .root || kind == .admin
    }
}

/// Everything that decides how a stand-in server behaves from its start.
public struct StandInConfiguration: Sendable {
    public var users: [StandInUser]
    public var libraries: [StandInLibrary]
    public var version: StandInVersion
    /// Seconds until an access token expires (`exp` minus `iat`).
    public var accessExpiry: Int
    /// Seconds until a refresh token expires.
    public var refreshExpiry: Int
    /// Seconds for which a rotated refresh token is still answered with the current one.
    public var refreshGrace: Int
    /// Requests to `/login`, `/auth/refresh` and the password change that are allowed per window; then 429.
    public var authRateLimit = 40
    /// Length of that window in seconds.
    public var authRateWindow = 600
    /// The path under which every route answers besides the root; empty for none.
    public var basePath = "/audiobookshelf"
    /// The port on 127.0.0.1; 0 takes any free one.
    public var port: UInt16 = 0
    /// A header that each request must carry, as a proxy in front of a server would ask; without it 403.
    public var requiredHeader: (name: String, value: String)?
    /// Seconds between an Engine.IO ping and the next.
    public var pingInterval = 25.0
    public var clock: StandInClock

    public init(
        users: [StandInUser], libraries: [StandInLibrary] = [], version: StandInVersion = .v236,
        clock: StandInClock = StandInClock()
    ) {
        self.users = users
        self.libraries = libraries
        self.version = version
        self.clock = clock
        accessExpiry = version.accessExpiry
        refreshExpiry = version.refreshExpiry
        refreshGrace = version.refreshGrace
    }
}
