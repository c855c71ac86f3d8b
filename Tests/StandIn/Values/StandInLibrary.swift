import Foundation

/// One library with its items, collections and playlists.
public struct StandInLibrary: Sendable {
    public enum MediaType: String, Sendable { case book, podcast }

    public var id: String
    public var name: String
    public var mediaType: MediaType
    public var items: StandInItems
    /// Named lists of whole books.
    public var collections: [StandInList] = []
    /// Named lists of books or episodes that belong to one user.
    public var playlists: [StandInList] = []
    /// Seconds before the end from which on sessions count as finished; `nil` when the percentage decides.
    public var finishedTimeRemaining: Double? = 10
    /// Percentage from which on sessions count as finished; wins over the seconds.
    public var finishedPercent: Double?

    public init(name: String, mediaType: MediaType, items: StandInItems, id: String? = nil) {
        self.id = id ?? DerivedID.uuid("library/" + name)
        self.name = name
        self.mediaType = mediaType
        self.items = items
    }

    /// Where the library's files seem to live; the real place on disk is never told to a client.
    var root: String { "/audiobooks/\(name.lowercased())" }
    var folderID: String { DerivedID.uuid("folder/" + id) }
}

/// A collection or playlist.
public struct StandInList: Sendable {
    public struct Entry: Sendable {
        public var item: String
        public var episode: String?
    }

    public var id: String
    public var name: String
    public var description: String?
    /// The name of the user a playlist belongs to.
    public var user: String?
    public var entries: [Entry]
}

/// A file on disk that the stand-in serves, or the mere description of one.
public struct StandInFile: Sendable {
    /// Path on this machine; `nil` for files of synthetic libraries, which answer 404.
    public var path: String?
    /// File name inside the item's folder, with sub-folders if any.
    public var name: String
    /// The inode number as text, which Audiobookshelf uses in urls.
    public var ino: String
    /// Bytes.
    public var size: Int
    /// Milliseconds since 1970.
    public var modified: Int

    public init(path: String?, name: String, ino: String, size: Int, modified: Int) {
        self.path = path
        self.name = name
        self.ino = ino
        self.size = size
        self.modified = modified
    }

    var ext: String { name.split(separator: ".").count > 1 ? "." + (name.split(separator: ".").last ?? "") : "" }
    var stem: String { String(name.dropLast(ext.count)) }
}

/// A chapter in seconds from the start of the book.
public struct StandInChapter: Sendable {
    public var start: Double
    public var end: Double
    public var title: String

    public init(start: Double, end: Double, title: String) {
        self.start = start
        self.end = end
        self.title = title
    }
}

/// One audio file with what the server's scanner would know about it.
public struct StandInAudio: Sendable {
    public var file: StandInFile
    /// Seconds.
    public var duration: Double
    public var mimeType: String
    public var codec: String
    /// Bits per second.
    public var bitRate: Int
    /// Chapters inside this file.
    public var chapters: [StandInChapter] = []
    /// Tags as the server names them (`tagTitle`, `tagAlbum`, …).
    public var tags: [(name: String, value: String)] = []
    /// Track number from the tags.
    public var track: Int?

    public init(file: StandInFile, duration: Double, mimeType: String, codec: String, bitRate: Int = 64000) {
        self.file = file
        self.duration = duration
        self.mimeType = mimeType
        self.codec = codec
        self.bitRate = bitRate
    }
}

/// One episode of a podcast.
public struct StandInEpisode: Sendable {
    public var id: String
    public var title: String
    public var subtitle: String?
    public var description: String?
    public var season: String?
    public var number: String?
    public var type: String?
    public var guid: String?
    /// The feed's address of the audio.
    public var enclosure: String?
    public var pubDate: String?
    /// Milliseconds since 1970.
    public var publishedAt: Int
    public var chapters: [StandInChapter] = []
    public var audio: StandInAudio

    public init(id: String, title: String, publishedAt: Int, audio: StandInAudio) {
        self.id = id
        self.title = title
        self.publishedAt = publishedAt
        self.audio = audio
    }
}

/// What only podcasts have.
public struct StandInPodcast: Sendable {
    public var feedURL: String?
    public var imageURL: String?
    public var type = "episodic"
    /// Milliseconds since 1970.
    public var lastEpisodeCheck: Int?
    public var episodes: [StandInEpisode]

    public init(episodes: [StandInEpisode]) { self.episodes = episodes }
}

/// A book (audio, ebook or both) or a podcast.
public struct StandInItem: Sendable {
    public struct Series: Sendable {
        public var id: String
        public var name: String
        public var sequence: String?

        public init(name: String, sequence: String? = nil, id: String? = nil) {
            self.id = id ?? DerivedID.uuid("series/" + name)
            self.name = name
            self.sequence = sequence
        }
    }

    public var id: String
    /// Id of the book or podcast row behind the item.
    public var mediaID: String
    public var ino: String
    public var title: String
    public var subtitle: String?
    /// Authors of a book; a podcast has one at most.
    public var authors: [String] = []
    public var narrators: [String] = []
    public var series: [Series] = []
    public var genres: [String] = []
    public var tags: [String] = []
    public var publishedYear: String?
    public var publisher: String?
    public var description: String?
    public var isbn: String?
    public var asin: String?
    public var language: String?
    public var explicit = false
    public var abridged = false
    /// Folder, or lone file, below the library's root.
    public var relPath: String
    /// Whether the item is one file in the library root and no folder.
    public var isFile = false
    /// Milliseconds since 1970.
    public var addedAt: Int
    public var updatedAt: Int
    public var cover: StandInFile?
    public var audio: [StandInAudio] = []
    /// Chapters of the whole book.
    public var chapters: [StandInChapter] = []
    public var ebook: StandInFile?
    /// `nil` for books.
    public var podcast: StandInPodcast?

    public init(id: String, title: String, relPath: String, addedAt: Int) {
        self.id = id
        self.title = title
        self.relPath = relPath
        self.addedAt = addedAt
        updatedAt = addedAt
        mediaID = DerivedID.uuid("media/" + id)
        ino = String(DerivedID.fnv(id.utf8) % 90_000_000 + 10_000_000)
    }

    /// Seconds over all audio files of a book.
    public var duration: Double { audio.reduce(0) { $0 + $1.duration } }

    func episode(_ id: String) -> StandInEpisode? { podcast?.episodes.first { $0.id == id } }

    /// Every file in the order the server lists them: audio, ebook, picture.
    var files: [(kind: String, file: StandInFile)] {
        audio.map { ("audio", $0.file) } + (podcast?.episodes.map { ("audio", $0.audio.file) } ?? [])
            + (ebook.map { [("ebook", $0)] } ?? []) + (cover.map { [("image", $0)] } ?? [])
    }
}
