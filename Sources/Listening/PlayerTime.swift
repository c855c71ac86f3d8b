/// Time that passes: what of it counts as listened, and whether the sound goes with it.
extension Player {
    mutating func tick(_ now: Moment, _ engine: BookTime?) -> [Effect] {
        guard phase == .playing, !isAsking else { return [] }
        if standsStill(at: engine, now) {
            // Time in which nothing was heard.
            count(now)
            if let item, let stand, stand.ticks >= Self.longestStand.ticks,
                now.monotonic - stand.since >= Self.longestStand.time
            {
                return stuck(item, now)
            }
        }
        failures = 0
        stalls = 0
        let effects: [Effect] = isConfirmed ? [heard(.tick, now)] : []
        let index = index(of: target ?? place)
        guard index != partIndex else { return effects }
        if lineup.loop == .track, index == partIndex + 1, target == nil, let part {
            target = part.start
            landed = nil
            count(now)
            return effects + [.seek(load, to: part.start), .seeked]
        }
        partIndex = index
        return effects + [.seeked]
    }

    /// It is to play, and for a second or two nothing has been heard.
    public var isStanding: Bool { stand.map { $0.ticks > 0 && !$0.isOverrun } ?? false }

    /// The file goes on behind the end that it is said to have, and the place stands at that.
    public var isOverrun: Bool { stand?.isOverrun ?? false }

    /// Whether the sound is nearly where it was at the last tick, though nothing is waited for: where the output is stuck,
    /// guesses of its delay still move by some milliseconds.
    private mutating func standsStill(at engine: BookTime?, _ now: Moment) -> Bool {
        guard listeningSince != nil, let engine else {
            stand = nil
            return false
        }
        guard let before = stand,
            (engine - before.place).microseconds.magnitude * 10 <= (now.monotonic - before.since).magnitude
        else {
            if stand != nil, !liesInSink(engine) { stands = 0 }
            let isOverrun = hasRun(from: stand?.place ?? listeningFrom, into: engine)
            stand = (engine, now.monotonic, 0, isOverrun)
            return false
        }
        if before.isOverrun || hasRun(from: before.place, into: engine) {
            stand?.isOverrun = true
            if now.monotonic - before.since < Self.longestOverrun { return false }
        }
        stand?.ticks += 1
        return true
    }

    /// Opened anew, a sink takes two seconds ahead, and may call them played where nothing is: its device is another user's
    /// meanwhile.
    func liesInSink(_ place: BookTime) -> Bool {
        (0...2.5 * rate).contains((place - arrivedAt).seconds)
    }

    /// To the end of a track, from where playing led there.
    private func hasRun(from before: BookTime, into place: BookTime) -> Bool {
        place > before
            && item?.tracks.contains { $0.duration > .zero && $0.start + $0.duration == place } ?? false
    }

    /// What has not been told yet. Of a paused item all has been: told again, its place would pass for newer than what
    /// another device did since.
    mutating func lastWords(_ why: Heard.Why, _ now: Moment) -> [Effect] {
        isConfirmed && phase == .playing && !isAsking ? [heard(why, now)] : []
    }

    /// From now on time counts as listened, if sound comes: not while a jump has yet to arrive, which may take a server as
    /// long as it likes.
    mutating func count(_ now: Moment) {
        let sounds = phase == .playing && isConfirmed && !isAsking && !isBuffering && target == nil
        listeningSince = sounds ? now.monotonic : nil
        listeningFrom = place
    }

    /// Whoever does not come to a tick for so long, stopped or starved, has played nothing either, while the clock that
    /// the sound follows went on: the listener is still where it began.
    mutating func returning(_ now: Moment) -> [Effect] {
        guard let since = listeningSince, now.monotonic - since > Self.longestGap else { return [] }
        (target, place) = (listeningFrom, listeningFrom)
        partIndex = index(of: place)
        count(now)
        return [.seek(load, to: place), .start(load), .seeked]
    }

    /// The present place, and the time listened since this was last called.
    mutating func heard(_ why: Heard.Why, _ now: Moment) -> Effect {
        isBorrowed = false
        var listened = BookTime.zero
        if let since = listeningSince {
            listened = BookTime(microseconds: max(0, now.monotonic - since))
            count(now)
        }
        return .heard(Heard(item: item!.id, place: target ?? place, listened: listened, why: why))
    }

    func index(of place: BookTime) -> Int {
        parts.isEmpty ? 0 : Timeline.index(at: place, count: parts.count) { parts[$0].start }
    }
}
