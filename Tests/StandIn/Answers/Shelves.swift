/// The home page of a library: shelves that have something on them.
struct Shelves {
    let world: World
    let call: Call
    let library: StandInLibrary

    private var limit: Int { max(1, Int(call.query["limit"] ?? "") ?? 10) }

    var json: JSON {
        let shelves = library.mediaType == .book ? bookShelves : podcastShelves
        return .array(shelves.compactMap { $0 })
    }

    private var bookShelves: [JSON?] {
        let facts = LibraryFacts(library, world)
        let series = facts.series.map { world.json(of: $0, in: library, withBooks: true) }
        return [
            shelf("continue-listening", "Continue Listening", "LabelContinueListening", "book", continued),
            shelf("recently-added", "Recently Added", "LabelRecentlyAdded", "book", minified(newestFirst)),
            shelf("recent-series", "Recent Series", "LabelRecentSeries", "series", series),
            shelf("discover", "Discover", "LabelDiscover", "book", minified(unheard)),
            shelf("listen-again", "Listen Again", "LabelListenAgain", "book", finishedBooks),
            shelf("newest-authors", "Newest Authors", "LabelNewestAuthors", "authors", facts.authors),
        ]
    }

    private var podcastShelves: [JSON?] {
        [
            shelf("continue-listening", "Continue Listening", "LabelContinueListening", "episode", continued),
            shelf("newest-episodes", "Newest Episodes", "LabelNewestEpisodes", "episode", newestEpisodes),
            shelf("recently-added", "Recently Added", "LabelRecentlyAdded", "podcast", minified(newestFirst)),
        ]
    }

    private func shelf(_ id: String, _ label: String, _ key: String, _ type: String, _ entities: [JSON]) -> JSON? {
        guard !entities.isEmpty else { return nil }
        return [
            "id": .string(id), "label": .string(label), "labelStringKey": .string(key), "type": .string(type),
            "entities": .array(Array(entities.prefix(limit))), "total": .int(entities.count),
        ]
    }

    private var items: [StandInItem] { Array(world.visible(library, call)) }
    private var newestFirst: [StandInItem] { items.sorted { $0.addedAt > $1.addedAt } }
    private func minified(_ items: [StandInItem]) -> [JSON] { items.map { world.forms($0, library).minified } }

    private var records: [Progress] { world.user(call).progress.sorted { $0.lastUpdate > $1.lastUpdate } }

    private func entity(_ record: Progress) -> JSON? {
        guard let found = world.find(record.itemID), found.library.id == library.id else { return nil }
        let forms = ItemJSON(found, version: world.version)
        guard let id = record.episodeID else { return forms.minified }
        guard let episode = found.item.episode(id) else { return nil }
        return forms.minified.adding(["recentEpisode": forms.episode(episode)])
    }

    private var continued: [JSON] {
        records.filter { !$0.isFinished && !$0.isHidden && ($0.currentTime?.coerced ?? 0) > 0 }.compactMap(entity)
    }

    private var finishedBooks: [JSON] { records.filter(\.isFinished).compactMap(entity) }

    private var unheard: [StandInItem] {
        let known = Set(records.map(\.itemID))
        return items.filter { !known.contains($0.id) }
    }

    private var newestEpisodes: [JSON] {
        let all = items.flatMap { item in (item.podcast?.episodes ?? []).map { (item, $0) } }
        return all.sorted { $0.1.publishedAt > $1.1.publishedAt }.map { item, episode in
            let forms = world.forms(item, library)
            return forms.minified.adding(["recentEpisode": forms.episode(episode)])
        }
    }
}

/// A search in one library: every word group in its own list.
struct Search {
    let world: World
    let call: Call
    let library: StandInLibrary
    let words: String
    let limit: Int

    private func isHit(_ text: String?) -> Bool { text?.lowercased().contains(words.lowercased()) ?? false }

    var json: JSON {
        library.mediaType == .book ? books : podcasts
    }

    private func titles(_ item: StandInItem) -> Bool {
        isHit(item.title) || isHit(item.subtitle) || isHit(item.isbn) || isHit(item.asin)
    }

    private var hits: [JSON] {
        var hits: [JSON] = []
        for item in world.visible(library, call) where titles(item) {
            hits.append(["libraryItem": world.forms(item, library).expanded])
            if hits.count == limit { break }
        }
        return hits
    }

    private func counted(_ key: (StandInItem) -> [String], as name: String) -> JSON {
        var counts: [String: Int] = [:]
        for item in world.visible(library, call) {
            for value in key(item) where isHit(value) { counts[value, default: 0] += 1 }
        }
        let rows = counts.sorted { $0.key < $1.key }.prefix(limit)
        return .array(rows.map { ["name": .string($0.key), name: .int($0.value)] })
    }

    private var books: JSON {
        let facts = LibraryFacts(library, world)
        let series = facts.series.filter { isHit($0.name) }.prefix(limit).map { series -> JSON in
            let books = facts.books(of: series).map { book -> JSON in
                // The server leaves authors and series out of the books of a found series.
                var bare = book
                bare.authors = []
                bare.series = []
                return world.forms(bare, library).plain
            }
            return ["series": world.json(of: series, in: library, withBooks: false), "books": .array(books)]
        }
        return [
            "book": .array(hits), "narrators": counted(\.narrators, as: "numBooks"),
            "tags": counted(\.tags, as: "numItems"), "genres": counted(\.genres, as: "numItems"),
            "series": .array(series),
            "authors": .array(facts.authors.filter { isHit($0["name"]?.text) }.prefix(limit).map { $0 }),
        ]
    }

    private var podcasts: JSON {
        let episodes = world.visible(library, call).flatMap { item -> [JSON] in
            let forms = world.forms(item, library)
            return (item.podcast?.episodes ?? []).filter { isHit($0.title) || isHit($0.subtitle) }.map { episode in
                ["libraryItem": forms.expanded.adding(["recentEpisode": forms.expandedEpisode(episode)])]
            }
        }
        return [
            "podcast": .array(hits), "tags": counted(\.tags, as: "numItems"),
            "genres": counted(\.genres, as: "numItems"), "episodes": .array(Array(episodes.prefix(limit))),
        ]
    }
}
