/// Which request is next for each account, and what its answer changes.
extension Sync.Request {
    fileprivate var isLocal: Bool { if case .local = self { true } else { false } }

    var items: Set<ItemID> {
        switch self {
        case .sync(_, let item, _, _, _), .close(_, let item): [item]
        case .local(let rows): Set(rows.map(\.item))
        case .progress(let write): [write.item]
        case .bookmark(let bookmark): [bookmark.item]
        }
    }
}

extension Sync {
    /// Sends what can be sent now.
    mutating func pump(_ now: Moment) -> [Effect] {
        var effects = withdrawStale(now)
        for account in accountsWithWork() {
            let lane = lanes[account, default: Lane()]
            guard lane.busy == nil, !lane.isSignedOut else { continue }
            guard let request = nextRequest(account, takesLocal: lane.localNotBefore <= now.monotonic) else {
                if lane.localNotBefore > now.monotonic {
                    effects.append(.wake(after: BookTime(microseconds: lane.localNotBefore - now.monotonic)))
                } else if let live, live.item.account == account {
                    isDue = false
                }
                continue
            }
            if lane.notBefore > now.monotonic {
                effects.append(.wake(after: BookTime(microseconds: lane.notBefore - now.monotonic)))
                continue
            }
            if isLive(request) { isDue = false }
            tickets += 1
            lanes[account, default: Lane()].busy = tickets
            inFlight[tickets] = request
            effects.append(.send(account: account, tickets, request))
        }
        return effects
    }

    private func accountsWithWork() -> [String] {
        var found: Set<String> = []
        if let live, let account = live.item.account { found.insert(account) }
        for stretch in waiting.values { stretch.item.account.map { _ = found.insert($0) } }
        for item in writes.keys { item.account.map { _ = found.insert($0) } }
        for id in bookmarks.keys { id.item.account.map { _ = found.insert($0) } }
        return found.sorted()
    }

    /// In this order: what an ended session still owes; sessions to close; local sessions; the listener's commands; then
    /// the live session, so that a command given earlier never lands on top of what was listened to after it; bookmarks,
    /// which move no place. An ended session that was listened to after a command waits for that.
    ///
    /// What failed comes after all that did not, and alone: one item that a server cannot cope with keeps no other waiting.
    private func nextRequest(_ account: String, takesLocal: Bool) -> Request? {
        let failures = lanes[account]?.failures ?? [:]
        if let request = nextRequest(account, takesLocal, { failures[$0] == nil }) { return request }
        let failed = failures.sorted { ($0.value, $0.key.key) < ($1.value, $1.key.key) }
        return failed.lazy.compactMap { item in nextRequest(account, takesLocal) { $0 == item.key } }.first
    }

    private func nextRequest(_ account: String, _ takesLocal: Bool, _ isMeant: @escaping (ItemID) -> Bool) -> Request? {
        let isMine = { (item: ItemID) in item.account == account && isMeant(item) }
        let mine = waiting.values.filter { isMine($0.item) && $0.delivery != .parked }
            .sorted { ($0.updated, $0.id) > ($1.updated, $1.id) }
        let owing = mine.filter { $0.isUnsent && !comesAfterCommand($0) }
        if let open = owing.first(where: { $0.delivery == .open }) { return sync(open) }
        let held = mine.filter { $0.isHeldByServer && !($0.isUnsent && comesAfterCommand($0)) }
        if let held = held.first(where: { !seemsGone.contains($0.id) || !$0.isUnsent }) {
            return .close(stretch: held.id, item: held.item)
        }
        let local = owing.filter { $0.delivery == .local }
        if !local.isEmpty, takesLocal { return .local(local) }
        let write = writes.values.filter { isMine($0.item) && $0.refusal == nil }.min { $0.made < $1.made }
        if let write { return .progress(write) }
        if let live, isDue, live.isUnsent, isMine(live.item) {
            if live.delivery == .open { return sync(live) }
            if takesLocal { return .local([live]) }
        }
        return unsentBookmarks.first { isMine($0.item) && $0.refusal == nil }.map(Request.bookmark)
    }

    private func comesAfterCommand(_ stretch: Stretch) -> Bool {
        writes[stretch.item].map { $0.refusal == nil && $0.made < stretch.updated } ?? false
    }

    /// Of an item that began anew and has come to its end's edge before the first report, the beginning is told first: a
    /// server takes a finish back only where the place moves, and that edge may be the place it has.
    private func sync(_ stretch: Stretch) -> Request {
        let isFirst = stretch.startPlace == .zero && stretch.sentListened == .zero && stretch.listened > .zero
        return .sync(
            stretch: stretch.id, item: stretch.item,
            place: isFirst && stretch.isAtEdge ? .zero : stretch.reportable,
            listened: stretch.listened - stretch.sentListened, duration: stretch.duration)
    }

