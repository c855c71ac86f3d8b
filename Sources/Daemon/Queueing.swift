internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Store

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

/// Where the queue is on its way to.
struct Heading {
    struct Step {
        let entry: Queue.Entry
        let way: Queue.Way
    }
    /// From the present item; the last is what is to be heard.
    let steps: [Step]
    let plays: Bool
    /// It is the present one already, and not heard yet.
    var isPresent = false

    var entry: Queue.Entry { steps[steps.count - 1].entry }
}

/// What plays before and behind an item.
extension Service {
    /// Changes the queue, keeps it, and tells everyone whom it concerns.
    func line(_ change: (inout Queue) -> Void) {
        if changed(change) { send(.lineup(queue.lineup)) }
    }

    private func changed(_ change: (inout Queue) -> Void) -> Bool {
        var new = queue
        change(&new)
        guard new != queue else { return false }
        queue = new
        lists.isStale = true
        store.post(.queue(queue))
        return true
    }

    /// Goes to the neighbour of the present item. One that cannot be opened stays where it is and is told; nothing else
    /// plays in its place.
    func follow(_ direction: Player.Direction) {
        switch direction {
        case .onward: if let next = queue.next { go(to: next, .onward) }
        case .back: if let previous = queue.previous { go(to: previous, .back) }
        }
    }

    /// Nobody waits for the answer: what goes wrong is told in the status.
    func go(to entry: Queue.Entry, _ way: Queue.Way, plays: Bool = false) {
        go([Heading.Step(entry: entry, way: way)], plays: plays)
    }

    private func go(_ steps: [Heading.Step], plays: Bool) {
        queueTrouble = nil
        goings += 1
        let number = goings
        let heading = Heading(steps: steps, plays: plays)
        self.heading = heading
        let (entry, way) = (heading.entry, steps[steps.count - 1].way)
        var wish = Wish(way, entry.key, plays: plays)
        wish.passing = steps.dropLast()
        going = Task { @LoopActor [wish] in
            defer { self.arrived(number) }
            if self.player.phase == .stopped, !plays { return await self.stand(at: entry, wish, number) }
            guard number == self.goings else { return }
            let ticket = self.opening + 1
            do throws(ControlError) { try await self.open(entry.item.id, at: nil, as: wish) } catch {
                // Something else was asked for meanwhile: not the queue's affair any more.
                guard ticket == self.opening else { return }
                let role = way == .onward ? "is next in the queue but " : ""
                self.queueTrouble = "'\(entry.item.title)' \(role)cannot be played: \(error.message)"
                self.log.notice("the queue does not go on", metadata: ["why": "\(error.message)"])
                self.emitStatus()
            }
        }
    }

    private func arrived(_ number: Int) {
        guard number == goings else { return }
        (heading, going) = (nil, nil)
    }

    /// Whoever asked for another item and then for the next, for the one before or to play means that from there; a move
    /// within what can still be heard is not meant, unless the other keeps the listener waiting.
    /// - Returns: whether the Player need not know.
    func heedWhileGoing(_ event: Player.Event) -> Bool {
        guard let heading, !heading.isPresent || player.isUnderWay else { return false }
        let steps = heading.isPresent ? [] : heading.steps
        switch event {
        case .next:
            // Of what has chapters only the first is left out, and that is not there yet.
            guard player.options.next != .skip, player.options.next == .queue || !heading.entry.item.mayHaveParts else {
                return true
            }
            guard let next = line(along: steps).next else { return true }
            go(steps + [Heading.Step(entry: next, way: .onward)], plays: heading.plays)
        case .previous:
            guard player.options.previous != .skip, let last = line(along: steps).previous else { return true }
            guard last.key == queue.present?.key else {
                go(steps + [Heading.Step(entry: last, way: .back)], plays: heading.plays)
                return true
            }
            if player.isUnderWay {
                go(to: last, .back)
            } else {
                // What is there stays, and goes on as it did.
                abandonHeading()
                stopFinding()
            }
        case .play where isStanding(heading), .toggle where isStanding(heading): go(heading.steps, plays: true)
        case .stop where !isStanding(heading):
            abandonHeading()
            return false
        case .seekPart, .setPartPosition, .goTo: return finding?.title == nil
        default: return false
        }
        return true
    }

    /// A stopped player goes there and does not play.
    private func isStanding(_ heading: Heading) -> Bool { player.phase == .stopped && !heading.plays }

    private func line(along steps: [Heading.Step]) -> Queue {
        var line = queue
        for step in steps { line.begin(step.entry.item, step.entry.key, step.way) }
        return line
    }

    /// Something else is wanted now.
    func abandonHeading() {
        goings += 1
        (heading, going) = (nil, nil)
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
            }
        }
    }

    /// A stopped player goes to another item and stays stopped: play opens it.
    private func stand(at entry: Queue.Entry, _ wish: Wish, _ number: Int) async {
        let place = (try? await store.place(of: entry.item.id)) ?? nil
        let rate = await rate(of: entry.item)
        guard player.phase == .stopped, number == goings else { return }
        told = place
        let copy = present(entry.item, as: wish)
        rateKey = rate.key
        send(
            .restore(
                entry.item, at: place?.position ?? .zero, rate: rate.rate, finished: place?.isFinished ?? false,
                copy: copy))
    }

    /// What begins to play is no longer waiting. Told together with the item itself.
    /// - Returns: which of its entries it is.
    func present(_ item: Item, as wish: Wish) -> Int {
        queueTrouble = nil
        if heading?.entry.key == wish.key { heading?.isPresent = true }
        let isNews = changed { queue in
            for step in wish.passing { queue.begin(step.entry.item, step.entry.key, step.way) }
            queue.begin(item, wish.key, wish.way, playlist: wish.playlist)
        }
        if isNews { adopt(queue.lineup) }
        return queue.present?.copy ?? 0
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
        do throws(StoreError) { try await store.write(.queue(queue)) } catch {
            throw ControlError(.failed, "the queue lasts only until dogear ends: \(error)")
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
        if WebAddress(what) != nil { return try await described(ItemID(source: "address", key: what)) }
        return try await described(try playable(try await one(what), what))
    }

    /// An item that can be played, with what is told about it. Nothing that plays is disturbed.
    func described(_ id: ItemID) async throws(ControlError) -> Item {
        do throws(SourceError) {
            let source = source(of: id)
            let found = try await source.find(id)
            if id.source == "abs" { return try await shelves.described(found) }
            let item = try await source.open(found).item
            // Where it is has to be known when its turn comes.
            store.post(.item(item))
            return item
        } catch {
            throw ControlError(error)
        }
    }
}

extension Item {
    /// As far as is known of one that waits.
    fileprivate var mayHaveParts: Bool {
        chapters.count > 1 || tracks.count > 1 || kind == .book && tracks.isEmpty
    }
}

extension Shelves {
    /// What is told about an item that waits; how it is played is asked again when its turn comes.
    fileprivate func described(_ found: Found) async throws(SourceError) -> Item {
        do throws(ShelfError) {
            let (client, shelf) = try client(of: found.id)
            let row = try await client.details(shelf).row
            if let progress = row.progress, (try? await store.place(of: found.id)) == .some(nil) {
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
