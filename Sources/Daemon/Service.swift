internal import Control
internal import DBus
internal import EventLoop
internal import Folders
internal import FoundationEssentials
internal import Glibc
internal import Listening
internal import Logging
internal import MPRIS
internal import SDBus
internal import Store

/// The daemon's one desk, on the Loop: hands events to the machines and performs what they answer, in order.
@LoopActor final class Service {
    let bus: Bus
    let engine: any Engine
    let store: Store
    let shelves: Shelves
    let files: any Source
    let addresses: any Source
    let settings: SettingsDesk
    let paths: Paths
    let environment: [String: String]
    let profile: Profile
    /// Also the name of what starts it. GNOME does that as its card is clicked: no other profile may answer.
    let desktopEntry: String
    let time: any Timekeeper
    let spread: @Sendable () -> Double
    /// Playing, and a command that can do without, do not wait longer than this for a server.
    let patience: BookTime
    /// Who has waited so long is told that it may take longer, or wants something else.
    var longWait: BookTime { .seconds(patience.seconds * 12) }
    /// Longer than that nobody waits for what begins to play by itself, once it can.
    var longestWait: BookTime { .seconds(patience.seconds * 40) }
    /// When this run began: microseconds, monotonic.
    let began: Int64
    let onQuit: @LoopActor () -> Void
    let log = Logger(label: "Daemon")

    // MARK: The machines, and what works beside them

    private(set) var player: Player
    /// Changed by ``sync(_:)``, which carries out what comes of it.
    var sync = Sync()
    /// What plays next; changed by ``line(_:)``.
    var queue = Queue()
    /// What was listened to, for the history.
    var diary = Diary()
    /// What can be gone on with.
    let begun: Begun
    let live: LiveUpdates
    /// The index of the libraries; nil: there is none, and servers are asked.
    var librarian: Librarian? {
        didSet {
            librarian?.listen { [weak self] in
                self?.emitRefreshed()
                self?.choicesChanged()
                if self?.librarian?.isBusy == false { self?.surroundings?.giveBack(after: .second, hasBegun: true) }
            }
        }
    }
    /// The computer and the desktop around the player.
    var surroundings: Surroundings?
    var notices: Notices?
    let drains = Drains()
    /// What can be played here; empty until GStreamer has said.
    var mediaTypes: [String] = []
    private var playerTimer: LoopTimer?
    var syncTimer: LoopTimer?
    var syncDeadline: Int64?
    /// See ``today(at:)``.
    var today: (minute: Int64, day: Day)?

    // MARK: Beginning and end

    /// The journal has been read; what was asked before that waits here.
    var isRestored = false
    var early: [@LoopActor () -> Void] = []
    /// What this run began with.
    var starter = Starter.unknown
    /// These are the last words.
    var isLeaving = false
    /// Logins whose secrets have not come yet.
    var readingSecrets = 0

    // MARK: What is on its way

    /// Numbers each wish to open something: a later one makes an earlier one's answer stale.
    var opening = 0 {
        didSet {
            let waiting = onNextOpening
            onNextOpening = []
            for body in waiting { body() }
        }
    }
    /// Those that wait for an answer which would be stale by then.
    var onNextOpening: [@LoopActor () -> Void] = []
    /// Counts what the listener asks to play, and each stop: who is still looking for what earlier words mean is too late.
    var wishes = 0
    /// What is being found and opened.
    var finding: Finding?
    /// Calls that wait until what they opened plays or could not.
    /// By number: the first that came has the lowest.
    var waiters: [Int: Waiter] = [:]
    var waited = 0
    /// Why the last opening failed, for those who wait for it.
    var failure: ControlError?
    /// What could not be opened last.
    var wanted: ItemID?
    /// The opening that what was there before goes on behind, if it fails.
    var retreat: Int?
    /// What the player would have done by itself, had the listener not asked for something that is on its way: done if that
    /// cannot be played.
    var putOff: Player.Effect?
    /// Where the queue is on its way to, until that plays or cannot.
    var heading: Heading?
    /// Where the queue was on its way to when something from outside it was asked for: gone on with if that cannot be
    /// played.
    var displaced: Heading?
    var going: Task<Void, Never>?
    /// Counts those: a later one makes an earlier one stale.
    var goings = 0
    /// The last of them that gave way to something from outside the queue.
    var overtaken = 0
    private var reopenTimer: LoopTimer?

