/// All that the server knows, changed only by the routes and under one lock.
struct World: Sendable {
    var configuration: StandInConfiguration
    var users: [UserState]
    /// Random for each process: signs tokens, so that none made by another server is taken.
    let secret = DerivedID.random()
    var apiKeys: [APIKey] = []
    /// Sessions that are open; lost at a restart.
    var open: [PlaySession] = []
    /// Listening history of all users, oldest first.
    var history: [PlaySession] = []
    var devices: [Device] = []
    var deletedItems: Set<String> = []
    /// Answers to library requests by user and address, which go stale as they do on the real server.
    var libraryCache: [String: Answer] = [:]
    var rate = RateWindow()
    var sockets: [String: SocketState] = [:]
    /// Every access token given out, and those of them that a test declared expired.
    var issuedTokens: [String] = []
    var expiredTokens: Set<String> = []

    init(_ configuration: StandInConfiguration) {
        self.configuration = configuration
        let now = configuration.clock.now
        users = configuration.users.map { UserState(account: $0, createdAt: now) }
    }

    /// Milliseconds since 1970.
    var now: Int { configuration.clock.now }
    var version: StandInVersion { configuration.version }

    func user(_ call: Call) -> UserState {
        users.first { $0.account.id == call.userID }
            ?? UserState(account: StandInUser(name: "", password: ""), createdAt: 0)
    }

    mutating func change<Result>(_ userID: String, _ body: (inout UserState) -> Result) -> Result? {
        guard let index = users.firstIndex(where: { $0.account.id == userID }) else { return nil }
        return body(&users[index])
    }
}

/// An item together with its library.
struct Found: Sendable {
    var item: StandInItem
    var library: StandInLibrary
}

extension World {
    func library(_ id: String) -> StandInLibrary? { configuration.libraries.first { $0.id == id } }

    func find(_ itemID: String) -> Found? { deletedItems.contains(itemID) ? nil : findEvenDeleted(itemID) }

    /// The history keeps what it says about items that are gone.
    func findEvenDeleted(_ itemID: String) -> Found? {
        for library in configuration.libraries {
            if let index = library.items.index(of: itemID) {
                return Found(item: library.items[index], library: library)
            }
        }
        return nil
    }

    func may(_ user: StandInUser, see library: StandInLibrary) -> Bool { user.libraries?.contains(library.id) ?? true }

    func may(_ user: StandInUser, see found: Found) -> Bool {
        may(user, see: found.library) && (user.seesExplicit || !found.item.explicit)
    }
}

/// One user with what the server keeps about them.
struct UserState: Sendable {
    var account: StandInUser
    var createdAt: Int
    /// When the user last came or went on the socket.
    var lastSeen: Int?
    var progress: [Progress] = []
    var bookmarks: [JSON] = []
    var logins: [Login] = []
}

/// One device that played something.
struct Device: Sendable {
    var id: String
    var userID: String
    var deviceID: String
}

/// Counts requests to the login routes.
struct RateWindow: Sendable {
    /// Milliseconds since 1970; the window begins with the first request in it.
    var start = 0
    var count = 0
}

extension World {
    /// Counts one request against the login rate limit and gives the headers that tell about it.
    mutating func countAuthRequest() -> (isOver: Bool, headers: [(name: String, value: String)]) {
        let length = configuration.authRateWindow
        if now >= rate.start + length * 1000 { rate = RateWindow(start: now) }
        rate.count += 1
        let limit = configuration.authRateLimit
        let left = max(1, (rate.start + length * 1000 - now + 999) / 1000)
        var headers = [
            (name: "RateLimit-Policy", value: "\(limit);w=\(length)"), (name: "RateLimit-Limit", value: "\(limit)"),
            (name: "RateLimit-Remaining", value: "\(max(0, limit - rate.count))"),
            (name: "RateLimit-Reset", value: "\(left)"),
        ]
        let isOver = rate.count > limit
        if isOver { headers.append((name: "Retry-After", value: "\(left)")) }
        return (isOver, headers)
    }
}
