extension Player {
    /// - Parameters:
    ///   - engine: the engine's position of the present load at `now`.
    /// - Returns: what to do, in order.
    public mutating func handle(_ event: Event, at now: Moment, engine: BookTime?) -> [Effect] {
        let here = position(engine: engine)
        if isConfirmed, target == nil { place = here }
        if turning != nil, event.isWithinItem { return [] }
        let returning = returning(now)
        if !returning.isEmpty, event == .tick || event == .report(EngineReport(load, .ended)) { return returning }
        countSleep(now)
        let wantedPlay = wantsPlay
        let woken = wakeUp(by: event)
        var effects = returning + (woken ?? [])
        if woken == nil || !onlyWakes(event) {
            effects += event == .tick && isSleepDue ? fallAsleep(now) : act(on: event, now, engine)
        }
        if let chosenRate, !isUnderWay {
            if let item { effects.append(.rememberRate(item.id, chosenRate)) }
            self.chosenRate = nil
        }
        return effects + settleSleep(now, wantedPlay: wantedPlay)
    }

    private mutating func act(on event: Event, _ now: Moment, _ engine: BookTime?) -> [Effect] {
        switch event {
        case .opening(let play, let turns): return beginOpening(play: play, turns: turns, now)
        case .cover(let id, let path):
            if item?.id == id { item?.coverPath = path }
            return []
        case .open(let item, let place, let play, let rate, let whole, let copy):
            isWhole = whole
            self.copy = copy
            return open(item, at: place, play: play, rate: rate)
        case .openFailed(let why, let mayReturn): return openFailed(why, mayReturn: mayReturn)
        case .serverAnswers:
            if isServersError { error = nil }
            return []
        case .accountChanged:
            error = nil
            return []
        case .restore(let item, let place, let rate, let finished, let paused, let copy):
            return restore(item, at: place, rate: rate, finished: finished, paused: paused, copy: copy)
        case .lineup(let lineup):
            self.lineup = lineup
            return []
        case .play: return play(now)
        case .pause: return pause(now)
        case .toggle: return wantsPlay ? pause(now) : play(now)
        case .stop: return stop(now)
        case .next: return next(now)
        case .previous: return previous(now)
        case .seekPart(let offset): return seekPart(by: offset, now)
        case .setPartPosition(let position): return setPartPosition(position, now)
        case .goTo(let index):
            return parts.indices.contains(index) ? jump(to: parts[index].start, .chapter, now) : []
        case .seek(let target, let cause): return jump(to: target, cause, now)
        case .rate(let rate, let isChosen): return setRate(rate, isChosen: isChosen, now)
        case .volume(let volume): return setVolume(volume)
        case .sleep(let wish): return self.wish(wish, now, engine: place)
        case .options(let options): return adopt(options)
        case .replace(let place, let finished, let cause): return replace(place, finished: finished, cause, now)
        case .answered(let question, let newer): return answered(question, newer, now)
        case .elsewhere(let newer): return elsewhere(newer, now)
        case .watched(let isWatched):
            self.isWatched = isWatched
            return []
        case .report(let report):
            // A mixer may be asked as something else is loaded.
            if case .volume = report.word { return heard(report.word, now, engine) }
            return report.load == load ? heard(report.word, now, engine) : []
        case .tick: return tick(now, engine)
        case .leave: return lastWords(.leave, now)
        }
    }

    // MARK: Opening

    /// The last words of what plays are told before the source starts the next: a server ends the one session when it
    /// opens the other.
    private mutating func beginOpening(play: Bool, turns: Bool, _ now: Moment) -> [Effect] {
        let turn: Turn? = turns ? turning ?? .cut : turning == .rolled ? .rolled : nil
        defer { self.turn = turn }
        var effects: [Effect] = []
        if let item, phase != .stopped {
            effects = lastWords(.stop, now)
            unloaded()
            effects += [.unload, .close(item.id)]
        }
        phase = .opening(play: play)
        chosen = nil
        error = nil
        isWithoutOutput = false
        return effects
    }

