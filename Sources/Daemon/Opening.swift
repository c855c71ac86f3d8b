internal import Audiobookshelf
internal import Control
internal import DBus
internal import EventLoop
internal import Listening
internal import Logging
internal import Store

/// A call that is answered when what it opened plays, waits paused, or could not.
struct Waiter {
    /// Once it has waited too long.
    let timer: LoopTimer
    let answer: @LoopActor (Result<Void, ControlError>) -> Void
}

/// An item on its way, from being asked for until it is loaded.
struct Finding {
    let ticket: Int
    let timer: LoopTimer
    /// Whatever was on before.
    let plays: Bool
    /// Its title, once it takes longer than a listener expects.
    var title: String?
    /// Played or paused by hand before it was found; nil: neither.
    var byHand: Bool?
    /// Moved before it was found, which goes before the place that it was asked for with.
    var moved: ItemID?
}

/// What was there before something else was opened.
private struct Left {
    let id: ItemID
    let place: BookTime
    let plays: Bool
    let isWhole: Bool
    let queue: Queue
}

/// How something comes to be played.
extension Service {
    /// Finds and opens an item and answers when it plays. What plays now goes on until the item has been found, and goes on
    /// again if it cannot be played after all.
    ///
    /// - Parameter jump: where to begin; nil: where the listener is.
    /// - Parameter title: as far as it is known already.
    /// - Parameter whole: as one MPRIS track, as clients expect that hand in an address.
    /// - Parameter wish: where it comes from.
    func open(
        _ id: ItemID, at jump: Jump?, title: String? = nil, whole: Bool = false, as wish: Wish = .chosen
    ) async throws(ControlError) {
        if isLeaving { throw ControlError(Self.quit) }
        if var heading, heading.entry.key != wish.key {
            if !heading.isPresent {
                heading.plays = plays(heading)
                displaced = heading
            }
            abandonHeading()
            overtaken = goings
        }
        opening += 1
        let ticket = opening
        let source = source(of: id)
        let displaced = displaced
        var left: Left?
        var taken: Queue?
        var (asked, byHand): (Bool?, Bool?)
        // Whoever asks for it once more does not want it out any longer.
        let wanted = wish.way == .chosen ? leaving : nil
        defer {
            if retreat == ticket { retreat = nil }
            letGo()
        }
        do throws(SourceError) {
            beginFinding(id, title, ticket, plays: wish.plays)
            defer {
                if let finding, finding.ticket == ticket { byHand = finding.byHand }
                endFinding(ticket)
            }
            // What the source says of the place is as old as this.
            let knowsOurs = sync.hasTold(id)
            let found = try await unlessOvertaken(ticket, endsIt: source is AddressSource) { () throws(SourceError) in
                try await source.find(id)
            }
            // A wrong one is told before anything is stopped for it, where the item is known.
            let early = try await settled(jump, on: found.id)
            if let early, let item = try? await known(found.id) { _ = try item.goal(of: early, from: .zero) }
            try isStill(ticket)
            if let wanted, wanted.item == found.id { leaving = nil }
            // Play or pause may have been pressed while it was looked for.
            let play = player.wantsPlay || finding?.byHand ?? wish.plays
            asked = play
            left = whatIsLeft(for: found.id)
            if left != nil { retreat = ticket }
            send(.opening(play: play, turns: wish.turns))
            // The last words to a server that ends the one session as it opens the other.
            if let account = found.id.account { await drain(limit: .seconds(2), of: account) }
            let opened = try await unlessOvertaken(ticket) { () throws(SourceError) in
                try await self.opened(found, of: source)
            }
            // Bookmarks may have followed another timeline.
            let jump = try await settled(jump, on: found.id)
            var beginning = try start(
                opened, jump: finding?.moved == found.id ? nil : jump, journal: try await journalled(found.id),
                knowsOurs: knowsOurs)
            if wish.way == .back { beginning.goBack(into: player.parts(of: opened.item)) }
            try await begin(opened, at: beginning, play: play, whole: whole, as: wish, ticket)
            taken = queue
        } catch {
            if left == nil, resumes(displaced, plays: byHand, ticket) { throw ControlError(error) }
            if ticket == opening { await goOnWithout(id, error, as: wish, isTold: wish.turns || left != nil) }
            await goBack(to: left, from: nil, ticket)
            if ticket == opening { nothingCame(of: ControlError(error)) }
            resumes(displaced, plays: byHand, ticket)
            throw ControlError(error)
        }
        do throws(ControlError) { try await plays() } catch {
            // Who stops it while it loads means that.
            if player.error != nil {
                await goBack(to: left, from: taken, ticket)
                resumes(displaced, plays: left == nil ? asked : byHand, ticket)
            }
            throw error
        }
    }

