internal import Audiobookshelf
internal import Catalogue
internal import Control
internal import EventLoop
internal import Listening
internal import Store
internal import Terminal

/// Finding things: in the index of the libraries where it is complete, else by asking the servers.
extension Service {
    /// So long the first reading of the libraries is waited for.
    private static let reading = BookTime.seconds(5)

    /// The index, if it can answer for all accounts.
    private var index: Librarian? { librarian.flatMap { $0.isReady ? $0 : nil } }

    /// The index of their libraries answers all the same, but gets no newer.
    private var expired: [String] { shelves.expired }

    // MARK: Commands

    func latest(limit: Int, page: Int) async throws(ControlError) -> ListReport {
        guard let index = try await freshIndex() else {
            return try await signedIn().latest(limit: limit, page: page)
        }
        let (limit, page) = (limit.clamped(to: 1...500), page.clamped(to: 1...1000))
        let rows = try await asked { () throws(CatalogueError) in
            try await index.catalogue.latest(limit: limit, offset: limit * (page - 1))
        }
        return ListReport(items: rows.map(row), page: page, problems: expired)
    }

    func continueListening(limit: Int) async throws(ControlError) -> ListReport {
        let here = await playedHere(limit: limit).filter { !$0.place.isFinished }
        guard shelves.hasAccounts else { return ListReport(items: here.map { ItemRow($0) }) }
        var report: ListReport
        if let index = try await freshIndex() {
            let rows = try await asked { () throws(CatalogueError) in
                try await index.catalogue.continueListening(limit: limit)
            }
            report = ListReport(items: rows.map(row), problems: expired)
        } else {
            report = try await signedIn().continueListening(limit: limit)
        }
        let known = Set(report.items.map(\.item.id))
        // What the index does not know as long as it is being read, was begun all the same.
        let isFilling = index?.isBusy == true
        report.items += here.filter { played in
            let id = played.item.id
            let isMeant = !id.isOfShelf || isFilling && shelves.accounts.contains { $0.id == id.account }
            return isMeant && !known.contains(id.description)
        }.map { ItemRow($0) }
        return report
    }

    /// What the servers have and what was played here, best first.
    func search(_ words: String, limit: Int) async throws(ControlError) -> ListReport {
        try await find(words, limit: limit).report
    }

    /// What words, an id or nothing (the present item) could mean: the best, or several equally good.
    func candidates(_ what: String) async throws(ControlError) -> [ItemRow] {
        if what.isEmpty {
            guard let item = player.item else {
                throw ControlError(.notFound, "nothing is loaded; say which item is meant")
            }
            return [ItemRow(item: ItemHead(item))]
        }
        if let found = try await local(what) {
            guard let item = try await known(found.id) else {
                throw ControlError(.notFound, "'\(found.title)' was not played here yet, so that it has no place")
            }
            return [ItemRow(item: ItemHead(item))]
        }
        if let id = shelves.item(ofPage: what) { return try await candidates("\(id)") }
        // Not searched for: it may hold a login, which is nobody's affair.
        if let address = WebAddress(what) {
            guard let item = try await known(id(of: address)) else {
                throw ControlError(.notFound, "nothing was played here from that address of \(address.host)")
            }
            return [ItemRow(item: ItemHead(item))]
        }
        // Nor is any other address.
        if what.contains("://") || what.hasPrefix("dogear:"), case .item(let id) = try Address(what) {
            return try await candidates("\(id)")
        }
        if let id = ItemID(what), [ItemID.shelf, "file", "url"].contains(id.source) {
            if let item = try await known(id) { return [ItemRow(item: ItemHead(item))] }
            guard id.isOfShelf else {
                throw ControlError(.notFound, Sentences.neverPlayed(id))
            }
            if let index, let found = try? await index.catalogue.row(id) { return [row(found)] }
            return [try await signedIn().details(id).row]
        }
        let (report, words) = try await find(what, limit: 25)
        let best = Ranking.best(report.items, for: words)
        // What was not searched is not what was not found.
        if best.isEmpty, let problem = expired.first { throw ControlError(.notSignedIn, problem) }
        return best
    }

