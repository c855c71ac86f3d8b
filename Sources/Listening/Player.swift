/// What is being listened to and where: the one machine behind every way in (media keys, command line, end of file, other
/// devices). Takes one event, moves, and says what must now be done, in order. Touches nothing itself.
public struct Player: Sendable {
    public enum Phase: Hashable, Sendable {
        /// Nothing to listen to. -> opening, stopped
        case empty
        /// The source is asked for the item, again or for the first time. -> loading, stopped, empty
        case opening(play: Bool)
        /// The engine has it and has not confirmed a place. -> playing, paused, stopped, opening
        case loading(play: Bool)
        case playing
        case paused
        /// The place is known, nothing is loaded; play goes on. -> opening
        case stopped
    }

    public struct Options: Hashable, Sendable {
        /// What Next and Previous go by.
        public enum Step: String, Hashable, Sendable {
            /// From the last chapter on into the queue, and back; items without chapters go by the queue at once, and
            /// where that is empty too, by time.
            case chapter
            case skip
            /// Whole items, whatever chapters they have.
            case queue
        }
        /// Chapters are MPRIS tracks, or files where there are no chapters; else the whole item is one.
        public var chaptersAsTracks = true
        public var next = Step.chapter
        public var previous = Step.chapter
        public var skipForward = BookTime.seconds(30)
        public var skipBack = BookTime.seconds(15)
        public var stopRestarts = false
        public var resumeRewind = true
        /// How long the sound fades before the sleep timer ends; zero: it does not.
        public var sleepFade = BookTime.seconds(20)
        /// Back to where the sound was still full when the sleep timer has ended.
        public var sleepRewinds = true
        /// By how much a key puts the sleep timer off.
        public var sleepExtend = BookTime.seconds(900)
        /// Playing again after the sleep timer has ended sets it again.
        public var sleepsAgain = false

        public init() {}
    }

    public internal(set) var phase = Phase.empty
    public internal(set) var item: Item?
    /// The item was asked for as one track.
    public internal(set) var isWhole = false
    /// Which of the queue's entries of this item it is.
    public internal(set) var copy = 0
    /// MPRIS tracks of the item: its chapters, else its files, else all of it.
    public internal(set) var parts: [Chapter] = []
    public internal(set) var partIndex = 0
    public internal(set) var rate = 1.0
    public internal(set) var volume = 1.0
    /// Playing, but no data comes.
    public internal(set) var isBuffering = false
    /// What went wrong last, until something goes right.
    public internal(set) var error: String?
    /// That was the server's doing, and is over when it answers.
    var isServersError = false
    /// Whatever had been asked for would have failed so: there is no sound output.
    public internal(set) var isWithoutOutput = false
    public internal(set) var load = LoadID(number: 0)
    public internal(set) var options = Options()

    /// What waits behind the item.
    public internal(set) var lineup = Lineup()
    /// On the way from one item to another of the queue.
    var turn: Turn?

    /// The last place known for certain, or asked for.
    var place = BookTime.zero
    /// The target of a seek the pipeline has yet to confirm; what position answers meanwhile.
    var target: BookTime?
    /// Nothing is journalled before the pipeline confirmed a place of this load.
    var isConfirmed = false
    /// Since when time counts as listened: while sound comes.
    var listeningSince: Int64? {
        didSet { if listeningSince == nil { stand = nil } }
    }
    /// Of ``Moment/sinceStart``: a pause goes on while the computer sleeps.
    var pausedSince: Int64?
    /// Playing is wanted after a long pause, and this is asked before the sound comes.
    var question: Question?
    var questions: UInt64 = 0
    /// Paused, and since when other devices may have gone on unseen.
    var unseenSince: Moment?
    /// The place is another device's, and nothing was heard here since.
    var isBorrowed = false
    /// It stands at the beginning because nothing of it is known here, which is no place that the listener chose.
    var isUnheard = false
    /// The server tells at once what other devices do, and nothing was missed.
    public internal(set) var isWatched = false
    /// Paused because the sound output failed: nothing is loaded, play asks the source again.
    var isSilenced = false
    /// When a pause last ended.
    var resumedAt: Int64?
    /// Failures in a row of a stream that had played.
    var failures = 0
    /// How often in a row it could be opened, and failed before a second of it was heard.
    var stalls = 0
    /// So often that is tried again: a server that goes away is waited for, one whose file is broken is not.
    static let patience = 5
    /// Where the engine said at a tick that the sound is, since when it has hardly moved, and for how many ticks.
    var stand: (place: BookTime, since: Int64, ticks: Int, isOverrun: Bool)?
    /// So long the sound may stand still, in microseconds, and at least for so many ticks.
    static let longestStand: (time: Int64, ticks: Int) = (5_000_000, 3)
    /// Where a file goes on behind the end it is said to have, the place stands at that; but not for ever.
    static let longestOverrun: Int64 = 3_600_000_000
    /// Where the listener was at ``listeningSince``.
    var listeningFrom = BookTime.zero
    /// Microseconds between two ticks, of which there is one a second: on a busy machine it may be two seconds late, while
    /// the sound goes on.
    static let longestGap: Int64 = 3_000_000
    /// How often in a row that was mended in vain.
    var stands = 0
    /// Where the engine last said that it is there, opened or sought.
    var arrivedAt = BookTime.zero
    /// Where the last jump of this load led, and when.
    var landed: (place: BookTime, at: Moment)?
    /// A desktop's bar was dragged to its end.
    var draggedOver: DraggedOver?
    /// A place the listener chose while the source was asked.
    var chosen: BookTime?
    /// A speed the listener chose for what is on its way.
    public internal(set) var chosenRate: Double?
    /// The item was played to its end; playing again starts at its beginning.
    public internal(set) var isFinished = false {
        didSet { if isFinished { isLeft = false } }
    }
    /// Nobody stopped it: it is there from an earlier run, or was paused before it could be loaded.
    var isLeft = false
    /// Stopped, as nothing is loaded, and paused for whoever looks.
    public var isSetDown: Bool { phase == .stopped && isLeft }

