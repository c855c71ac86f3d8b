internal import FoundationEssentials
internal import HTTP
internal import Listening

/// When a JSON web token begins and ends, in seconds since 1970 of the server's clock. The rest of it, and whether it is
/// genuine, is the server's affair.
struct TokenTimes: Hashable, Sendable {
    let issued: Int64?
    let expires: Int64

    /// - Returns: nil if it is no such token or never expires.
    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = String(parts[1]).map { $0 == "-" ? "+" : $0 == "_" ? "/" : String($0) }.joined()
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: text), let json = JSON(Array(data)), let expires = json["exp"].integer
        else { return nil }
        self.expires = expires
        issued = json["iat"].integer
    }

    /// How long before its end it is exchanged, in milliseconds: a minute, less where tokens live but a few.
    var margin: Int64 {
        guard let issued, expires > issued else { return 60_000 }
        return min(60_000, (expires - issued).clamped(to: 0...86_400) * 1000 / 2)
    }
}

/// What opens one account. Not printable on purpose.
struct Secrets: Sendable, CustomStringConvertible, CustomReflectable {
    /// Access token, single token of old servers, or API key.
    var bearer: String
    var refresh: String?
    var headers: [HTTPHeader]
    /// Milliseconds from the start of this computer to when the bearer was made; nil for one out of the vault.
    var received: Int64?

    var description: String { "secrets" }
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Whether the bearer should be exchanged; false where that is not known. In milliseconds.
    ///
    /// For a token made just now only its length of life counts: a clock of ours that is far ahead would otherwise find
    /// every new token expired and refresh without end.
    func isDue(sinceStart: Int64, serverNow: Int64) -> Bool {
        guard let times = TokenTimes(bearer) else { return false }
        if let received, let issued = times.issued, times.expires > issued {
            return received + (times.expires - issued).clamped(to: 0...315_360_000) * 1000 - times.margin <= sinceStart
        }
        return times.expires.clamped(to: 0...253_402_300_799) * 1000 - times.margin <= serverNow
    }
}

extension SecretKey {
    init(_ account: Account, _ kind: Kind) {
        self.init(account: account.id, kind: kind, server: account.server, user: account.user)
    }
}

extension Account {
    /// For the keyring's own list.
    var secretLabel: String {
        let host = (try? ServerAddress(server))?.host ?? server
        return "Dogear: \(user)@\(host)"
    }
}

/// The custom headers of an account as the vault keeps them, and back.
enum HeaderSecret {
    static func text(_ headers: [HTTPHeader]) -> String {
        let fields = headers.map { ($0.name, JSON.string($0.value)) }
        return String(decoding: JSON.object(Dictionary(fields) { _, last in last }).bytes, as: UTF8.self)
    }

    static func headers(_ text: String) -> [HTTPHeader] {
        guard case .object(let fields)? = JSON(Array(text.utf8)) else { return [] }
        return fields.sorted { $0.key < $1.key }.compactMap { name, value in
            value.string.map { HTTPHeader(name, $0) }
        }
    }
}
