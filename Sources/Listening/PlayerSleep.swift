/// The sleep timer: what of it is left, the sound that fades, and the keys that a listener in the dark reaches for.
extension Player {
    /// The sound fades, or did when something interrupted it.
    struct Fade: Hashable, Sendable {
        /// Which load it is that fades, and of what.
        var load: LoadID
        var item: ItemID?
        /// Where the sound was still full.
        var from: BookTime
        let length: BookTime
        /// The way back in an item that came to its end meanwhile.
        var behind: Effect?
        /// No sound comes, so that none fades.
        var isHalted = false
    }

    /// Time passes for the sleep timer, and for journals and servers.
    public var isSounding: Bool { phase == .playing && !isAsking && !isBuffering }

    public var isFading: Bool { fade.map { !$0.isHalted } ?? false }

    /// How long until the sleep timer ends if playing goes on as it does.
    /// - Returns: nil without a timer, and where nobody can tell: its chapter is one of a later item.
    public func sleepLeft(at now: Moment, engine: BookTime?) -> BookTime? {
        switch sleep?.left {
        case nil: return nil
        case .time(let left):
            return max(.zero, left - BookTime(microseconds: soundSince.map { now.monotonic - $0 } ?? 0))
        case .chapters, .item:
            return sleepPlace.map { max(.zero, .seconds(($0 - position(engine: engine)).seconds / rate)) }
        }
    }

    /// Where the sleep timer ends, if that is a place of this item.
    private var sleepPlace: BookTime? {
        guard let item, let sleep else { return nil }
        switch sleep.left {
        case .time: return nil
        case .item: return item.duration
        case .chapters(let count):
            guard let index = item.chapterIndex(at: target ?? place) else { return count <= 1 ? item.duration : nil }
            return item.chapters.indices.contains(index + count - 1) ? item.chapters[index + count - 1].end : nil
        }
    }

    // MARK: Before an event

    /// Takes off the timer what was heard since the last event.
    mutating func countSleep(_ now: Moment) {
        guard let since = soundSince else { return }
        soundSince = now.monotonic
        switch sleep?.left {
        case .time(let left): sleep?.left = .time(left - BookTime(microseconds: max(0, now.monotonic - since)))
        case .chapters(let count):
            guard let before = sleepChapter, let here = item?.chapterIndex(at: target ?? place) else { return }
            // What lies between was played, or heard once more where the engine had to go back: jumps are seen in
            // ``settleSleep(_:)``.
            let passed = here - before
            sleep?.left = .chapters(max(0, count - passed))
            if let regained = sleep?.regained { sleep?.regained = max(0, regained - passed) }
            sleepChapter = here
        case .item, nil: break
        }
    }

    var isSleepDue: Bool {
        guard isSounding else { return false }
        switch sleep?.left {
        case .time(let left): return left <= .zero
        case .chapters(let count): return count <= 0
        // The engine says when the item ends.
        case .item, nil: return false
        }
    }

    /// - Returns: what a sign of being awake changes; nil if the event is none, or nothing fades.
    mutating func wakeUp(by event: Event) -> [Effect]? {
        guard fade != nil, event.isSignOfLife else { return nil }
        return prolongSleep()
    }

    /// The first key in the dark says "I am awake" and no more; once nothing is heard it does what it says, too.
    func onlyWakes(_ event: Event) -> Bool { phase == .playing && event.isKey }

    // MARK: Wishes

    mutating func wish(_ wish: SleepWish, _ now: Moment, engine: BookTime?) -> [Effect] {
        switch wish {
        case .set(let goal): sleep = SleepTimer(goal)
        case .off:
            guard sleep != nil || slept != nil else { return [] }
            sleep = nil
        case .prolong: return prolongSleep()
        case .extend(let more):
            guard let sleep else { return self.wish(.set(.time(more)), now, engine: engine) }
            // Where the end of it is not known it is at least behind what is.
            let rest = item.map { BookTime.seconds(($0.duration - (target ?? place)).seconds / rate) } ?? .zero
            let left = sleepLeft(at: now, engine: engine) ?? rest
            self.sleep = SleepTimer(sleep.asked)
            self.sleep?.left = .time(min(left + more, SleepWish.limit))
        }
        slept = nil
        return endFade() + [.sleepChanged]
    }

    private mutating func prolongSleep() -> [Effect] {
        switch sleep?.left {
        case nil: return []
        case .time(let left): sleep?.left = .time(min(max(.zero, left) + options.sleepExtend, SleepWish.limit))
        case .chapters(let count): sleep?.left = .chapters(min(count + 1, SleepWish.chapterLimit))
        case .item:
            let rest = sleepPlace.map { BookTime.seconds(($0 - (target ?? place)).seconds / rate) } ?? .zero
            sleep?.left = .time(max(.zero, rest) + options.sleepExtend)
        }
        return endFade() + [.sleepChanged]
    }

    /// Not the listener goes back: the timer ends where it would have.
    mutating func keepSleepEnd(from place: BookTime, backTo goal: BookTime) {
        guard case .chapters(let count) = sleep?.left, let item, let before = item.chapterIndex(at: place),
            let here = item.chapterIndex(at: goal)
        else { return }
        let more = max(0, before - here)
        sleep?.left = .chapters(min(count + more, SleepWish.chapterLimit))
        sleep?.regained += more
    }

