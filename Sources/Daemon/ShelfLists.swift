internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening

/// Lists over all accounts: one that cannot be asked is named, and does not take the rows of the others away.
extension Shelves {
    func continueListening(limit: Int) async throws(ControlError) -> ListReport {
        try await gather(limit: limit) { client throws(ShelfError) in
            try await client.continueListening(limit: limit)
        } order: {
            ($0.progress?.updated ?? 0) > ($1.progress?.updated ?? 0)
        }
    }

    func latest(limit: Int, page: Int) async throws(ControlError) -> ListReport {
        let (limit, page) = (limit.clamped(to: 1...500), page.clamped(to: 1...1000))
        var report = try await gather(limit: limit * page) { client throws(ShelfError) in
            try await client.latest(limit: limit * page).filter { $0.progress?.isFinished != true }
        } order: {
            ($0.published ?? $0.added ?? 0) > ($1.published ?? $1.added ?? 0)
        }
        report.items = Array(report.items.dropFirst(limit * (page - 1)))
        report.page = page
        return report
    }

    func search(_ words: String, limit: Int) async throws(ControlError) -> ListReport {
        try await gather(limit: limit) { client throws(ShelfError) in
            try await client.search(words, limit: limit)
        }
    }

    func details(_ id: ItemID) async throws(ControlError) -> ShowReport {
        do throws(ShelfError) {
            let (client, shelf) = try client(of: id)
            let details = try await client.details(shelf)
            var report = ShowReport(row: row(details.row, client.account))
            report.subtitle = details.row.subtitle
            report.published = details.published
            report.language = details.language
            report.genres = details.genres
            report.summary = details.summary
            report.chapters = details.chapters.enumerated().map { ChapterRow($1, index: $0) }
            report.tracks = details.trackCount
            report.episodes = details.episodes.map { row($0, client.account) }
            report.cover = await knownCover(of: id)
            if report.cover == nil { report.cover = await fetchCover(of: id) }
            return report
        } catch {
            throw ControlError(error)
        }
    }

    func libraries() async throws(ControlError) -> LibrariesReport {
        guard hasAccounts else { throw ControlError(.notSignedIn, Sentences.noAccount) }
        let answers = await each { client throws(ShelfError) in try await client.libraries() }
        let (values, problems) = try split(answers)
        return LibrariesReport(
            libraries: values.flatMap { account, libraries in
                libraries.map { library in
                    LibrariesReport.Row(
                        id: library.id, name: library.name, mediaType: library.isPodcasts ? "podcast" : "book",
                        account: account.name)
                }
            }, problems: problems)
    }

    /// One page of one library; the first of all of them, one behind the other, where none is named.
    func list(library name: String, sort: String, limit: Int, page: Int) async throws(ControlError) -> ListReport {
        let all = try await libraries()
        let fits = try all.libraries.called(name)
        if name.isEmpty, page == 1, fits.count > 1 {
            var report = ListReport(items: [], total: 0, page: 1, problems: all.problems)
            for library in fits {
                let one = try await list(library, sort: sort, limit: limit, page: 1)
                report.items += one.items
                report.total = (report.total ?? 0) + (one.total ?? 0)
            }
            report.items = Array(report.items.prefix(limit))
            return report
        }
        var report = try await list(try fits.only, sort: sort, limit: limit, page: page)
        report.problems = all.problems
        return report
    }

    private func list(
        _ library: LibrariesReport.Row, sort: String, limit: Int, page: Int
    ) async throws(ControlError) -> ListReport {
        let account = try account(named: library.account)
        let isPodcasts = library.mediaType == "podcast"
        guard let request = PageRequest(sort: sort, limit: limit, page: page, isPodcasts: isPodcasts) else {
            let words = PageRequest.sorts(isPodcasts).joined(separator: ", ")
            throw ControlError(
                .usage, "this library cannot be sorted by '\(sort)'; it can by \(words), or - before one")
        }
        do throws(ShelfError) {
            let answer = try await client(account).items(library: library.id, request)
            return ListReport(
                items: answer.rows.map { row($0, account) }, total: answer.total, page: page, problems: [])
        } catch {
            throw ControlError(error)
        }
    }

    // MARK: All accounts at once

    private func gather(
        limit: Int, _ body: @escaping @Sendable (ShelfClient) async throws(ShelfError) -> [ShelfRow],
        order: ((ShelfRow, ShelfRow) -> Bool)? = nil
    ) async throws(ControlError) -> ListReport {
        guard hasAccounts else { throw ControlError(.notSignedIn, Sentences.noAccount) }
        let (values, problems) = try split(await each(body))
        var rows = values.flatMap { account, rows in rows.map { (account, $0) } }
        if let order { rows.sort { order($0.1, $1.1) } }
        return ListReport(items: rows.prefix(max(1, limit)).map { row($0.1, $0.0) }, problems: problems)
    }

