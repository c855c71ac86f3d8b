internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Store
internal import Terminal

/// The commands that take their time: they ask servers, files and the journal.
extension Service {
    /// - Returns: the JSON of the report.
    func answer(_ command: Command) async throws(ControlError) -> String {
        switch command {
        case .status: return json(statusReport())
        case .play(let what, let at): return try await play(what, at)
        case .choose(let what, let at): return try await choose(what, at)
        case .tell(let why):
            notices?.cannotPlay(String(why.prefix(1000)))
            return json(statusReport())
        case .seek(let text): return try await seek(text)
        case .sleep(let text): return json(try sleep(text))
        case .forgetSpeed: return json(try await forgetSpeed())
        case .chapters(let what): return json(try await chapters(what))
        case .resolve(let what): return json(ListReport(items: try await candidates(what)))
        case .continueListening(let limit): return json(try await continueListening(limit: limit))
        case .latest(let limit, let page): return json(try await latest(limit: limit, page: page))
        case .libraries: return json(try await libraries())
        case .refresh: return json(try refreshLibraries())
        case .browse(let request): return json(try await browse(request))
        case .list(let library, let sort, let limit, let page):
            return json(
                try await signedIn().list(library: library, sort: sort, limit: limit, page: page))
        case .search(let words, let limit): return json(try await search(words, limit: limit))
        case .show(let what): return json(try await show(what))
        case .finish(let what): return json(try await change(.finish, what))
        case .unfinish(let what): return json(try await change(.unfinish, what))
        case .restart(let what): return json(try await change(.restart, what))
        case .undo(let what): return json(try await undo(what))
        case .moves: return json(await movesReport())
        case .bookmark(let title): return json(try await makeBookmark(title))
        case .bookmarks(let what): return json(try await bookmarksReport(what))
        case .allBookmarks: return json(try await allBookmarks())
        case .renameBookmark(let what, let number, let title):
            return json(try await renameBookmark(what, number, title))
        case .removeBookmark(let what, let number): return json(try await removeBookmark(what, number))
        case .history(let what, let limit): return json(try await history(what, limit: limit))
        case .stats(let days): return json(try await stats(days: days))
        case .sync(let retry): return json(await deliverNow(retry: retry))
        case .unsent: return json(await deliveryReport(sync.rows))
        case .forget(let id): return json(try await forget(id))
        case .queue: return json(await queueReport())
        case .queueAdd(let what, let next): return json(try await addToQueue(what, next: next))
        case .queueAddAll(let whats, let next): return json(try await addToQueue(whats, next: next))
        case .queueRemove(let number): return json(try await removeFromQueue(number))
        case .queueMove(let number, let other): return json(try await moveInQueue(number, to: other))
        case .queueClear: return json(try await clearQueue())
        case .queueShuffle(let isOn): return json(try await shuffleQueue(isOn))
        case .queueLoop(let loop): return json(try await setLoop(loop))
        case .settings(let key, nil): return json(try settings.report(key))
        case .settings(let key, let value?): return json(try await changeSetting(key, value))
        case .resetSetting(let key): return json(try await changeSetting(key, nil))
        case .doctor: return json(await examine())
        case .accounts: return json(shelves.accountsReport(overdue: sync.overdueSessions))
        case .login(let request): return json(try await logIn(request))
        case .logout(let account, let force): return json(try await logOut(account, force: force))
        case .logs(let level, let limit):
            let level = level.isEmpty ? Log.shared.level : Logger.Level(rawValue: level) ?? .info
            return json(LogsReport(records: Log.shared.records(from: level, limit: limit)))
        case .pause, .toggle, .stop, .next, .previous, .speed, .changeSpeed, .volume, .changeVolume:
            return json(statusReport())
        }
    }

    // MARK: Playing

    private func play(_ what: String, _ at: String) async throws(ControlError) -> String {
        let jump = try parsed(at)
        wishes += 1
        if what.isEmpty {
            try await goOn(jump)
        } else if let path = localPath(what) {
            try await open(path: path, at: jump)
        } else if let address = webAddress(what), id(of: address) != player.item?.id || !player.hasConfirmedPlace {
            try await open(url: what, at: jump)
        } else {
            let wish = wishes
            let (id, title) = try await named(what)
            // A server may have been asked what it means.
            guard wish == wishes else { throw ControlError(Self.overtaken) }
            if id == player.item?.id, player.hasConfirmedPlace {
                stay()
                try await goOn(jump)
            } else {
                try await open(id, at: jump, title: title)
            }
        }
        return json(statusReport())
    }

    /// Plays what was chosen where nobody reads the answer. That it was stopped, or that something else or the end was asked
    /// for meanwhile, is no failure: there would be nothing to tell.
    func choose(_ what: String, _ at: String) async throws(ControlError) -> String {
        do throws(ControlError) { return try await play(what, at) } catch {
            let isMeant = [Self.nothingPlays, ControlError(Self.overtaken), ControlError(Self.quit)].contains(error)
            guard isMeant else { throw error }
            return json(statusReport())
        }
    }

