internal import HTTP
internal import Listening

extension ShelfClient {
    /// `GET /api/libraries`: those this user may see, in the server's order.
    public func libraries() async throws(ShelfError) -> [ShelfLibrary] {
        let json = try await json(.libraries)
        guard case .array(let elements) = json["libraries"] else {
            throw .missing(field: "libraries", endpoint: Call.libraries.endpoint)
        }
        return elements.compactMap { library in
            library["id"].text.map { id in
                ShelfLibrary(
                    id: id, name: library["name"].text ?? id, isPodcasts: library["mediaType"].string == "podcast")
            }
        }
    }

    /// `GET /api/libraries/:id/items`, one page, joined with this user's progress.
    public func items(library: String, _ page: PageRequest) async throws(ShelfError) -> ShelfPage {
        try await self.page(library: library, page, try await progressByItem())
    }

    func page(
        library: String, _ page: PageRequest, _ progress: [ShelfItemID: ShelfProgress]
    ) async throws(ShelfError) -> ShelfPage {
        let call = Call.items(library: library, page, fresh: now().wall)
        let json = try await json(call)
        guard case .array(let elements) = json["results"] else {
            throw .missing(field: "results", endpoint: call.endpoint)
        }
        let rows = rows(elements, progress)
        let total = json["total"].integer.map { Int($0.clamped(to: 0...1_000_000_000)) } ?? rows.count
        return ShelfPage(rows: rows, total: total, page: page.page)
    }

    /// What was begun and not finished, of all libraries, the last listened to first: `GET /api/me/items-in-progress`,
    /// which is one request however many libraries there are, without what the listener has hidden.
    public func continueListening(limit: Int = 25) async throws(ShelfError) -> [ShelfRow] {
        let user = try await user()
        let hidden = Set(user.progress.filter(\.isHidden).compactMap { $0.key(account: account.id) })
        let call = Call.itemsInProgress(limit: max(1, limit) + hidden.count)
        let json = try await json(call)
        guard case .array(let elements) = json["libraryItems"] else {
            throw .missing(field: "libraryItems", endpoint: call.endpoint)
        }
        let shown = rows(elements, progress(user)).filter { row in
            row.isPlayable && row.progress?.isFinished != true && !hidden.contains { $0.id == row.id }
        }
        return Array(shown.prefix(max(1, limit)))
    }

    /// What is new: recent episodes of the podcast libraries and books to listen to added last, newest first.
    public func latest(limit: Int = 25) async throws(ShelfError) -> [ShelfRow] {
        let limit = max(1, limit)
        let progress = try await progressByItem()
        let rows = try await eachLibrary { client, library throws(ShelfError) in
            if library.isPodcasts {
                try await client.recentEpisodes(library: library.id, limit: limit, progress)
            } else {
                try await client.newBooks(library: library.id, limit: limit, progress)
            }
        }
        let moment = { (row: ShelfRow) in row.published ?? row.added ?? 0 }
        return Array(rows.filter(\.isPlayable).sorted { moment($0) > moment($1) }.prefix(limit))
    }

    /// Books, podcasts and episodes that match, best first as the server orders them, then books of matching authors,
    /// series and narrators.
    public func search(_ words: String, limit: Int = 12) async throws(ShelfError) -> [ShelfRow] {
        let words = words.trimmingBlanks
        guard !words.isEmpty else { return [] }
        let progress = try await progressByItem()
        let found = try await eachLibrary { client, library throws(ShelfError) in
            try await client.search(library: library.id, words, limit: max(1, limit), progress)
        }
        var seen: Set<ItemID> = []
        return found.filter { seen.insert($0.id).inserted }
    }