    private mutating func open(_ item: Item, at place: BookTime, play: Bool, rate: Double) -> [Effect] {
        // Finished by hand, or stopped before it began anew, while the source was asked: it is not begun.
        if phase == .stopped, isFinished, self.item?.id == item.id { return [] }
        // Play, pause or stop pressed while the source was asked counts.
        var wanted = play && phase != .stopped
        if case .opening(let pressed) = phase { wanted = pressed }
        let comesBack = isBuffering && self.item?.id == item.id
        let chosen = self.item?.id == item.id ? chosen : nil
        settle(item, at: chosen ?? place, rate: chosenRate ?? rate)
        isBuffering = comesBack
        load = load.next
        phase = .loading(play: wanted)
        return [.load(load, item.tracks, at: self.place, rate: self.rate, volume: volume)]
    }

    private mutating func settle(_ item: Item, at place: BookTime, rate: Double) {
        self.item = item
        parts = parts(of: item)
        self.place = place.clamped(to: .zero...item.duration)
        if self.place == item.duration { self.place = item.reachable(place) }
        partIndex = index(of: self.place)
        self.rate = rate.clamped(to: Self.rates)
        target = nil
        isConfirmed = false
        isBuffering = false
        isFinished = false
        listeningSince = nil
        pausedSince = nil
        landed = nil
        chosen = nil
        unseenSince = nil
        question = nil
        isBorrowed = false
        isUnheard = false
        isSilenced = false
        error = nil
    }

    private func parts(of item: Item) -> [Chapter] {
        if options.chaptersAsTracks, !isWhole {
            if item.chapters.count > 1 { return item.chapters }
            if item.tracks.count > 1 {
                return item.tracks.enumerated().map { index, track in
                    Chapter(
                        title: track.title ?? "Part \(index + 1)", start: track.start, end: track.start + track.duration
                    )
                }
            }
        }
        return [Chapter(title: item.title, start: .zero, end: item.duration)]
    }

    private mutating func adopt(_ options: Options) -> [Effect] {
        self.options = options
        guard let item, parts != parts(of: item) else { return [] }
        parts = parts(of: item)
        partIndex = index(of: target ?? place)
        return [.seeked]
    }

    private mutating func openFailed(_ why: String?, mayReturn: Bool) -> [Effect] {
        error = why
        turn = nil
        isServersError = mayReturn
        guard case .opening(let play) = phase else { return [] }
        if mayReturn, play, failures > 0, let item { return retry(item, play: play) }
        phase = item == nil ? .empty : .stopped
        setDown()
        isBuffering = false
        failures = 0
        return []
    }

    private mutating func restore(
        _ item: Item, at known: BookTime?, rate: Double, finished: Bool, paused: Bool, copy: Int
    ) -> [Effect] {
        guard phase == .empty || phase == .stopped || turning == .rolled else { return [] }
        isWhole = false
        self.copy = copy
        let place = known ?? .zero
        settle(item, at: finished && place >= item.duration ? .zero : place, rate: rate)
        isUnheard = known == nil
        isFinished = finished
        isLeft = paused
        let effects: [Effect] = phase == .empty ? [] : [.seeked]
        phase = .stopped
        turn = nil
        failures = 0
        return effects
    }

    // MARK: Play, pause, stop

    private mutating func play(_ now: Moment) -> [Effect] {
        switch phase {
        case .empty, .playing: return []
        case .opening: phase = .opening(play: true)
        case .loading: phase = .loading(play: true)
        case .paused where isSilenced:
            guard let item else { return [] }
            _ = resumeRewind(now)
            isSilenced = false
            phase = .opening(play: true)
            error = nil
            return [.reopen(item.id, at: target ?? place, play: true, after: .zero)]
        case .paused: return mayHaveMoved(now) ? ask() : resume(now)
        case .stopped:
            guard let item else { return [] }
            let start = isFinished ? .zero : item.reachable(place)
            phase = .opening(play: true)
            chosen = nil
            error = nil
            // From the end, or from where it was marked as finished, back to what is still to be heard.
            let back: [Effect] = start == place ? [] : [.jumped(item.id, from: place, to: start, .begin)]
            return back + [.reopen(item.id, at: isUnheard ? nil : start, play: true, after: .zero)]
        }
        return []
    }