    /// Plays what is loaded, or what was listened to last: here, else on another device.
    private func goOn(_ jump: Jump?) async throws(ControlError) {
        guard player.item != nil else {
            guard let last = try await lastElsewhere(), let id = ItemID(last.item.id) else {
                let choice =
                    shelves.hasAccounts
                    ? "choose something with 'dogear latest' and 'dogear play WHAT'"
                    : "sign in with 'dogear login ADDRESS' in a terminal, or play a file with 'dogear play FILE'"
                throw ControlError(.notFound, "nothing to go on with; \(choice)")
            }
            return try await open(id, at: jump)
        }
        if let jump, let item = player.item { try await move(jump, in: item, .begin) }
        send(.play)
        // The queue is on its way to what is meant.
        if player.phase == .stopped { await arrival() }
        try await plays()
    }

    /// What was listened to last on any device: better asked for than remembered.
    private func lastElsewhere() async throws(ControlError) -> ItemRow? {
        guard shelves.hasAccounts else { return try await continueListening(limit: 1).items.first }
        do throws(ControlError) {
            if let last = try await signedIn().continueListening(limit: 1).items.first { return last }
        } catch {
            if error.kind != .unreachable { throw error }
            if let last = try await continueListening(limit: 1).items.first { return last }
            throw error
        }
        return try await continueListening(limit: 1).items.first
    }

    func open(path: String, at jump: Jump?, whole: Bool = false) async throws(ControlError) {
        try await open(ItemID(source: "path", key: path), at: jump, whole: whole)
    }

    /// Plays what is at an http or https address; its place is kept here, under ``id(of:)``.
    func open(url: String, at jump: Jump?, whole: Bool = false) async throws(ControlError) {
        try await open(ItemID(source: "address", key: url), at: jump, whole: whole)
    }

    func id(of address: WebAddress) -> ItemID { address.id(salt: store.deviceID) }

    /// Of something to be played from there: an item's page on a server that is signed in to means the item.
    func webAddress(_ what: String) -> WebAddress? { shelves.item(ofPage: what) == nil ? WebAddress(what) : nil }

    private func seek(_ text: String) async throws(ControlError) -> String {
        guard let jump = try parsed(text) else {
            throw ControlError(.usage, "seek needs a place: +30, 12:05, 50%, chapter:7, bookmark:2")
        }
        let item = try loadedItem()
        try await move(jump, in: item, .seek)
        return json(statusReport())
    }

    private func move(_ jump: Jump, in item: Item, _ cause: Player.JumpCause) async throws(ControlError) {
        let goal: BookTime
        do throws(SourceError) {
            let jump = try await settled(jump, onPresent: item.id)
            goal = try item.goal(of: jump, from: position)
        } catch {
            throw ControlError(error)
        }
        try mayMove()
        send(.seek(to: goal, cause))
    }

    /// - Throws: while one item gives way to another, when the player moves in neither.
    func mayMove() throws(ControlError) {
        guard player.turning == nil else {
            throw ControlError(.failed, "what plays next is still being opened; try again when it is heard")
        }
    }

    private func parsed(_ text: String) throws(ControlError) -> Jump? {
        if text.isEmpty { return nil }
        guard let jump = Jump(text) else {
            throw ControlError(
                .usage, "'\(text)' is no place; write +30, -1:00, 12:05, 1h30m, 50%, chapter:7 or bookmark:2")
        }
        return jump
    }

    // MARK: Finding

    /// A path or a file: address names something on this computer.
    func localPath(_ what: String) -> String? {
        if what.hasPrefix("/") { return what }
        return Arguments.path(ofFile: what)
    }

    /// - Returns: nil where no file or folder is named.
    func local(_ what: String) async throws(ControlError) -> Found? {
        guard let path = localPath(what) else { return nil }
        do throws(SourceError) { return try await files.find(ItemID(source: "path", key: path)) } catch {
            throw ControlError(error)
        }
    }

    /// All of a file or folder that is named, played or not.
    func localItem(_ what: String) async throws(ControlError) -> Item? {
        guard let found = try await local(what) else { return nil }
        do throws(SourceError) { return try FilesSource.item(of: found) } catch { throw ControlError(error) }
    }

    func single(_ what: String) async throws(ControlError) -> ItemID { try await named(what).id }

    private func named(_ what: String) async throws(ControlError) -> (id: ItemID, title: String) {
        let row = try await one(what)
        return (try id(of: row, what), row.item.title)
    }

    func id(of row: ItemRow, _ what: String) throws(ControlError) -> ItemID {
        guard let id = ItemID(row.item.id) else {
            throw ControlError(.notFound, "nothing found for '\(Clean.short(what))'")
        }
        return id
    }

