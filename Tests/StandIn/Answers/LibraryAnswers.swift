/// Libraries, their lists and searches.
enum LibraryAnswers {
    static let all = [
        Route("GET", "api/libraries") { world, call in
            let account = world.user(call).account
            let seen = world.configuration.libraries.filter { world.may(account, see: $0) }
            return .json(["libraries": .array(seen.map { world.json(of: $0) })])
        },
        route("") { world, call, library in
            guard (call.query["include"] ?? "").contains("filterdata") else { return .json(world.json(of: library)) }
            let own = library.playlists.filter { $0.user == world.user(call).account.name }
            return .json([
                "filterdata": LibraryFacts(library, world).filterData, "issues": 0,
                "numUserPlaylists": .int(own.count), "library": world.json(of: library),
            ])
        },
        route("/items", items),
        route("/personalized") { world, call, library in
            .json(Shelves(world: world, call: call, library: library).json)
        },
        route("/recent-episodes", recentEpisodes),
        route("/search", search),
        route("/series") { world, call, library in
            let all = LibraryFacts(library, world).series.map { world.json(of: $0, in: library, withBooks: true) }
            return page(of: all, call, minified: call.query["minified"] == "1")
        },
        route("/collections") { world, call, library in
            page(of: library.collections.map { world.json(of: $0, in: library) }, call, minified: false)
        },
        route("/playlists") { world, call, library in
            let name = world.user(call).account.name
            let own = library.playlists.filter { $0.user == name }.map { world.playlistJSON($0, in: library, call) }
            return .json(["results": .array(own), "total": .int(own.count), "limit": 0, "page": 0])
        },
        route("/authors") { world, call, library in
            .json([
                "authors": .array(
                    LibraryFacts(library, world).authors.map {
                        $0.adding(["lastFirst": .string(ItemJSON.lastFirst($0["name"]?.text ?? ""))])
                    })
            ])
        },
        route("/narrators") { world, _, library in .json(["narrators": .array(LibraryFacts(library, world).narrators)])
        },
        route("/filterdata") { world, _, library in .json(LibraryFacts(library, world).filterData) },
        Route("GET", "api/series/:id", .user, oneSeries),
    ]

    private typealias LibraryHandler = @Sendable (inout World, Call, StandInLibrary) -> Answer

    /// A route below one library: checks that the user may see it, and answers from the cache what was asked before.
    private static func route(_ suffix: String, _ handler: @escaping LibraryHandler) -> Route {
        Route("GET", "api/libraries/:library" + suffix) { world, call in
            let account = world.user(call).account
            if let allowed = account.libraries, !allowed.contains(call["library"]) { return .forbidden }
            guard let library = world.library(call["library"]) else { return .sentence(404, "Library not found") }
            let key = account.name + " " + call.segments.joined(separator: "/") + "?" + call.rawQuery
            if let cached = world.libraryCache[key] { return cached }
            let answer = handler(&world, call, library)
            if answer.status == 200 { world.libraryCache[key] = answer }
            return answer
        }
    }

    /// `limit` and `page` as the server reads them: a word counts as 0, what is negative or broken is refused.
    private static func whole(_ name: String, _ call: Call) -> Int? {
        guard let text = call.query[name], let number = Double(text) else { return 0 }
        guard number >= 0, let value = Int(exactly: number) else { return nil }
        return value
    }

    private static func refusal(_ name: String) -> Answer {
        .sentence(400, "Invalid request. \(name) must be a positive integer")
    }

