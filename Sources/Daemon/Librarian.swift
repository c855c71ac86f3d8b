internal import Audiobookshelf
internal import Catalogue
internal import Control
internal import EventLoop
internal import HTTP
internal import Listening
internal import Logging

/// Keeps the index of all accounts' libraries true: reads them after a login, at start, when something is asked of it and
/// when a server says what changed. On the Loop; what takes time happens elsewhere.
@LoopActor final class Librarian {
    let catalogue: Catalogue
    private let shelves: Shelves
    private let time: any Timekeeper
    private let log = Logger(label: "Catalogue")
    private var readings: [String: Task<Void, Never>] = [:]
    /// When the last reading began, whatever became of it: milliseconds since 1970.
    private var begun: [String: Int64] = [:]
    /// Asked for while a reading was under way.
    private var wishes: [String: Wish] = [:]
    private var backOffs: [String: BackOff] = [:]
    private var retries: [String: LoopTimer] = [:]
    private var isToldSoon = false
    private var listener: (@LoopActor () -> Void)?
    /// Why an account could not be read.
    private(set) var problems: [String: ControlError] = [:]
    private(set) var states: [LibraryState] = []
    /// The lists for those who cannot wait: as they were when something last changed.
    private(set) var snapshot = CatalogueSnapshot()

    private enum Wish: Hashable {
        /// What changed, as far as that can be told without reading everything.
        case news
        case everything
        case items(Set<ItemID>)

        func joined(_ other: Wish) -> Wish {
            switch (self, other) {
            case (.everything, _), (_, .everything): .everything
            case (.items(let items), .items(let more)): .items(items.union(more))
            case (.news, _), (_, .news): .news
            }
        }
    }

    init(catalogue: Catalogue, shelves: Shelves, time: any Timekeeper = RealTime()) {
        self.catalogue = catalogue
        self.shelves = shelves
        self.time = time
    }

    /// - Parameter body: called when something was read; seldom, and never while nothing changes.
    func listen(_ body: @escaping @LoopActor () -> Void) { listener = body }

    // MARK: When to read

    /// Who asks first, and may have started us for it, is to be answered with what is known.
    func wake() async { states = (try? await catalogue.states()) ?? [] }

    /// At start: what is known is there at once, what is new follows.
    func begin() async {
        do throws(CatalogueError) {
            let known = Set(shelves.accounts.map(\.id))
            for account in try await catalogue.accounts() where !known.contains(account) {
                try await catalogue.remove(account: account)
            }
        } catch {
            log.error("the index cannot be used", metadata: ["why": "\(error)"])
        }
        await look()
        refresh()
    }

    /// - Parameter full: everything is read again.
    func refresh(full: Bool = false) {
        for account in shelves.accounts { read(account.id, full ? .everything : .news) }
    }

    /// Where what is known may be old. Who asks is told when that is over, and may ask again: a server that is away is not
    /// tried the more often for it.
    func refresh(olderThan age: BookTime) {
        for account in shelves.accounts { refresh(account.id, olderThan: age) }
    }

    private func refresh(_ account: String, olderThan age: BookTime) {
        guard readings[account] == nil else { return }
        // A clock that was put back makes nothing young.
        if let begun = begun[account], abs(time.now.wall - begun) <= age.microseconds / 1000 { return }
        read(account, .news)
    }

    /// After a logout.
    func forget(_ account: String) async {
        let reading = readings[account]
        end(account)
        // What it has in hand would be written after what is removed here.
        await reading?.value
        do throws(CatalogueError) { try await catalogue.remove(account: account) } catch {
            log.error("the index keeps what it should not", metadata: ["why": "\(error)"])
        }
        await look()
    }

    /// What could not be read may be there again.
    func networkIsBack() {
        for account in shelves.accounts where problems[account.id] != nil {
            backOffs[account.id] = nil
            read(account.id, .news)
        }
    }

    func heard(_ report: LiveReport, of account: String?) {
        guard let account else { return }
        switch report {
        case .progress(_, let place): note([place])
        case .places(let places): note(places)
        case .items(let items): if !items.isEmpty { read(account, items.count > 50 ? .everything : .items(Set(items))) }
        case .libraries: read(account, .news)
        // What happened before is not told. Connections that come and go are no reason to ask each time.
        case .connected where problems[account] != nil: read(account, .news)
        case .connected: refresh(account, olderThan: .seconds(60))
        case .disconnected, .refused, .bookmarks: break
        }
    }

    /// Places that were reached here or told by a server.
    func note(_ places: [Place]) {
        Task { @LoopActor in
            try? await catalogue.note(known(places))
            tellSoon()
        }
    }

    /// What was heard here may be newer than what a server said.
    func noteOwn() async {
        let own = (try? await shelves.store.recentPlaces(limit: 50)) ?? []
        try? await catalogue.note(known(own))
    }

