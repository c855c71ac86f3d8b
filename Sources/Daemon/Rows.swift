internal import Control
internal import FoundationEssentials
internal import Listening
internal import Store

/// Values of the pure rooms as rows of reports.
extension ItemRow {
    init(_ played: Played) {
        self.init(played.item, place: played.place)
        date = played.at
    }

    init(_ item: Item, place: Place?) {
        self.init(item: ItemHead(item), finished: place?.isFinished ?? false)
        duration = item.duration.seconds
        guard let place else { return }
        position = place.position.seconds
        progress =
            place.isFinished ? 1 : item.duration > .zero ? min(1, place.position.seconds / item.duration.seconds) : 0
    }
}

extension ChaptersReport {
    init(_ item: Item, at place: BookTime?) {
        self.init(
            item: ItemHead(item), chapters: item.chapters.enumerated().map { ChapterRow($1, index: $0) },
            current: place.flatMap { item.chapterIndex(at: $0) }.map { $0 + 1 })
    }
}

extension ShowReport {
    init(_ item: Item, place: Place?) {
        self.init(row: ItemRow(item, place: place))
        subtitle = item.subtitle
        published = item.published
        language = item.language
        genres = item.genres
        summary = item.summary
        cover = item.coverPath
        chapters = item.chapters.enumerated().map { ChapterRow($1, index: $0) }
        tracks = item.tracks.count
    }
}

/// The path of a `file:` address with a path of its own; nil for anything else.
func fileURLPath(_ text: String) -> String? {
    guard text.prefix(5).lowercased() == "file:", let url = URL(string: text),
        url.host() ?? "" == "" || url.host() == "localhost"
    else {
        return nil
    }
    let path = url.path(percentEncoded: false)
    // What follows a zero would not be seen by the system: another file would be meant.
    return path.hasPrefix("/") && !path.utf8.contains(0) ? path : nil
}