    /// Whoever waits for a silent server is told at once that something else was asked for, or that it was stopped.
    /// - Parameter endsIt: the work is not to go on then.
    private func unlessOvertaken<Answer: Sendable>(
        _ ticket: Int, endsIt: Bool = false, _ work: @escaping @LoopActor () async throws(SourceError) -> Answer
    ) async throws(SourceError) -> Answer {
        let (answers, answering) = AsyncStream.makeStream(of: Result<Answer, SourceError>.self)
        onNextOpening.append { answering.yield(.failure(self.whyNotWaited)) }
        let working = Task { @LoopActor in
            do throws(SourceError) { answering.yield(.success(try await work())) } catch {
                answering.yield(.failure(error))
            }
        }
        defer { if endsIt, ticket != opening { working.cancel() } }
        for await answer in answers {
            try isStill(ticket)
            return try answer.get()
        }
        throw whyNotWaited
    }

    /// It was stopped.
    static let nothingPlays = ControlError(.failed, "nothing plays")

    static let overtaken = SourceError(.failed, "something else was asked for meanwhile")
    static let quit = SourceError(.failed, "dogear was asked to quit meanwhile; 'dogear play' goes on")

    /// What is being opened is not waited for any more.
    private var whyNotWaited: SourceError { isLeaving ? Self.quit : Self.overtaken }

    /// Something was asked for that is not there yet: what plays until then may end or fail meanwhile.
    var isOnItsWay: Bool { finding != nil || heading?.isPresent == false }

    /// What was asked for cannot be played: what was on its way before is still wanted.
    /// - Parameter plays: nil: as it was to be.
    /// - Returns: false if nothing is left of it, or something else was asked for meanwhile.
    @discardableResult
    private func resumes(_ displaced: Heading?, plays: Bool?, _ ticket: Int) -> Bool {
        guard let displaced, ticket == opening else { return false }
        self.displaced = nil
        let steps = steps(of: displaced)
        guard !steps.isEmpty else { return false }
        putOff = nil
        go(steps, plays: plays ?? displaced.plays)
        return true
    }

    /// What was asked for cannot be played: the player does what it would have done by itself before, or stops.
    private func goOnWithout(_ id: ItemID, _ error: SourceError, as wish: Wish, isTold: Bool) async {
        let effect = putOff
        putOff = nil
        if case .ranOut(let last)? = effect {
            if player.isOpening { failed(id, error, isTold: isTold) }
            return goOn(after: last)
        }
        guard player.isOpening else { return }
        // What follows an end and cannot be played is told, and nothing else plays in its place.
        let follows = wish.way == .onward || wish.way == .instead || wish.key != nil && wish.key == queue.next?.key
        if player.turning == .rolled, !follows, goesOnBehindAnEnd(effect) { return }
        if player.turning == .rolled, let entry = queue.entries.first(where: { $0.key == wish.key }) {
            failure = ControlError(error)
            return await standBehindAnEnd(at: entry, wish)
        }
        if player.turning != .rolled, let effect { return goOn(effect) }
        failed(id, error, isTold: isTold)
    }

    private func whatIsLeft(for id: ItemID) -> Left? {
        guard player.phase == .playing || player.phase == .paused, let item = player.item, item.id != id else {
            return nil
        }
        return Left(id: item.id, place: position, plays: player.wantsPlay, isWhole: player.isWhole, queue: queue)
    }

    /// What was asked for has failed, and what was there before is about to go on.
    var isGoingBack: Bool { retreat == opening && player.phase == .stopped && player.error != nil }

