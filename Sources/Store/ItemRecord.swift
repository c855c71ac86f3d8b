internal import FoundationEssentials
internal import Listening

/// What is kept of an item so that status and resuming work without its source. Every field but the first few may be
/// missing: an older dogear did not know it.
struct ItemRecord: Codable {
    struct TrackRecord: Codable {
        let duration: Int64
        let title: String?
        /// Of a file on this computer. Where a stream comes from is not kept: it may hold what opens the door.
        let path: String?
    }

    struct ChapterRecord: Codable {
        let title: String
        let start: Int64
        let end: Int64
    }

    let kind: String
    let title: String
    let duration: Int64
    let tracks: [TrackRecord]
    let chapters: [ChapterRecord]?
    let subtitle: String?
    let podcast: String?
    let album: String?
    let authors: [String]?
    let narrators: [String]?
    let series: [SeriesPlace]?
    let genres: [String]?
    let published: String?
    let summary: String?
    let language: String?
    let coverPath: String?
    let url: String?
    let inspection: String?

    init(_ item: Item) {
        kind = item.kind.rawValue
        title = item.title
        duration = item.duration.microseconds
        tracks = item.tracks.map { track in
            TrackRecord(duration: track.duration.microseconds, title: track.title, path: track.audio.path)
        }
        chapters = item.chapters.map { chapter in
            ChapterRecord(title: chapter.title, start: chapter.start.microseconds, end: chapter.end.microseconds)
        }
        subtitle = item.subtitle
        podcast = item.podcast
        album = item.album
        authors = item.authors
        narrators = item.narrators
        series = item.series
        genres = item.genres
        published = item.published
        summary = item.summary
        language = item.language
        coverPath = item.coverPath
        url = item.url
        inspection = item.inspection
    }

    init(json: String) throws {
        self = try JSONDecoder().decode(ItemRecord.self, from: Data(json.utf8))
    }

    func json() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }

    /// - Returns: nil if the record is of a kind unknown here.
    func item(_ id: ItemID) -> Item? {
        guard let kind = Item.Kind(rawValue: kind) else { return nil }
        var item = Item(
            id: id, kind: kind, title: title, authors: authors ?? [], narrators: narrators ?? [],
            series: series ?? [], podcast: podcast, duration: BookTime(microseconds: duration),
            tracks: tracks.map { track in
                Track(
                    start: .zero, duration: BookTime(microseconds: track.duration),
                    audio: track.path.map { .file(path: $0) } ?? .stream(AudioStream(url: "")), title: track.title)
            },
            chapters: (chapters ?? []).map { chapter in
                Chapter(
                    title: chapter.title, start: BookTime(microseconds: chapter.start),
                    end: BookTime(microseconds: chapter.end))
            })
        item.subtitle = subtitle
        item.album = album
        item.genres = genres ?? []
        item.published = published
        item.summary = summary
        item.language = language
        item.coverPath = coverPath
        item.url = url
        item.inspection = inspection
        return item
    }
}

extension Audio {
    fileprivate var path: String? {
        switch self {
        case .file(let path): path
        case .stream: nil
        }
    }
}
