internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Store
internal import Terminal

/// Bookmarks: made here at once, told to the servers that keep them, and those of other devices taken over.
extension Service {
    // MARK: Commands

    func makeBookmark(_ title: String) async throws(ControlError) -> BookmarkReport {
        let item = try loadedItem()
        let wanted = title.isEmpty ? nil : try named(title)
        let place = Bookmark.time(at: position)
        let present = try await stored { () throws(StoreError) in try await self.store.bookmarks(of: item.id) }
            .first { $0.time == place && $0.isThere }
        if let present, wanted == nil || wanted == present.title {
            return try await report(.unchanged, present)
        }
        let now = time.now.wall
        let bookmark = Bookmark(
            item: item.id, time: place, title: wanted ?? Clean.line(Bookmark.title(of: item, at: place)),
            created: present?.created ?? now, number: present?.number, made: now)
        return try await keep(bookmark, as: present == nil ? .made : .renamed)
    }

    /// - Parameter what: empty: what is loaded.
    func bookmarksReport(_ what: String) async throws(ControlError) -> BookmarksReport {
        let (head, id) = try await meant(what)
        let problem = await refreshed(id)
        let rows = try await rows(of: id, head)
        return BookmarksReport(item: head, bookmarks: rows, problems: [problem].compactMap(\.self))
    }

    func allBookmarks() async throws(ControlError) -> BookmarksReport {
        var problems: [String] = []
        for account in shelves.accounts {
            if let problem = await refreshed(account) { problems.append(problem) }
        }
        let all = try await stored { () throws(StoreError) in try await self.store.bookmarks() }
        var items: [ItemID] = []
        for bookmark in all where bookmark.isThere && items.last != bookmark.item { items.append(bookmark.item) }
        var report = BookmarksReport(item: nil, bookmarks: [], problems: problems)
        for id in items { report.bookmarks += try await rows(of: id, await knownHead(of: id)) }
        return report
    }

    func renameBookmark(_ what: String, _ number: Int, _ title: String) async throws(ControlError) -> BookmarkReport {
        let title = try named(title)
        var bookmark = try await numbered(number, await meant(what))
        if bookmark.title == title { return try await report(.unchanged, bookmark) }
        bookmark.title = title
        bookmark.made = time.now.wall
        return try await keep(bookmark, as: .renamed)
    }

    func removeBookmark(_ what: String, _ number: Int) async throws(ControlError) -> BookmarkReport {
        var bookmark = try await numbered(number, await meant(what))
        var shown = try await report(.removed, bookmark)
        guard Bookmark.isKeptByServer(bookmark.item) else {
            _ = try await stored { () throws(StoreError) in try await self.store.write(.removeBookmark(bookmark.id)) }
            return shown
        }
        (bookmark.owed, bookmark.refusal, bookmark.made) = (.removal, nil, time.now.wall)
        try await tell(bookmark)
        let row = sync.unsentBookmarks.first { $0.id == bookmark.id }
        (shown.bookmark.unsent, shown.bookmark.refused) = (row != nil, row?.refusal)
        return shown
    }

    /// Where a jump leads on an item that is known: bookmarks are looked up, all others stay as they are.
    func settled(_ jump: Jump?, on id: ItemID) async throws(SourceError) -> Jump? {
        guard case .bookmark(let number)? = jump else { return jump }
        do throws(ControlError) {
            let head = await knownHead(of: id)
            return .to(try await numbered(number, (head, id)).time)
        } catch {
            throw SourceError(error.kind == .failed ? .failed : .notFound, error.message)
        }
    }

    func settled(_ jump: Jump, onPresent id: ItemID) async throws(SourceError) -> Jump {
        guard case .bookmark = jump, let settled = try await settled(jump, on: id) else { return jump }
        guard player.item?.id == id else { throw SourceError(.failed, "something else was asked to play meanwhile") }
        return settled
    }

    // MARK: One of them

    private func named(_ title: String) throws(ControlError) -> String {
        let title = Clean.line(title)
        guard !title.isEmpty else {
            throw ControlError(
                .usage, "a bookmark's title must not be empty; leave it out to have it named by its place")
        }
        guard title.count <= Bookmark.longestTitle else {
            throw ControlError(
                .usage, "that title has \(title.count) characters; at most \(Bookmark.longestTitle) are kept")
        }
        return title
    }

    /// What is meant, also a file or an address; nothing is asked of a server for that.
    func meant(_ what: String) async throws(ControlError) -> (ItemHead, ItemID) {
        if let found = try await local(what) { return (await knownHead(of: found.id, titled: found.title), found.id) }
        let row = try await one(what)
        return (row.item, try playable(row, what))
    }

    private func numbered(
        _ number: Int, _ item: (head: ItemHead, id: ItemID)
    ) async throws(ControlError) -> Bookmark {
        let all = try await stored { () throws(StoreError) in try await self.store.bookmarks(of: item.id) }
            .filter(\.isThere)
        guard all.indices.contains(number - 1) else {
            throw ControlError(
                .notFound,
                all.isEmpty
                    ? "'\(item.head.title)' has no bookmarks; 'dogear bookmark' makes one where you are"
                    : "'\(item.head.title)' has bookmarks 1 to \(all.count), not \(number); 'dogear bookmarks' lists them"
            )
        }
        return all[number - 1]
    }