    // MARK: The queue

    /// It is what the journal had, or has become of that: one that could not be read must not be written over.
    var isQueueKnown = false
    /// How often it was emptied by hand: what was being added then is not wanted any more.
    var clearings = 0
    /// Ends once the last track that was to be added is, or could not be, and all before it.
    var added: AsyncStream<Never>?
    /// Of the queue's entries the one that could not be played last.
    var stuck: Queue.Key?
    /// Taken out of the queue while it was the present one.
    var leaving: Queue.Key?

    // MARK: The place

    /// The place of the present item as it was last written down, here or by another device.
    var told: Place?
    /// The last words of the server on what other devices did, as they were taken over.
    var borrowed: [ItemID: Place] = [:]
    /// Another device may have gone on with this; the server is asked when it has all of ours.
    var doubted: ItemID?
    /// Whether the journal has it as stopped.
    var keptStopped: Bool?
    /// Whose speed that of the present item is: an id of ``Item/rateKeys``; nil: the default.
    var rateKey: ItemID?
    /// Counts what a server was told of bookmarks: what it said before that is out of date.
    var bookmarkChanges = 0

    // MARK: What the desktop knows

    private(set) var shown = PlayerProperties(of: Player())
    var between: Between?
    var drought: Drought?
    /// What it was told of lists.
    var lists = Lists()
    var pictures: Pictures
    private(set) var followed = Followed()
    private var lastSeeked: Int64 = -1
    /// The sound has yet to keep pace.
    var settling: Settling?
    private(set) var ownsMPRIS = false
    /// Nil: none is wanted, or the bus gives none.
    private(set) var nameMPRIS: String?
    private var cinnamon: (watch: NameWatch, timer: LoopTimer?)?
    /// The status as it was told last.
    var announced: StatusReport?
    /// The status is about to be told.
    var statusTimer: LoopTimer?
    /// See ``tellPlace(after:)``.
    private var placeTimer: LoopTimer?

    // MARK: What the listener is told

    /// Told to the listener until it is over: a journal that cannot be written.
    var trouble: String?
    /// Told as long as this run lasts: a journal that had to be begun anew.
    var notice: String?
    /// What a source had to say of the present item.
    var remark: (item: ItemID, text: String)?
    /// Why the queue did not go on, or what somebody asked for who waits no more cannot be played; told until something
    /// plays or the queue changes.
    var queueTrouble: String?
    /// Commands to play or move that are being answered: who asked is told what goes wrong.
    var answering = 0
    /// Of these, how many are told by a notice alone, in the end.
    var choosing = 0

    enum Starter {
        case unknown
        /// Typing into it asks all programs that can be asked, by which the bus starts them. Keys are not meant for us then.
        case launcher
        case listener
    }

    /// - Parameter spread: random, 0..<1: how far tries again lie apart.
    init(
        bus: Bus, engine: any Engine, store: Store, shelves: Shelves, files: any Source, addresses: any Source,
        settings: SettingsDesk, paths: Paths, environment: [String: String], profile: Profile = .usual,
        time: any Timekeeper = RealTime(), spread: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        onQuit: @escaping @LoopActor () -> Void
    ) {
        self.bus = bus
        self.engine = engine
        self.store = store
        self.shelves = shelves
        self.files = files
        self.addresses = addresses
        self.settings = settings
        self.paths = paths
        self.environment = environment
        pictures = Pictures(environment: environment)
        self.profile = profile
        desktopEntry = Self.desktopEntry(of: profile, environment)
        patience =
            environment["DOGEAR_PATIENCE"].flatMap(Double.init).map { .seconds($0.clamped(to: 0...3600)) }
            ?? .seconds(0.7)
        self.time = time
        began = time.now.monotonic
        self.spread = spread
        self.onQuit = onQuit
        player = Player(options: settings.playerOptions)
        engine.setSound(settings.sound)
        begun = Begun(store: store)
        live = LiveUpdates(shelves: shelves, time: time, spread: spread)
        live.listen { [weak self] report in
            guard let self else { return }
            librarian?.heard(report, of: live.account?.id)
            heard(live: report)
        }
        shelves.listen { [weak self] in self?.answered(by: $0) }
        shelves.onNews = { [weak self] in self?.announceNews() }
    }

