internal import Folders
internal import FoundationEssentials
internal import Listening

/// An http or https address that somebody gave to be played. User, password and query may open doors: only ``host`` and
/// ``shown`` are for people.
struct WebAddress: Sendable, CustomStringConvertible, CustomReflectable {
    /// What is asked for: without a user, a password and a fragment, percent-encoded.
    let url: String
    /// Of the user and the password that stood in it.
    let authorization: String?
    let host: String
    /// Scheme, host and port.
    let origin: String
    /// Without a query.
    let shown: String

    /// Bytes. Taking a longer one apart would keep everybody waiting.
    static let longest = 65_536

    /// - Returns: nil if it is no such address.
    init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", text.dropFirst(scheme.count).hasPrefix("://") else { return nil }
        let rest = text.dropFirst(scheme.count + 3).prefix { $0 != "#" }
        let authority = rest.prefix { !"/?".contains($0) }
        let at = authority.lastIndex(of: "@")
        let place = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard let host = Self.host(of: place),
            !rest.contains(where: { $0.unicodeScalars.contains { $0.value < 32 || $0.value == 127 } })
        else { return nil }
        self.host = host
        // As typed by people: blanks and letters of any language are encoded, what is encoded already stays.
        let path = rest.dropFirst(authority.count).percentEncoded(keeping: "!#$%&'()*+,-./:;=?@[]_~")
        origin = "\(scheme)://\(place.lowercased())"
        url = "\(origin)\(path.hasPrefix("/") ? "" : "/")\(path)"
        shown = String(url.prefix { $0 != "?" })
        authorization = at.map { at in
            let words = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let login = words.map { String($0).removingPercentEncoding ?? String($0) }.joined(separator: ":")
            return "Basic " + Data((words.count > 1 ? login : login + ":").utf8).base64EncodedString()
        }
    }

    /// - Parameter salt: of this installation. Without it a short secret in a query could be guessed from the name.
    func id(salt: String) -> ItemID {
        var hash = ContentHash()
        hash.add(salt)
        hash.add(url)
        return ItemID(source: "url", key: hash.hex)
    }

    /// What its last part calls it.
    var name: String {
        let last = shown.split(separator: "/").dropFirst(2).last.map(String.init) ?? host
        let name = last.removingPercentEncoding ?? last
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex, last != host else { return name }
        return String(name[..<dot])
    }

    var isPlaylist: Bool { [".m3u", ".m3u8", ".pls", ".xspf"].contains { shown.lowercased().hasSuffix($0) } }

    /// Where a server sends on to; nil if that is nowhere, or out of an encrypted connection.
    func redirected(to location: String) -> WebAddress? {
        guard let base = URL(string: url), let target = URL(string: location, relativeTo: base),
            let next = WebAddress(target.absoluteString), !url.hasPrefix("https:") || next.url.hasPrefix("https:")
        else { return nil }
        return next
    }

    var description: String { "an address of \(host)" }
    var customMirror: Mirror { Mirror(self, children: []) }

    /// - Parameter place: a name, or an IPv6 address in brackets, and perhaps a port; a colon without one is allowed.
    /// - Returns: nil if it is none.
    private static func host(of place: Substring) -> String? {
        let isBracketed = place.first == "["
        let name = isBracketed ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
        let rest = place[name.endIndex...]
        let port = isBracketed ? rest.dropFirst() : rest
        guard !name.isEmpty, !place.contains(where: \.isWhitespace), !isBracketed || rest.first == "]" else {
            return nil
        }
        guard !port.isEmpty, port != ":" else { return String(name) }
        let digits = port.dropFirst()
        return port.first == ":" && digits.first?.isNumber == true && UInt16(digits) != nil ? String(name) : nil
    }
}