    private func keep(_ bookmark: Bookmark, as outcome: BookmarkReport.Outcome) async throws(ControlError)
        -> BookmarkReport
    {
        var bookmark = bookmark
        (bookmark.owed, bookmark.refusal) = (Bookmark.isKeptByServer(bookmark.item) ? .put : nil, nil)
        try await tell(bookmark)
        return try await report(outcome, bookmark)
    }

    /// On the disk, and on its way to the server; waits for the answer only for a moment.
    private func tell(_ bookmark: Bookmark) async throws(ControlError) {
        if let item = player.item, item.id == bookmark.item { store.post(.item(item)) }
        _ = try await stored { () throws(StoreError) in try await self.store.write(.bookmark(bookmark)) }
        guard bookmark.owed != nil else { return }
        sync { $0.bookmark(bookmark, time.now) }
        await drain(limit: patience, of: bookmark.item.account)
        emitStatus()
    }

    private func report(
        _ outcome: BookmarkReport.Outcome, _ bookmark: Bookmark
    ) async throws(ControlError) -> BookmarkReport {
        let rows = try await rows(of: bookmark.item, await knownHead(of: bookmark.item))
        guard let row = rows.first(where: { $0.time == bookmark.time.seconds }) else {
            throw ControlError(.failed, "another device has removed that bookmark just now")
        }
        // What a server has lasts there.
        let isLasting = row.kept == "server" && !row.unsent
        let problem = isLasting ? nil : trouble.map { "the bookmark is only in memory: \($0)" }
        return BookmarkReport(outcome, row, problem: problem)
    }

    private func rows(of id: ItemID, _ head: ItemHead) async throws(ControlError) -> [BookmarksReport.Row] {
        let all = try await stored { () throws(StoreError) in try await self.store.bookmarks(of: id) }.filter(\.isThere)
        let item = try await known(id)
        return all.enumerated().map { index, bookmark in
            let chapter = item.flatMap { item in
                item.chapterIndex(at: item.meant(by: bookmark.time)).map { item.chapters[$0].title }
            }
            return BookmarksReport.Row(
                number: index + 1, item: head, time: bookmark.time.seconds, title: bookmark.title, chapter: chapter,
                created: bookmark.created, kept: Bookmark.isKeptByServer(id) ? "server" : "here",
                unsent: bookmark.owed != nil, refused: bookmark.refusal)
        }
    }

    func stored<Value: Sendable>(
        _ work: () async throws(StoreError) -> Value
    ) async throws(ControlError) -> Value {
        do throws(StoreError) { return try await work() } catch { throw ControlError(.failed, "\(error)") }
    }

    /// What is known of an item without asking a server.
    func knownHead(of id: ItemID, titled title: String? = nil) async -> ItemHead {
        if let item = try? await known(id) { return ItemHead(item) }
        if let row = try? await librarian?.catalogue.row(id) { return self.row(row).item }
        var head = ItemHead(unknown: id)
        if let title { head.title = title }
        return head
    }

    // MARK: Other devices

    /// Asks the server that keeps the bookmarks of this item, for as long as a command waits.
    /// - Returns: why that could not be done.
    private func refreshed(_ id: ItemID) async -> String? {
        guard Bookmark.isKeptByServer(id), let account = shelves.accounts.first(where: { id.account == $0.id }) else {
            return nil
        }
        return await refreshed(account)
    }

    private func refreshed(_ account: Account) async -> String? {
        let answer = await inTime { await self.refreshBookmarks(account.id) }
        return answer ?? "\(account.server) did not answer in time; these are the bookmarks known here"
    }

    /// Takes over what a server has.
    /// - Returns: a sentence if it could not be asked.
    @discardableResult
    func refreshBookmarks(_ account: String) async -> String? {
        for _ in 1...3 {
            // What it says is as old as this: a bookmark told to it meanwhile may be missing there.
            let asked = bookmarkChanges
            do throws(ShelfError) {
                let there = try await shelves.bookmarks(of: account)
                guard shelves.accounts.contains(where: { $0.id == account }) else { return nil }
                guard asked == bookmarkChanges else { continue }
                guard let own = try? await store.bookmarks(account: account), asked == bookmarkChanges else { continue }
                let changes = Bookmark.changes(from: own, to: there)
                store.post(
                    changes.saved.map { .bookmark($0) } + changes.removed.map { .removeBookmark($0) })
                return nil
            } catch {
                log.debug("a server could not be asked for bookmarks", metadata: ["why": "\(error)"])
                return "\(error)"
            }
        }
        return nil
    }

    /// The server tells of all of them at every change, of ours too: where it has others than we, it is asked.
    func look(at there: [Bookmark], of account: String) {
        Task { @LoopActor in
            guard let own = try? await self.store.bookmarks(account: account) else { return }
            let changes = Bookmark.changes(from: own, to: there)
            if changes.saved.isEmpty, changes.removed.isEmpty { return }
            await self.refreshBookmarks(account)
        }
    }
}
