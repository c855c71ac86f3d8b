internal import Listening

/// The tracks of one load, laid end to end: from a place to a file and back.
struct Reel: Sendable {
    let tracks: [Track]

    struct Spot: Hashable, Sendable {
        let track: Int
        let offset: BookTime
    }

    var end: BookTime { tracks.last.map { $0.start + $0.duration } ?? .zero }

    /// The end of a track, or nil if its length is not known.
    func end(of track: Int) -> BookTime? {
        tracks[track].duration > .zero ? tracks[track].start + tracks[track].duration : nil
    }

    /// A border belongs to the track that starts there; what is beyond the end belongs to the end.
    func spot(at place: BookTime) -> Spot {
        var place = max(place, .zero)
        if end > .zero { place = min(place, end) }
        let index = tracks.lastIndex { $0.start <= place } ?? 0
        // Tracks without a length share their start with the next: the first of them comes first.
        let first = tracks.firstIndex { $0.start == tracks[index].start } ?? index
        let track = place == tracks[index].start ? first : index
        return Spot(track: track, offset: place - tracks[track].start)
    }

    /// - Parameter filePosition: nanoseconds in the track's own file.
    func place(track: Int, filePosition: Int64) -> BookTime {
        let place = tracks[track].start + BookTime(microseconds: filePosition / 1000)
        return min(place, end(of: track) ?? place)
    }

    func isStream(_ track: Int) -> Bool {
        if case .stream = tracks[track].audio { true } else { false }
    }

    /// The file ended long before the length its source stated: more than five seconds and more than a fiftieth.
    func isCutShort(_ track: Int, at place: BookTime) -> Bool {
        guard let end = end(of: track) else { return false }
        let missing = end - place
        return missing > .seconds(5) && missing > .seconds(tracks[track].duration.seconds / 50)
    }
}

extension BookTime {
    /// As GStreamer counts. What a server claims may be more than fits: that stops at 146 years.
    var nanoseconds: Int64 {
        let (product, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
        return (overflow ? (microseconds < 0 ? .min : .max) : product).clamped(to: -(.max / 2)...(.max / 2))
    }
}