    /// Unless something else was asked for meanwhile.
    /// - Parameter taken: the queue as it was when what failed was put into it; nil: it was not.
    private func goBack(to left: Left?, from taken: Queue?, _ ticket: Int) async {
        guard let left, ticket == opening, player.phase == .stopped else { return }
        log.notice("what was asked for cannot be played; what was there before goes on")
        if let taken {
            lineQuietly { queue in
                // What the listener has changed since stays changed.
                if queue == taken { queue = left.queue } else { queue.undo(to: left.queue) }
            }
        }
        if player.isWithoutOutput, let present = queue.present {
            // It would wait for that as long and be no better off.
            let why = player.error
            await stand(at: present, Wish(.picked, present.key), left: left.place, paused: true) {
                ticket == opening && player.phase == .stopped
            }
            if ticket == opening { send(.openFailed(why, mayReturn: false)) }
            return
        }
        send(.opening(play: left.plays, turns: true))
        await open(again: left.id, at: left.place, play: left.plays, whole: left.isWhole, ticket)
    }

    private func opened(_ found: Found, of source: any Source) async throws(SourceError) -> Opened {
        defer { sync { $0.ended(before: found.id, time.now) } }
        return try await source.open(found)
    }

    private func beginFinding(_ id: ItemID, _ title: String?, _ ticket: Int, plays: Bool) {
        finding?.timer.cancel()
        let timer = time.timer(after: patience) {
            Task { @LoopActor in
                let title = if let title { title } else { await self.title(of: id) }
                guard self.finding?.ticket == ticket else { return }
                self.finding?.title = title
                if self.heading != nil { self.recallPlace() }
                self.emitStatus()
            }
        }
        finding = Finding(ticket: ticket, timer: timer, plays: plays)
    }

    private func endFinding(_ ticket: Int) {
        guard let finding, finding.ticket == ticket else { return }
        finding.timer.cancel()
        self.finding = nil
        if finding.title != nil { emitStatus() }
    }

    /// What is looked for is not wanted any more.
    func stopFinding() {
        if let finding { endFinding(finding.ticket) }
        (putOff, displaced) = (nil, nil)
        opening += 1
        settleWaiters()
    }

    /// Who asked for something and then plays, pauses or stops means that.
    /// - Returns: whether the Player need not know.
    func heedWhileFinding(_ event: Player.Event) -> Bool {
        guard let finding else { return false }
        switch event {
        case .play where player.phase == .stopped, .toggle where player.phase == .stopped:
            // Not the one that was stopped.
            self.finding?.byHand = true
            return true
        case .play: self.finding?.byHand = true
        case .pause: self.finding?.byHand = false
        case .report(let report) where report.load == player.load && report.word == .outputGone:
            self.finding?.byHand = false
        case .toggle: self.finding?.byHand = player.item == nil ? finding.byHand == false : !player.wantsPlay
        case .stop:
            let hasNothingToStop = player.isOpening && (player.item == nil || putOff != nil)
            stopFinding()
            if hasNothingToStop { send(.openFailed(nil, mayReturn: false)) }
        default: break
        }
        return false
    }

    func knownTitle(of id: ItemID) async -> String? {
        if let item = try? await known(id) { return item.title }
        return (try? await librarian?.catalogue.row(id))?.item.title
    }

    private func title(of id: ItemID) async -> String {
        if let title = await knownTitle(of: id) { return title }
        switch id.source {
        case "path": return id.key
        case "address": return WebAddress(id.key).map { "\($0)" } ?? "an address"
        default: return "what was asked for"
        }
    }

    /// Goes on with an item after a stop or a failure; nobody waits for the answer.
    /// - Parameter place: where it stands; nil: where the journal or the source says.
    /// - Parameter whole: as one MPRIS track.
    func open(again id: ItemID, at place: BookTime?, play: Bool, whole: Bool, _ ticket: Int) async {
        let source = source(of: id)
        do throws(SourceError) {
            if let account = id.account { await drain(limit: .seconds(2), of: account) }
            let knowsOurs = sync.hasTold(id)
            let found = try await source.find(id)
            let opened = try await opened(found, of: source)
            guard ticket == opening else { return }
            let journal = try await journalled(opened.item.id)
            // What lies at its path may have changed while nobody looked: the place is one of the old timeline then, and
            // the journal's has followed.
            let own = opened.item.id == id && !isOtherTimeline(opened.item) ? place : nil
            let beginning = Beginning(
                of: opened.item, server: opened.place, journal: journal, own: own, knowsOurs: knowsOurs,
                isServers: isServers(journal), isAhead: isAhead(journal))
            try await begin(
                opened, at: beginning, play: play, whole: whole, as: Wish(.picked, queue.present?.key), ticket)
        } catch {
            guard ticket == opening else { return }
            log.notice("an item could not be opened again", metadata: ["why": "\(error)"])
            failure = ControlError(error)
            forgetQueueTrouble()
            failed(id, error)
        }
    }