    /// `GET /api/items/:id?expanded=1`: one item with all that is known of it.
    public func details(_ id: ShelfItemID) async throws(ShelfError) -> ShelfDetails {
        let item = try await expanded(id)
        let progress = try await progressByItem()
        let account = account.id
        if let wanted = id.episode {
            guard let episode = item.episodes.first(where: { $0.id == wanted }),
                var row = ShelfRow(
                    episode, item: item.id, podcast: item.metadata, account: account, progress: progress)
            else { throw .notFound(what: id.id.description) }
            row.library = item.library
            row.updated = item.updated
            return ShelfDetails(
                row: row, summary: episode.summary, genres: item.metadata.genres, language: item.metadata.language,
                published: episode.published.map(isoDate(milliseconds:)) ?? episode.pubDate,
                chapters: Timeline.repaired(chapters: episode.chapters, duration: episode.duration), trackCount: 1,
                episodes: [])
        }
        guard let row = ShelfRow(item, account: account, progress: progress) else {
            throw .missing(field: "id", endpoint: Call.item(id).endpoint)
        }
        let episodes = item.episodes.compactMap { episode in
            ShelfRow(episode, item: item.id, podcast: item.metadata, account: account, progress: progress)
        }
        return ShelfDetails(
            row: row, summary: item.metadata.summary, genres: item.metadata.genres, language: item.metadata.language,
            published: item.metadata.published,
            chapters: Timeline.repaired(chapters: item.chapters, duration: item.duration), trackCount: item.trackCount,
            episodes: episodes.sorted { ($0.published ?? 0) > ($1.published ?? 0) })
    }

    // MARK: Parts

    func expanded(_ id: ShelfItemID) async throws(ShelfError) -> ItemPayload {
        let call = Call.item(id)
        let json = try await json(call)
        guard !json["media"].isNull else { throw .missing(field: "media", endpoint: call.endpoint) }
        guard let item = ItemPayload(json) else { throw .missing(field: "id", endpoint: call.endpoint) }
        return item
    }

    private func rows(_ elements: [JSON], _ progress: [ShelfItemID: ShelfProgress]) -> [ShelfRow] {
        elements.compactMap { ItemPayload($0) }.compactMap { ShelfRow($0, account: account.id, progress: progress) }
    }

    private func recentEpisodes(
        library: String, limit: Int, _ progress: [ShelfItemID: ShelfProgress]
    ) async throws(ShelfError) -> [ShelfRow] {
        try await json(.recentEpisodes(library: library, limit: limit))["episodes"].elements.compactMap { json in
            guard let episode = EpisodePayload(json), let podcast = episode.podcast else { return nil }
            return ShelfRow(episode, item: nil, podcast: podcast, account: account.id, progress: progress)
        }
    }

    private func newBooks(
        library: String, limit: Int, _ progress: [ShelfItemID: ShelfProgress]
    ) async throws(ShelfError) -> [ShelfRow] {
        let page = PageRequest(limit: limit, sort: "addedAt", isDescending: true)
        return rows(try await json(.items(library: library, page, fresh: now().wall))["results"].elements, progress)
    }

    private func search(
        library: String, _ words: String, limit: Int, _ progress: [ShelfItemID: ShelfProgress]
    ) async throws(ShelfError) -> [ShelfRow] {
        let found = try await json(.search(library: library, words: words, limit: limit))
        var elements = ["book", "podcast", "episodes"].flatMap { found[$0].elements.map { $0["libraryItem"] } }
        elements += found["series"].elements.flatMap { $0["books"].elements }
        let authors = found["authors"].elements.compactMap { $0["id"].text }.map { ("authors", $0) }
        let narrators = found["narrators"].elements.compactMap { $0["name"].text }.map { ("narrators", $0) }
        for (group, value) in authors.prefix(3) + narrators.prefix(2) {
            let page = PageRequest(limit: limit, filter: PageRequest.Filter(group: group, value: value))
            elements += try await json(.items(library: library, page, fresh: now().wall))["results"].elements
        }
        return rows(elements, progress)
    }

    /// Asks all libraries at once. One that is gone or forbidden by now does not spoil the others.
    private func eachLibrary(
        _ body: @escaping @Sendable (ShelfClient, ShelfLibrary) async throws(ShelfError) -> [ShelfRow]
    ) async throws(ShelfError) -> [ShelfRow] {
        let libraries = try await libraries()
        let answers = await withTaskGroup(of: (Int, Result<[ShelfRow], ShelfError>).self) { group in
            for (index, library) in libraries.enumerated() {
                group.addTask {
                    do throws(ShelfError) { return (index, .success(try await body(self, library))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            var answers: [(Int, Result<[ShelfRow], ShelfError>)] = []
            for await answer in group { answers.append(answer) }
            return answers.sorted { $0.0 < $1.0 }.map(\.1)
        }
        var rows: [ShelfRow] = []
        for answer in answers {
            do throws(ShelfError) {
                rows += try answer.get()
            } catch {
                switch error {
                case .notFound, .forbidden: continue
                default: throw error
                }
            }
        }
        return rows
    }
}

/// "2026-03-17".
func isoDate(milliseconds: Int64) -> String {
    "\(Day(wallSeconds: milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)))"
}
