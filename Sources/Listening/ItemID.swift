/// The name of something to listen to, stable for as long as its source knows it.
///
/// Written `source:key`: `abs:<account>/<item>` for a book, `abs:<account>/<item>/<episode>` for an episode,
/// `file:<content hash>` for local files, `url:<hash>` for audio on the web. What has no name of its own yet is asked for as
/// `path:` or `address:`. Only the source reads the key.
public struct ItemID: Hashable, Sendable, CustomStringConvertible {
    public let source: String
    public let key: String

    /// Of what an Audiobookshelf server has.
    public static let shelf = "abs"

    public init(source: String, key: String) {
        self.source = source
        self.key = key
    }

    /// - Returns: nil if the text has no `source:` of lower-case letters in front or nothing behind it.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let source = text[..<colon]
        let key = text[text.index(after: colon)...]
        guard !source.isEmpty, source.allSatisfy({ ("a"..."z").contains($0) }), !key.isEmpty else { return nil }
        self.init(source: String(source), key: String(key))
    }

    public var isOfShelf: Bool { source == Self.shelf }

    /// The account part of an Audiobookshelf item; other sources have no server to tell.
    public var account: String? {
        guard isOfShelf else { return nil }
        let account = key.utf8.prefix { $0 != UInt8(ascii: "/") }
        return account.isEmpty ? nil : String(Substring(account))
    }

    public var description: String { "\(source):\(key)" }
}
