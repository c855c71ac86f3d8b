import Foundation

/// What is wrong with a library folder.
public enum StandInManifestError: Error, CustomStringConvertible {
    case unreadable(file: String)
    case syntax(file: String, JSON.SyntaxError)
    case missing(key: String, in: String)
    case notAFile(name: String, in: String)

    public var description: String {
        switch self {
        case .unreadable(let file): "cannot read \(file)"
        case .syntax(let file, let error): "\(file) is \(error)"
        case .missing(let key, let place): "\(place) has no '\(key)'"
        case .notAFile(let name, let place): "\(place) names '\(name)', which is no file"
        }
    }
}

extension StandInLibrary {
    /// Loads the libraries that a folder's `library.json` describes, with the audio files beside it.
    ///
    ///     { "libraries": [ {
    ///         "name": "Books", "mediaType": "book",
    ///         "items": [ {
    ///             "title": "Emma", "folder": "Jane Austen/Emma",
    ///             "authors": ["Jane Austen"], "narrators": ["A. Reader"], "publishedYear": "1815",
    ///             "series": [ { "name": "Novels", "sequence": "4" } ],
    ///             "cover": "cover.jpg", "ebook": "emma.epub",
    ///             "files": [ { "path": "emma.m4b", "duration": 36000.5 } ],
    ///             "chapters": [ { "start": 0, "end": 1800, "title": "Volume I" } ]
    ///         } ] }, {
    ///         "name": "Podcasts", "mediaType": "podcast",
    ///         "items": [ {
    ///             "title": "The Loopback Hour", "folder": "The Loopback Hour", "authors": ["Loopback Radio"],
    ///             "episodes": [ { "path": "1.mp3", "duration": 103.2, "title": "One", "publishedAt": 1705276800000 } ]
    ///         } ]
    ///     } ] }
    ///
    /// Needed are a library's `name` and `mediaType`, an item's `title`, and `path` and `duration` (seconds, global
    /// chapter times too) of each audio file or episode. `path`, `cover` and `ebook` are taken below the item's `folder`
    /// (below the manifest when that is left out), `file` instead of `folder` makes the item one lone file.
    /// Size, inode and time of change come from the disk; type, codec and format from the file name. A book of several
    /// files without `chapters` gets one for each file; an item without `files` but with an `ebook` is ebook-only.
    ///
    /// Optional: on a library `id`, `finishedTimeRemaining` (seconds), `finishedPercent`, `collections`, `playlists`
    /// (`id`, `name`, `description`, `user`, `items`: `[{ "item": ID, "episode": ID }]`); on an item `id`, `mediaId`,
    /// `ino`, `subtitle`, `genres`, `tags`, `publisher`, `description`, `isbn`, `asin`, `language`, `explicit`,
    /// `abridged`, `addedAt`, `updatedAt` (milliseconds since 1970), for podcasts `feedUrl`, `imageUrl`, `type`,
    /// `lastEpisodeCheck`; on audio `ino`, `mimeType`, `codec`, `bitRate`, `chapters`, `tags` (an object of the
    /// server's names, `tagTitle`, …), `track`; on an episode also `id`, `subtitle`, `description`, `season`,
    /// `episode`, `episodeType`, `guid`, `enclosure`, `pubDate`. Ids that are left out are derived from the names, so
    /// they are the same at each start.
    /// - Throws: ``StandInManifestError``.
    public static func load(folder: String) throws -> [StandInLibrary] {
        let file = folder + "/library.json"
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw StandInManifestError.unreadable(file: file)
        }
        let json: JSON
        do {
            json = try JSON(parsing: bytes)
        } catch {
            throw StandInManifestError.syntax(file: file, error)
        }
        return try (json["libraries"]?.elements ?? []).map { try ManifestReader(folder: folder).library($0) }
    }
}

private struct ManifestReader {
    let folder: String