    /// When listening is to end by itself.
    public internal(set) var sleep: SleepTimer?
    /// The end of that is near.
    var fade: Fade?
    /// The sleep timer that ended; nil once something plays again.
    var slept: SleepTimer.Goal?
    /// Where that was, until the listener goes elsewhere: the place went back from there.
    var sleptAt: (item: ItemID, place: BookTime)?
    /// Since when sound has come that is not yet taken off the timer.
    var soundSince: Int64?
    /// The chapter that was heard at the last event.
    var sleepChapter: Int?

    /// Playing is wanted; whether another device went on meanwhile is being asked.
    public var isAsking: Bool { question != nil }

    public static let rates = 0.5...3.0

    public init(options: Options = Options()) { self.options = options }

    /// Where the listener is, on the item's timeline.
    /// - Parameter engine: what the engine says of the present load.
    public func position(engine: BookTime?) -> BookTime {
        guard let item else { return .zero }
        let now = target ?? (isConfirmed ? engine : nil) ?? place
        return now.clamped(to: .zero...max(.zero, item.duration))
    }

    /// Where the listener is in the present part, from 0 to its length.
    public func partPosition(engine: BookTime?) -> BookTime {
        guard let part else { return .zero }
        return (position(engine: engine) - part.start).clamped(to: .zero...part.duration)
    }

    public var part: Chapter? { parts.indices.contains(partIndex) ? parts[partIndex] : nil }
    public var hasChapterParts: Bool { parts.count > 1 }

    /// Sound is wanted, whether or not it comes already.
    public var wantsPlay: Bool {
        switch phase {
        case .playing: true
        case .opening(let play), .loading(let play): play
        case .empty, .paused, .stopped: false
        }
    }

    /// How one item gives way to another without anyone choosing it.
    public enum Turn: Hashable, Sendable {
        /// It came to its end.
        case rolled
        /// Next or Previous was pressed.
        case cut
    }

    /// What is to be heard is not there yet, and what was heard is over: nothing of the new item is shown before it is true.
    public var turning: Turn? { isUnderWay ? turn : nil }

    /// The source is asked, or the engine has yet to confirm a place.
    public var isUnderWay: Bool {
        switch phase {
        case .opening, .loading: true
        case .empty, .playing, .paused, .stopped: false
        }
    }

    public var canGoNext: Bool {
        guard item != nil else { return false }
        switch step(options.next) {
        case .chapter: return partIndex + 1 < parts.count || canGoOn
        case .queue: return canGoOn
        case .skip: return parts.last.map { (target ?? place) + options.skipForward < $0.end } ?? false
        }
    }
    /// There is always the start to go back to.
    public var canGoPrevious: Bool { item != nil }
    /// Behind the item something else follows, or its own start.
    var canGoOn: Bool { lineup.hasNext || lineup.loop == .queue }

    func step(_ wanted: Options.Step) -> Options.Step {
        guard wanted == .chapter, !hasChapterParts else { return wanted }
        return canGoOn || lineup.hasPrevious ? .queue : .skip
    }

    /// How long until time alone changes something: the next journal line, chapter, or border of what Next can do.
    /// - Returns: nil while nothing moves by itself.
    public func wake(at now: Moment, engine: BookTime?) -> BookTime? {
        guard phase == .playing, !isAsking, !isBuffering, let part else { return nil }
        let place = position(engine: engine)
        // Past the border already: something else came just before the tick that was due there.
        if place >= part.end, partIndex + 1 < parts.count { return BookTime(microseconds: 1000) }
        var borders = [part.end]
        if step(options.next) == .skip, let end = parts.last?.end { borders.append(end - options.skipForward) }
        let times = borders.filter { $0 > place }.map { BookTime.seconds(($0 - place).seconds / rate) }
        let next = (times + [sleepWake(at: now, engine: engine)].compactMap(\.self)).min()
        // A second after the last line, whatever else happened since.
        let line = BookTime.second - BookTime(microseconds: listeningSince.map { now.monotonic - $0 } ?? 0)
        let stands = stand.map { $0.ticks > 0 && now.monotonic - $0.since >= Self.standingTick.microseconds } ?? false
        return max(min(line, next ?? line), stands ? Self.standingTick : BookTime(microseconds: 1000))
    }

