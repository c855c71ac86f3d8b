import Foundation

/// One signed-in client: what a refresh token stands for.
struct Login: Sendable {
    var id: String
    var refreshToken: String
    /// The token before the last rotation, and the time (milliseconds since 1970) of that rotation.
    var previousToken: String?
    var rotatedAt = 0
    /// Milliseconds since 1970.
    var expiresAt: Int
    var createdAt: Int
    var updatedAt: Int
    var userAgent: String?
}

/// A key made by an admin that acts as one user.
struct APIKey: Sendable {
    var id: String
    var name: String
    var key: String
    var userID: String
    var createdBy: String
    var isActive: Bool
    var expiresAt: Int?
    var createdAt: Int
    var updatedAt: Int
}

/// What a token's middle part says.
struct TokenClaims {
    /// `access`, `refresh`, `api`, or `nil` for the old token without expiry.
    var type: String?
    var userID: String
    var keyID: String?
    /// Seconds since 1970.
    var expiresAt: Int?
}

extension World {
    /// Makes a three-part token whose middle part is readable JSON, as clients take `exp` from it.
    ///
    /// The third part is no HMAC but a keyed hash: enough to refuse what this process did not make.
    func token(type: String?, user: StandInUser, lifetime: Int?, key: String? = nil) -> String {
        let seconds = now / 1000
        var claims: JSON =
            switch type {
            case "api": ["keyId": .optional(key), "name": .string(user.name), "type": "api"]
            case .some(let type): ["userId": .string(user.id), "username": .string(user.name), "type": .string(type)]
            case nil: ["userId": .string(user.id), "username": .string(user.name)]
            }
        if type == "access" || type == "refresh" { claims = claims.adding(["jti": .string(DerivedID.random())]) }
        claims = claims.adding(["iat": .int(type == nil ? 1_700_000_000 : seconds)])
        if let lifetime { claims = claims.adding(["exp": .int(seconds + lifetime)]) }
        let head = Self.base64url(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + Self.base64url(claims.bytes)
        return head + "." + signature(of: head)
    }

    /// Reads a token that this process made; `nil` for any other text.
    func claims(of token: String) -> TokenClaims? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, signature(of: "\(parts[0]).\(parts[1])") == parts[2] else { return nil }
        var middle = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        middle += String(repeating: "=", count: (4 - middle.count % 4) % 4)
        guard let data = Data(base64Encoded: String(middle)), let json = try? JSON(parsing: data) else { return nil }
        return TokenClaims(
            type: json["type"]?.text, userID: json["userId"]?.text ?? "", keyID: json["keyId"]?.text,
            expiresAt: json["exp"]?.integer)
    }

    /// Finds out who asks and notes it in the call.
    /// - Returns: `false` for a missing, foreign, expired or refused token; the server does not tell which.
    func authenticate(_ call: inout Call) -> Bool {
        guard let token = call.token, let claims = claims(of: token), let userID = bearer(token, claims) else {
            return false
        }
        call.userID = userID
        call.usedLegacyToken = claims.type == nil
        return true
    }

    /// The id of the active user a bearer token belongs to.
    func bearer(_ token: String) -> String? { claims(of: token).flatMap { bearer(token, $0) } }

    private func bearer(_ token: String, _ claims: TokenClaims) -> String? {
        if let end = claims.expiresAt, end * 1000 <= now { return nil }
        switch claims.type {
        case "access":
            guard !expiredTokens.contains(token) else { return nil }
        case "refresh":
            guard version.takesRefreshTokenAsBearer else { return nil }
        case "api":
            guard let key = apiKeys.first(where: { $0.id == claims.keyID && $0.key == token }), key.isActive else {
                return nil
            }
            return active(key.userID)
        default: break
        }
        return active(claims.userID)
    }

    mutating func accessToken(_ user: StandInUser) -> String {
        let token = token(type: "access", user: user, lifetime: configuration.accessExpiry)
        issuedTokens.append(token)
        return token
    }

    func legacyToken(_ user: StandInUser) -> String { token(type: nil, user: user, lifetime: nil) }

    private func active(_ userID: String) -> String? {
        users.contains { $0.account.id == userID && $0.account.isActive } ? userID : nil
    }

    private func signature(of head: String) -> String {
        let words = (0..<4).map { DerivedID.fnv((head + secret).utf8, basis: UInt64($0) &* 0x9e37_79b9_7f4a_7c15 &+ 1) }
        return words.withUnsafeBytes { Self.base64url(Data($0)) }
    }

    private static func base64url(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