    private func each<Answer: Sendable>(
        _ body: @escaping @Sendable (ShelfClient) async throws(ShelfError) -> Answer
    ) async -> [(Account, Result<Answer, ShelfError>)] {
        let asked = accounts.map { account in
            (account, Result { () throws(ShelfError) in try client(account) })
        }
        return await withTaskGroup(of: (Int, Result<Answer, ShelfError>).self) { group in
            for (index, (_, client)) in asked.enumerated() {
                group.addTask {
                    do throws(ShelfError) { return (index, .success(try await body(try client.get()))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            var answers: [(Int, Result<Answer, ShelfError>)] = []
            for await answer in group { answers.append(answer) }
            return answers.sorted { $0.0 < $1.0 }.map { (asked[$0.0].0, $0.1) }
        }
    }

    /// - Throws: the first failure, if no account answered.
    private func split<Answer>(
        _ answers: [(Account, Result<Answer, ShelfError>)]
    ) throws(ControlError) -> ([(Account, Answer)], [String]) {
        var values: [(Account, Answer)] = []
        var failures: [ShelfError] = []
        for (account, answer) in answers {
            switch answer {
            case .success(let value): values.append((account, value))
            case .failure(let error): failures.append(error)
            }
        }
        if values.isEmpty, let first = failures.first { throw ControlError(first) }
        return (values, failures.map(\.description))
    }

    func row(_ shelf: ShelfRow, _ account: Account) -> ItemRow {
        let head = ItemHead(
            id: shelf.id.description, title: shelf.title, authors: shelf.authors, narrators: shelf.narrators,
            series: shelf.series.map { SeriesRow(name: $0.name, sequence: $0.sequence) }, kind: shelf.kind.rawValue,
            podcast: shelf.podcast)
        var row = ItemRow(item: head)
        row.duration = shelf.kind == .podcast ? nil : shelf.duration.seconds
        if let progress = shelf.progress {
            let whole = progress.duration > .zero ? progress.duration : shelf.duration
            row.begin(at: progress.position, of: whole, isFinished: progress.isFinished)
        }
        row.date = shelf.published ?? shelf.added
        row.episodes = shelf.episodeCount
        row.library = shelf.library
        row.account = account.name
        return row
    }
}

extension PageRequest {
    private static let books = [
        "title": "media.metadata.title", "author": "media.metadata.authorName", "added": "addedAt",
        "duration": "media.duration", "published": "media.metadata.publishedYear", "progress": "progress",
    ]
    private static let podcasts = [
        "title": "media.metadata.title", "author": "media.metadata.author", "added": "addedAt",
    ]

    static func sorts(_ isPodcasts: Bool) -> [String] { (isPodcasts ? podcasts : books).keys.sorted() }

    /// - Parameter sort: one of our words, `-` before it for the other direction; empty: by title.
    init?(sort: String, limit: Int, page: Int, isPodcasts: Bool) {
        let word = sort.hasPrefix("-") ? String(sort.dropFirst()) : sort
        guard let key = (isPodcasts ? Self.podcasts : Self.books)[word.isEmpty ? "title" : word] else { return nil }
        self.init(
            page: page.clamped(to: 1...1_000_000) - 1, limit: limit.clamped(to: 1...1000), sort: key,
            isDescending: sort.hasPrefix("-"))
    }
}

extension [LibrariesReport.Row] {
    /// Those that a name or an id means, `ACCOUNT/` before it or not; all of them where nothing is named.
    /// - Throws: that there is none, and which there are.
    func called(_ name: String) throws(ControlError) -> Self {
        let wanted = name.lowercased()
        let fits = filter { library in
            [library.id, library.name, library.address, "\(library.account)/\(library.name)", ""].contains {
                $0.lowercased() == wanted
            }
        }
        guard fits.isEmpty else { return name.isEmpty ? self : fits }
        let names = map { "'\($0.name)'" }.joined(separator: ", ")
        throw ControlError(.notFound, "no library '\(name)'; there are \(names.isEmpty ? "none" : names)")
    }

    /// - Throws: that there are several, and how to name one.
    var only: Element {
        get throws(ControlError) {
            if count == 1 { return self[0] }
            // Two users of one server have the same ones.
            let areIDsEnough = Set(map(\.id)).count == count
            let names = map { "'\($0.name)' (\(areIDsEnough ? $0.id : $0.address))" }.joined(separator: ", ")
            throw ControlError(.usage, "several libraries fit; name one: \(names)")
        }
    }
}