    func library(_ json: JSON) throws -> StandInLibrary {
        let name = try need("name", in: json, of: "a library")
        guard let type = StandInLibrary.MediaType(rawValue: try need("mediaType", in: json, of: name)) else {
            throw StandInManifestError.missing(key: "mediaType: book or podcast", in: name)
        }
        let items = try (json["items"]?.elements ?? []).map { try item($0, podcast: type == .podcast) }
        var library = StandInLibrary(name: name, mediaType: type, items: StandInItems(items), id: json["id"]?.text)
        if let seconds = json["finishedTimeRemaining"] { library.finishedTimeRemaining = seconds.number }
        library.finishedPercent = json["finishedPercent"]?.number
        library.collections = (json["collections"]?.elements ?? []).map(list)
        library.playlists = (json["playlists"]?.elements ?? []).map(list)
        return library
    }

    private func list(_ json: JSON) -> StandInList {
        let name = json["name"]?.text ?? ""
        return StandInList(
            id: json["id"]?.text ?? DerivedID.uuid("list/" + name), name: name, description: json["description"]?.text,
            user: json["user"]?.text,
            entries: (json["items"]?.elements ?? []).map {
                StandInList.Entry(item: $0["item"]?.text ?? "", episode: $0["episode"]?.text)
            })
    }

    private func item(_ json: JSON, podcast: Bool) throws -> StandInItem {
        let title = try need("title", in: json, of: "an item")
        let lone = json["file"]?.text
        let place = json["folder"]?.text ?? ""
        let relPath = lone ?? (place.isEmpty ? title : place)
        var item = StandInItem(
            id: json["id"]?.text ?? DerivedID.uuid("item/" + relPath), title: title, relPath: relPath,
            addedAt: json["addedAt"]?.integer ?? 1_700_000_000_000)
        item.isFile = lone != nil
        item.mediaID = json["mediaId"]?.text ?? item.mediaID
        item.ino = json["ino"]?.text ?? item.ino
        item.updatedAt = json["updatedAt"]?.integer ?? item.addedAt
        describe(&item, from: json)
        item.cover = try json["cover"]?.text.map { try file($0, in: place, of: title, ino: nil) }
        if let ebook = json["ebook"] {
            item.ebook = try file(
                ebook.text ?? need("path", in: ebook, of: title), in: place, of: title, ino: ebook["ino"]?.text)
        }
        if podcast {
            item.podcast = try self.podcast(json, place: place, of: title)
        } else {
            item.audio = try (json["files"]?.elements ?? []).map { try audio($0, in: place, of: title) }
            item.chapters = json["chapters"].map(chapters) ?? chaptersByFile(item.audio)
        }
        return item
    }

    private func describe(_ item: inout StandInItem, from json: JSON) {
        func texts(_ key: String) -> [String] { (json[key]?.elements ?? []).compactMap(\.text) }
        item.subtitle = json["subtitle"]?.text
        item.authors = texts("authors")
        item.narrators = texts("narrators")
        item.genres = texts("genres")
        item.tags = texts("tags")
        item.publishedYear = json["publishedYear"]?.text
        item.publisher = json["publisher"]?.text
        item.description = json["description"]?.text
        item.isbn = json["isbn"]?.text
        item.asin = json["asin"]?.text
        item.language = json["language"]?.text
        item.explicit = json["explicit"] == .bool(true)
        item.abridged = json["abridged"] == .bool(true)
        item.series = (json["series"]?.elements ?? []).map {
            StandInItem.Series(name: $0["name"]?.text ?? "", sequence: $0["sequence"]?.text, id: $0["id"]?.text)
        }
    }

    private func podcast(_ json: JSON, place: String, of title: String) throws -> StandInPodcast {
        var podcast = StandInPodcast(
            episodes: try (json["episodes"]?.elements ?? []).map { try episode($0, in: place, of: title) })
        podcast.feedURL = json["feedUrl"]?.text
        podcast.imageURL = json["imageUrl"]?.text
        podcast.type = json["type"]?.text ?? podcast.type
        podcast.lastEpisodeCheck = json["lastEpisodeCheck"]?.integer
        return podcast
    }

