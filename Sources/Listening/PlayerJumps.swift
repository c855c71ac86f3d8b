/// Everything that moves the place on purpose.
extension Player {
    /// Previous within this much of a chapter's start goes to the one before, later to the start.
    static let restartLimit = BookTime.seconds(3)
    /// A rewind asked again within this much of a chapter's start goes on into the one before.
    static let rewindLimit = BookTime.second

    var spot: BookTime { target ?? place }

    mutating func next(_ now: Moment) -> [Effect] {
        guard let item, canGoNext else { return [] }
        switch step(options.next) {
        case .skip:
            let goal = spot + options.skipForward
            return goal < item.duration ? jump(to: goal, .seek, now) : []
        case .chapter where partIndex + 1 < parts.count: return jump(to: parts[partIndex + 1].start, .chapter, now)
        case .chapter, .queue: return lineup.hasNext ? [.follow(.onward)] : jump(to: .zero, .chapter, now)
        }
    }

    mutating func previous(_ now: Moment) -> [Effect] {
        guard let part else { return [] }
        let step = step(options.previous)
        if step == .skip { return jump(to: max(.zero, spot - options.skipBack), .seek, now) }
        let start = step == .chapter ? part.start : .zero
        guard spot - start < Self.restartLimit || isJustLanded(at: start, now) else {
            return jump(to: start, .chapter, now)
        }
        if step == .chapter, partIndex > 0 { return jump(to: parts[partIndex - 1].start, .chapter, now) }
        return lineup.hasPrevious ? [.follow(.back)] : jump(to: start, .chapter, now)
    }

    /// A silence at the start that is not heard takes the place far from it at once.
    private func isJustLanded(at start: BookTime, _ now: Moment) -> Bool {
        guard let landed, landed.place == start else { return false }
        return now.monotonic - landed.at.monotonic < Self.restartLimit.microseconds
    }

    mutating func seekPart(by offset: BookTime, _ now: Moment) -> [Effect] {
        guard let part else { return [] }
        let goal = spot + offset
        if goal < part.start {
            let isStuck = spot - part.start <= Self.rewindLimit && partIndex > 0
            return jump(to: isStuck ? max(.zero, goal) : part.start, .seek, now)
        }
        guard goal > part.end || (goal == part.end && partIndex + 1 == parts.count) else {
            return jump(to: goal, .seek, now)
        }
        guard partIndex + 1 < parts.count else { return next(now) }
        let following = parts[partIndex + 1]
        return jump(to: goal < following.end ? goal : following.start, .seek, now)
    }

    mutating func setPartPosition(_ position: BookTime, _ now: Moment) -> [Effect] {
        guard let item, let part, position >= .zero, position <= part.duration else { return [] }
        if position + Self.barEnd(of: part) >= part.duration, isDraggedOver(now) {
            draggedOver?.at = now
            return []
        }
        let isEnd = position + Self.lastMoment >= part.duration
        draggedOver = isEnd ? DraggedOver(item: item.id, part: part.start, at: now) : nil
        return jump(to: part.start + position, .seek, now)
    }

    /// A bar that was dragged to its end leads into the next part, and as long as it is held, and as it is let go, Plasma's
    /// asks for the end of whatever is there by then: that was not meant of this part, nor of the one behind it.
    struct DraggedOver {
        let item: ItemID
        /// Where the part began whose end was meant.
        let part: BookTime
        /// When it was last asked for, or what came of it came.
        var at: Moment

        func isGoing(_ now: Moment) -> Bool { now.monotonic - at.monotonic < 3_000_000 }
    }

    /// Who asks for a place this near to the end of a part hears nothing more of it.
    private static let lastMoment = BookTime.seconds(0.1)
    /// Where a bar is whose end is held, give or take a hand's trembling.
    private static func barEnd(of part: Chapter) -> BookTime {
        max(lastMoment, BookTime(microseconds: part.duration.microseconds / 20))
    }

    /// The end of another part than this was asked for a moment ago.
    public func isDraggedOver(_ now: Moment) -> Bool {
        guard let draggedOver, turn != nil || draggedOver.isGoing(now) else { return false }
        return draggedOver.item != item?.id || draggedOver.part != part?.start
    }

