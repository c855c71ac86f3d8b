/// One list of a library's items: filter, sort, collapse.
struct ItemQuery {
    /// A line of the list; `series` is set when it stands for all books of one.
    struct Row {
        var index: Int
        var series: StandInItem.Series?
        var books: [StandInItem] = []
    }

    let world: World
    let call: Call
    let library: StandInLibrary
    private let progress: [String: Progress]
    private let filter: (group: String, value: String)?

    init(world: World, call: Call, library: StandInLibrary) {
        self.world = world
        self.call = call
        self.library = library
        let records = world.user(call).progress.filter { $0.episodeID == nil }
        progress = Dictionary(records.map { ($0.itemID, $0) }, uniquingKeysWith: { first, _ in first })
        let parts = (call.query["filter"] ?? "").split(separator: ".", maxSplits: 1).map(String.init)
        filter = parts.count == 2 ? Base64.decoded(parts[1]).map { (parts[0], $0) } : nil
    }

    var rows: [Row] {
        let account = world.user(call).account
        let isPlain = filter == nil && world.deletedItems.isEmpty && account.seesExplicit
        var indices = Array(library.items.indices)
        // A large synthetic library is not read item by item when nothing asks for it.
        if !isPlain || !library.items.isSorted(by: nil) || library.items.count < 1000 {
            indices = indices.filter { isVisible(library.items[$0], account) }
        }
        if call.query["collapseseries"] == "1" { return collapsed(indices) }
        let sort = call.query["sort"]
        if !library.items.isSorted(by: sort) { indices = sorted(indices, by: sort ?? "") }
        if call.query["desc"] == "1" { indices.reverse() }
        return indices.map { Row(index: $0) }
    }

    func json(_ row: Row) -> JSON {
        let item = library.items[row.index]
        var json = world.forms(item, library).minified
        if let series = row.series {
            return json.adding([
                "collapsedSeries": [
                    "id": .string(series.id), "name": .string(series.name),
                    "nameIgnorePrefix": .string(ItemJSON.withoutPrefix(series.name)),
                    "sequence": .optional(series.sequence), "numBooks": .int(row.books.count),
                    "libraryItemIds": .strings(row.books.map(\.id)),
                ]
            ])
        }
        if filter?.group == "series", let own = item.series.first(where: { $0.id == filter?.value }),
            let media = json["media"], let metadata = media["metadata"]
        {
            let series: JSON = [
                "id": .string(own.id), "name": .string(own.name), "sequence": .optional(own.sequence),
            ]
            json = json.adding(["media": media.adding(["metadata": metadata.adding(["series": series])])])
        }
        if let podcast = item.podcast, (call.query["include"] ?? "").contains("numEpisodesIncomplete") {
            let done = Set(world.user(call).progress.filter(\.isFinished).compactMap(\.episodeID))
            let left = podcast.episodes.filter { !done.contains($0.id) }.count
            json = json.adding(["numEpisodesIncomplete": .int(left)])
        }
        return json
    }

    // MARK: Filter

    private func isVisible(_ item: StandInItem, _ account: StandInUser) -> Bool {
        !world.deletedItems.contains(item.id) && (account.seesExplicit || !item.explicit) && matches(item)
    }

    /// An unknown group lets everything through, as on the real server.
    private func matches(_ item: StandInItem) -> Bool {
        guard let filter else { return true }
        return switch filter.group {
        case "progress": matchesProgress(item, filter.value)
        case "series":
            filter.value == "no-series" ? item.series.isEmpty : item.series.contains { $0.id == filter.value }
        case "authors": item.authors.contains { DerivedID.uuid("author/" + $0) == filter.value }
        case "genres": item.genres.contains(filter.value)
        case "tags": item.tags.contains(filter.value)
        case "narrators": item.narrators.contains(filter.value)
        case "languages": item.language == filter.value
        case "publishers": item.publisher == filter.value
        case "publishedDecades":
            item.publishedYear.flatMap { Int($0) }.map { String($0 / 10 * 10) == filter.value } ?? false
        default: true
        }
    }

    private func matchesProgress(_ item: StandInItem, _ value: String) -> Bool {
        let record = progress[item.id]
        let hasBegun = record.map { ($0.currentTime?.coerced ?? 0) > 0 || ($0.ebookProgress.number ?? 0) > 0 } ?? false
        return switch value {
        case "finished": record?.isFinished == true
        case "in-progress": hasBegun && record?.isFinished == false
        case "not-started": record == nil || (!hasBegun && record?.isFinished == false)
        case "not-finished": record?.isFinished != true
        default: true
        }
    }

    // MARK: Order

    private func sorted(_ indices: [Int], by key: String) -> [Int] {
        if key == "random" { return indices.shuffled() }
        let keyed = indices.map { (index: $0, key: sortKey(library.items[$0], key)) }
        return keyed.sorted { ($0.key, $0.index) < ($1.key, $1.index) }.map(\.index)
    }

    /// A number or a text to compare; an unknown key leaves the order as it is.
    private func sortKey(_ item: StandInItem, _ key: String) -> SortKey {
        switch key {
        case "media.metadata.title": .text(item.title.lowercased())
        case "media.metadata.authorName", "media.metadata.author":
            .text(item.authors.joined(separator: ", ").lowercased())
        case "media.metadata.authorNameLF":
            .text(item.authors.map(ItemJSON.lastFirst).joined(separator: ", ").lowercased())
        case "addedAt", "birthtimeMs", "mtimeMs": .number(Double(item.addedAt))
        case "size": .number(item.files.reduce(0) { $0 + Double($1.file.size) })
        case "media.duration": .number(item.duration)
        case "media.metadata.publishedYear": .number(item.publishedYear.flatMap { Double($0) } ?? 0)
        case "media.numTracks": .number(Double(item.podcast?.episodes.count ?? item.audio.count))
        case "sequence":
            .number(item.series.first { $0.id == filter?.value }?.sequence.flatMap { Double($0) } ?? .infinity)
        case "progress": .number(Double(progress[item.id]?.lastUpdate ?? 0))
        case "progress.createdAt": .number(Double(progress[item.id]?.startedAt ?? 0))
        case "progress.finishedAt": .number(Double(progress[item.id]?.finishedAt ?? 0))
        default: .number(0)
        }
    }

    private enum SortKey: Comparable {
        case number(Double)
        case text(String)
    }

    /// One row for all books of a series: its first book, ordered by the name of the series among the titles.
    private func collapsed(_ indices: [Int]) -> [Row] {
        let facts = LibraryFacts(library, world)
        var seen: Set<String> = []
        let rows = indices.compactMap { index -> Row? in
            guard let series = library.items[index].series.first else { return Row(index: index) }
            guard seen.insert(series.id).inserted else { return nil }
            let books = facts.books(of: series)
            let first = books.first.flatMap { library.items.index(of: $0.id) } ?? index
            var own = series
            own.sequence = books.first?.series.first { $0.id == series.id }?.sequence
            return Row(index: first, series: own, books: books)
        }
        guard let sort = call.query["sort"] else { return rows }
        let keyed = rows.map { row -> (row: Row, key: SortKey) in
            var item = library.items[row.index]
            item.title = row.series?.name ?? item.title
            return (row, sortKey(item, sort))
        }
        let sorted = keyed.sorted { $0.key < $1.key }.map(\.row)
        return call.query["desc"] == "1" ? sorted.reversed() : sorted
    }
}