    /// The one item that is meant.
    func one(_ what: String) async throws(ControlError) -> ItemRow {
        let found = try await candidates(what)
        guard let row = found.first else {
            throw ControlError(
                .notFound, "nothing found for '\(Clean.short(what))'; try 'dogear search' with other words")
        }
        guard found.count == 1 else {
            let manyAccounts = Set(found.map(\.account)).count > 1
            let list = found.prefix(8).map { row in
                let account = manyAccounts ? row.account.map { " of \($0)" } ?? "" : ""
                return "\(row.item.title)\(account) (\(row.item.id))"
            }.joined(separator: ", ")
            throw ControlError(.notFound, "'\(Clean.short(what))' could be several: \(list); name one by its id")
        }
        return row
    }

    private func chapters(_ what: String) async throws(ControlError) -> ChaptersReport {
        if what.isEmpty, let item = player.item {
            return ChaptersReport(item, at: position)
        }
        if let item = try await localItem(what) { return await chapters(of: item) }
        let id = try await single(what)
        if let item = try await known(id) { return await chapters(of: item) }
        let details = try await signedIn().details(id)
        return ChaptersReport(item: details.row.item, chapters: details.chapters, current: nil)
    }

    private func chapters(of item: Item) async -> ChaptersReport {
        let place = try? await store.place(of: item.id)
        return ChaptersReport(item, at: place.flatMap { $0 }?.position)
    }

    /// The present item, or what the journal remembers of one.
    func known(_ id: ItemID) async throws(ControlError) -> Item? {
        if let item = player.item, item.id == id { return item }
        return (try? await store.item(id)) ?? nil
    }

    func signedIn() throws(ControlError) -> Shelves {
        guard shelves.hasAccounts else { throw ControlError(.notSignedIn, Sentences.noAccount) }
        return shelves
    }

    // MARK: Accounts

    private func logIn(_ request: LoginRequest) async throws(ControlError) -> AccountsReport {
        let row = try await shelves.logIn(request)
        live.signedIn(row.id, player.item?.id)
        librarian?.refresh()
        notices?.signedIn(row.id)
        if isAffair(of: row.id) { send(.accountChanged) }
        sync { $0.signedIn(account: row.id, time.now) }
        return AccountsReport(accounts: [row])
    }

    /// - Returns: the accounts that remain.
    private func logOut(_ name: String, force: Bool) async throws(ControlError) -> AccountsReport {
        let account = try shelves.account(named: name)
        func isItsOwn() -> Bool { player.item?.id.account == account.id }
        // What plays owes the server up to half a minute: it gets that before anyone asks what is missing, and pauses so
        // that nothing is added meanwhile. Whoever is refused goes on listening.
        let played = isItsOwn() && player.wantsPlay
        if isItsOwn() {
            send(.pause(.system))
            sync { $0.hurry(at: time.now) }
            await drain(limit: .seconds(2), of: account.id)
        }
        do throws(ControlError) {
            if !force { try refuse(account) }
            try await shelves.logOut(account) { @LoopActor in
                guard isItsOwn() else { return }
                self.send(.stop)
                await self.drain(limit: .seconds(2), of: account.id)
            }
        } catch {
            if played, isItsOwn(), player.phase != .stopped { send(.play) }
            throw error
        }
        // What was begun while the server was told of it waits for the next login, as it may not be thrown away unasked.
        if player.item?.id.account == account.id { send(.stop) }
        // So does a session that the server has not closed: it would put its own count over what it was told since.
        if force || !sync.rows.contains(where: { $0.item.account == account.id }) && !sync.isHeld(by: account.id) {
            sync { $0.forget(account: account.id) }
            notices?.lookAtUnsent()
        }
        store.post(.removeBookmarks(account: account.id))
        await librarian?.forget(account.id)
        if isAffair(of: account.id) { send(.accountChanged) }
        live.follow(player.item?.id)
        return shelves.accountsReport(overdue: sync.overdueSessions)
    }

    private func refuse(_ account: Account) throws(ControlError) {
        let rows = sync.rows.filter { $0.item.account == account.id }
        guard !rows.isEmpty else { return }
        func owed(_ row: Sync.Row) -> BookTime {
            if case .stretch(let stretch) = row { stretch.listened - stretch.sentListened } else { .zero }
        }
        let sum = rows.reduce(BookTime.zero) { $0 + owed($1) }
        let what = sum > .zero ? "\(TimeText.length(sum)) of listening have" : "your last changes have"
        throw ControlError(
            .failed,
            "\(what) not reached \(account.server) yet and would be lost; see 'dogear sync', or use --force")
    }

    func loadedItem() throws(ControlError) -> Item {
        guard let item = player.item else { throw Sentences.nothingLoaded }
        return item
    }
}

enum Sentences {
    static let noAccount = "not signed in to any server; run 'dogear login ADDRESS' first, or play a local file"

    static let nothingLoaded = ControlError(.notFound, "nothing is loaded; choose something with 'dogear play WHAT'")

    static func neverPlayed(_ id: ItemID) -> String {
        "nothing that was played here is called '\(id)'; play it by its path"
    }
}

extension Player {
    /// Loaded, and the pipeline said where: play and pause work at once.
    var hasConfirmedPlace: Bool { phase == .playing || phase == .paused }
}
