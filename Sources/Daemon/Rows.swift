internal import Control
internal import Listening
internal import Store

/// Values of the pure rooms as rows of reports.
extension ItemRow {
    init(_ played: Played) {
        self.init(played.item, place: played.place)
        date = played.at
    }

    init(_ item: Item, place: Place?) {
        self.init(item: ItemHead(item))
        duration = item.duration.seconds
        if let place { begin(at: place.position, of: item.duration, isFinished: place.isFinished) }
    }

    /// It was begun, and the listener is there.
    /// - Parameter whole: zero if it is not known.
    mutating func begin(at place: BookTime, of whole: BookTime, isFinished: Bool) {
        finished = isFinished
        position = place.seconds
        progress = isFinished ? 1 : whole > .zero ? (place.seconds / whole.seconds).clamped(to: 0...1) : 0
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
