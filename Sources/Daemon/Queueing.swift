internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Store
internal import Terminal

/// Where something that is opened comes from, and what that means for the queue.
struct Wish {
    /// Asked for by a command or an address.
    static let chosen = Wish(.chosen, plays: true)

    let way: Queue.Way
    /// Of the entry; nil: none, or the first of its item.
    let key: Queue.Key?
    /// What the queue goes by before it.
    var passing: [Heading.Step] = []
    let playlist: String?
    /// What follows from that list.
    var rest: [Item] = []
    /// It is not in the queue yet.
    var addition: Addition?
    /// Whatever played before; else only if that did.
    let plays: Bool

    init(_ way: Queue.Way, _ key: Queue.Key? = nil, playlist: String? = nil, plays: Bool = false) {
        self.way = way
        self.key = key
        self.playlist = playlist
        self.plays = plays
    }

    /// It follows what plays, and the desktop sees one turn into the other.
    var turns: Bool { way != .chosen }
}

/// Where in the line something new comes.
enum Addition {
    case first
    /// At the end where that one is gone.
    case behind(Queue.Key)
    case last

    @discardableResult
    func add(_ item: Item, to queue: inout Queue) -> Queue.Entry? {
        let last = queue.line.last?.key
        switch self {
        case .first: return queue.insert(item, after: nil)
        case .behind(let key): return queue.insert(item, after: key) ?? queue.insert(item, after: last)
        case .last: return queue.insert(item, after: last)
        }
    }
}

/// What plays before and behind an item.
extension Service {
    /// Changes the queue, keeps it, and tells everyone whom it concerns.
    func line(_ change: (inout Queue) -> Void) {
        guard changed(change) else { return }
        send(.lineup(queue.lineup))
        turnAwayFromWhatIsGone()
    }

    /// The same, where another item is about to be shown: with this one it would be wrong.
    func lineQuietly(_ change: (inout Queue) -> Void) {
        if changed(change) { adopt(queue.lineup) }
    }

    private func changed(_ change: (inout Queue) -> Void) -> Bool {
        var new = queue
        change(&new)
        guard new != queue else { return false }
        queue = new
        lists.isStale = true
        if isQueueKnown { store.post(.queue(queue)) }
        return true
    }

    /// By setting, a series or podcast goes on by itself. What comes next is known by the index alone.
    func goOn(after id: ItemID) {
        guard settings.goesOn, let catalogue = librarian?.catalogue else { return }
        let ticket = opening
        Task { @LoopActor in
            let row = (try? await catalogue.next(after: id, isNew: true)) ?? nil
            // Something else was asked for meanwhile, or lined up.
            guard let row, ticket == self.opening, self.player.phase == .stopped, self.player.item?.id == id else {
                return
            }
            do throws(ControlError) {
                try await self.open(row.item.id, at: nil, as: .chosen)
            } catch {
                self.log.notice("the series does not go on", metadata: ["why": "\(error.message)"])
                guard ticket + 1 == self.opening else { return }
                let title = Clean.short(row.item.title)
                self.queueTrouble = "'\(title)' would be next but cannot be played: \(error.message)"
                self.emitStatus()
            }
        }
    }

    /// What begins to play is no longer waiting. Told together with the item itself.
    /// - Returns: which of its entries it is.
    func present(_ item: Item, as wish: Wish) -> Int {
        (queueTrouble, stuck) = (nil, nil)
        if heading?.entry.key == wish.key { heading?.isPresent = true }
        lineQuietly { queue in
            for step in wish.passing where queue.has(step.entry) {
                queue.begin(step.entry.item, step.entry.key, step.way)
            }
            let key = wish.addition.map { $0.add(item, to: &queue)?.key } ?? wish.key
            queue.begin(item, key, wish.way, playlist: wish.playlist)
            if let playlist = wish.playlist { queue.follow(wish.rest, of: playlist) }
            if let leaving { queue.remove(leaving) }
        }
        if leaving != queue.present?.key { leaving = nil }
        return queue.present?.copy ?? 0
    }

    /// The present one, where it was taken out, goes as another comes: what is on its way, or what is next.
    func letGo() {
        guard let leaving, !isOnItsWay else { return }
        self.leaving = nil
        guard leaving == queue.present?.key else { return }
        if let next = queue.next { return go(to: next, .instead) }
        send(.stop)
        // What led to it is offered instead.
        if let previous = queue.previous { go(to: previous, .instead) }
    }

    func setLoop(_ loop: Queue.Loop) { line { $0.loop = loop } }

    func setShuffle(_ isOn: Bool) {
        guard isOn != queue.isShuffled else { return }
        line { $0.shuffle(with: isOn ? .random(in: .min ... .max) : nil) }
    }

    /// - Parameter loop: `off`, `track` or `queue`.
    func setLoop(_ loop: String) async throws(ControlError) -> QueueReport {
        guard let loop = Queue.Loop(rawValue: loop) else {
            throw ControlError(.usage, "the queue goes on by off, track or queue, not '\(loop)'")
        }
        setLoop(loop)
        return try await kept()
    }

    func shuffleQueue(_ isOn: Bool) async throws(ControlError) -> QueueReport {
        setShuffle(isOn)
        return try await kept()
    }

