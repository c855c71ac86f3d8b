public import Listening

/// The name of a book, a podcast or an episode on one account: `abs:<account>/<item>[/<episode>]`.
public struct ShelfItemID: Hashable, Sendable {
    public let account: String
    public let item: String
    public let episode: String?

    /// - Returns: nil where a part is empty or holds anything but letters, digits, `-` and `_`: parts become parts of urls.
    public init?(account: String, item: String, episode: String? = nil) {
        guard Self.isPart(account), Self.isPart(item), episode.map(Self.isPart) ?? true else { return nil }
        self.account = account
        self.item = item
        self.episode = episode
    }

    public init?(_ id: ItemID) {
        guard id.isOfShelf else { return nil }
        let parts = id.key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 2 || parts.count == 3 else { return nil }
        self.init(account: parts[0], item: parts[1], episode: parts.count == 3 ? parts[2] : nil)
    }

    public var id: ItemID {
        ItemID(source: ItemID.shelf, key: [account, item, episode].compactMap { $0 }.joined(separator: "/"))
    }

    private static func isPart(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}
