/// One thing to listen to: a book, an episode, a file or folder. Its tracks and chapters share one timeline from 0.
public struct Item: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case book, episode, file }

    public let id: ItemID
    public var kind: Kind
    public var title: String
    public var subtitle: String?
    /// Of a podcast episode: the podcast's title.
    public var podcast: String?
    /// Of a single file: what its tags say that it is a part of.
    public var album: String?
    public var authors: [String]
    public var narrators: [String]
    public var series: [SeriesPlace]
    public var genres: [String]
    /// As the source gives it: a year or an ISO 8601 date.
    public var published: String?
    public var summary: String?
    public var language: String?
    /// A complete picture on this computer, or nil while it is not here.
    public var coverPath: String?
    /// A page or file a person may open; never with a credential in it.
    public var url: String?
    /// Of files on this computer: names what was looked at and how. While it is the same, looking again finds the same.
    public var inspection: String?
    public let duration: BookTime
    /// In order, starting at 0, without gaps.
    public private(set) var tracks: [Track]
    /// In order, covering the whole duration without overlaps; empty when the source knows none.
    public let chapters: [Chapter]

    /// Puts tracks and chapters on one sane timeline whatever the source said: see ``Timeline``.
    ///
    /// - Parameter duration: what the source says; the tracks win when they are longer or it is nonsense.
    public init(
        id: ItemID, kind: Kind, title: String, authors: [String] = [], narrators: [String] = [],
        series: [SeriesPlace] = [], podcast: String? = nil, duration: BookTime = .zero, tracks: [Track],
        chapters: [Chapter] = []
    ) {
        self.id = id
        self.kind = kind
        self.title = title
        self.authors = authors
        self.narrators = narrators
        self.series = series
        self.podcast = podcast
        self.genres = []
        self.tracks = Timeline.repaired(tracks: tracks)
        let end = self.tracks.last.map { $0.start + $0.duration } ?? .zero
        self.duration = end > .zero ? end : max(duration, .zero)
        self.chapters = Timeline.repaired(chapters: chapters, duration: self.duration)
    }

    /// The same, all of it to be had from another stream now.
    public func streamed(from stream: AudioStream) -> Item {
        var item = self
        item.tracks = tracks.map {
            Track(start: $0.start, duration: $0.duration, audio: .stream(stream), title: $0.title)
        }
        return item
    }
}

public struct SeriesPlace: Hashable, Sendable, Codable {
    public let name: String
    /// As written: "1", "1.5", "4-6"; nil when the book has no number in it.
    public let sequence: String?

    public init(name: String, sequence: String? = nil) {
        self.name = name
        self.sequence = sequence
    }
}

/// A named part of an item. Chapters may cross files.
public struct Chapter: Hashable, Sendable {
    public let title: String
    public let start: BookTime
    public let end: BookTime

    public init(title: String, start: BookTime, end: BookTime) {
        self.title = title
        self.start = start
        self.end = end
    }

    public var duration: BookTime { end - start }
}

/// One audio file of an item.
public struct Track: Hashable, Sendable {
    public let start: BookTime
    public let duration: BookTime
    public let audio: Audio
    public let title: String?

    public init(start: BookTime, duration: BookTime, audio: Audio, title: String? = nil) {
        self.start = start
        self.duration = duration
        self.audio = audio
        self.title = title
    }
}

/// Where the bytes of a track are.
public enum Audio: Hashable, Sendable {
    /// An absolute path on this computer.
    case file(path: String)
    case stream(AudioStream)
}

/// How a server transcodes.
public struct Transcoding: Hashable, Sendable {
    /// Where in what comes out its files begin, but the first.
    public let joints: [BookTime]
    /// How much later than the playlist says lies what is made first, by the server's own rule.
    public let delay: BookTime

    public init(joints: [BookTime] = [], delay: BookTime = .zero) {
        self.joints = joints
        self.delay = delay
    }
}

/// Audio over HTTP. Its description shows no address and no header: both may hold what opens the door.
public struct AudioStream: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Without a token, ever: urls end up in error texts and on the bus.
    public let url: String
    /// Sent with each request for this audio: an Authorization header where the url alone does not open it, and the
    /// account's custom headers.
    public let headers: [String: String]
    /// A PEM file of certificates to trust for this server.
    public let caFile: String?
    /// Where the server transcodes, and the url is an HLS playlist.
    public let transcoding: Transcoding?
    /// The same for the same bytes, whatever address they have today; nil: nobody can tell.
    public let identity: String?

    public init(
        url: String, headers: [String: String] = [:], caFile: String? = nil,
        transcoding: Transcoding? = nil, identity: String? = nil
    ) {
        self.url = url
        self.headers = headers
        self.caFile = caFile
        self.transcoding = transcoding
        self.identity = identity
    }

    public var description: String { transcoding == nil ? "a stream" : "an HLS stream" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
