/// The three forms in which an item is answered: minified in lists, expanded, and plain.
struct ItemJSON {
    let item: StandInItem
    let library: StandInLibrary
    let version: StandInVersion

    init(_ found: Found, version: StandInVersion) {
        item = found.item
        library = found.library
        self.version = version
    }

    private var itemRoot: String { library.root + "/" + item.relPath }
    private var size: Int { item.files.reduce(0) { $0 + $1.file.size } }
    private var folder: String { item.isFile ? library.root : itemRoot }

    private var head: JSON {
        let path: JSON = [
            "id": .string(item.id), "ino": .string(item.ino), "oldLibraryItemId": nil, "libraryId": .string(library.id),
            "folderId": .string(library.folderID), "path": .string(itemRoot), "relPath": .string(item.relPath),
            "isFile": .bool(item.isFile), "mtimeMs": .int(item.addedAt), "ctimeMs": .int(item.addedAt),
            "birthtimeMs": .int(item.addedAt), "addedAt": .int(item.addedAt), "updatedAt": .int(item.updatedAt),
            "isMissing": false, "isInvalid": false,
        ]
        return path.adding(["mediaType": .string(item.podcast == nil ? "book" : "podcast")])
    }

    /// A podcast that came from a feed was never scanned.
    private var scan: JSON {
        guard item.podcast?.feedURL == nil else { return ["scanVersion": nil] }
        return ["lastScan": .int(item.addedAt), "scanVersion": .string(version.rawValue)]
    }

    private var libraryFiles: JSON {
        let files = item.files.map { kind, file -> JSON in
            [
                "ino": .string(file.ino), "metadata": metadata(of: file),
                "isSupplementary": kind == "ebook" ? false : nil, "addedAt": .int(item.addedAt),
                "updatedAt": .int(item.addedAt), "fileType": .string(kind),
            ]
        }
        return ["libraryFiles": .array(files)]
    }

    /// One line of a list.
    var minified: JSON {
        head.adding(["media": minifiedMedia, "numFiles": .int(item.files.count), "size": .int(size)])
    }

    /// Everything, tracks included.
    var expanded: JSON {
        head.adding(["media": expandedMedia, "numFiles": .int(item.files.count), "size": .int(size)])
            .adding(scan).adding(libraryFiles)
    }

    /// What `GET /api/items/:id` gives without `expanded=1`: no tracks, no duration.
    var plain: JSON {
        let media: JSON = ["id": .string(item.mediaID), "libraryItemId": .string(item.id)]
        let rest: JSON =
            item.podcast == nil
            ? [
                "metadata": bookMetadata, "coverPath": coverPath, "tags": .strings(item.tags),
                "audioFiles": .array(audioFiles), "chapters": chapters(item.chapters), "ebookFile": ebookFile,
            ]
            : JSON.object([.init("metadata", podcastMetadata), .init("coverPath", coverPath)])
                .adding(["tags": .strings(item.tags), "episodes": .array(episodes(expanded: false))]).adding(downloads)
        return head.adding(scan).adding(["media": media.adding(rest)]).adding(libraryFiles)
    }

    // MARK: Media

    private var coverPath: JSON { item.cover == nil ? nil : .string(folder + "/" + (item.cover?.name ?? "")) }

    private var bookCounts: JSON {
        let counts: JSON = [
            "numTracks": .int(item.audio.count), "numAudioFiles": .int(item.audio.count),
            "numChapters": .int(item.chapters.count), "duration": .double(item.duration),
            "size": .int(item.audio.reduce(item.ebook?.size ?? 0) { $0 + $1.file.size }),
        ]
        return item.ebook.map { counts.adding(["ebookFormat": .string(String($0.ext.dropFirst()))]) } ?? counts
    }

    private var downloads: JSON {
        [
            "autoDownloadEpisodes": false, "autoDownloadSchedule": "0 * * * *",
            "lastEpisodeCheck": .optional(item.podcast?.lastEpisodeCheck), "maxEpisodesToKeep": 0,
            "maxNewEpisodesToDownload": 3,
        ]
    }

    private var podcastCounts: JSON {
        JSON.object([.init("numEpisodes", .int(item.podcast?.episodes.count ?? 0))]).adding(downloads)
            .adding(["size": .int(size)])
    }

    private func mediaHead(_ metadata: JSON) -> JSON {
        [
            "id": .string(item.mediaID), "metadata": metadata, "coverPath": coverPath, "tags": .strings(item.tags),
        ]
    }