    private func episode(_ json: JSON, in place: String, of title: String) throws -> StandInEpisode {
        let audio = try audio(json, in: place, of: title)
        let name = json["title"]?.text ?? audio.file.stem
        var episode = StandInEpisode(
            id: json["id"]?.text ?? DerivedID.uuid("episode/\(place)/\(audio.file.name)"), title: name,
            publishedAt: json["publishedAt"]?.integer ?? audio.file.modified, audio: audio)
        // In an episode "chapters" and "description" are its own, not those of the file.
        episode.audio.chapters = []
        episode.chapters = json["chapters"].map(chapters) ?? []
        episode.subtitle = json["subtitle"]?.text
        episode.description = json["description"]?.text
        episode.season = json["season"]?.text
        episode.number = json["episode"]?.text
        episode.type = json["episodeType"]?.text
        episode.guid = json["guid"]?.text
        episode.enclosure = json["enclosure"]?.text
        episode.pubDate = json["pubDate"]?.text
        return episode
    }

    private func audio(_ json: JSON, in place: String, of title: String) throws -> StandInAudio {
        let path = try need("path", in: json, of: title)
        guard let duration = json["duration"]?.number else {
            throw StandInManifestError.missing(key: "duration", in: "\(title): \(path)")
        }
        let file = try file(path, in: place, of: title, ino: json["ino"]?.text)
        let guess = AudioKind(extension: file.ext)
        var audio = StandInAudio(
            file: file, duration: duration, mimeType: json["mimeType"]?.text ?? guess.mimeType,
            codec: json["codec"]?.text ?? guess.codec,
            bitRate: json["bitRate"]?.integer ?? Int(Double(file.size) * 8 / max(duration, 1)))
        audio.chapters = json["chapters"].map(chapters) ?? []
        audio.track = json["track"]?.integer
        audio.tags = (json["tags"]?.keys ?? []).map { (name: $0, value: json["tags"]?[$0]?.text ?? "") }
        return audio
    }

    private func chapters(_ json: JSON) -> [StandInChapter] {
        json.elements.map {
            StandInChapter(
                start: $0["start"]?.number ?? 0, end: $0["end"]?.number ?? 0, title: $0["title"]?.text ?? "")
        }
    }

    private func chaptersByFile(_ files: [StandInAudio]) -> [StandInChapter] {
        guard files.count > 1 else { return files.first?.chapters ?? [] }
        var start = 0.0
        return files.map { audio in
            defer { start += audio.duration }
            return StandInChapter(start: start, end: start + audio.duration, title: audio.file.stem)
        }
    }

    private func file(_ name: String, in place: String, of title: String, ino: String?) throws -> StandInFile {
        let path = [folder, place, name].filter { !$0.isEmpty }.joined(separator: "/")
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw StandInManifestError.notAFile(name: name, in: title)
        }
        return StandInFile(
            path: path, name: name, ino: ino ?? String(facts.st_ino), size: Int(facts.st_size),
            modified: facts.st_mtim.tv_sec * 1000 + facts.st_mtim.tv_nsec / 1_000_000)
    }

    private func need(_ key: String, in json: JSON, of place: String) throws -> String {
        guard let text = json[key]?.text else { throw StandInManifestError.missing(key: key, in: place) }
        return text
    }
}

/// What the server's probe says about a kind of file.
struct AudioKind {
    let mimeType: String
    let codec: String
    let format: String

    init(extension ext: String) {
        (mimeType, codec, format) =
            switch ext.lowercased() {
            case ".m4b", ".m4a", ".mp4": ("audio/mp4", "aac", "QuickTime / MOV")
            case ".flac": ("audio/flac", "flac", "raw FLAC")
            case ".opus": ("audio/ogg", "opus", "Ogg")
            case ".ogg", ".oga": ("audio/ogg", "vorbis", "Ogg")
            case ".aac": ("audio/aac", "aac", "raw ADTS AAC")
            case ".webm", ".webma": ("audio/webm", "opus", "Matroska / WebM")
            case ".mka": ("audio/x-matroska", "opus", "Matroska / WebM")
            case ".wav": ("audio/wav", "pcm_s16le", "WAV / WAVE (Waveform Audio)")
            case ".aiff": ("audio/x-aiff", "pcm_s16be", "Audio IFF")
            default: ("audio/mpeg", "mp3", "MP2/3 (MPEG audio layer 2/3)")
            }
    }
}