    // MARK: Events

    /// What is told of in the status is gone with the next command; the log keeps it.
    func hear(_ report: EngineReport) {
        if report.load == player.load {
            switch report.word {
            case .failed(let failure): log.warning("it does not play on", metadata: ["why": "\(failure.sentence)"])
            case .outputGone: log.notice("what it was heard through is gone")
            case .buffering(true) where player.phase == .playing:
                log.notice("it waits for more of what it plays")
            case .ready, .seeked, .buffering, .skipped, .wentOn, .volume, .ended: break
            }
        }
        send(.report(report))
    }

    func send(_ event: Player.Event) { _ = carryOut(event) }

    /// - Returns: false if nothing came of it.
    func carryOut(_ event: Player.Event) -> Bool {
        // What was said last holds: the sound has ended, and time that passes is not heard.
        if isLeaving, event != .leave { return true }
        if event == .stop { wishes += 1 }
        if heedWhileGoing(event) || heedWhileFinding(event) { return true }
        if event == .stop { giveUpReopening() }
        let now = time.now
        let effects = player.handle(event, at: now, engine: engine.position(player.load))
        let isAstray = (event.turnsClock || event == .tick && !isToldLately) && isAstray
        let seeked = effects.contains(.seeked) || isAstray
        let played = shown.status == .playing
        // What the desktop waits for comes before rows and requests, where these change nothing of it.
        let isShown = effects.allSatisfy(\.isBehindWhatIsShown)
        if isShown { announce(seeked: seeked) }
        for effect in effects { perform(effect, now) }
        if !isShown { announce(seeked: seeked) }
        if effects.isEmpty { recallPlace(after: event) }
        if event == .next, effects.isEmpty, let whyNothingIsNext { notices?.nothingIsNext(whyNothingIsNext) }
        schedulePlayer()
        // What stood long enough to be shown as paused goes on without a word of the engine's.
        let isBack = !played && shown.status == .playing
        if event.turnsClock || isBack || effects.contains(where: \.turnsClock)
            || isAstray && settling == nil && !player.isOverrun
        {
            watchSettling()
        }
        settleWaiters()
        live.follow(player.item?.id)
        surroundings?.plays(player.wantsPlay)
        notices?.lookAtSleep()
        notices?.lookAtTrouble()
        announceNews()
        return !effects.isEmpty
    }

    /// Who asked is told what goes wrong: until ``answered(isRead:)`` nobody else is.
    /// - Parameter isRead: see ``choosing``.
    func willAnswer(isRead: Bool = true) {
        answering += 1
        if !isRead { choosing += 1 }
    }

    /// What has gone wrong up to now is told by the answer.
    func answered(isRead: Bool = true) {
        notices?.lookAtTrouble()
        answering -= 1
        if !isRead { choosing -= 1 }
    }

    /// From now on there is a player on the desktop, if there is something to play.
    func askedByListener() {
        let wasHidden = starter == .launcher
        starter = .listener
        if wasHidden { announce(seeked: false) }
    }

    /// What the player does by itself as something ends or fails.
    func goOn(_ effect: Player.Effect) {
        switch effect {
        case .reopen(let item, let place, let play, let delay): reopen(item, at: place, play: play, after: delay)
        case .follow(let direction): follow(direction)
        case .ranOut(let item): goOn(after: item)
        default: break
        }
    }

    /// Told with what comes next.
    func adopt(_ lineup: Lineup) {
        _ = player.handle(.lineup(lineup), at: time.now, engine: engine.position(player.load))
    }

    var position: BookTime { player.position(engine: engine.position(player.load)) }