    /// - Returns: also the words that were found, where those asked for were mistyped.
    private func find(_ text: String, limit: Int) async throws(ControlError) -> (report: ListReport, words: [String]) {
        let wanted = Words.asked(text)
        let (played, meant) = await playedHere(wanted)
        let here = played.filter { !$0.item.id.isOfShelf }.map { ItemRow($0) }
        guard shelves.hasAccounts else {
            if here.isEmpty { throw await nothingHere(text, wanted) }
            return (ListReport(items: Array(here.prefix(limit)), total: here.count), meant)
        }
        guard let index else {
            let titled = played.filter { $0.item.id.isOfShelf }.map { ItemRow($0) }
            var report = try await asked(
                { () async throws(ControlError) in try await self.signedIn().search(text, limit: limit) },
                orKnown: { titled.isEmpty ? nil : ListReport(items: titled) })
            // A server finds less by words than the index, which is on its way.
            if report.items.isEmpty, here.isEmpty, let librarian, librarian.isBusy {
                await librarian.freshen(within: Self.reading)
                guard self.index == nil else { return try await find(text, limit: limit) }
                throw ControlError(
                    .notFound,
                    """
                    nothing found for '\(Clean.short(text))' yet, for your libraries are still being read; try again in a \
                    moment
                    """)
            }
            let words = Ranking.meant([wanted, meant], among: report.items)
            report.items = Ranking.sorted(report.items + here, for: words)
            return (report, words)
        }
        let found = try await asked { () throws(CatalogueError) in
            try await index.catalogue.search(text, limit: limit)
        }
        index.refresh(olderThan: .seconds(60))
        let rows = found.rows.map(row)
        if here.isEmpty || isOutdone(meant, by: found, wanted) {
            return (ListReport(items: rows, problems: expired), found.words)
        }
        // What is meant literally goes before what was only guessed.
        let words = Ranking.meant([wanted, rows.isEmpty ? meant : found.words], among: rows + here)
        return (ListReport(items: Ranking.sorted(rows + here, for: words), problems: expired), words)
    }

    /// What was only guessed of what was played here, where a library has what was literally asked for.
    func isOutdone(_ meant: [String], by found: CatalogueFound, _ wanted: [String]) -> Bool {
        meant != wanted && !found.rows.isEmpty && found.words == wanted
    }

    /// What was played here and fits, the latest first: what no server has, and as long as the index cannot tell what the
    /// servers have, theirs by its title.
    /// - Parameter wanted: folded words.
    /// - Returns: also the words that fit, where those wanted were mistyped.
    func playedHere(_ wanted: [String]) async -> (played: [Played], words: [String]) {
        let withoutIndex = index == nil && shelves.hasAccounts
        let played = await playedHere(limit: 200).filter { withoutIndex || !$0.item.id.isOfShelf }
        func fitting(_ words: [String]) -> [Played] {
            played.filter {
                let row = ItemRow($0)
                return $0.item.id.isOfShelf ? Ranking.isTitled(row, words) : Ranking.score(row, words) > 0
            }
        }
        let found = fitting(wanted)
        let known = found.isEmpty ? Set(played.flatMap { Ranking.words(ItemRow($0)) }) : []
        guard let meant = Words.meant(by: wanted, among: known) else { return (found, wanted) }
        return (fitting(meant), meant)
    }

    /// The latest first.
    private func playedHere(limit: Int) async -> [Played] { (try? await store.recentHeads(limit: limit)) ?? [] }

    /// Without any account.
    private func nothingHere(_ text: String, _ wanted: [String]) async -> ControlError {
        let played = (try? await store.recentHeads(limit: 200)) ?? []
        guard !played.isEmpty else { return ControlError(.notSignedIn, Sentences.noAccount) }
        let left = played.first { $0.item.id.isOfShelf && Ranking.isTitled(ItemRow($0), wanted) }
        if let left {
            return ControlError(
                .notSignedIn,
                """
                '\(Clean.short(left.item.title))' is on a server that you are not signed in to any more; \
                'dogear login ADDRESS' signs in
                """)
        }
        return ControlError(
            .notFound,
            """
            nothing that was played here is called '\(Clean.short(text))', and you are not signed in to a server to ask; \
            'dogear continue' lists what was played, 'dogear login ADDRESS' signs in
            """)
    }

    /// What a server answers; what is known here, where it does not in time or cannot be reached; else it is waited for.
    func asked<Answer: Sendable>(
        within limit: BookTime? = nil, _ ask: @escaping @LoopActor () async throws(ControlError) -> Answer,
        orKnown known: () async -> Answer?
    ) async throws(ControlError) -> Answer {
        let asking = Task { @LoopActor in
            do throws(ControlError) { return Result<Answer, ControlError>.success(try await ask()) } catch {
                return .failure(error)
            }
        }
        switch await inTime(within: limit, { await asking.value }) {
        case .success(let answer)?: return answer
        case .failure(let error)? where error.kind != .unreachable: throw error
        case .failure?, nil:
            if let known = await known() { return known }
            return try await asking.value.get()
        }
    }

