internal import Listening

/// Where a server is, as a person typed it: scheme, host, port and base path, without a trailing slash. Routes are
/// appended to it as it is; nothing is ever put between, for a proxy may pass only what was typed.
public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    public let isSecure: Bool
    /// In lower case; an IPv6 address without its brackets.
    public let host: String
    /// nil: the scheme's own.
    public let port: Int?
    /// Empty, or beginning with a slash.
    public let basePath: String

    /// What a person may have meant, in the order to try: https before http where no scheme was typed. An address that the
    /// browser shows on one of the server's pages means the server.
    ///
    /// - Throws: ``ShelfError/badAddress(reason:)``.
    public static func candidates(_ typed: String) throws(ShelfError) -> [ServerAddress] {
        try literal(withoutPage(typed))
    }

    private static func literal(_ typed: String) throws(ShelfError) -> [ServerAddress] {
        let text = typed.trimmingBlanks
        guard let mark = text.firstRange(of: "://") else {
            return [try ServerAddress(rest: text, isSecure: true), try ServerAddress(rest: text, isSecure: false)]
        }
        let rest = String(text[mark.upperBound...])
        switch text[..<mark.lowerBound].lowercased() {
        case "https": return [try ServerAddress(rest: rest, isSecure: true)]
        case "http": return [try ServerAddress(rest: rest, isSecure: false)]
        default:
            throw .badAddress(reason: "dogear speaks http and https; write it like https://books.example.org")
        }
    }

    /// Of a page of the web client, up to what the client's own path begins with: a proxy's path may be called like a page,
    /// but has no id behind it.
    private static func withoutPage(_ text: String) -> String {
        let address = text.prefix { $0 != "?" && $0 != "#" }
        let path = address[(address.firstRange(of: "://")?.upperBound ?? address.startIndex)...].drop { $0 != "/" }
        let parts = path.split(separator: "/")
        for (part, next) in zip(parts, parts.dropFirst().map(\.count) + [0]) {
            let isPage = ["item", "library", "collection", "playlist", "author"].contains(part) && next > 15
            if isPage || part == "login" && next == 0 { return String(text[..<part.startIndex]) }
        }
        return text
    }

    /// - Returns: the id of the item whose page of the web client is at this address; nil if there is none, or it is another
    ///   server's. The client's path begins with `audiobookshelf` also where the server was found without.
    public func item(ofPage url: String) -> String? {
        guard url.utf8.count < 2000, let page = url.firstRange(of: "/item/"),
            let found = try? ServerAddress(String(url[..<page.lowerBound])),
            found.host == host, found.port == port, [basePath, basePath + "/audiobookshelf"].contains(found.basePath)
        else { return nil }
        return String(url[page.upperBound...].prefix { !"/?#".contains($0) })
    }

    /// For addresses that were accepted before.
    public init(_ stored: String) throws(ShelfError) { self = try Self.literal(stored)[0] }

    private init(rest: String, isSecure: Bool) throws(ShelfError) {
        self.isSecure = isSecure
        guard !rest.unicodeScalars.contains(where: { $0.value <= 32 || $0.value == 127 }) else {
            throw .badAddress(reason: "a server's address has no spaces in it")
        }
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw .badAddress(reason: "leave out what follows '?' or '#'; the server's own address is enough")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        guard !authority.contains("@") else {
            throw .badAddress(reason: "leave user and password out of the address; they are asked for separately")
        }
        (host, port) = try Self.parts(authority, isSecure: isSecure)
        var path = rest[slash...]
        while path.hasSuffix("/") { path.removeLast() }
        basePath = path.isEmpty ? "" : path.percentEncoded(keeping: "/%:@!$&'()*+,;=-._~")
    }

    private static func parts(_ authority: Substring, isSecure: Bool) throws(ShelfError) -> (String, Int?) {
        var name = authority
        var port: Substring?
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            name = authority[..<end].dropFirst()
            let tail = authority[authority.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw noHost }
            port = tail.isEmpty ? nil : tail.dropFirst()
        } else if authority.count(where: { $0 == ":" }) == 1, let colon = authority.firstIndex(of: ":") {
            name = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        let host = name.lowercased()
        if host.contains(":") || authority.hasPrefix("[") {
            guard IPAddress(host)?.isSix == true else { throw noHost }
        } else {
            guard host.contains(where: { $0 != "." && $0 != "-" }), host.unicodeScalars.allSatisfy(isOfAName) else {
                throw noHost
            }
        }
        guard let port else { return (host, nil) }
        guard let number = Int(port), (1...65535).contains(number), port.allSatisfy(\.isNumber) else {
            throw .badAddress(reason: "a port is a number from 1 to 65535")
        }
        return (host, number == (isSecure ? 443 : 80) ? nil : number)
    }

    private static let noHost = ShelfError.badAddress(
        reason: "there is no server's name in it; write it like https://books.example.org or 192.168.1.5:13378")

    private static func isOfAName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._".unicodeScalars.contains(scalar)
    }

    /// Loopback, private and link-local addresses: http may be used there without asking. Names other than `localhost`
    /// are not: whoever answers for them may be anywhere.
    public var isPrivate: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || IPAddress(host)?.isPrivate ?? false
    }

    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name)\(port.map { ":\($0)" } ?? "")\(basePath)"
    }

    /// - Parameter path: segments, encoded here.
    func url(_ path: [String], query: [(String, String)] = []) -> String {
        func encoded(_ text: String) -> String { text.percentEncoded(keeping: "-._~") }
        let route = path.map { "/" + encoded($0) }.joined()
        let pairs = query.map { "\(encoded($0.0))=\(encoded($0.1))" }
        return description + route + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    /// Joins what a server calls a url of its own: always beneath this address, whatever it says, and without a query,
    /// which could hold a token.
    func url(ofServer path: String) -> String {
        let bare = path.prefix { $0 != "?" && $0 != "#" }
        let slashed = bare.hasPrefix("/") ? String(bare) : "/" + bare
        return description + slashed.percentEncoded(keeping: "/%:@!$&'()*+,;=-._~")
    }
}

extension StringProtocol {
    var trimmingBlanks: String {
        var rest = self[...].drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
