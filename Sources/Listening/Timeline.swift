/// Repairs and look-ups on an item's timeline. Sources send chapters that overlap, run backwards, lie beyond the end or
/// are not numbers; everything behind this page may rely on order.
public enum Timeline {
    /// Tracks laid end to end in the order given, by their durations; a negative duration counts as none.
    public static func repaired(tracks: [Track]) -> [Track] {
        var start = BookTime.zero
        return tracks.map { track in
            let placed = Track(
                start: start, duration: max(track.duration, .zero), audio: track.audio, title: track.title)
            start += placed.duration
            return placed
        }
    }

    /// Chapters in order of their starts, each ending where the next begins, the first at 0, the last at the end.
    /// Chapters that start outside the item, so close to its end that nobody can go there, or where another starts are left
    /// out: of two at one start the later given stays, for it is the one that lasts.
    public static func repaired(chapters: [Chapter], duration: BookTime) -> [Chapter] {
        guard duration > .zero else { return [] }
        var kept: [Chapter] = []
        let sorted = chapters.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
        for (_, chapter) in sorted where chapter.start >= .zero && chapter.start < duration {
            if !kept.isEmpty, chapter.start > duration - lastMargin { continue }
            if kept.last?.start == chapter.start { kept.removeLast() }
            kept.append(chapter)
        }
        return kept.enumerated().map { index, chapter in
            Chapter(
                title: chapter.title,
                start: index == 0 ? .zero : chapter.start,
                end: index + 1 < kept.count ? kept[index + 1].start : duration)
        }
    }

    /// Who goes to an item's end goes so far before it: landing there by hand must not finish the item.
    static let lastMargin = BookTime(microseconds: 50_000)

    /// The index of the last of these ordered starts that is not after `time`; 0 when all are.
    static func index(at time: BookTime, count: Int, start: (Int) -> BookTime) -> Int {
        var low = 0
        var high = count
        while low + 1 < high {
            let middle = (low + high) / 2
            if start(middle) <= time { low = middle } else { high = middle }
        }
        return low
    }
}

extension Item {
    /// - Returns: the chapter that holds this place, or nil if the item has no chapters.
    public func chapterIndex(at place: BookTime) -> Int? {
        chapters.isEmpty ? nil : Timeline.index(at: place, count: chapters.count) { chapters[$0].start }
    }

    /// Times are shown, typed and bookmarked in whole seconds: one of a chapter's start means that chapter, and not the last
    /// moment of the one before.
    public func meant(by time: BookTime) -> BookTime {
        guard time.microseconds % 1_000_000 == 0 else { return time }
        let starts = chapters.isEmpty ? tracks.map(\.start) : chapters.map(\.start)
        return starts.first { $0 > time && $0 - time < .second } ?? time
    }
}