    func isLive(_ request: Request) -> Bool {
        switch request {
        case .sync(let id, _, _, _, _): id == live?.id
        case .local(let rows): rows.contains { $0.id == live?.id }
        case .close, .progress, .bookmark: false
        }
    }

    // MARK: Answers

    /// - Parameter spread: random, 0..<1.
    public mutating func answered(
        _ ticket: Ticket, account: String, _ outcome: Outcome, at now: Moment, spread: Double
    ) -> [Effect] {
        guard let request = putBack(ticket, account) else { return [] }
        note(outcome, of: request, account)
        switch outcome {
        case .later(let retryAfter):
            return putOff(account, ticket, request, retryAfter, now, spread)
        case .signedOut:
            lanes[account]?.isSignedOut = true
            if isLive(request) { isDue = true }
            return []
        case .gone where request.isLocal:
            lanes[account]?.backOff.succeed()
            lanes[account]?.localNotBefore = now.monotonic + Self.localPause.microseconds
            if isLive(request) { isDue = true }
            return pump(now)
        case .accepted, .rows, .gone, .refused:
            if case .sync(let id, _, _, _, _) = request, outcome == .accepted { confirmed = (id, now.sinceStart) }
            let effects = settle(request, outcome) + withdrawStale(now)
            lanes[account]?.backOff.succeed()
            // It is listened to on, and may be taken some time.
            if isLive(request), live?.delivery == .parked {
                lanes[account]?.localNotBefore = now.monotonic + Self.localPause.microseconds
            }
            return effects + pump(now)
        case .doubtful:
            return settle(request, outcome) + putOff(account, ticket, request, nil, now, spread)
        }
    }

    /// The way to this account's server is free again.
    /// - Returns: what was on it; nil if it is not waited for any more.
    mutating func putBack(_ ticket: Ticket, _ account: String) -> Request? {
        guard let request = inFlight.removeValue(forKey: ticket), lanes[account]?.busy == ticket else { return nil }
        lanes[account]?.busy = nil
        return request
    }

    /// Remembers which items the server did not cope with.
    private mutating func note(_ outcome: Outcome, of request: Request, _ account: String) {
        switch outcome {
        case .accepted, .rows, .refused: for item in request.items { lanes[account]?.failures[item] = nil }
        case .doubtful, .later(retryAfter: nil):
            // Rows that could not be sent at all still go together.
            if outcome != .doubtful && request.isLocal { return }
            for item in request.items { lanes[account]?.failures[item, default: 0] += 1 }
        case .gone, .later, .signedOut: break
        }
    }

    /// The request stays wanted; the account rests for a while.
    private mutating func putOff(
        _ account: String, _ ticket: Ticket, _ request: Request, _ retryAfter: Double?, _ now: Moment, _ spread: Double
    ) -> [Effect] {
        if isLive(request) { isDue = true }
        if lanes[account]?.hurried == ticket, retryAfter == nil { return pump(now) }
        var backOff = lanes[account]?.backOff ?? BackOff()
        let delay = BookTime.seconds(backOff.fail(retryAfter: retryAfter, spread: spread))
        lanes[account]?.backOff = backOff
        lanes[account]?.notBefore = now.monotonic + delay.microseconds
        return [.wake(after: delay)]
    }

    private mutating func settle(_ request: Request, _ outcome: Outcome) -> [Effect] {
        switch request {
        case .sync(let id, _, let place, let listened, _): settleSync(id, place, listened, outcome)
        case .close(let id, _): settleClose(id, outcome)
        case .local(let rows): settleLocal(rows, outcome)
        case .progress(let write): settleWrite(write, outcome)
        case .bookmark(let bookmark): settleBookmark(bookmark, outcome)
        }
    }

    private mutating func settleSync(
        _ id: String, _ place: BookTime, _ listened: BookTime, _ outcome: Outcome
    ) -> [Effect] {
        if let live, id == live.id {
            let isOnlyTheBeginning = live.isAtEdge && place == .zero && live.reportable > .zero
            if outcome != .accepted || isOnlyTheBeginning { isDue = true }
        }
        return change(id) { stretch in
            switch outcome {
            case .accepted:
                stretch.sentListened += listened
                stretch.sentPlace = place
            case .gone, .doubtful, .refused, .rows, .later, .signedOut:
                // Absolute numbers under the same id are safe to repeat; a difference is not. A 404 may be a proxy's:
                // until it is closed the server is taken to hold the session.
                stretch.delivery = .local
                // Back where it was before, it is told so all the same.
                if outcome == .doubtful { stretch.sentPlace = .unknown }
            }
        }
    }