    @Sendable private static func items(world: inout World, call: Call, library: StandInLibrary) -> Answer {
        guard let limit = whole("limit", call) else { return refusal("limit") }
        guard let page = whole("page", call) else { return refusal("page") }
        let query = ItemQuery(world: world, call: call, library: library)
        let rows = query.rows
        let start = page * limit
        let part = limit == 0 ? rows[...] : rows.dropFirst(start).prefix(limit)
        var json: JSON = [
            "results": .array(part.map(query.json)), "total": .int(rows.count), "limit": .int(limit),
            "page": .int(page),
        ]
        if let sort = call.query["sort"] { json = json.adding(["sortBy": .string(sort)]) }
        json = json.adding(["sortDesc": .bool(call.query["desc"] == "1")])
        if let filter = call.query["filter"] { json = json.adding(["filterBy": .string(filter)]) }
        return .json(
            json.adding([
                "mediaType": .string(library.mediaType.rawValue), "minified": .bool(call.query["minified"] == "1"),
                "collapseseries": .bool(call.query["collapseseries"] == "1"),
                "include": .string(call.query["include"] ?? ""), "offset": .int(start),
            ]))
    }

    private static func page(of all: [JSON], _ call: Call, minified: Bool) -> Answer {
        guard let limit = whole("limit", call) else { return refusal("limit") }
        guard let page = whole("page", call) else { return refusal("page") }
        let part = limit == 0 ? all[...] : all.dropFirst(page * limit).prefix(limit)
        let sort: JSON = call.query["sort"].map { ["sortBy": .string($0)] } ?? [:]
        let head: JSON = [
            "results": .array(Array(part)), "total": .int(all.count), "limit": .int(limit), "page": .int(page),
        ]
        return .json(
            head.adding(sort).adding([
                "sortDesc": .bool(call.query["desc"] == "1"), "minified": .bool(minified),
                "include": .string(call.query["include"] ?? ""),
            ]))
    }

    @Sendable private static func recentEpisodes(world: inout World, call: Call, library: StandInLibrary) -> Answer {
        guard library.mediaType == .podcast else { return .notFound }
        let limit = Int(call.query["limit"] ?? "") ?? 0
        let page = Int(call.query["page"] ?? "") ?? 0
        let finished = Set(world.user(call).progress.filter(\.isFinished).compactMap(\.episodeID))
        let all = world.visible(library, call).flatMap { item in
            (item.podcast?.episodes ?? []).filter { !finished.contains($0.id) }.map { (item: item, episode: $0) }
        }
        .sorted { $0.episode.publishedAt > $1.episode.publishedAt }
        let part = limit == 0 ? all[...] : all.dropFirst(page * limit).prefix(limit)
        let version = world.version
        let episodes = part.map { entry -> JSON in
            let forms = ItemJSON(Found(item: entry.item, library: library), version: version)
            return forms.expandedEpisode(entry.episode)
                .adding(["podcast": forms.podcastOfEpisode, "libraryId": .string(library.id)])
        }
        return .json(["episodes": .array(episodes), "limit": .int(limit), "page": .int(page)])
    }

    @Sendable private static func search(world: inout World, call: Call, library: StandInLibrary) -> Answer {
        guard let words = call.query["q"], !words.isEmpty else {
            return .sentence(400, "Invalid request. Query param \"q\" must be a string")
        }
        let limit = Int(call.query["limit"] ?? "") ?? 12
        return .json(Search(world: world, call: call, library: library, words: words, limit: limit).json)
    }

    @Sendable private static func oneSeries(world: inout World, call: Call) -> Answer {
        for library in world.configuration.libraries where world.may(world.user(call).account, see: library) {
            guard let series = LibraryFacts(library, world).series.first(where: { $0.id == call["id"] }) else {
                continue
            }
            let json = world.json(of: series, in: library, withBooks: false)
            guard (call.query["include"] ?? "").contains("progress") else { return .json(json) }
            let books = LibraryFacts(library, world).books(of: series).map(\.id)
            let done = world.user(call).progress.filter { $0.isFinished && books.contains($0.itemID) }.map(\.itemID)
            return .json(
                json.adding([
                    "progress": [
                        "libraryItemIds": .strings(books), "libraryItemIdsFinished": .strings(done),
                        "isFinished": .bool(!books.isEmpty && done.count == books.count),
                    ]
                ]))
        }
        return .notFound
    }
}