    mutating func resume(_ now: Moment) -> [Effect] {
        let rewind = resumeRewind(now)
        phase = .playing
        count(now)
        resumedAt = now.monotonic
        error = nil
        return (rewind.map { [.seek(load, to: $0), .start(load), .seeked] } ?? [.start(load)])
    }

    mutating func pause(_ now: Moment) -> [Effect] {
        switch phase {
        case .empty, .paused, .stopped: return []
        case .opening:
            // What the queue goes on to is paused there; a stream that was coming back stays where it is, and play asks
            // again.
            phase = item == nil || turn != nil ? .opening(play: false) : .stopped
            isLeft = phase == .stopped
            isBuffering = false
            failures = 0
            return []
        case .loading:
            phase = .loading(play: false)
            return []
        case .playing where isAsking:
            question = nil
            phase = .paused
            return []
        case .playing:
            let heard = heard(.pause, now)
            phase = .paused
            isBuffering = false
            listeningSince = nil
            pausedSince = now.sinceStart
            unseenSince = now
            return [.pause(load), heard]
        }
    }

    private mutating func stop(_ now: Moment) -> [Effect] {
        guard let item, phase != .stopped || isSetDown else { return [] }
        var effects = lastWords(.stop, now)
        unloaded()
        isLeft = false
        if options.stopRestarts, let part {
            effects += [.jumped(item.id, from: place, to: part.start, .restart), .seeked]
            place = part.start
        }
        return effects + [.unload, .close(item.id)]
    }

    /// What does not play was not stopped by anyone: it is there to be played again.
    private mutating func setDown() { isLeft = isLeft || !isFinished }

    /// Nothing is loaded any more; the place stays.
    mutating func unloaded() {
        phase = .stopped
        turn = nil
        place = target ?? place
        target = nil
        isConfirmed = false
        isBuffering = false
        listeningSince = nil
        pausedSince = nil
        unseenSince = nil
        question = nil
        isSilenced = false
        failures = 0
        load = load.next
    }

    /// How far to go back after a pause: the longer it was, the more; never past the start of the chapter.
    private mutating func resumeRewind(_ now: Moment) -> BookTime? {
        defer { pausedSince = nil }
        guard options.resumeRewind, let pausedSince, let part else { return nil }
        let rewind: BookTime
        switch (now.sinceStart - pausedSince) / 1_000_000 {
        case ..<10: rewind = .zero
        case ..<60: rewind = .seconds(2)
        case ..<600: rewind = .seconds(5)
        case ..<3600: rewind = .seconds(10)
        default: rewind = .seconds(30)
        }
        let here = target ?? place
        let goal = max(part.start, here - rewind)
        guard goal < here else { return nil }
        target = goal
        landed = nil
        return goal
    }

    // MARK: The engine's words

