public import Listening

/// One line of a list: enough to show and to play it.
public struct ShelfRow: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case book, podcast, episode }

    public let id: ItemID
    public var kind: Kind
    public var title: String
    public var subtitle: String?
    /// Lists have all names in one string, joined by ", ".
    public var authors: [String]
    public var narrators: [String]
    public var series: [SeriesPlace]
    /// Of an episode: the podcast's title.
    public var podcast: String?
    /// Zero for a podcast.
    public var duration: BookTime
    /// nil: never opened.
    public var progress: ShelfProgress?
    /// Milliseconds since 1970.
    public var added: Int64?
    /// Milliseconds since 1970; only episodes have it.
    public var published: Int64?
    public var library: String?
    /// Of a podcast.
    public var episodeCount: Int?
    /// Milliseconds since 1970; changes with the cover.
    public var updated: Int64?
    /// There is something to listen to: not only an e-book, and the files are there.
    public var isPlayable: Bool
    public var genres: [String] = []
    /// Of a book: a year or a date.
    public var released: String?
    /// As the server has it: see ``readable(_:)``.
    public var summary: String?
}

extension ShelfRow {
    init?(_ item: ItemPayload, account: String, progress: [ShelfItemID: ShelfProgress]) {
        guard let key = ShelfItemID(account: account, item: item.id, episode: item.recentEpisode?.id) else {
            return nil
        }
        let metadata = item.metadata
        self.init(
            id: key.id, kind: item.isPodcast ? .podcast : .book, title: metadata.title, subtitle: metadata.subtitle,
            authors: metadata.authors, narrators: metadata.narrators, series: metadata.series, duration: item.duration,
            progress: progress[key], added: item.added, library: item.library,
            episodeCount: item.isPodcast ? item.episodeCount : nil, updated: item.updated,
            isPlayable: !item.isMissing && !item.isPodcast && item.trackCount > 0)
        genres = metadata.genres
        released = metadata.published
        summary = metadata.description
        if let episode = item.recentEpisode { become(episode, of: metadata) }
    }

    /// - Parameter item: the id of the podcast's item where the episode does not say.
    init?(
        _ episode: EpisodePayload, item: String?, podcast: MetadataPayload, account: String,
        progress: [ShelfItemID: ShelfProgress]
    ) {
        guard let item = episode.item ?? item,
            let key = ShelfItemID(account: account, item: item, episode: episode.id)
        else { return nil }
        self.init(
            id: key.id, kind: .episode, title: episode.title, authors: podcast.authors, narrators: [], series: [],
            duration: .zero, progress: progress[key], library: episode.library, isPlayable: true)
        become(episode, of: podcast)
    }

    private mutating func become(_ episode: EpisodePayload, of podcast: MetadataPayload) {
        kind = .episode
        title = episode.title
        subtitle = episode.subtitle
        self.podcast = podcast.title
        duration = episode.duration
        published = episode.published
        added = episode.added ?? added
        genres = podcast.genres
        released = nil
        summary = episode.description
        episodeCount = nil
        isPlayable = true
    }
}

/// A library of one kind of item.
public struct ShelfLibrary: Hashable, Sendable {
    public let id: String
    public let name: String
    public let isPodcasts: Bool
}

/// Everything about one item, to show it.
public struct ShelfDetails: Sendable {
    public let row: ShelfRow
    public let summary: String?
    public let genres: [String]
    public let language: String?
    /// A year or a date.
    public let published: String?
    public let chapters: [Chapter]
    public let trackCount: Int
    /// Of a podcast, newest first.
    public let episodes: [ShelfRow]
}

/// One page of a list.
public struct ShelfPage: Sendable {
    public let rows: [ShelfRow]
    /// Of the whole list.
    public let total: Int
    public let page: Int
}