    func addToQueue(_ what: String, next: Bool) async throws(ControlError) -> QueueReport {
        let item = try await described(what)
        line { $0.add(item, next: next) }
        return try await kept()
    }

    /// Those that were looked at already need not wait for the others, nor is each of many told and kept by itself.
    func addToQueue(_ whats: [String], next: Bool) async throws(ControlError) -> QueueReport {
        var problems: [String] = []
        var (waiting, portion): ([Item], Int) = ([], 1)
        var last: Queue.Key?
        let clearing = clearings
        for (index, what) in whats.enumerated() {
            do throws(ControlError) { waiting.append(try await described(what)) } catch {
                problems.append(error.message)
            }
            guard clearing == clearings else {
                throw ControlError(.failed, "the queue was emptied meanwhile; the rest is not added")
            }
            guard waiting.count >= portion || index == whats.count - 1 else { continue }
            line { last = $0.add(waiting, next: next, behind: last) ?? last }
            portion *= 2
            waiting = []
        }
        var report = try await kept()
        report.problems = problems
        return report
    }

    func removeFromQueue(_ number: Int) async throws(ControlError) -> QueueReport {
        guard queue.entries.indices.contains(number - 1) else { throw noNumber(number) }
        line { $0.remove(number) }
        return try await kept()
    }

    func moveInQueue(_ number: Int, to other: Int) async throws(ControlError) -> QueueReport {
        for number in [number, other] where !queue.entries.indices.contains(number - 1) { throw noNumber(number) }
        line { $0.move(number, to: other) }
        return try await kept()
    }

    func clearQueue() async throws(ControlError) -> QueueReport {
        clearings += 1
        line { $0.clear() }
        return try await kept()
    }

    func queueReport() async -> QueueReport {
        let places = (try? await store.places(of: queue.items.map(\.id))) ?? [:]
        var report = QueueReport(items: queue.items.map { ItemRow($0, place: places[$0.id]) })
        report.loop = queue.loop.rawValue
        report.shuffle = queue.isShuffled
        report.next = queue.nextIndex.map { $0 + 1 }
        return report
    }

    private func kept() async throws(ControlError) -> QueueReport {
        queueTrouble = nil
        emitStatus()
        let lasting = "the queue lasts only until dogear ends"
        guard isQueueKnown else { throw ControlError(.failed, "\(lasting): what it was before could not be read") }
        do throws(StoreError) { try await store.write(.queue(queue)) } catch {
            throw ControlError(.failed, "\(lasting): \(error)")
        }
        return await queueReport()
    }

    private func noNumber(_ number: Int) -> ControlError {
        let count = queue.items.count
        return ControlError(
            .notFound,
            count == 0
                ? "the queue is empty; 'dogear queue add WHAT' puts something into it"
                : "there is no number \(number) in the queue: it goes from 1 to \(count), and 'dogear queue' lists it")
    }

    private func described(_ what: String) async throws(ControlError) -> Item {
        if let path = localPath(what) { return try await described(ItemID(source: "path", key: path)) }
        if webAddress(what) != nil { return try await described(ItemID(source: "address", key: what)) }
        return try await described(try await single(what))
    }

    /// An item that can be played, with what is told about it. Nothing that plays is disturbed.
    func described(_ id: ItemID) async throws(ControlError) -> Item {
        if id.isOfShelf { return await pictured(try await onShelf(id)) }
        do throws(SourceError) {
            let source = source(of: id)
            let found = try await source.find(id)
            // What it reads anew, its places would have to follow; only where it lies may be news.
            let url = (try? FilesSource.item(of: found))?.url
            if let item = player.item, item.id == found.id, url == nil || url == item.url { return item }
            let item = try await source.open(found).item
            // Where it is has to be known when its turn comes.
            store.post(.item(item))
            return item
        } catch {
            throw ControlError(error)
        }
    }

    /// What the index knows will do where the server does not answer now: it is asked again when the item's turn comes.
    private func onShelf(_ id: ItemID) async throws(ControlError) -> Item {
        func known() async -> Item? {
            let items = await described([Item(id: id, kind: .book, title: "", tracks: [])])
            return items.first.flatMap { $0.title.isEmpty ? nil : $0 }
        }
        func told() async throws(ControlError) -> Item {
            do throws(SourceError) { return try await shelves.described(id) } catch { throw ControlError(error) }
        }
        return try await asked(told, orKnown: known)
    }
}

extension Shelves {
    /// What is told about an item that waits; how it is played is asked again when its turn comes.
    fileprivate func described(_ id: ItemID) async throws(SourceError) -> Item {
        let found = try await find(id)
        do throws(ShelfError) {
            let (client, shelf) = try client(of: found.id)
            let row = try await client.details(shelf).row
            if let progress = row.progress, await store.wasNeverBegun(found.id) {
                let place = Place(
                    item: found.id, position: progress.position, duration: row.duration,
                    isFinished: progress.isFinished, updated: progress.updated)
                store.post(.place(place))
            }
            return Item(
                id: found.id, kind: row.kind == .episode ? .episode : .book, title: row.title, authors: row.authors,
                narrators: row.narrators, series: row.series, podcast: row.podcast, duration: row.duration, tracks: [])
        } catch {
            throw SourceError(error)
        }
    }
}