    private var minifiedMedia: JSON {
        item.podcast == nil
            ? mediaHead(minifiedMetadata).adding(bookCounts)
            : mediaHead(podcastMetadata.adding(sortTitle)).adding(podcastCounts)
    }

    private var expandedMedia: JSON {
        guard item.podcast == nil else {
            return mediaHead(podcastMetadata.adding(sortTitle)).adding(podcastCounts)
                .adding(["libraryItemId": .string(item.id), "episodes": .array(episodes(expanded: true))])
        }
        let metadata = bookMetadata.adding(names).adding(["descriptionPlain": .optional(item.description)])
        return mediaHead(metadata).adding(bookCounts).adding([
            "libraryItemId": .string(item.id), "audioFiles": .array(audioFiles), "chapters": chapters(item.chapters),
            "ebookFile": ebookFile, "tracks": .array(tracks),
        ])
    }

    // MARK: Metadata

    static func withoutPrefix(_ title: String) -> String {
        for prefix in ["The ", "the ", "A ", "a "] where title.hasPrefix(prefix) {
            return title.dropFirst(prefix.count) + ", " + prefix.dropLast()
        }
        return title
    }

    static func lastFirst(_ name: String) -> String {
        let parts = name.split(separator: " ")
        guard parts.count > 1, let last = parts.last else { return name }
        return last + ", " + parts.dropLast().joined(separator: " ")
    }

    private var sortTitle: JSON { ["titleIgnorePrefix": .string(Self.withoutPrefix(item.title))] }

    private var names: JSON {
        let series = item.series.map { $0.name + ($0.sequence.map { " #" + $0 } ?? "") }
        return sortTitle.adding([
            "authorName": .string(item.authors.joined(separator: ", ")),
            "authorNameLF": .string(item.authors.map(Self.lastFirst).joined(separator: ", ")),
            "narratorName": .string(item.narrators.joined(separator: ", ")),
            "seriesName": .string(series.joined(separator: ", ")),
        ])
    }

    private var publication: JSON {
        [
            "genres": .strings(item.genres), "publishedYear": .optional(item.publishedYear), "publishedDate": nil,
            "publisher": .optional(item.publisher), "description": .optional(item.description),
            "isbn": .optional(item.isbn), "asin": .optional(item.asin), "language": .optional(item.language),
            "explicit": .bool(item.explicit), "abridged": .bool(item.abridged),
        ]
    }

    private var minifiedMetadata: JSON {
        JSON.object([.init("title", .string(item.title))]).adding(sortTitle)
            .adding(["subtitle": .optional(item.subtitle)]).adding(names).adding(publication)
    }

    /// A book's metadata as sessions carry it too.
    var bookMetadata: JSON {
        let people: JSON = [
            "title": .string(item.title), "subtitle": .optional(item.subtitle),
            "authors": .array(
                item.authors.map { ["id": .string(DerivedID.uuid("author/" + $0)), "name": .string($0)] }),
            "narrators": .strings(item.narrators),
            "series": .array(
                item.series.map {
                    ["id": .string($0.id), "name": .string($0.name), "sequence": .optional($0.sequence)]
                }),
        ]
        return people.adding(publication)
    }

    var podcastMetadata: JSON {
        [
            "title": .string(item.title), "author": .optional(item.authors.first),
            "description": .optional(item.description), "releaseDate": nil, "genres": .strings(item.genres),
            "feedUrl": .optional(item.podcast?.feedURL), "imageUrl": .optional(item.podcast?.imageURL),
            "itunesPageUrl": nil, "itunesId": nil, "itunesArtistId": nil, "explicit": .bool(item.explicit),
            "language": .optional(item.language), "type": .string(item.podcast?.type ?? "episodic"),
        ]
    }

    var metadata: JSON { item.podcast == nil ? bookMetadata : podcastMetadata }
    var cover: JSON { coverPath }

    func metadata(of file: StandInFile) -> JSON {
        [
            "filename": .string(String(file.name.split(separator: "/").last ?? "")), "ext": .string(file.ext),
            "path": .string(folder + "/" + file.name), "relPath": .string(file.name), "size": .int(file.size),
            "mtimeMs": .int(file.modified), "ctimeMs": .int(file.modified), "birthtimeMs": .int(file.modified),
        ]
    }

    private var ebookFile: JSON {
        guard let file = item.ebook else { return nil }
        return [
            "ino": .string(file.ino), "metadata": metadata(of: file), "isSupplementary": nil,
            "addedAt": .int(item.addedAt), "updatedAt": .int(item.addedAt), "fileType": "ebook",
            "ebookFormat": .string(String(file.ext.dropFirst())),
        ]
    }
}
