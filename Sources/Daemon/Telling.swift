internal import EventLoop
internal import FoundationEssentials
internal import Listening
internal import Store

/// What is heard and moved is kept in the journal, and told to the servers from there.
extension Service {
    func journal(_ heard: Player.Heard, _ now: Moment) {
        let serverNow = self.serverNow(of: heard.item, at: now)
        // What was known before and not listened to since is no newer for being said again.
        let isOld =
            heard.listened == .zero && heard.why != .end
            && told.map { $0.item == heard.item && $0.position == heard.place } ?? false
        let effects = sync.heard(heard, serverNow: serverNow, now)
        // The stretch is among the effects: both are kept together or not at all.
        let stretch = effects.lazy.compactMap { if case .save(let stretch) = $0 { stretch } else { nil } }.first
        let updated = max(serverNow, stretch?.updated ?? .min)
        let place = Place(
            item: heard.item, position: heard.place, duration: player.item?.duration ?? .zero,
            isFinished: heard.why == .end, updated: isOld ? told?.updated ?? updated : updated)
        told = place
        let sitting = diary.heard(
            heard, rate: player.rate, session: sync.liveID(of: heard.item),
            day: heard.listened > .zero ? today(at: now.wall) : Day(number: 0), id: { UUID().uuidString.lowercased() },
            now)
        store.journal(
            place: place, stretch: stretch, sitting: sitting, at: now.wall, goesOn: heard.why == .tick)
        wrote(place)
        perform(effects.filter { if case .save = $0 { false } else { true } })
    }

    /// Into the ring.
    func keep(_ cause: Player.JumpCause, of item: ItemID, from: BookTime, to: BookTime) {
        let move = Move(at: time.now.wall, item: item, from: from, to: to, cause: cause)
        if move.isWorthKeeping { store.post(.move(move)) }
    }

    func placed(_ item: ItemID, _ place: BookTime, _ now: Moment) {
        let duration = player.item?.duration ?? .zero
        let made = commandTime(of: item, at: now)
        let written = Place(item: item, position: place, duration: duration, updated: made)
        told = written
        finding?.moved = item
        store.post(.place(written))
        guard item.isOfShelf else { return }
        perform(
            sync.write(ProgressWrite(item: item, kind: .place, position: place, duration: duration, made: made), now))
    }

    /// By the server's clock, and after what is already known of the item, whatever that clock was set to.
    func commandTime(of item: ItemID, at now: Moment) -> Int64 {
        let known = told.flatMap { $0.item == item ? $0.updated + 1 : nil } ?? .min
        return sync.time(ofCommandFor: item, max(serverNow(of: item, at: now), known))
    }

    func finished(_ item: ItemID, _ now: Moment) {
        guard item.isOfShelf, let duration = player.item?.duration else { return }
        let made = serverNow(of: item, at: now)
        perform(
            sync.write(
                ProgressWrite(item: item, kind: .finish, position: duration, duration: duration, made: made), now))
    }

    /// Rows before requests: what is sent has been written.
    func perform(_ effects: [Sync.Effect]) {
        for effect in effects {
            switch effect {
            case .save(let stretch): store.post(.stretch(stretch))
            case .remove(let id): store.post(.removeStretch(id: id))
            case .saveWrite(let write): store.post(.progress(write))
            case .removeWrite(let item): store.post(.removeProgress(item))
            case .saveBookmark(let bookmark): store.post(.bookmark(bookmark))
            case .removeBookmark(let id): store.post(.removeBookmark(id))
            case .tell(let sentence): log.warning("a server refused something", metadata: ["what": "\(sentence)"])
            case .wake(let delay): wakeSync(after: delay)
            case .send(let account, let ticket, let request):
                Task { @LoopActor in await self.deliver(account, ticket, request) }
            }
        }
        guard !effects.isEmpty else { return }
        settleDrains()
        announceNews()
    }

    /// Of several wishes the earliest counts: each kick says anew what else is to come.
    private func wakeSync(after delay: BookTime) {
        let deadline = time.now.monotonic + delay.microseconds
        if let pending = syncDeadline, pending <= deadline { return }
        syncTimer?.cancel()
        syncDeadline = deadline
        syncTimer = time.timer(after: delay) {
            self.syncDeadline = nil
            self.perform(self.sync.kick(at: self.time.now))
        }
    }

    private func deliver(_ account: String, _ ticket: Sync.Ticket, _ request: Sync.Request) async {
        switch await lookBeside(before: request, to: account) {
        case .clear: settle(account, ticket, request, await tell(account, request))
        case .another: perform(sync.withdraw(ticket, account: account, at: time.now))
        case .nothing(let error): settle(account, ticket, request, shelves.untold(account, error))
        }
        settleDrains()
        notices?.lookAtUnsent()
        lookAgain()
    }

    private func tell(_ account: String, _ request: Sync.Request) async -> Sync.Outcome {
        // On the disk's side of things first; if it cannot be written, the server is told all the same.
        let asked = place(of: request)
        try? await store.write(asked.map { [.asked($0)] } ?? [])
        let outcome = await shelves.perform(request, account: account, at: asked?.updated)
        if let asked, outcome == .accepted { store.post(.answered(asked.item)) }
        return outcome
    }

    private func settle(_ account: String, _ ticket: Sync.Ticket, _ request: Sync.Request, _ outcome: Sync.Outcome) {
        if case .later = outcome {
        } else {
            log.debug("a server was told", metadata: ["what": "\(request.name)", "outcome": "\(outcome.text)"])
        }
        if case .bookmark = request { bookmarkChanges += 1 }
        perform(sync.answered(ticket, account: account, outcome, at: time.now, spread: spread()))
    }

    /// What goes into an open session, whose server notes it whenever it comes: should we not be there any more, the next
    /// run knows it for our own word.
    private func place(of request: Sync.Request) -> Place? {
        guard case .sync(let stretch, let item, let place, _, let duration) = request else { return nil }
        // When it was true, however often it has been tried since.
        let now = serverNow(of: item, at: time.now)
        return Place(item: item, position: place, duration: duration, updated: min(now, sync.updated(stretch) ?? now))
    }

    /// For the rooms that change the sync machine from outside: commands, login, start.
    func sync(_ body: (inout Sync) -> [Sync.Effect]) { perform(body(&sync)) }

    /// Returns when nothing is being sent, or after `limit`.
    /// - Parameter account: to its server; nil: to any.
    func drain(limit: BookTime, of account: String? = nil) async {
        if isSending(to: account) { await drains.wait(for: account, limit: limit, time) }
    }

    private func isSending(to account: String?) -> Bool { account.map { sync.isSending(to: $0) } ?? sync.isSending }

    private func settleDrains() { drains.settle { !isSending(to: $0) } }
}
