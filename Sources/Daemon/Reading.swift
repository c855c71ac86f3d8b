internal import Audiobookshelf
internal import Catalogue
internal import EventLoop
internal import Listening

/// Brings the index of one account up to date: runs beside the Loop, a page at a time, and may be cancelled and begun
/// again at any point.
struct Reading: Sendable {
    let client: ShelfClient
    let catalogue: Catalogue
    let account: String
    /// Everything is read, not only what is new.
    let isFull: Bool
    let time: any Timekeeper
    /// Called after each step that changed something.
    let told: @Sendable () -> Void

    /// Items in one request. Each size divides those before it, so that a reading can go on with a smaller one where an
    /// answer was too large to be taken.
    private static let sizes = [200, 100, 50, 10, 5, 1]
    /// How long a library is believed to hold what was read of it, in milliseconds: what only changed is not told by
    /// its size.
    private static let trust: Int64 = 7 * 86_400_000

    func run() async throws {
        let libraries = try await client.libraries()
        try await catalogue.setLibraries(
            libraries.map {
                CatalogueLibrary(account: account, id: $0.id, name: $0.name, isPodcasts: $0.isPodcasts)
            }, account: account)
        told()
        try await catalogue.setProgress(
            try await client.progressEntries().map {
                CataloguePlace(Place(item: $0.item, $0.progress), isHidden: $0.isHidden)
            }, account: account)
        told()
        for library in libraries {
            do { try await read(library) } catch let error as ShelfError {
                // One that is gone or forbidden by now does not spoil the others.
                switch error {
                case .notFound, .forbidden: continue
                default: throw error
                }
            }
        }
    }

    private func read(_ library: ShelfLibrary) async throws {
        let states = try await catalogue.states()
        guard let state = states.first(where: { $0.library.account == account && $0.library.id == library.id }) else {
            return
        }
        let isOld = state.filled.map { time.now.wall - $0 > Self.trust } ?? true
        if isFull || isOld || state.isUnderWay {
            try await readAll(library, isFirst: !state.isFilled)
        } else if try await readNewest(library) {
            try await catalogue.end(library: library.id, account: account, complete: false, at: time.now.wall)
        } else {
            try await readAll(library, isFirst: false)
        }
        told()
        if library.isPodcasts { try await readEpisodes(library) }
        try await readLists(library)
        told()
    }

    // MARK: Items

    /// Reads the library from end to end, and removes what is not in it any more.
    private func readAll(_ library: ShelfLibrary, isFirst: Bool) async throws {
        var isSure = false
        var wasRead = false
        for attempt in 1...3 where !isSure {
            guard try await readPages(library) else { continue }
            let unseen = try await catalogue.unseen(library: library.id, account: account)
            (isSure, wasRead) = (unseen.isSure, true)
            if isSure || attempt == 3 { try await remove(unseen) }
        }
        try await catalogue.end(
            library: library.id, account: account, complete: isSure || isFirst && wasRead, at: time.now.wall)
    }

    /// - Returns: false if the library changed meanwhile.
    private func readPages(_ library: ShelfLibrary) async throws -> Bool {
        guard var pass = try await catalogue.begin(library: library.id, account: account) else { return true }
        var sizes = Self.sizes.filter { pass.offset % $0 == 0 }
        while true {
            try Task.checkCancellation()
            do {
                let size = sizes[0]
                let page = try await page(library, size: size, offset: pass.offset, descending: false)
                pass.offset += size
                guard
                    try await catalogue.take(
                        page.rows.map(CatalogueItem.init), library: library.id, account: account, next: pass.offset,
                        total: page.total)
                else { return false }
                told()
                if pass.offset >= page.total || page.rows.isEmpty { return true }
            } catch ShelfError.tooLarge where sizes.count > 1 {
                sizes.removeFirst()
            }
        }
    }

    /// Reads what was added last, as far as it is not known.
    /// - Returns: false if the library still has another number of items than are known.
    private func readNewest(_ library: ShelfLibrary) async throws -> Bool {
        let size = 50
        var offset = 0
        while true {
            let page = try await page(library, size: size, offset: offset, descending: true)
            let news = try await catalogue.take(
                newest: page.rows.map(CatalogueItem.init), library: library.id, account: account, total: page.total)
            offset += size
            if news < page.rows.count || page.rows.isEmpty || offset >= page.total {
                return try await catalogue.count(library: library.id, account: account) == page.total
            }
            told()
        }
    }

    private func page(
        _ library: ShelfLibrary, size: Int, offset: Int, descending: Bool
    ) async throws(ShelfError) -> ShelfPage {
        try await client.page(
            library: library.id,
            PageRequest(page: offset / size, limit: size, sort: "addedAt", isDescending: descending))
    }

    /// A few are asked for one by one; so are the first of those that might only have moved.
    private func remove(_ unseen: Unseen) async throws {
        guard !unseen.isSure || unseen.items.count <= 20 else { return try await catalogue.remove(unseen.items) }
        var gone: [ItemID] = []
        for item in unseen.items.prefix(50) {
            guard let id = ShelfItemID(item) else { continue }
            if try await client.whole(id) == nil { gone.append(item) }
        }
        try await catalogue.remove(gone)
    }

    /// Items that the server said were added, changed or removed.
    func read(items: [ItemID]) async throws {
        for item in items {
            guard let id = ShelfItemID(item) else { continue }
            if let (row, episodes) = try await client.whole(id) {
                guard let library = row.library else { continue }
                try await catalogue.put([CatalogueItem(row)], library: library, account: account)
                if row.kind == .podcast {
                    try await catalogue.put(episodes: episodes.map(CatalogueItem.init), of: item)
                }
            } else {
                try await catalogue.remove([item])
            }
        }
        told()
    }

    // MARK: What belongs to items

    private func readEpisodes(_ library: ShelfLibrary) async throws {
        while true {
            let podcasts = try await catalogue.stalePodcasts(library: library.id, account: account, limit: 20)
            if podcasts.isEmpty { return }
            for podcast in podcasts {
                try Task.checkCancellation()
                guard let id = ShelfItemID(podcast) else { continue }
                if let (_, episodes) = try await client.whole(id) {
                    try await catalogue.put(episodes: episodes.map(CatalogueItem.init), of: podcast)
                } else {
                    try await catalogue.remove([podcast])
                }
                told()
            }
        }
    }

    private func readLists(_ library: ShelfLibrary) async throws {
        func put(_ lists: [ShelfList], _ kind: CatalogueList.Kind) async throws {
            let lists = lists.map { CatalogueList(id: $0.id, kind: kind, name: $0.name, items: $0.items) }
            try await catalogue.setLists(lists, kind, library: library.id, account: account)
        }
        if !library.isPodcasts { try await put(try await client.collections(library: library.id), .collection) }
        try await put(try await client.playlists(library: library.id), .playlist)
    }
}

extension CatalogueItem {
    init(_ row: ShelfRow) {
        let kind: Kind =
            switch row.kind {
            case .book: .book
            case .podcast: .podcast
            case .episode: .episode
            }
        // Lists have all names in one text.
        let split = { (names: [String]) in names.flatMap { $0.split(separator: ", ").map(String.init) } }
        self.init(
            id: row.id, kind: kind, title: row.title, subtitle: row.subtitle, authors: split(row.authors),
            narrators: split(row.narrators), series: row.series, genres: row.genres, podcast: row.podcast,
            duration: row.kind == .podcast ? .zero : row.duration, added: row.added, published: row.published,
            updated: row.updated, released: row.released, episodes: row.episodeCount, isPlayable: row.isPlayable,
            summary: row.summary)
    }
}