    /// Places of the accounts there are: the journal keeps those of others too.
    private func known(_ places: [Place]) -> [Place] {
        let accounts = Set(shelves.accounts.map(\.id))
        return places.filter { place in place.item.account.map { accounts.contains($0) } ?? false }
    }

    /// Returns when everything was compared with the servers, or after `limit`.
    func freshen(within limit: BookTime) async {
        refresh()
        let accounts = readings.keys
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await nap(limit, self.time) }
            group.addTask { for account in accounts { await self.reading(account) } }
            await group.next()
            group.cancelAll()
        }
    }

    private func reading(_ account: String) async {
        guard let reading = readings[account] else { return }
        let (end, ending) = AsyncStream.makeStream(of: Void.self)
        let watch = Task { @LoopActor in
            await reading.value
            ending.finish()
        }
        for await _ in end {}  // ends too when whoever waits does not wait any longer
        watch.cancel()
    }

    // MARK: Reading

    private func read(_ id: String, _ wish: Wish) {
        guard let account = shelves.accounts.first(where: { $0.id == id }), !account.isSignedOut,
            let client = try? shelves.client(account)
        else { return }
        retries.removeValue(forKey: id)?.cancel()
        guard readings[id] == nil else {
            wishes[id] = wishes[id].map { $0.joined(wish) } ?? wish
            return
        }
        let reading = Reading(
            client: client, catalogue: catalogue, account: id, isFull: wish == .everything, time: time,
            told: { LoopActor.onLoop { self.tellSoon() } })
        begun[id] = time.now.wall
        readings[id] = Task { @LoopActor in
            var failure: (any Error)?
            do {
                if case .items(let items) = wish {
                    try await reading.read(items: Array(items))
                } else {
                    try await reading.run()
                }
            } catch { failure = error }
            await self.noteOwn()
            self.ended(id, failure)
        }
    }

    private func ended(_ id: String, _ failure: (any Error)?) {
        guard readings.removeValue(forKey: id) != nil else { return }
        tellSoon()
        guard let failure else {
            problems[id] = nil
            backOffs[id] = nil
            if let wish = wishes.removeValue(forKey: id) { read(id, wish) }
            return
        }
        problems[id] = (failure as? ShelfError).map { ControlError($0) } ?? ControlError(.failed, "\(failure)")
        wishes[id] = nil
        log.info("a library could not be read", metadata: ["why": "\(failure)"])
        // What is known is used meanwhile, and compared when it is: only what was never read is tried by the clock.
        guard !isFilled(id), (failure as? ShelfError)?.isTemporary ?? false else { return }
        let wait = backOffs[id, default: BackOff()].fail(spread: Double.random(in: 0..<1))
        retries[id] = time.timer(after: .seconds(wait)) { self.read(id, .news) }
    }

    private func end(_ id: String) {
        readings.removeValue(forKey: id)?.cancel()
        retries.removeValue(forKey: id)?.cancel()
        (begun[id], wishes[id], backOffs[id], problems[id]) = (nil, nil, nil, nil)
    }

    // MARK: What is known

    var isBusy: Bool { !readings.isEmpty }

    /// All libraries of the account were read once.
    private func isFilled(_ account: String) -> Bool {
        let own = states.filter { $0.library.account == account }
        return !own.isEmpty && own.allSatisfy(\.isFilled)
    }

    /// What is asked can be answered from here, for all accounts.
    var isReady: Bool { shelves.hasAccounts && shelves.accounts.allSatisfy { isFilled($0.id) } }

    /// A picture that was fetched is shown wherever the item is.
    func keep(cover path: String, of item: ItemID) async {
        do throws(CatalogueError) {
            guard let row = try await catalogue.row(item), row.cover != path else { return }
            try await catalogue.setCover(path, of: item)
            tellSoon()
        } catch {
            log.debug("a cover could not be kept", metadata: ["why": "\(error)"])
        }
    }

    private func tellSoon() {
        guard !isToldSoon else { return }
        isToldSoon = true
        _ = time.timer(after: .seconds(0.1)) {
            Task { @LoopActor in
                self.isToldSoon = false
                await self.look()
            }
        }
    }

    private func look() async {
        do throws(CatalogueError) {
            states = try await catalogue.states()
            if !isBusy { snapshot = try await catalogue.snapshot() }
        } catch {
            log.error("the index cannot be used", metadata: ["why": "\(error)"])
            states = []
        }
        listener?()
    }
}

/// Returns after a time, or when its task is cancelled.
func nap(_ limit: BookTime, _ time: any Timekeeper) async {
    let (end, ending) = AsyncStream.makeStream(of: Void.self)
    let timer = await time.timer(after: limit) { ending.finish() }
    for await _ in end {}  // ends too when the task is cancelled
    await timer.cancel()
}