    private mutating func heard(_ word: EngineReport.Word, _ now: Moment, _ engine: BookTime?) -> [Effect] {
        switch word {
        case .ready(let confirmed): return ready(at: confirmed, now)
        case .seeked(let confirmed):
            guard let wanted = target else { return [] }
            // Of several seeks only the last is waited for: an exact one lands within a frame or so, and of one that did
            // not the engine is not on its way to the target any more.
            guard confirmed.isNear(wanted) || engine.map({ !$0.isNear(wanted) }) ?? false else { return [] }
            target = nil
            place = confirmed
            count(now)
            return []
        case .buffering(let waits):
            guard phase == .playing, !isAsking, waits != isBuffering else { return [] }
            let effect: [Effect] = waits ? [heard(.tick, now)] : [.seeked]
            isBuffering = waits
            count(now)
            return effect
        case .skipped: return phase == .playing && target == nil ? [.seeked] : []
        case .volume(let volume):
            guard volume != self.volume else { return [] }
            self.volume = volume
            return [.rememberVolume(volume)]
        case .outputGone: return wantsPlay ? pause(now) : []
        case .ended:
            // Asked to go elsewhere before this was told: it is on its way there, but stands.
            if let wanted = target, let item, engine?.isNear(wanted) ?? false, item.duration - wanted > .second {
                return phase == .playing ? [.start(load)] : []
            }
            return ended(now)
        case .failed(let failure): return failed(failure, now)
        }
    }

    private mutating func ready(at confirmed: BookTime, _ now: Moment) -> [Effect] {
        guard case .loading(let play) = phase else { return [] }
        turn = nil
        isConfirmed = true
        isLeft = false
        isBuffering = false
        error = nil
        var effects: [Effect] = []
        if let wanted = target, wanted != confirmed {
            effects.append(.seek(load, to: wanted))
        } else {
            target = nil
            place = confirmed
        }
        partIndex = index(of: target ?? place)
        if play {
            phase = .playing
            count(now)
            // Written down before the first second is over: what was begun is what is gone on with.
            effects += [.start(load), heard(.tick, now)]
        } else {
            phase = .paused
            unseenSince = now
            // Begun at a place that was asked for, it may be news to the server.
            effects.append(heard(.pause, now))
        }
        return effects + [.seeked]
    }

    private mutating func ended(_ now: Moment) -> [Effect] {
        guard let item, isConfirmed else { return [] }
        // Who paused while the last of it was on its way out does not go on to what is next.
        let plays = wantsPlay
        target = nil
        // A jump to the very end, a bar dragged too far: nobody heard the end. What follows does so as behind Next.
        let dragged = landed.flatMap { item.duration - $0.place < .second ? $0.place : nil }
        let sleeps = endsListening()
        if !sleeps, lineup.loop == .track, let part { return again(from: part.start, play: plays, now) }
        let slept = sleeps ? sleepAtEnd(of: item) : []
        place = dragged ?? item.duration
        let isHeard = dragged == nil
        if isHeard, lineup.hasNext { fadesOn(behind: item) }
        let heard = heard(isHeard ? .end : .stop, now)
        unloaded()
        if isHeard {
            isFinished = true
            place = .zero
        }
        partIndex = index(of: place)
        let over = [heard] + (isHeard ? [.finished(item.id)] : []) + [.unload, .close(item.id)] + slept
        if sleeps, isHeard, canGoOn {
            // Who wakes up goes on with what follows or comes round: it is there to be played.
            isLeft = true
            if lineup.hasNext { return over + [.seeked, .follow(.onward)] }
        }
        guard canGoOn, !sleeps else {
            return over + [.seeked] + (sleeps || !isHeard || !plays ? [] : [.ranOut(item.id)])
        }
        phase = .opening(play: plays)
        turn = .rolled
        return over
            + [lineup.hasNext ? .follow(.onward) : .reopen(item.id, at: .zero, play: plays, after: .zero)]
    }

    /// A track that repeats at the item's end: who stays in it has not finished the item.
    private mutating func again(from start: BookTime, play: Bool, _ now: Moment) -> [Effect] {
        guard let item else { return [] }
        place = start
        let heard = heard(.stop, now)
        unloaded()
        phase = .opening(play: play)
        turn = .rolled
        return [heard, .unload, .close(item.id), .reopen(item.id, at: start, play: play, after: .zero)]
    }