    private func perform(_ effect: Player.Effect, _ now: Moment) {
        switch effect {
        case .load(let load, let tracks, let place, let rate, let volume):
            engine.load(load, tracks: tracks, at: place, rate: rate, volume: volume)
        case .start(let load): engine.play(load)
        case .pause(let load): engine.pause(load)
        case .seek(let load, let place): engine.seek(load, to: place)
        case .setRate(let load, let rate): engine.setRate(load, rate)
        case .setVolume(let volume): engine.setVolume(volume)
        case .rememberVolume(let volume): store.post(.volume(volume))
        case .unload: engine.unload()
        case .heard(let heard): journal(heard, now)
        case .reopen, .follow, .ranOut:
            if isOnItsWay { putOff = effect } else { goOn(effect) }
        case .close(let item): perform(sync.closed(item, now))
        case .finished(let item): finished(item, now)
        case .jumped(let item, let from, let to, let cause):
            keep(cause, of: item, from: from, to: to)
        case .placed(let item, let place): placed(item, place, now)
        case .ask(let question): ask(question)
        case .took(let place): took(place)
        case .seeked: break
        case .rememberRate(let rate): remember(rate)
        case .fade(let load, let fading): engine.fade(load, fading)
        case .sleepChanged: announceStatus()
        }
    }

    /// One PropertiesChanged with all that changed, then Seeked where the position jumped, then what became of lists.
    func announce(seeked: Bool) {
        ownMPRIS(player.item != nil && starter != .launcher)
        let position = positionBetween
        lookBetween()
        lookForDrought()
        let new = PlayerProperties(
            of: player, previous: shown, isBrief: between?.isBrief ?? false, isDry: drought?.isShown ?? false,
            picture: pictures.own)
        let changes = new.changes(since: shown)
        // Cinnamon and BlueZ put the position to 0 at each Metadata, also where only a cover has come.
        let isRedrawn = changes.last == "Metadata" && shown.trackID != MPRISName.noTrack
        // Cinnamon puts its bar to 0 at Stopped, and asks again only where something plays.
        let isBack = shown.status == .stopped && new.status != .stopped && partPosition > .zero
        let seeked = (seeked || isRedrawn || isBack || isElsewhere(than: position)) && !isBetween
        let halts = shown.status == .playing && new.status != .playing
        shown = new
        if new.status == .playing { placeTimer?.cancel() }
        keepStopped()
        if ownsMPRIS {
            bus.propertiesChanged(changes, of: MPRISName.player, at: MPRISName.path)
            if !changes.isEmpty { followed.heard(new, at: time.now.monotonic) }
            // A wrong place would stand there for as long as the pause lasts.
            let isLeftAstray =
                halts && !isBetween && followed.isAstray(from: partPosition, at: time.now.monotonic)
            if seeked || isLeftAstray, player.item != nil { emitSeeked() }
            // The kernel takes it that who has written to another is done, and leaves the bus daemon waiting for this thread's
            // processor, which has a lot to do yet.
            if !changes.isEmpty || seeked { sched_yield() }
        }
        announceLists()
        if !changes.isEmpty || seeked { announceStatus() }
    }

    /// What was shown as stopped is that after a restart too, and everything else is paused.
    private func keepStopped() {
        let isStopped = shown.status == .stopped
        guard player.item != nil, isStopped != keptStopped else { return }
        keptStopped = isStopped
        store.post(.stopped(isStopped))
    }

    /// Plasma puts its bar to the start as Next or Previous is pressed, and looks again only where the place is another than
    /// it has, from whichever signal or read: of two of them one is.
    func recallPlace() {
        announce(seeked: true)
        guard ownsMPRIS, player.item != nil else { return }
        // Of itself nothing is said there.
        if isBetween { emitSeeked() }
        if shown.status != .playing { emitSeeked() }
    }

    private func emitSeeked() {
        // Plasma looks away where the same place is told twice in a row, as by Previous and Previous again. Cinnamon takes 0
        // for what a broken player says, and goes back to where its bar was let go.
        let place = max(1, partPosition.microseconds)
        lastSeeked = place == lastSeeked ? place + 1 : place
        followed.heard(BookTime(microseconds: lastSeeked), at: time.now.monotonic)
        do throws(BusError) {
            try bus.emit("Seeked", [.int64(lastSeeked)], of: MPRISName.player, at: MPRISName.path)
        } catch {
            log.warning("a signal could not be sent", metadata: ["why": "\(error)"])
        }
    }