    private mutating func settleClose(_ id: String, _ outcome: Outcome) -> [Effect] {
        if case .doubtful = outcome {
            // Then the next 404 may be the trace of this one.
            seemsGone.remove(id)
            return []
        }
        // A session that the server still holds after all it would end by itself, with its own count over ours.
        if outcome == .gone, waiting[id]?.isUnsent == true, seemsGone.insert(id).inserted { return [] }
        let isTold = seemsGone.remove(id) != nil && outcome == .gone
        if outcome == .gone, var stretch = waiting[id], stretch.delivery == .local, stretch.listened > .zero {
            (stretch.isHeldByServer, stretch.sentListened, stretch.sentPlace) = (false, .zero, .unknown)
            denied = denied.suffix(19) + [stretch]
        }
        return change(id) { stretch in
            stretch.isHeldByServer = false
            // Closing wrote the server's own count of a session whose answers were lost, now or by an earlier request
            // that seemed lost: ours goes over it once more.
            if stretch.delivery == .local, stretch.listened > .zero, !isTold {
                stretch.sentListened = .zero
                stretch.sentPlace = .unknown
            }
        }
    }

    private mutating func settleLocal(_ rows: [Stretch], _ outcome: Outcome) -> [Effect] {
        var effects: [Effect] = []
        for row in rows {
            effects += change(row.id) { stretch in
                switch outcome {
                case .accepted: Self.accept(&stretch, row)
                case .rows(let answers):
                    switch answers[row.id] {
                    case .some(.none): Self.accept(&stretch, row)
                    case .some(.some(let sentence)): Self.park(&stretch, sentence)
                    // The server left this row out of its answer: it stays for the next time.
                    case .none: break
                    }
                case .refused(let sentence): Self.park(&stretch, sentence)
                case .gone, .doubtful, .later, .signedOut: break
                }
            }
            if let parked = waiting[row.id], parked.delivery == .parked, let why = parked.refusal {
                effects.append(.tell("the server refused \(Int(parked.listened.seconds)) s of listening: \(why)"))
            }
        }
        return effects
    }

    private static func accept(_ stretch: inout Stretch, _ row: Stretch) {
        stretch.sentListened = row.listened
        stretch.sentPlace = row.reportable
        // Refused before, while it was listened to.
        if stretch.delivery == .parked { (stretch.delivery, stretch.refusal) = (.local, nil) }
    }

    private static func park(_ stretch: inout Stretch, _ sentence: String) {
        stretch.delivery = .parked
        stretch.refusal = sentence
    }

    private mutating func settleWrite(_ write: ProgressWrite, _ outcome: Outcome) -> [Effect] {
        // Another command for the item may have come meanwhile: only the one that was answered goes.
        guard writes[write.item] == write else { return [] }
        switch outcome {
        case .accepted, .rows:
            writes[write.item] = nil
            return [.removeWrite(write.item)]
        case .gone, .refused:
            let why = if case .refused(let sentence) = outcome { sentence } else { "the item is gone from the server" }
            let told = Effect.tell("'\(write.kind.rawValue)' was refused: \(why)")
            // What was listened to since goes before it: kept, it would move the place back when it is sent again.
            let isOutlived = stretches(of: write.item).contains { $0.updated > max(write.made, $0.started) }
            if isOutlived {
                writes[write.item] = nil
                return [.removeWrite(write.item), told]
            }
            var parked = write
            parked.refusal = why
            writes[write.item] = parked
            return [.saveWrite(parked), told]
        case .doubtful, .later, .signedOut: return []
        }
    }

    private mutating func settleBookmark(_ bookmark: Bookmark, _ outcome: Outcome) -> [Effect] {
        // It may have been changed again meanwhile: only what was answered goes.
        guard bookmarks[bookmark.id] == bookmark else { return [] }
        switch (outcome, bookmark.owed) {
        case (.accepted, .removal), (.rows, .removal), (.gone, .removal):
            bookmarks[bookmark.id] = nil
            return [.removeBookmark(bookmark.id)]
        case (.accepted, _), (.rows, _):
            bookmarks[bookmark.id] = nil
            var kept = bookmark
            kept.owed = nil
            return [.saveBookmark(kept)]
        case (.gone, _), (.refused, _):
            let why = if case .refused(let sentence) = outcome { sentence } else { "the item is gone from the server" }
            var parked = bookmark
            parked.refusal = why
            bookmarks[bookmark.id] = parked
            return [.saveBookmark(parked), .tell("a bookmark was refused: \(why)")]
        case (.doubtful, _), (.later, _), (.signedOut, _): return []
        }
    }

    /// Changes a row wherever it is.
    private mutating func change(_ id: String, _ body: (inout Stretch) -> Void) -> [Effect] {
        if live?.id == id {
            body(&live!)
            return [.save(live!)]
        }
        guard var stretch = waiting[id] else { return [] }
        body(&stretch)
        return [keep(stretch)]
    }
}