    private mutating func failed(_ failure: EngineFailure, _ now: Moment) -> [Effect] {
        guard let item else { return [] }
        if case .noSink(let reason) = failure, isConfirmed { return silenced(item, reason, now) }
        var effects = lastWords(.stop, now)
        let wasConfirmed = isConfirmed
        let wasPlaying = isConfirmed || failures > 0
        let play = wantsPlay
        let failures = failures
        unloaded()
        setDown()
        self.failures = failures
        effects.append(.unload)
        error = failure.sentence
        isServersError = failure.isSilence
        if case .noSink = failure { isWithoutOutput = true }
        if wasConfirmed { stalls += 1 }
        if wasPlaying, play, failure.mayReturn, stalls < Self.patience { return effects + retry(item, play: play) }
        self.failures = 0
        stalls = 0
        // It was there to ask, and gave no more: that it answers is no news.
        if wasConfirmed { isServersError = false }
        return effects + [.close(item.id)]
    }

    /// The sound output failed: that is a pause, and playing again opens the output there is then. One that went away
    /// during a pause is only noticed when playing goes on: then that opens it anew, once.
    private mutating func silenced(_ item: Item, _ reason: String, _ now: Moment) -> [Effect] {
        let effects = lastWords(.pause, now) + [.unload]
        let since = pausedSince
        let wasPlaying = phase == .playing
        let isStale = wasPlaying && resumedAt.map { now.monotonic - $0 < 1_000_000 } ?? false
        if isStale { return openedAnew(item, effects) }
        unloaded()
        phase = .paused
        isSilenced = true
        pausedSince = since ?? now.sinceStart
        if wasPlaying {
            isServersError = false
            error = "the sound output is gone: \(reason); 'dogear play' goes on through the one there is then"
        }
        return effects
    }

    /// A sound output may take what it is given and play nothing of it, and no further seek helps. It is opened anew.
    private mutating func stuck(_ item: Item, _ now: Moment) -> [Effect] {
        stands += 1
        guard stands < Self.patience else {
            stands = 0
            return silenced(item, "nothing of what it gets is played", now)
        }
        return openedAnew(item, lastWords(.pause, now) + [.unload])
    }

    private mutating func openedAnew(_ item: Item, _ lastWords: [Effect]) -> [Effect] {
        unloaded()
        phase = .opening(play: true)
        return lastWords + [.reopen(item.id, at: place, play: true, after: .zero)]
    }

    /// Asks again at once, then after one and from then on every two seconds: a server that is back is noticed soon.
    private mutating func retry(_ item: Item, play: Bool) -> [Effect] {
        let delay = BookTime.seconds(Double(min(failures, 2)))
        failures += 1
        phase = .opening(play: play)
        isBuffering = true
        return [.reopen(item.id, at: place, play: play, after: delay)]
    }

    // MARK: Time

    private mutating func tick(_ now: Moment, _ engine: BookTime?) -> [Effect] {
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
            return effects + [.seek(load, to: part.start), .seeked]
        }
        partIndex = index
        return effects + [.seeked]
    }

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
            if stand != nil { stands = 0 }
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

    /// To the end of a track, from where playing led there.
    private func hasRun(from before: BookTime, into place: BookTime) -> Bool {
        place > before
            && item?.tracks.contains { $0.duration > .zero && $0.start + $0.duration == place } ?? false
    }

    /// What has not been told yet. Of a paused item all has been: told again, its place would pass for newer than what
    /// another device did since.
    private mutating func lastWords(_ why: Heard.Why, _ now: Moment) -> [Effect] {
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
    private mutating func returning(_ now: Moment) -> [Effect] {
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

extension Player.Event {
    /// Moves that mean a place of what is shown.
    fileprivate var isWithinItem: Bool {
        switch self {
        case .next, .previous, .seekPart, .setPartPosition, .goTo: true
        default: false
        }
    }
}

extension BookTime {
    fileprivate func isNear(_ other: BookTime) -> Bool {
        (microseconds - other.microseconds).magnitude < 1_000_000
    }
}