    /// What was asked for, once more: the chapter that it ended with is over, though the place is back in it.
    private mutating func sleepAgain(_ goal: SleepTimer.Goal) {
        sleep = SleepTimer(goal)
        guard let ended = sleptAt, ended.item == item?.id else { return }
        keepSleepEnd(from: ended.place, backTo: target ?? place)
    }

    /// The listener goes elsewhere: from there the timer counts what was asked for.
    mutating func forgetSleepEnd() {
        sleptAt = nil
        guard case .chapters(let count) = sleep?.left, let regained = sleep?.regained else { return }
        sleep?.left = .chapters(max(1, count - regained))
        sleep?.regained = 0
    }

    /// The sound is as it was.
    private mutating func endFade() -> [Effect] {
        defer { fade = nil }
        guard let fade, fade.load == load else { return [] }
        return [.fade(load, nil)]
    }

    // MARK: After an event

    /// - Parameter wantedPlay: before the event.
    /// - Returns: what the timer makes of where things stand now.
    mutating func settleSleep(_ now: Moment, wantedPlay: Bool) -> [Effect] {
        var effects: [Effect] = []
        if let goal = slept, wantsPlay, !wantedPlay {
            slept = nil
            if options.sleepsAgain, sleep == nil {
                sleepAgain(goal)
                effects.append(.sleepChanged)
            }
        }
        sleepChapter = item?.chapterIndex(at: target ?? place)
        soundSince = isSounding ? now.monotonic : nil
        return effects + dim(now)
    }

    private mutating func dim(_ now: Moment) -> [Effect] {
        guard sleep != nil else { return endFade() }
        guard isSounding else {
            fade?.isHalted = true
            return []
        }
        guard let left = sleepLeft(at: now, engine: target ?? place), left <= options.sleepFade else {
            return fade == nil ? [] : endFade() + [.sleepChanged]
        }
        guard let fade else {
            guard left > .zero else { return [] }
            self.fade = Fade(load: load, item: item?.id, from: target ?? place, length: left)
            return [.fade(load, Fading(left: left, length: left)), .sleepChanged]
        }
        guard fade.load != load || fade.isHalted else { return [] }
        // The next item took over, or the sound was away: it goes on as softly as it was.
        self.fade?.isHalted = false
        self.fade?.load = load
        if fade.item != item?.id {
            self.fade?.item = item?.id
            self.fade?.from = target ?? place
        }
        return [.fade(load, Fading(left: left, length: fade.length))]
    }

    /// The end by time or chapter: a pause, back where the sound was still full.
    mutating func fallAsleep(_ now: Moment) -> [Effect] {
        let from = fade.flatMap { $0.load == load ? $0.from : nil }
        let ended = item.map { ($0.id, place) }
        let behind = [fade?.behind].compactMap(\.self)
        slept = sleep?.asked
        sleep = nil
        // What is jumped to is made ready at once, so that the full sound has to be back before.
        var effects = pause(now) + endFade()
        if options.sleepRewinds, let from, from != place {
            effects += jump(to: from, .sleep, now)
        } else if partIndex != index(of: place) {
            partIndex = index(of: place)
            effects.append(.seeked)
        }
        sleptAt = ended
        return effects + behind + [.sleepChanged]
    }

    /// The item was played to its end, and the sound fades on into what follows.
    mutating func fadesOn(behind item: Item) {
        guard fade?.behind == nil, let back = wayBack(in: item) else { return }
        fade?.behind = back
    }

    /// From the item's end to where the sound was still full.
    private func wayBack(in item: Item) -> Effect? {
        guard options.sleepRewinds, let fade, fade.load == load, fade.from < item.duration else { return nil }
        return .jumped(item.id, from: fade.from, to: item.duration, .sleep)
    }

    /// The item was played to its end.
    /// - Returns: whether listening ends with it.
    mutating func endsListening() -> Bool {
        switch sleep?.left {
        case .chapters(let count):
            sleep?.left = .chapters(max(0, count - 1))
            sleepChapter = nil
            return count <= 1
        case .item: return true
        case .time, nil: return false
        }
    }

    /// What is over with the item's end: it is finished, so that the way back is all that is kept of the fade.
    mutating func sleepAtEnd(of item: Item) -> [Effect] {
        let back = [wayBack(in: item)].compactMap(\.self)
        slept = sleep?.asked
        sleep = nil
        fade = nil
        return back + [.sleepChanged]
    }

    /// When the timer itself has something to do.
    func sleepWake(at now: Moment, engine: BookTime?) -> BookTime? {
        guard let left = sleepLeft(at: now, engine: engine) else { return nil }
        if fade == nil, options.sleepFade > .zero, left > .zero { return max(.zero, left - options.sleepFade) }
        // The end of the item is the engine's to say.
        return sleepPlace == item?.duration && sleepPlace != nil ? nil : left
    }
}

extension Player.Event {
    /// What is pressed without looking.
    fileprivate var isKey: Bool {
        switch self {
        case .play, .toggle, .pause(.listener), .next, .previous: true
        case .rate(let rate, _): rate == 0
        default: false
        }
    }

    /// Somebody is awake.
    fileprivate var isSignOfLife: Bool {
        switch self {
        case .opening(_, let turns): !turns
        case .seekPart, .setPartPosition, .goTo, .seek, .volume, .rate, .replace: true
        default: isKey
        }
    }
}
