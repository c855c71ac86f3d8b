internal import GRDB
public import Listening

/// What is known of a book, a podcast or an episode without asking anyone.
public struct CatalogueItem: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case book, podcast, episode }

    public let id: ItemID
    public var kind: Kind
    public var title: String
    public var subtitle: String?
    public var authors: [String]
    public var narrators: [String]
    public var series: [SeriesPlace]
    public var genres: [String]
    /// Of an episode: the podcast's title.
    public var podcast: String?
    /// Zero for a podcast.
    public var duration: BookTime
    /// Milliseconds since 1970.
    public var added: Int64?
    /// Milliseconds since 1970; of an episode.
    public var published: Int64?
    /// Milliseconds since 1970: when the server last changed it.
    public var updated: Int64?
    /// A year or a date; of a book.
    public var released: String?
    /// Of a podcast.
    public var episodes: Int?
    /// There is something to listen to.
    public var isPlayable: Bool
    /// As the server has it: it may hold HTML.
    public var summary: String?

    public init(
        id: ItemID, kind: Kind, title: String, subtitle: String? = nil, authors: [String] = [],
        narrators: [String] = [], series: [SeriesPlace] = [], genres: [String] = [], podcast: String? = nil,
        duration: BookTime = .zero, added: Int64? = nil, published: Int64? = nil, updated: Int64? = nil,
        released: String? = nil, episodes: Int? = nil, isPlayable: Bool = true, summary: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.title = title
        self.subtitle = subtitle
        self.authors = authors
        self.narrators = narrators
        self.series = series
        self.genres = genres
        self.podcast = podcast
        self.duration = duration
        self.added = added
        self.published = published
        self.updated = updated
        self.released = released
        self.episodes = episodes
        self.isPlayable = isPlayable
        self.summary = summary
    }

    /// The account it belongs to: the first part of its key.
    public var account: String { String(id.key.prefix { $0 != "/" }) }
}

/// An item with the listener's place in it.
public struct CatalogueRow: Hashable, Sendable {
    public var item: CatalogueItem
    /// The library's id on its server.
    public var library: String
    /// nil: never begun.
    public var place: Place?
    /// A picture of it that was once fetched; it may be gone.
    public var cover: String?
}

public struct CatalogueLibrary: Hashable, Sendable {
    public let account: String
    public let id: String
    public var name: String
    public var isPodcasts: Bool

    public init(account: String, id: String, name: String, isPodcasts: Bool) {
        self.account = account
        self.id = id
        self.name = name
        self.isPodcasts = isPodcasts
    }
}

/// What is known of a library, and how complete that is.
public struct LibraryState: Hashable, Sendable {
    public var library: CatalogueLibrary
    /// Items known here; episodes are not counted.
    public var items: Int
    /// Items there are, as the server last said.
    public var total: Int
    /// When it was last read from end to end: milliseconds since 1970; nil: never.
    public var filled: Int64?
    /// When it was last compared with the server.
    public var checked: Int64?
    /// A reading from end to end has begun and not ended.
    public var isUnderWay: Bool

    public var isFilled: Bool { filled != nil }
}

/// A named list on a server.
public struct CatalogueList: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case collection, playlist }

    public let id: String
    public let kind: Kind
    public let name: String
    public let items: [ItemID]

    public init(id: String, kind: Kind, name: String, items: [ItemID]) {
        self.id = id
        self.kind = kind
        self.name = name
        self.items = items
    }
}

/// Where the listener is in an item, as a server told it.
public struct CataloguePlace: Hashable, Sendable {
    public let place: Place
    /// Not to be shown among what is listened to now.
    public let isHidden: Bool

    public init(_ place: Place, isHidden: Bool = false) {
        self.place = place
        self.isHidden = isHidden
    }
}

/// The index cannot be read or written; whoever needs it asks the server instead.
public struct CatalogueError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ error: any Error) {
        // Of the database the reason alone, without the statement, and of a row not what was in it.
        let reason =
            switch error {
            case let error as DatabaseError: error.message ?? "no reason given"
            case is RowDecodingError: "it is damaged"
            default: "\(error)"
            }
        description = "the index of the libraries cannot be used: \(reason)"
    }
}
