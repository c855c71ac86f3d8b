/// What the engine says of itself: that it is there, arrived, at the end, or failed.
extension Player {
    mutating func heard(_ word: EngineReport.Word, _ now: Moment, _ engine: BookTime?) -> [Effect] {
        switch word {
        case .ready(let confirmed): return ready(at: confirmed, now)
        case .seeked(let confirmed):
            guard let wanted = target else { return [] }
            // Of several seeks only the last is waited for: an exact one lands within a frame or so, and of one that did
            // not the engine is not on its way to the target any more.
            guard confirmed.isNear(wanted) || engine.map({ !$0.isNear(wanted) }) ?? false else { return [] }
            arrive(at: confirmed)
            count(now)
            return []
        case .buffering(let waits):
            guard phase == .playing, !isAsking, waits != isBuffering else { return [] }
            let effect: [Effect] = waits ? [heard(.tick, now)] : [.seeked]
            isBuffering = waits
            count(now)
            return effect
        case .skipped: return phase == .playing && target == nil ? [.seeked] : []
        case .wentOn: return []
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
        if turn != nil { draggedOver?.at = now }
        turn = nil
        isConfirmed = true
        isLeft = false
        isBuffering = false
        error = nil
        var effects: [Effect] = []
        if let wanted = target, wanted != confirmed {
            effects.append(.seek(load, to: wanted))
        } else {
            arrive(at: confirmed)
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

    private mutating func arrive(at confirmed: BookTime) {
        target = nil
        place = confirmed
        arrivedAt = confirmed
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
        error = sentence(of: failure, in: item)
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

    /// A file of this computer is called what its listener calls it.
    private func sentence(of failure: EngineFailure, in item: Item) -> String {
        guard case .unreadable(let track, let reason) = failure, item.tracks.indices.contains(track) else {
            return failure.sentence
        }
        var sentence = failure.sentence
        if case .file(let path) = item.tracks[track].audio {
            sentence = "\(path.split(separator: "/").last ?? "") cannot be played: \(reason)"
        }
        return partIndex + 1 < parts.count ? "\(sentence); 'dogear next' passes over it" : sentence
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
            error = "the sound output is gone; 'dogear play' goes on through the one there is then (\(reason))"
        }
        return effects
    }

    /// A sound output may take what it is given and play nothing of it, and no further seek helps. It is opened anew.
    mutating func stuck(_ item: Item, _ now: Moment) -> [Effect] {
        if stands > 0, liesInSink(place) {
            place = arrivedAt
            partIndex = index(of: place)
        }
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
    mutating func retry(_ item: Item, play: Bool) -> [Effect] {
        let delay = BookTime.seconds(Double(min(failures, 2)))
        failures += 1
        phase = .opening(play: play)
        isBuffering = true
        return [.reopen(item.id, at: place, play: play, after: delay)]
    }
}

extension BookTime {
    fileprivate func isNear(_ other: BookTime) -> Bool {
        (microseconds - other.microseconds).magnitude < 1_000_000
    }
}
