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
            if item != nil { effects.append(.rememberRate(chosenRate)) }
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
        // Chosen, and not come to.
        if !turns { draggedOver = nil }
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
        let isSame = self.item?.id == item.id
        let comesBack = isBuffering && isSame
        let chosen = isSame ? chosen : nil
        let isWayBack = isSame && !isFinished && place == item.reachable(self.place)
        if chosen == nil, isWayBack { keepSleepEnd(from: self.place, backTo: place) }
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

    /// What Next and Previous go by within it: its chapters, else its files, else the whole.
    public func parts(of item: Item) -> [Chapter] {
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
            (place, target) = (target ?? place, nil)
            phase = .opening(play: true)
            error = nil
            return [.reopen(item.id, at: place, play: true, after: .zero)]
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
        let end = spot
        let back = endRewind()
        phase = .playing
        count(now)
        resumedAt = now.monotonic
        error = nil
        guard let item, let goal = back ?? rewind else { return [.start(load)] }
        let jumped: [Effect] = back.map { [.jumped(item.id, from: end, to: $0, .begin)] } ?? []
        return jumped + [.seek(load, to: goal), .start(load), .seeked]
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
    mutating func setDown() { isLeft = isLeft || !isFinished }

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

    /// The very end of what nothing follows would be over before anybody saw that it plays: as from where it is stopped.
    private mutating func endRewind() -> BookTime? {
        guard let item, !lineup.hasNext, lineup.loop == .off else { return nil }
        return rewind(to: item.reachable(spot))
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
        return self.rewind(to: max(part.start, spot - rewind))
    }

    /// - Returns: nil if it is there, or before.
    private mutating func rewind(to goal: BookTime) -> BookTime? {
        guard goal < spot else { return nil }
        keepSleepEnd(from: spot, backTo: goal)
        target = goal
        partIndex = index(of: goal)
        landed = nil
        return goal
    }
}

extension Player.Event {
    /// Moves that mean a place of what is shown.
    public var isWithinItem: Bool {
        switch self {
        case .next, .previous, .seekPart, .setPartPosition, .goTo: true
        default: false
        }
    }
}