    /// Close to a border the sound may stand, and what is left to it stay as little.
    private static let standingTick = BookTime.seconds(0.05)
}

extension Player {
    public enum Event: Hashable, Sendable {
        /// The source has found something to play and is about to start it: what plays ends here. `turns`: it follows from
        /// the queue.
        case opening(play: Bool, turns: Bool = false)
        /// A picture of the item came.
        case cover(ItemID, path: String)
        /// The source gave it. `rate` is what was remembered for it; `whole`: one MPRIS track, whatever its chapters.
        /// `copy`: which of the queue's entries of this item it is.
        case open(Item, at: BookTime, play: Bool, rate: Double, whole: Bool = false, copy: Int = 0)
        /// The source could not. `mayReturn`: the server did not answer; worth another try.
        case openFailed(String?, mayReturn: Bool)
        /// The server that could not give it answers again.
        case serverAnswers
        /// Its account was logged in to again, or out of: what went wrong with it is nobody's affair any more.
        case accountChanged
        /// Known from the journal at start, gone to while stopped, or behind an end what is next and cannot be played: can
        /// be resumed, is not loaded.
        /// `at`: nil where nothing of it is known here. `paused`: see ``Player/isSetDown``.
        case restore(Item, at: BookTime?, rate: Double, finished: Bool, paused: Bool, copy: Int = 0)
        /// The queue changed.
        case lineup(Lineup)
        case play
        case pause(Cause)
        case toggle
        case stop
        case next
        case previous
        /// Within the present part, as MPRIS seeks.
        case seekPart(by: BookTime)
        case setPartPosition(BookTime)
        case goTo(part: Int)
        /// On the whole timeline.
        case seek(to: BookTime, JumpCause = .seek)
        /// `isChosen`: by the listener, so that it is remembered.
        case rate(Double, isChosen: Bool = true)
        case volume(Double)
        case sleep(SleepWish)
        /// The listener changed the settings.
        case options(Options)
        /// The listener's place was set from outside: restart, finish, another device.
        case replace(BookTime, finished: Bool, JumpCause)
        case report(EngineReport)
        /// What came of a question: another device's newer place, or nil: none, or no answer in time.
        case answered(Question, newer: Place?)
        /// Another device went on: its newer place.
        case elsewhere(Place)
        /// Whether the server tells at once, and without a gap, what other devices do to this item.
        case watched(Bool)
        /// Time passed.
        case tick
        /// The program leaves.
        case leave
    }

    public enum Cause: String, Hashable, Sendable { case listener, system }

    /// What moved the place; kept with each move.
    public enum JumpCause: String, Hashable, Sendable {
        case seek, chapter, undo, restart, finish, sleep
        /// What was finished is no more: by command, or gone into again.
        case unfinish
        /// Another device's newer place.
        case device
        /// Playing was begun at a place that was asked for.
        case begin
    }

    public enum Effect: Hashable, Sendable {
        case load(LoadID, [Track], at: BookTime, rate: Double, volume: Double)
        case start(LoadID)
        case pause(LoadID)
        case seek(LoadID, to: BookTime)
        case setRate(LoadID, Double)
        case setVolume(Double)
        case unload
        /// The place, and the time listened since the last one of these.
        case heard(Heard)
        /// Ask the source for the item again, after so long, to go on from here.
        case reopen(ItemID, at: BookTime?, play: Bool, after: BookTime)
        /// Open what the queue has before or behind this item, to play if ``Player/wantsPlay`` says so.
        case follow(Direction)
        /// The listening to this item is over for now: close its session.
        case close(ItemID)
        /// Played to its real end.
        case finished(ItemID)
        /// Nothing is lined up behind what was played to its end, and listening was not to end.
        case ranOut(ItemID)
        case jumped(ItemID, from: BookTime, to: BookTime, JumpCause)
        /// The listener chose another place while nothing is loaded.
        case placed(ItemID, BookTime)
        /// Ask the server where the listener is; answer with ``Event/answered(_:newer:)`` within a second whatever it does.
        case ask(Question)
        /// Another device's newer place is ours now: keep it under its own time, and tell the server nothing older.
        case took(Place)
        /// Announce a discontinuity of the position, after the changed properties.
        case seeked
        case rememberRate(Double)
        case rememberVolume(Double)
        /// From now on the sound dies away; nil: it is full again, at once.
        case fade(LoadID, Fading?)
        /// The sleep timer was set, moved or taken out, has ended, or its end has begun.
        case sleepChanged
    }

    public enum Direction: Hashable, Sendable { case onward, back }

    public struct Heard: Hashable, Sendable {
        public enum Why: Hashable, Sendable { case tick, pause, seek, stop, end, leave }
        public let item: ItemID
        public let place: BookTime
        /// Wall-clock time in Playing.
        public let listened: BookTime
        public let why: Why

        public init(item: ItemID, place: BookTime, listened: BookTime, why: Why) {
            self.item = item
            self.place = place
            self.listened = listened
            self.why = why
        }
    }
}
