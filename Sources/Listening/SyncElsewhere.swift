/// What other devices do to the same items. The server checks nothing when an open session is told a place: the last one
/// to speak wins. So a place that is no longer fresh goes as a local session, which the server takes only if it is newer.
extension Sync {
    /// A place older than this is not told to an open session any more, in milliseconds. While playing, places are a
    /// second old; after a pause, one slow answer may be waited for.
    public static let freshness: Int64 = 15_000

    /// Another device's newer place was taken over: what is still owed of this item counts as time, not as its place.
    public mutating func outdone(by place: Place, _ now: Moment) -> [Effect] {
        taken = place
        // What was dated by a clock that was ahead comes before it all the same, and what follows after.
        commanded[place.item] = commanded[place.item].map { min($0, place.updated) }
        listened[place.item] = listened[place.item].map { min($0, place.updated) }
        return withdraw { $0.item == place.item } + pump(now)
    }

    /// Who goes elsewhere from there goes to what is news to the server, be it the place it was told before.
    func leavesTaken(for place: BookTime, of item: ItemID) -> Bool {
        taken.map { $0.item == item && $0.position != place } ?? false
    }

    /// Whether the server speaks of a session of ours, or of one of the last that were.
    public func isOurs(session: String) -> Bool {
        live?.id == session || waiting[session] != nil || past.contains(session)
    }

    /// Whether a server has accepted everything that happened to this item here: what it then says of another place is
    /// another device's word.
    public func hasTold(_ item: ItemID) -> Bool {
        // Of a session that was begun somewhere it hears only with the first listening.
        if let live, live.item == item, live.sentPlace == nil { return false }
        return writes[item] == nil && !unsent.contains { $0.item == item }
            && !inFlight.values.contains { $0.isAbout(item) }
    }

    /// What its session has told of this item last.
    public func sentPlace(of item: ItemID) -> BookTime? { live.flatMap { $0.item == item ? $0.sentPlace : nil } }

    /// Whether a command of the listener's for this item has yet to arrive: until then the server knows less than we do.
    public func owes(_ item: ItemID) -> Bool { writes[item].map { $0.refusal == nil } ?? false }

    /// Nearer than this is as good as ours, which the server may have been told a moment ago.
    public static let besideDistance = BookTime.seconds(15)

    /// Whether what a server says of an item is another device's, which plays beside this one or did since this session
    /// began: neither what it was told last from here nor anything on the way from there.
    /// - Parameter here: where it plays.
    public func isBeside(_ place: Place, here: BookTime) -> Bool {
        guard var live, live.item == place.item, !place.isFinished, place.updated > live.started else { return false }
        live.place = here
        return !live.covers(place.position)
    }

    /// Whether what a server says of an item was never told to it from here, nor lies on the way from what was: another
    /// device's place, which the next word of ours goes over.
    /// - Returns: where that word leads; nil if it is ours, or goes over nothing.
    public func overwrites(_ place: Place, with request: Request) -> BookTime? {
        guard !place.isFinished, place.position > .zero else { return nil }
        guard !stretches(of: place.item).contains(where: { $0.covers(place.position) }) else { return nil }
        switch request {
        case .sync(_, _, let goal, _, _): return goal
        // Which a server takes only where it is the later one.
        case .local(let rows): return rows.first { $0.item == place.item && $0.updated >= place.updated }?.place
        case .close, .progress, .bookmark: return nil
        }
    }

    /// The items that a request tells places of, where the server may have heard of others since it last answered.
    /// - Parameter isWatched: it tells at once what others do.
    public func itemsInDoubt(of request: Request, to account: String, isWatched: Bool) -> Set<ItemID> {
        switch request {
        case .sync: !isWatched || wasAway(account) ? request.items : []
        case .local: request.items
        // A command is carried out by a look at what is there.
        case .close, .progress, .bookmark: []
        }
    }

    /// Whether an account's server did not answer when it was last told something: it may have heard of others since.
    public func wasAway(_ account: String) -> Bool { lanes[account].map { $0.backOff.failures > 0 } ?? false }

    /// After a pause without a network, hours may have passed since the place that is owed.
    mutating func withdrawStale(_ now: Moment) -> [Effect] {
        let (confirmed, reached) = (confirmed, reached)
        let away = Set(lanes.keys.filter(wasAway))
        func age(_ at: Int64) -> Int64 { (now.sinceStart - at) / 1000 }
        return withdraw { stretch in
            // The session has just answered: what it was told a moment ago is no other device's.
            if let confirmed, confirmed.id == stretch.id, age(confirmed.at) <= Self.freshness { return false }
            let wasAway = stretch.item.account.map(away.contains) ?? false
            return reached[stretch.id].map(age) ?? .max > (wasAway ? Place.clockTolerance : Self.freshness)
        }
    }

    /// What was to be told to an open session is not sent: another device's place is there.
    public mutating func withdraw(_ ticket: Ticket, account: String, at now: Moment) -> [Effect] {
        guard let request = putBack(ticket, account), case .sync(let id, _, _, _, _) = request else { return [] }
        if isLive(request) { isDue = true }
        return withdraw { $0.id == id } + pump(now)
    }

    private mutating func withdraw(_ isMeant: (Stretch) -> Bool) -> [Effect] {
        var effects: [Effect] = []
        if var stretch = live, stretch.delivery == .open, stretch.isUnsent, isMeant(stretch) {
            stretch.delivery = .local
            live = stretch
            effects.append(.save(stretch))
        }
        for var stretch in waiting.values.sorted(by: { $0.id < $1.id })
        where stretch.delivery == .open && stretch.isUnsent && isMeant(stretch) {
            stretch.delivery = .local
            effects.append(keep(stretch))
        }
        return effects
    }
}

extension Stretch {
    /// It is about what the server was told last of this, or what was heard since then on the way to where it is. What a
    /// jump went over is nobody's.
    fileprivate func covers(_ position: BookTime) -> Bool {
        // Of a server that had nothing of it yet, all before the start is somebody else's.
        let told = sentPlace.flatMap { $0 > .zero ? $0 : nil } ?? startPlace
        let heard = BookTime.seconds((listened - sentListened).seconds * Player.rates.upperBound)
        let way = [told...told, max(min(told, place), place - heard)...place]
        return way.contains {
            ($0.lowerBound - Sync.besideDistance...$0.upperBound + Sync.besideDistance).contains(position)
        }
    }
}