    /// Of the same files another timeline than the loaded one may come.
    private func isOtherTimeline(_ item: Item) -> Bool {
        item.id.source == "file" && player.item?.id == item.id && player.item?.tracks != item.tracks
    }

    /// - Parameter isTold: whoever asked for it says what is wrong.
    private func failed(_ id: ItemID, _ error: SourceError, isTold: Bool = false) {
        wanted = id
        send(.openFailed(isTold ? nil : error.message, mayReturn: error.kind == .unreachable))
    }

    /// What was to be played last, or is loaded, belongs to this account.
    func isAffair(of account: String) -> Bool { (wanted ?? player.item?.id)?.account == account }

    /// What a server could not do before is no news once it answers.
    func answered(by account: String) {
        guard player.error != nil, isAffair(of: account) else { return }
        // So the keyring has let go of the login.
        send(failure?.kind == .notSignedIn ? .accountChanged : .serverAnswers)
    }

    private func begin(
        _ opened: Opened, at beginning: Beginning, play: Bool, whole: Bool, as wish: Wish, _ ticket: Int
    ) async throws(SourceError) {
        let place = beginning.place
        let item = await pictured(opened.item)
        let rate = await rate(of: item)
        try isStill(ticket)
        failure = nil
        (putOff, displaced) = (nil, nil)
        wanted = nil
        let shorter = beginning.beyond.map {
            "it is shorter than it was, and ends before \(TimeText.clock($0)), where you were; 'dogear undo' goes back there "
                + "once it is as long again"
        }
        remark = (opened.remark ?? shorter).map { (opened.item.id, $0) }
        let begun = Place(
            item: item.id, position: place, duration: item.duration,
            updated: beginning.written ?? serverNow(of: item.id, at: time.now))
        told = begun
        store.post(.item(item))
        for step in beginning.steps { keep(step.cause, of: item.id, from: step.from, to: step.to) }
        if beginning.isOutdone { sync { $0.outdone(by: begun, time.now) } }
        let copy = present(item, as: wish)
        rateKey = rate.key
        send(.open(item, at: place, play: play, rate: rate.rate, whole: whole, copy: copy))
        if let session = opened.session {
            let now = time.now
            let serverNow = self.serverNow(of: item.id, at: now)
            // Where the listener has moved to meanwhile; stopped meanwhile, nothing is to be told.
            let isBegun = player.phase != .stopped
            // A finished item that starts over is finished until something of it is heard, unless a place was asked for.
            let finished = beginning.isChosen ? BookTime.unknown : nil
            let known = opened.place.map { $0.isFinished ? finished : $0.position } ?? .zero
            let isNews = isBegun && !beginning.startsOver
            sync { sync in
                sync.opened(
                    session: session, item: item.id, at: position, duration: item.duration, serverNow: serverNow,
                    serverPlace: isNews ? known : nil, now) + (isBegun ? [] : sync.closed(item.id, now))
            }
        }
        if item.id.isOfShelf { Task { @LoopActor in await self.showCover(of: item.id) } }
        // Where other devices' are not told as they are made.
        if let account = item.id.account, live.account?.id != account || live.state != .connected {
            Task { @LoopActor in await self.refreshBookmarks(account) }
        }
    }

    /// The journal's place for an item.
    /// - Throws: where it cannot be read: begun elsewhere, what is heard would be written over it.
    private func journalled(_ id: ItemID) async throws(SourceError) -> Place? {
        do throws(StoreError) { return try await store.place(of: id) } catch {
            throw SourceError(.failed, "where you are in it cannot be read: \(error)")
        }
    }

    private func start(
        _ opened: Opened, jump: Jump?, journal: Place?, knowsOurs: Bool
    ) throws(SourceError) -> Beginning {
        let item = opened.item
        var beginning = Beginning(
            of: item, server: opened.place, journal: journal, knowsOurs: knowsOurs, isServers: isServers(journal),
            isAhead: isAhead(journal))
        if let jump {
            beginning.move(to: try item.goal(of: jump, from: beginning.place).clamped(to: .zero...item.duration))
        }
        return beginning
    }

