internal import FoundationEssentials
internal import HTTP

/// `GET /status`: what may be known before a login.
///
/// `app` is "audiobookshelf" on every recorded version; servers before it had one are known by `isInit`.
struct StatusPayload: Hashable, Sendable {
    let version: String?
    let isInitialised: Bool
    let methods: [String]

    /// - Returns: nil if this is no Audiobookshelf.
    init?(_ json: JSON) {
        guard json["app"].string == "audiobookshelf" || (json["app"].isNull && json["isInit"].bool != nil) else {
            return nil
        }
        version = json["serverVersion"].text
        isInitialised = json["isInit"].bool ?? true
        methods = json["authMethods"].elements.compactMap(\.text)
    }
}

/// `POST /login` and `POST /auth/refresh`: the user with new tokens; since 2.26 `accessToken` and `refreshToken`, before
/// that the single `token`.
struct LoginPayload: Sendable {
    let user: String
    let userID: String?
    let accessToken: String
    let refreshToken: String?
    /// There is no token exchange: the access token is the single one of old servers.
    let isLegacy: Bool
    let version: String?

    init(_ json: JSON, _ endpoint: String) throws(ShelfError) {
        let user = json["user"]
        guard case .object = user else { throw .missing(field: "user", endpoint: endpoint) }
        guard let name = user["username"].text else { throw .missing(field: "user.username", endpoint: endpoint) }
        guard let token = user["accessToken"].text ?? user["token"].text else {
            throw .missing(field: "user.accessToken", endpoint: endpoint)
        }
        self.user = name
        userID = user["id"].uuid
        accessToken = token
        refreshToken = user["refreshToken"].text
        isLegacy = user["accessToken"].text == nil
        version = json["serverSettings"]["version"].text
    }
}

/// `GET /api/me`: the user, with all progress and bookmarks.
struct UserPayload: Sendable {
    let id: String?
    let name: String
    let progress: [ProgressPayload]
    /// Nil where the answer has none: that is not the same as an empty list.
    let bookmarks: [BookmarkPayload]?

    init(_ json: JSON, _ endpoint: String) throws(ShelfError) {
        guard let name = json["username"].text else { throw .missing(field: "username", endpoint: endpoint) }
        self.name = name
        id = json["id"].uuid
        progress = json["mediaProgress"].elements.compactMap { ProgressPayload($0) }
        bookmarks = BookmarkPayload.list(json["bookmarks"])
    }
}

extension JSON {
    /// A name that no other server gives: old ones called their first user "root".
    fileprivate var uuid: String? { text.flatMap { UUID(uuidString: $0) == nil ? nil : $0 } }
}