    /// A player that appears takes the media keys: one with nothing to play must not.
    private func ownMPRIS(_ wanted: Bool) {
        guard wanted != ownsMPRIS else { return }
        ownsMPRIS = wanted
        guard wanted else {
            if let nameMPRIS { bus.release(nameMPRIS) }
            nameMPRIS = nil
            return
        }
        // The properties must be right before the name appears: clients read them at once.
        shown = PlayerProperties(of: player, previous: shown, picture: pictures.own)
        followed.heard(shown, at: time.now.monotonic)
        followed.heard(partPosition, at: time.now.monotonic)
        refreshLists()
        do throws(BusError) {
            for name in [MPRISName.bus, "\(MPRISName.bus).instance\(processID())"] where try bus.own(name) {
                nameMPRIS = name
                placeTimer?.cancel()
                placeTimer = tellPlace(after: .seconds(0.5))
                return
            }
        } catch {
            log.error("media keys will not reach dogear", metadata: ["why": "\(error)"])
        }
    }

    /// Cinnamon asks where something is only while it plays. It listens a moment after the player's name has appeared, or
    /// after Cinnamon's own has.
    private func tellPlace(after delay: BookTime) -> LoopTimer {
        time.timer(after: delay) {
            guard self.ownsMPRIS, !self.isBetween, self.shown.status == .paused, self.partPosition > .zero else {
                return
            }
            self.emitSeeked()
        }
    }

    /// A second after its name has appeared it has read what plays; on a busy machine, as at the login, it takes longer.
    func watchCinnamon() {
        let watch = NameWatch("org.Cinnamon", on: bus) { [weak self] isThere in
            guard let self else { return }
            cinnamon?.timer?.cancel()
            cinnamon?.timer = isThere ? tellPlace(after: .seconds(5)) : nil
        }
        cinnamon = (watch, nil)
    }

    /// A moment later, and once for all that happens until then: what the desktop waits for goes first, also through the
    /// bus and on its way to whoever asked.
    func announceStatus() {
        guard statusTimer == nil else { return }
        statusTimer = time.timer(after: .seconds(0.01)) { self.emitStatus() }
    }

    private func schedulePlayer() {
        playerTimer?.cancel()
        playerTimer = player.wake(at: time.now, engine: engine.position(player.load)).map { delay in
            time.timer(after: delay) { self.send(.tick) }
        }
    }

    private func reopen(_ item: ItemID, at place: BookTime?, play: Bool, after delay: BookTime) {
        opening += 1
        let ticket = opening
        reopenTimer?.cancel()
        reopenTimer = time.timer(after: delay) {
            Task { @LoopActor in
                await self.open(again: item, at: place, play: play, whole: self.player.isWhole, ticket)
            }
        }
    }

    /// What was stopped does not come back.
    private func giveUpReopening() {
        guard player.isUnderWay, finding == nil else { return }
        reopenTimer?.cancel()
        opening += 1
    }

    /// There may be a network again: what waits for one is tried at once.
    func networkIsBack() {
        perform(sync.kick(at: time.now, isSign: true))
        if reopenTimer?.isPending == true { reopenTimer?.fire() }
        live.nudge()
        librarian?.networkIsBack()
    }
}

extension Player.Event {
    /// The clock that the sound follows is about to go on, or stands.
    fileprivate var turnsClock: Bool {
        guard case .report(let report) = self else { return false }
        return switch report.word {
        case .seeked, .wentOn, .buffering: true
        case .ready, .skipped, .volume, .outputGone, .ended, .failed: false
        }
    }
}

extension Player.Effect {
    /// The same.
    fileprivate var turnsClock: Bool {
        switch self {
        case .start, .seek: true
        default: false
        }
    }

    /// Carrying it out changes nothing of what clients are shown: they can be told before.
    fileprivate var isBehindWhatIsShown: Bool {
        switch self {
        case .start, .pause, .seek, .setRate, .setVolume, .fade, .heard, .jumped, .placed, .seeked, .rememberRate,
            .rememberVolume, .sleepChanged:
            true
        case .load, .unload, .reopen, .follow, .close, .finished, .ranOut, .ask, .took: false
        }
    }
}