    /// It was taken over from the server, and nothing has happened to it here since.
    func isServers(_ place: Place?) -> Bool {
        guard let place, let taken = borrowed[place.item] else { return false }
        return (taken.position, taken.isFinished, taken.updated) == (place.position, place.isFinished, place.updated)
    }

    /// A clock was ahead when it was written down.
    func isAhead(_ place: Place?) -> Bool { place.map { shelves.isAhead($0.updated, of: $0.item) } ?? false }

    func isOutdone(_ own: Place, by server: Place, knowsOurs: Bool) -> Bool {
        own.isOutdone(by: server, knowsOurs: knowsOurs, isServers: isServers(own), isAhead: isAhead(own))
    }

    private func isStill(_ ticket: Int) throws(SourceError) {
        if ticket != opening { throw whyNotWaited }
    }

    func source(of id: ItemID) -> any Source {
        switch id.source {
        case ItemID.shelf: shelves
        case "address", "url": addresses
        default: files
        }
    }

    // MARK: Answers

    func plays() async throws(ControlError) {
        let result: Result<Void, ControlError> = await withCheckedContinuation { continuation in
            waited += 1
            let number = waited
            let timer = time.timer(after: longestWait) { self.giveUp(waiter: number) }
            waiters[number] = Waiter(timer: timer) { continuation.resume(returning: $0) }
            settleWaiters()
        }
        try result.get()
    }

    /// Who waits for what was on its way, without having asked for it, is told as well.
    private func nothingCame(of error: ControlError) {
        forgetQueueTrouble()
        guard player.phase == .stopped || player.phase == .empty else { return }
        failure = error
        settleWaiters()
    }

    /// What the queue could not do before is not why.
    private func forgetQueueTrouble() {
        guard queueTrouble != nil else { return }
        queueTrouble = nil
        announceStatus()
    }

    func settleWaiters() {
        guard !waiters.isEmpty else { return }
        let outcome: Result<Void, ControlError>? =
            switch player.phase {
            // Where it plays is known in a moment.
            case .playing where player.isAsking: nil
            case .playing, .paused: .success(())
            case .opening, .loading: nil
            case .stopped, .empty:
                finding?.byHand == true
                    ? nil : .failure(failure ?? player.error.map { ControlError(.failed, $0) } ?? Self.nothingPlays)
            }
        guard let outcome else { return }
        let ready = waiters.sorted { $0.key < $1.key }
        waiters = [:]
        for (_, waiter) in ready {
            waiter.timer.cancel()
            waiter.answer(outcome)
        }
    }

    /// Nothing has come for long, as of a server that promises sound and sends none.
    private func giveUp(waiter number: Int) {
        waiters.removeValue(forKey: number)?.answer(
            .failure(
                ControlError(
                    .unreachable,
                    """
                    no sound has come\(player.item.map { " of '\($0.title)'" } ?? "") for \(Int(longestWait.seconds)) s; \
                    it plays as soon as some does, and 'dogear stop' ends the wait
                    """)))
    }
}

extension Player {
    var isOpening: Bool { if case .opening = phase { true } else { false } }
}

extension Item {
    /// Where a jump leads on this item.
    func goal(of jump: Jump, from here: BookTime) throws(SourceError) -> BookTime {
        switch jump {
        case .by(let offset): return max(.zero, here + offset)
        case .to(let time):
            if time > duration {
                throw SourceError(.usage, "that is past the end: '\(title)' is \(TimeText.clock(duration)) long")
            }
            return meant(by: time)
        case .share(let share): return .seconds(duration.seconds * share)
        case .bookmark:
            // Known to the journal alone: see `settled`.
            throw SourceError(.usage, "'\(title)' has no such bookmark")
        case .chapter(let number):
            guard chapters.indices.contains(number - 1) else {
                throw SourceError(
                    .usage,
                    chapters.isEmpty
                        ? "'\(title)' has no chapters" : "'\(title)' has chapters 1 to \(chapters.count), not \(number)"
                )
            }
            return chapters[number - 1].start
        }
    }
}

extension ControlError {
    init(_ error: SourceError) {
        let kind: Kind =
            switch error.kind {
            case .failed: .failed
            case .notFound: .notFound
            case .notSignedIn: .notSignedIn
            case .unreachable: .unreachable
            case .usage: .usage
            }
        self.init(kind, error.message)
    }
}