    mutating func jump(to goal: BookTime, _ cause: JumpCause, _ now: Moment) -> [Effect] {
        guard let item, item.duration > .zero else { return [] }
        let goal = goal.clamped(to: .zero...item.lastPlace)
        let from = spot
        // From the start of what was heard to its end to that start, or on from its end: nobody takes back a finish by
        // going nowhere.
        if goal == from, cause != .undo, cause != .finish {
            switch phase {
            case .stopped, .opening: return []
            case .empty, .loading, .playing, .paused: break
            }
        }
        var effects: [Effect] = []
        switch phase {
        case .empty: return []
        case .playing, .paused:
            if case .heard(let before) = heard(.tick, now) {
                target = goal
                // What was listened to before the jump belongs to it; the place is already the new one.
                effects = [.heard(Heard(item: item.id, place: goal, listened: before.listened, why: .seek))]
            }
            effects.append(.seek(load, to: goal))
            pausedSince = nil
            unseenSince = now
            landed = (goal, now)
            if isAsking {
                (question, resumedAt) = (nil, now.monotonic)
                effects.append(.start(load))
            }
            count(now)
        case .loading:
            target = goal
            landed = (goal, now)
            // Chosen by the listener: true whatever the pipeline says.
            effects = [.heard(Heard(item: item.id, place: goal, listened: .zero, why: .seek))]
        // What is shown has ended, and of what comes nothing is known yet.
        case .opening where turn != nil: return []
        case .opening, .stopped:
            // What failed was where the place was.
            if phase == .stopped { error = nil }
            place = goal
            // Stopped or not, the source may still be asked.
            chosen = goal
            isUnheard = false
            effects = [.placed(item.id, goal)]
        }
        forgetSleepEnd()
        // A slip of a key, which undo takes back with the mark.
        let takesBack = isFinished && (cause == .seek || cause == .chapter)
        (isFinished, isBorrowed) = (false, false)
        partIndex = index(of: goal)
        return effects + [.jumped(item.id, from: from, to: goal, takesBack ? .unfinish : cause), .seeked]
    }

    mutating func setRate(_ wanted: Double, isChosen: Bool, _ now: Moment) -> [Effect] {
        guard wanted.isFinite else { return [] }
        if wanted == 0 { return pause(now) }
        let wanted = wanted.clamped(to: Self.rates)
        if isChosen, isUnderWay { chosenRate = wanted }
        // What is chosen once more is chosen all the same: it may have been another's before.
        let remember: [Effect] = isChosen && !isUnderWay && item != nil ? [.rememberRate(wanted)] : []
        guard wanted != rate else { return remember }
        rate = wanted
        switch phase {
        case .playing, .paused, .loading: return [.setRate(load, wanted)] + remember + [.seeked]
        case .empty, .opening, .stopped: return remember
        }
    }

    mutating func setVolume(_ wanted: Double) -> [Effect] {
        guard wanted.isFinite else { return [] }
        // Some clients count in floats: 0.35 comes as 0.3499999940.
        let wanted = (wanted.clamped(to: 0...1) * 1_000_000).rounded() / 1_000_000
        let remember: [Effect] = wanted == volume ? [] : [.rememberVolume(wanted)]
        volume = wanted
        // The same once more is news where a mixer was moved that nobody has told of yet.
        return [.setVolume(wanted)] + remember
    }

    mutating func replace(_ goal: BookTime, finished: Bool, _ cause: JumpCause, _ now: Moment) -> [Effect] {
        guard item != nil else { return [] }
        let effects = jump(to: goal, cause, now)
        (isFinished, isBorrowed) = (finished, false)
        // Whoever sets it keeps it, too.
        return effects.filter { if case .placed = $0 { false } else { true } }
    }
}

extension EngineFailure {
    /// Worth asking the source again: a session that ended, a server that is away.
    var mayReturn: Bool {
        switch self {
        case .notFound, .refused, .unreachable: true
        case .missingDecoder, .unreadable, .noSink, .other: false
        }
    }

    /// Over once the server answers anything at all.
    var isSilence: Bool { if case .unreachable = self { true } else { false } }

    /// For people, with the next step.
    public var sentence: String {
        switch self {
        case .missingDecoder(let what, let package?):
            "cannot decode \(what); install the decoder with: sudo apt install \(package)"
        case .missingDecoder(let what, nil): "cannot decode \(what); install the GStreamer plugin for it"
        case .notFound: "the audio is no longer there; it may have been removed from the library"
        case .refused: "the server refused the audio; run 'dogear doctor'"
        case .unreachable(let reason): "the audio stopped coming: \(reason)"
        case .unreadable(let track, let reason): "audio file \(track + 1) cannot be played: \(reason)"
        case .noSink(let reason): "no sound output: \(reason); 'dogear doctor' says what to do"
        case .other(let reason): "playing failed: \(reason)"
        }
    }
}
