internal import HTTP
internal import Listening

/// A library item in any of the server's shapes: minified in lists, expanded with `expanded=1`, inside a play session.
/// Only the id is needed; everything else may be missing.
struct ItemPayload: Sendable {
    let id: String
    let library: String?
    let isPodcast: Bool
    /// The files are gone from the server's disk.
    let isMissing: Bool
    let added: Int64?
    let updated: Int64?
    let metadata: MetadataPayload
    let duration: BookTime
    let trackCount: Int
    let hasEbook: Bool
    let chapters: [Chapter]
    let episodeCount: Int?
    let episodes: [EpisodePayload]
    /// Of shelves and search: the episode meant.
    let recentEpisode: EpisodePayload?
    let progress: ProgressPayload?

    init?(_ json: JSON) {
        guard let id = json["id"].text else { return nil }
        let media = json["media"]
        self.id = id
        library = json["libraryId"].text
        isPodcast = json["mediaType"].string == "podcast"
        isMissing = json["isMissing"].bool ?? false || json["isInvalid"].bool ?? false
        added = json["addedAt"].integer
        updated = json["updatedAt"].integer
        metadata = MetadataPayload(media["metadata"])
        duration = max(.zero, .seconds(media["duration"].number ?? 0))
        let counted = media["numTracks"].integer ?? media["numAudioFiles"].integer ?? 0
        trackCount = max(Int(counted), media["tracks"].elements.count)
        hasEbook = media["ebookFormat"].text != nil || !media["ebookFile"].isNull
        chapters = media["chapters"].elements.compactMap(Chapter.init)
        episodes = media["episodes"].elements.compactMap { EpisodePayload($0) }
        episodeCount = media["numEpisodes"].integer.map { max(Int($0), media["episodes"].elements.count) }
        recentEpisode = EpisodePayload(json["recentEpisode"])
        progress = ProgressPayload(json["userMediaProgress"])
    }
}

/// What is known of a book or a podcast. Expanded items have lists, minified ones the names joined by ", ".
struct MetadataPayload: Sendable {
    let title: String
    let subtitle: String?
    let authors: [String]
    let narrators: [String]
    let series: [SeriesPlace]
    let genres: [String]
    let published: String?
    /// As the server has it: it may hold HTML.
    let description: String?
    let language: String?
    /// Of podcasts: its episodes are to be heard in their order.
    let isSerial: Bool
    /// Made when it is asked for: lists of thousands do not show it.
    var summary: String? { description.flatMap(plainText) }

    init(_ json: JSON) {
        title = json["title"].text ?? "Untitled"
        subtitle = json["subtitle"].text
        let listed = json["authors"].elements.compactMap { $0["name"].text }
        authors = listed.isEmpty ? [json["authorName"].text ?? json["author"].text].compactMap { $0 } : listed
        let narrating = json["narrators"].elements.compactMap(\.text)
        narrators = narrating.isEmpty ? [json["narratorName"].text].compactMap { $0 } : narrating
        let places = json["series"].elements.compactMap { series in
            series["name"].text.map { SeriesPlace(name: $0, sequence: series["sequence"].text) }
        }
        series = places.isEmpty ? json["seriesName"].text.map(SeriesPlace.read) ?? [] : places
        genres = json["genres"].elements.compactMap(\.text)
        published = json["publishedDate"].text ?? json["publishedYear"].text ?? json["releaseDate"].text
        description = json["description"].text ?? json["descriptionPlain"].text
        language = json["language"].text
        isSerial = json["type"].string == "serial"
    }
}

/// One episode of a podcast: in an expanded podcast, in `recent-episodes`, or as the `recentEpisode` of an item.
struct EpisodePayload: Sendable {
    let id: String
    let item: String?
    let library: String?
    let title: String
    let subtitle: String?
    /// As the server has it: it may hold HTML.
    let description: String?
    /// Milliseconds since 1970.
    let published: Int64?
    let pubDate: String?
    let added: Int64?
    let duration: BookTime
    let chapters: [Chapter]
    /// Of `recent-episodes`: the podcast it belongs to.
    let podcast: MetadataPayload?
    var summary: String? { description.flatMap(plainText) }

    init?(_ json: JSON) {
        guard let id = json["id"].text else { return nil }
        self.id = id
        item = json["libraryItemId"].text
        library = json["libraryId"].text
        title = json["title"].text ?? "Untitled"
        subtitle = json["subtitle"].text.flatMap(plainText)
        description = json["description"].text
        published = json["publishedAt"].integer
        pubDate = json["pubDate"].text
        added = json["addedAt"].integer
        let seconds =
            json["duration"].number ?? json["audioTrack"]["duration"].number ?? json["audioFile"]["duration"].number
        duration = max(.zero, .seconds(seconds ?? 0))
        chapters = json["chapters"].elements.compactMap(Chapter.init)
        podcast = json["podcast"].isNull ? nil : MetadataPayload(json["podcast"]["metadata"])
    }
}

extension EpisodePayload {
    /// The one that was begun last; else the one behind the newest that was heard to its end; of what was never listened to
    /// the first where they tell one story, else the newest.
    /// - Returns: nil where all were heard.
    static func next(
        of episodes: [EpisodePayload], _ progress: (EpisodePayload) -> ShelfProgress?, isSerial: Bool
    ) -> EpisodePayload? {
        let inOrder = episodes.sorted { ($0.published ?? 0, $0.added ?? 0) < ($1.published ?? 0, $1.added ?? 0) }
        let heard = inOrder.map { (episode: $0, progress: progress($0)) }
        let begun = heard.filter { $0.progress.map { !$0.isFinished && $0.position > .zero } ?? false }
        if let last = begun.max(by: { $0.progress!.updated < $1.progress!.updated }) { return last.episode }
        let left = heard.filter { $0.progress?.isFinished != true }.map(\.episode)
        let newest = heard.lastIndex { $0.progress?.isFinished == true }
        let behind = newest.flatMap { heard[$0...].first { $0.progress?.isFinished != true }?.episode }
        return behind ?? (isSerial ? left.first : left.last)
    }
}

extension Chapter {
    /// - Returns: nil without a start; ``Listening/Timeline`` puts the rest in order.
    fileprivate init?(_ json: JSON) {
        guard let start = json["start"].number else { return nil }
        self.init(
            title: json["title"].text ?? "", start: .seconds(start), end: .seconds(json["end"].number ?? start))
    }

    static func list(_ json: JSON) -> [Chapter] { json.elements.compactMap(Chapter.init) }
}

extension SeriesPlace {
    /// Minified items have "Name #1", several joined by ", ".
    static func read(_ text: String) -> [SeriesPlace] {
        let pieces = text.split(separator: ", ").map(String.init)
        let isList = pieces.count > 1 && pieces.allSatisfy { $0.contains(" #") }
        return (isList ? pieces : [text]).map { piece in
            guard let mark = piece.ranges(of: " #").last else { return SeriesPlace(name: piece) }
            return SeriesPlace(
                name: String(piece[..<mark.lowerBound]), sequence: String(piece[mark.upperBound...]))
        }
    }
}
