/// A library and what is in it, as JSON.
extension World {
    func json(of library: StandInLibrary) -> JSON {
        let isBook = library.mediaType == .book
        let added = 1_700_000_000_000
        let order = configuration.libraries.firstIndex { $0.id == library.id } ?? 0
        let folder: JSON = [
            "id": .string(library.folderID), "fullPath": .string(library.root), "libraryId": .string(library.id),
            "addedAt": .int(added),
        ]
        let common: JSON = ["coverAspectRatio": 1, "disableWatcher": true, "autoScanCronExpression": nil]
        let books: JSON = [
            "skipMatchingMediaWithAsin": false, "skipMatchingMediaWithIsbn": false, "audiobooksOnly": false,
            "epubsAllowScriptedContent": false, "hideSingleBookSeries": false,
            "onlyShowLaterBooksInContinueSeries": false,
            "metadataPrecedence": [
                "folderStructure", "audioMetatags", "nfoFile", "txtFiles", "opfFile", "absMetadata",
            ],
        ]
        let finish: JSON = [
            "markAsFinishedPercentComplete": library.finishedPercent.map(JSON.double) ?? nil,
            "markAsFinishedTimeRemaining": library.finishedTimeRemaining.map(JSON.double) ?? nil,
        ]
        return [
            "id": .string(library.id), "name": .string(library.name), "folders": [folder],
            "displayOrder": .int(order + 1), "icon": isBook ? "audiobookshelf" : "podcast",
            "mediaType": .string(library.mediaType.rawValue), "provider": isBook ? "google" : "itunes",
            "settings": common.adding(isBook ? books : ["podcastSearchRegion": "us"]).adding(finish),
            "lastScan": .int(added), "lastScanVersion": .string(version.rawValue), "createdAt": .int(added),
            "lastUpdate": .int(added),
        ]
    }

    /// The items of a library that a user may see, read one by one.
    func visible(_ library: StandInLibrary, _ call: Call) -> some Sequence<StandInItem> {
        let account = user(call).account
        return library.items.lazy.filter {
            !deletedItems.contains($0.id) && (account.seesExplicit || !$0.explicit)
        }
    }

    func forms(_ item: StandInItem, _ library: StandInLibrary) -> ItemJSON {
        ItemJSON(Found(item: item, library: library), version: version)
    }

    func json(of series: StandInItem.Series, in library: StandInLibrary, withBooks: Bool) -> JSON {
        let json: JSON = [
            "id": .string(series.id), "name": .string(series.name),
            "nameIgnorePrefix": .string(ItemJSON.withoutPrefix(series.name)), "description": nil,
            "addedAt": 1_700_000_000_000, "updatedAt": 1_700_000_000_000, "libraryId": .string(library.id),
        ]
        guard withBooks else { return json }
        let books = LibraryFacts(library, self).books(of: series).map { forms($0, library).minified }
        return json.adding(["books": .array(books)])
    }

    func json(of collection: StandInList, in library: StandInLibrary) -> JSON {
        let books = collection.entries.compactMap { find($0.item) }
            .map { ItemJSON($0, version: version).expanded }
        return [
            "id": .string(collection.id), "libraryId": .string(library.id), "name": .string(collection.name),
            "description": .optional(collection.description), "books": .array(books),
            "lastUpdate": 1_700_000_000_000, "createdAt": 1_700_000_000_000,
        ]
    }

    func playlistJSON(_ playlist: StandInList, in library: StandInLibrary, _ call: Call) -> JSON {
        let entries = playlist.entries.compactMap { entry -> JSON? in
            guard let found = find(entry.item) else { return nil }
            let forms = ItemJSON(found, version: version)
            guard let episode = entry.episode.flatMap(found.item.episode) else {
                return ["libraryItemId": .string(entry.item), "libraryItem": forms.expanded]
            }
            return [
                "episodeId": .string(episode.id), "episode": forms.expandedEpisode(episode),
                "libraryItemId": .string(entry.item), "libraryItem": forms.minified,
            ]
        }
        return [
            "id": .string(playlist.id), "name": .string(playlist.name), "libraryId": .string(library.id),
            "userId": .string(call.userID), "description": .optional(playlist.description),
            "lastUpdate": 1_700_000_000_000, "createdAt": 1_700_000_000_000, "items": .array(entries),
        ]
    }
}

/// Authors, series, narrators and so on, collected from a library's items.
struct LibraryFacts {
    private let library: StandInLibrary
    private let items: [StandInItem]

    init(_ library: StandInLibrary, _ world: World) {
        self.library = library
        items = library.items.filter { !world.deletedItems.contains($0.id) }
    }

    /// Different values in the order of their first appearance.
    private func distinct(_ values: some Sequence<String>) -> [String] {
        var seen: Set<String> = []
        return values.filter { seen.insert($0).inserted }
    }

    var series: [StandInItem.Series] {
        var seen: Set<String> = []
        return items.flatMap(\.series).filter { seen.insert($0.id).inserted }
    }

    func books(of series: StandInItem.Series) -> [StandInItem] {
        func place(_ item: StandInItem) -> Double {
            Double(item.series.first { $0.id == series.id }?.sequence ?? "") ?? .infinity
        }
        return items.filter { item in item.series.contains { $0.id == series.id } }.sorted { place($0) < place($1) }
    }

    private func counts(_ key: (StandInItem) -> [String]) -> [String: Int] {
        items.reduce(into: [:]) { counts, item in
            for value in key(item) { counts[value, default: 0] += 1 }
        }
    }

    /// The authors of a book library; `lastFirst` is added by the route that has it.
    var authors: [JSON] {
        guard library.mediaType == .book else { return [] }
        let counts = counts(\.authors)
        return distinct(items.flatMap(\.authors)).map { name in
            [
                "id": .string(DerivedID.uuid("author/" + name)), "asin": nil, "name": .string(name),
                "description": nil, "imagePath": nil, "libraryId": .string(library.id),
                "addedAt": 1_700_000_000_000, "updatedAt": 1_700_000_000_000, "numBooks": .int(counts[name] ?? 0),
            ]
        }
    }

    var narrators: [JSON] {
        let counts = counts(\.narrators)
        return distinct(items.flatMap(\.narrators)).sorted().map { name in
            let id = Base64.encoded(name).replacing("=", with: "%3D")
            return ["id": .string(id), "name": .string(name), "numBooks": .int(counts[name] ?? 0)]
        }
    }

    var filterData: JSON {
        let isBook = library.mediaType == .book
        func texts(_ values: [String]) -> JSON { .strings(distinct(values)) }
        let authors = distinct(items.flatMap(\.authors)).map { name -> JSON in
            ["id": .string(DerivedID.uuid("author/" + name)), "name": .string(name)]
        }
        let decades = items.compactMap { $0.publishedYear.flatMap { Int($0) } }.map { String($0 / 10 * 10) }
        return [
            "authors": .array(isBook ? authors : []), "genres": texts(items.flatMap(\.genres)),
            "tags": texts(items.flatMap(\.tags)),
            "series": .array(series.map { ["id": .string($0.id), "name": .string($0.name)] }),
            "narrators": texts(items.flatMap(\.narrators)), "languages": texts(items.compactMap(\.language)),
            "publishers": texts(items.compactMap(\.publisher)), "publishedDecades": texts(decades.sorted()),
            "bookCount": .int(isBook ? items.count : 0), "authorCount": .int(isBook ? authors.count : 0),
            "seriesCount": .int(series.count), "podcastCount": .int(isBook ? 0 : items.count), "numIssues": 0,
            "loadedAt": 1_700_000_000_000,
        ]
    }
}