    func show(_ what: String) async throws(ControlError) -> ShowReport {
        if let item = try await localItem(what) { return await report(on: item) }
        let row = try await one(what)
        guard let id = ItemID(row.item.id) else { return ShowReport(row: row) }
        guard id.isOfShelf else {
            guard let item = try await known(id) else {
                throw ControlError(.notFound, "'\(what)' is not known any more")
            }
            return await report(on: item)
        }
        let shelves = try signedIn()
        var report = try await asked(
            within: .seconds(3), { () async throws(ControlError) in try await shelves.details(id) },
            orKnown: { await remembered(id) })
        if let index, let next = try? await index.catalogue.next(after: id) { report.next = self.row(next) }
        return report
    }

    /// What no server is asked about.
    private func report(on item: Item) async -> ShowReport {
        ShowReport(item, place: (try? await store.place(of: item.id)) ?? nil)
    }

    /// What is known of an item that its server cannot be asked about now.
    private func remembered(_ id: ItemID) async -> ShowReport? {
        guard let catalogue = librarian?.catalogue, let found = try? await catalogue.row(id) else { return nil }
        var report = ShowReport(row: row(found))
        report.subtitle = found.item.subtitle
        report.published = found.item.released
        report.genres = found.item.genres
        report.summary = await Self.cleaned(found.item.summary)
        report.cover = await shelves.knownCover(of: id)
        report.episodes = ((try? await catalogue.episodes(of: id)) ?? []).map(row)
        // What was played here is known better.
        if let item = try? await store.item(id) {
            report.chapters = item.chapters.enumerated().map { ChapterRow($1, index: $0) }
            report.tracks = item.tracks.count
        }
        return report
    }

    /// A long one takes a moment, which is not the Loop's.
    @concurrent private nonisolated static func cleaned(_ summary: String?) async -> String? {
        summary.flatMap(readable)
    }

    func libraries() async throws(ControlError) -> LibrariesReport {
        guard let index else {
            var report = try await shelves.libraries()
            report.add(librarian)
            return report
        }
        index.refresh(olderThan: .seconds(60))
        return indexReport(index)
    }

    /// Reads all libraries again; the report tells how far that is, and so do the signals that follow.
    func refreshLibraries() throws(ControlError) -> LibrariesReport {
        _ = try signedIn()
        if shelves.accounts.allSatisfy(\.isSignedOut), let sentence = expired.first {
            throw ControlError(.notSignedIn, sentence)
        }
        guard let librarian else { throw ControlError(.failed, "there is no index of the libraries to refresh") }
        librarian.refresh(full: true)
        return indexReport(librarian)
    }

    func indexReport(_ librarian: Librarian) -> LibrariesReport {
        var report = LibrariesReport(libraries: known(librarian).map(\.row))
        report.add(librarian)
        return report
    }

    /// The libraries of the index, and how much of them is in it.
    private func known(_ librarian: Librarian) -> [(row: LibrariesReport.Row, library: CatalogueLibrary)] {
        librarian.states.compactMap { state in
            guard let account = shelves.accounts.first(where: { $0.id == state.library.account }) else { return nil }
            let library = state.library
            var row = LibrariesReport.Row(
                id: library.id, name: library.name, mediaType: library.isPodcasts ? "podcast" : "book",
                account: account.name)
            row.items = state.isFilled || state.items > 0 ? state.total : nil
            row.known = state.items
            row.refreshed = state.checked
            return (row, library)
        }
    }

    // MARK: Lists

    func browse(_ request: BrowseRequest) async throws(ControlError) -> ListReport {
        try request.check()
        guard let index else { return try await browseServer(request) }
        index.refresh(olderThan: .seconds(60))
        let library = try library(request, index)
        var query = CatalogueQuery()
        query.libraries = library.map { [$0] }
        query.sort = request.sort.isEmpty ? nil : CatalogueQuery.Sort(rawValue: request.sort)
        query.isReversed = request.isReversed
        query.unfinished = request.unfinished
        query.limit = request.limit.clamped(to: 1...1000)
        query.offset = (request.page.clamped(to: 1...1_000_000) - 1) * query.limit
        query.authors = try await names("author", request.author, index)
        query.narrators = try await names("narrator", request.narrator, index)
        query.series = try await names("series", request.series, index)
        query.genres = try await names("genre", request.genre, index)
        query.lists = try await lists(request, index)
        let page = try await asked { () throws(CatalogueError) in try await index.catalogue.list(query) }
        if page.rows.isEmpty, page.total > 0 {
            let pages = (page.total + query.limit - 1) / query.limit
            throw ControlError(
                .notFound,
                "page \(request.page) is past the end: there \(pages == 1 ? "is 1 page" : "are \(pages) pages")")
        }
        if page.rows.isEmpty, request.hasFilter {
            throw ControlError(.notFound, "nothing fits all of that; leave something out")
        }
        return ListReport(items: page.rows.map(row), total: page.total, page: request.page, problems: expired)
    }

    /// As far as a server can.
    private func browseServer(_ request: BrowseRequest) async throws(ControlError) -> ListReport {
        guard !request.hasFilter else {
            _ = try signedIn()
            let problem = librarian?.problems.values.first
            let why = problem.map { ": \($0)" } ?? ""
            throw ControlError(
                problem?.kind ?? .failed,
                "the libraries were not read yet\(why); 'dogear libraries --refresh' shows how far that is")
        }
        return try await signedIn().list(
            library: request.library, sort: (request.isReversed ? "-" : "") + request.sort, limit: request.limit,
            page: request.page)
    }

    /// - Returns: nil for all of them.
    private func library(
        _ request: BrowseRequest, _ index: Librarian
    ) throws(ControlError) -> CatalogueLibrary? {
        let libraries = known(index)
        let fits = try libraries.map(\.row).called(request.library)
        if fits.count > 1, request.library.isEmpty { return nil }
        let row = try fits.only
        guard let library = libraries.first(where: { $0.row == row })?.library else { return nil }
        if library.isPodcasts { try request.checkPodcasts(library.name) }
        return library
    }

    private func names(_ kind: String, _ name: String, _ index: Librarian) async throws(ControlError) -> [String] {
        guard !name.isEmpty else { return [] }
        let found = try await asked { () throws(CatalogueError) in try await index.catalogue.names(kind, like: name) }
        if found.isEmpty { throw ControlError(.notFound, "no \(kind) '\(name)' in your libraries") }
        return found
    }

    private func lists(_ request: BrowseRequest, _ index: Librarian) async throws(ControlError) -> [Int64] {
        let kind: CatalogueList.Kind = request.collection.isEmpty ? .playlist : .collection
        let name = request.collection.isEmpty ? request.playlist : request.collection
        guard !name.isEmpty else { return [] }
        let found = try await asked { () throws(CatalogueError) in try await index.catalogue.lists(kind, like: name) }
        if found.isEmpty { throw ControlError(.notFound, "no \(kind) '\(name)' in your libraries") }
        return found
    }

    // MARK: The index

    /// The index after a look at the servers, as far as they answer soon, and with what was listened to here.
    private func freshIndex() async throws(ControlError) -> Librarian? {
        guard let index else { return nil }
        await index.freshen(within: patience)
        await index.noteOwn()
        return self.index
    }

    private func asked<Value: Sendable>(
        _ body: () async throws(CatalogueError) -> Value
    ) async throws(ControlError) -> Value {
        do throws(CatalogueError) { return try await body() } catch { throw ControlError(.failed, "\(error)") }
    }

    func row(_ found: CatalogueRow) -> ItemRow {
        let item = found.item
        let head = ItemHead(
            id: item.id.description, title: item.title, authors: item.authors, narrators: item.narrators,
            series: item.series.map { SeriesRow(name: $0.name, sequence: $0.sequence) }, kind: item.kind.rawValue,
            podcast: item.podcast)
        var place = found.place
        // Near the end a server is told less than is true.
        if item.id == player.item?.id, place?.isFinished != true { place?.position = position }
        var row = ItemRow(item: head)
        row.duration = item.kind == .podcast ? nil : item.duration.seconds
        if let place {
            let whole = place.duration > .zero ? place.duration : item.duration
            row.begin(at: place.position, of: whole, isFinished: place.isFinished)
        }
        row.date = item.published ?? item.added
        row.episodes = item.episodes
        row.library = found.library
        row.account = shelves.accounts.first { $0.id == item.account }?.name
        return row
    }
}

extension LibrariesReport {
    @LoopActor fileprivate mutating func add(_ librarian: Librarian?) {
        guard let librarian else { return }
        refreshing = librarian.isBusy
        let found = librarian.problems.sorted { $0.key < $1.key }.map(\.value)
        problems += found.map(\.message).filter { !problems.contains($0) }
        let kinds = Set(found.map(\.kind))
        if let kind = kinds.first { code = kinds.count == 1 ? kind.rawValue : ControlError.Kind.failed.rawValue }
    }
}
