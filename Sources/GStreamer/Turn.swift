internal import EventLoop
internal import Listening

/// One load, from its opening to its unload. Lives on the gstreamer thread.
final class Turn {
    /// One thing at a time: what comes in while the pipeline moves waits until it has arrived.
    enum Phase {
        /// Of a stream: its length, and where in it to begin, are being found out.
        case finding(Reel.Spot, Purpose)
        /// The sound output is being opened, on a thread of its own; then the file is, which for a stream is known how.
        case waking(Reel.Spot, Purpose, Opening?)
        /// Paused at the start of a file; goes on to the spot.
        case opening(Reel.Spot, Purpose)
        /// A flush seek is on its way.
        case seeking(Reel.Spot, Purpose)
        case steady
        case ended
        case failed

        var purpose: Purpose? {
            switch self {
            case .finding(_, let purpose), .waking(_, let purpose, _), .opening(_, let purpose),
                .seeking(_, let purpose):
                purpose
            case .steady, .ended, .failed: nil
            }
        }
    }

    /// What is told on arrival.
    struct Purpose: Equatable {
        var isLoad = false
        var aim: Int?
        /// Elsewhere than everyone thinks it is.
        var isJump = false

        static let load = Purpose(isLoad: true)
        /// The rate changed, or a file could not be handed over without a gap.
        static let goOn = Purpose()
        static let goBack = Purpose(isJump: true)
        static func seek(aim: Int) -> Purpose { Purpose(aim: aim) }
    }

    let load: LoadID
    let needle: Needle
    let pipeline: Pipeline
    let crate: Crate
    let report: @Sendable (EngineReport) -> Void
    /// The gstreamer thread's.
    let naps: Sleep
    let post: @Sendable (Note, UInt64) -> Void
    var phase = Phase.steady
    var wantsToPlay = false
    /// What the pipeline was told last, and when it was told to stand, the last four times: microseconds, monotonic.
    var isPlaying = false
    var stops: [Int64] = []
    /// Where and when sound last began since the last move; microseconds, monotonic.
    var begun: (place: BookTime, at: Int64)?
    var resting: ThreadTimer?
    /// Looks at the clock a moment after sound goes on.
    var clockCheck: ThreadTimer?
    /// Says the volume again.
    var insisting: Task<Void, Never>?
    /// Begins to listen for devices that are gone, once, when this has played for a moment.
    var listening: Task<Void, Never>?
    /// Listens for mixers while it stands.
    var mixerWatch: MixerWatch?
    /// One is being moved.
    var mixing: ThreadTimer?
    /// Waits until what comes behind a silence that was left out is heard.
    var jump: ThreadTimer?
    var rate: Double
    /// What the pipeline plays at.
    var pipelineRate = 1.0
    var waiting: (place: BookTime, aim: Int)?
    /// The number of the last seek that was heard of here.
    var aim = 0
    var isFilling = false
    /// How often in a row, while it was filling, nothing more was asked for.
    var satedLooks = 0
    var saidBuffering = false
    /// Where the last move was to lead.
    var aimed: BookTime?
    /// A move takes long.
    var isSlow = false
    var missing: MissingPlugin?
    var isFresh = false
    /// When a move began while sound came; microseconds, monotonic.
    var movedAt: Int64?
    /// The last move was made for another origin.
    var isRecounted = false
    /// How the stream that is open was opened.
    var opening: Opening?
    /// On its way to the file's length and the cut.
    var finding: Task<Void, Never>?
    /// On the seeker's thread.
    var pendingSeek: PendingSeek?
    /// Of the stream that is open: from where on its demuxer finds any place by itself; nil: from its start.
    var reach: (track: Int, start: BookTime?)?
    /// Looks at the supply again, or waits until there is more.
    var supplying: (any Pending)?
    /// Ends an opening that GStreamer forgets about.
    var patience: ThreadTimer?
    /// Seconds after which a file that does not open, and says nothing, is given up.
    let openingLimit: Double
    /// Looks whether something still comes of a file on disk.
    var vigil = Vigil()
    /// It has waited as long as it is to, and once more for an output that answers since a moment ago.
    var isLastWait = false
    /// Because it was brought up with no file; until it has arrived.
    var isOpenedAgain = false
    /// A file that is to be opened is being looked at.
    var awaitsDisk = false
    var looking: ThreadTimer?
    var isFading = false
    /// Messages with an older stamp are about what was before.
    var since: UInt64 = 0
    /// Of the file that is open.
    var openedAt: UInt64 = 0

    init(
        needle: Needle, sink: String, shelf: any ByteShelf, patience: Double, rate: Double, volume: Double,
        report: @escaping @Sendable (EngineReport) -> Void, naps: Sleep,
        post: @escaping @Sendable (Note, UInt64) -> Void
    ) throws(EngineFailure) {
        load = needle.load
        self.needle = needle
        openingLimit = patience
        self.report = report
        self.naps = naps
        self.post = post
        self.rate = rate.clamped(to: Player.rates)
        crate = Crate(shelf: shelf, reel: needle.reel) { post(.starving(feed: $0.number), needle.stamp) }
        pipeline = try Pipeline(sink: sink, needle: needle, crate: crate, post: post)
        pipeline.set(volume: volume)
        needle.attach(pipeline.outlet, crate)
    }

    func close(isHeldUp: Bool = false) {
        patience?.cancel()
        looking?.cancel()
        resting?.cancel()
        clockCheck?.cancel()
        jump?.cancel()
        listening?.cancel()
        leaveMixer()
        mixing?.cancel()
        insisting?.cancel()
        Task { [load] in await DeviceWatch.shared.stop(load.number) }
        needle.attach(nil, nil)
        letGo()
        pipeline.close(isHeldUp: isHeldUp)
        crate.close()
    }

    /// Nothing waits for bytes any more, so that nothing holds up the pipeline.
    func letGo() {
        finding?.cancel()
        supplying?.cancel()
        crate.dropFeed()
        pendingSeek?.cancel()
        pendingSeek = nil
    }

    // MARK: commands

    func begin(at place: BookTime) { open(needle.reel.spot(at: place), for: .load) }

    func set(playing: Bool) {
        wantsToPlay = playing
        guard case .steady = phase else { return say(buffering: playing && isSlow) }
        applyPlaying()
        watchSupply()
    }

    func set(rate: Double) {
        self.rate = rate.clamped(to: Player.rates)
        if case .steady = phase { applyRate() }
    }

    func set(volume: Double) { pipeline.set(volume: volume) }
    func set(_ sound: SoundOptions) {
        pipeline.set(skipsSilence: sound.skipsSilence)
        guard sound.boost != pipeline.boost else { return }
        pipeline.set(boost: sound.boost)
        guard case .steady = phase, openedAt > 0 else { return }
        if pipeline.isToBeBoosted { openHere() } else { freshen(ifLater: pipeline.supply) }
    }

    /// What is on its way already was made before: it is made again where that is long.
    /// - Parameter lag: how long.
    private func freshen(ifLater lag: BookTime) {
        if lag > Self.tolerableLag { moveHere() }
    }

    private static let tolerableLag = BookTime.seconds(0.5)

    func fade(_ course: Fading?) {
        guard course != nil || isFading else { return }
        isFading = course != nil
        pipeline.set(fading: course)
        // What failed has no pipeline to be asked any more.
        if case .steady = phase { freshen(ifLater: pipeline.lag) }
    }

    func seek(to place: BookTime, aim: Int) {
        waiting = (place, aim)
        self.aim = aim
        switch phase {
        case .steady, .ended, .finding: startWaitingSeek()
        case .opening, .seeking: interruptIfStuck()
        case .waking, .failed: break
        }
    }

    /// Where bytes are waited for that may never come, the next seek need not.
    func interruptIfStuck() {
        if waiting != nil, crate.feed?.want != nil { startWaitingSeek() }
    }

    /// Of our own making, when the time has come: about what is open now, and only unless the timer is cancelled.
    @discardableResult func post(_ note: Note, after delay: Duration) -> ThreadTimer {
        let post = self.post
        let stamp = since
        return naps.timer(after: delay) { post(note, stamp) }
    }

    // MARK: what the pipeline says

    func hear(_ note: Note, stamp: UInt64) {
        if case .failed = phase { return }
        switch note {
        case .settled: if stamp >= since { settled() }
        case .sounds:
            guard stamp >= since, case .seeking(let spot, let purpose) = phase else { return }
            arrived(spot, purpose)
        case .endOfStream: if stamp >= since { streamEnded() }
        case .buffering(let percent): filled(percent)
        case .missingPlugin(let plugin): if !plugin.isVideo { missing = missing ?? plugin }
        case .complaint(let complaint):
            // What is closed in the middle of a seek complains of that.
            guard stamp >= openedAt else { return }
            if complaint.origin == .faad, Library.doWithoutFaad() { return openAgain() }
            if complaint.isOfNoFile, !isOpenedAgain {
                isOpenedAgain = true
                return openAgain()
            }
            if isToBeHeardOut {
                post(.heardOut(complaint), after: .milliseconds(100))
                return
            }
            if isMissingTail { return streamEnded() }
            // What GStreamer says of a file that broke off is not the reason.
            fail(crate.feed?.failure ?? complaint.failure(missing: missing, track: needle.lastTrack))
        case .heardOut(let complaint): if stamp == since { hear(.complaint(complaint), stamp: stamp) }
        case .awake(let isOpen):
            guard stamp == since, case .waking(let spot, let purpose, let opening) = phase else { return }
            // The reason came before this, if there is one.
            guard isOpen else { return fail(.noSink(reason: "it does not open")) }
            openFile(opening, at: spot, for: purpose)
        case .answers(let path):
            guard stamp == since, case .opening = phase else { return }
            awaitsDisk = false
            opened { pipeline.open(path: path) }
        case .overdue:
            guard stamp == since else { return }
            if case .waking = phase { return failUnanswered() }
            guard case .opening(let spot, _) = phase else { return }
            if pipeline.isHeldUpBySink { return failUnanswered() }
            // A reader says itself when there is no hope.
            if crate.feed?.want != nil { return beginPatience() }
            if !awaitsDisk, !pipeline.sinkAnswers { return failUnanswered() }
            if !awaitsDisk, !isLastWait { return beginPatience(isLast: true) }
            let reason = awaitsDisk ? "its disk does not answer" : "it could not be opened; it may be damaged"
            fail(crate.feed?.failure ?? .unreadable(track: spot.track, reason: reason))
        case .stuck: failUnanswered()
        case .clockLost:
            guard case .steady = phase, wantsToPlay, !isFilling else { return }
            pipeline.set(playing: false)
            pipeline.set(playing: true)
        case .moved(let device):
            // Moved by hand it goes on; only what was unplugged is silenced. A sound server that hangs is not waited for.
            let post = self.post
            Library.aside.run { if !OutputDevices.has(device) { post(.movedFromLost, stamp) } }
        case .movedFromLost: report(EngineReport(load, .outputGone))
        case .unplugged(let device): if pipeline.forget(device: device) { report(EngineReport(load, .outputGone)) }
        case .volumeDue(let isLast): _ = pipeline.loudness.insist(isLast: isLast)
        case .volume(let volume, let number): take(volume, after: number)
        case .mixing: mixing = mixing ?? post(.mixed, after: Self.mixingTime)
        case .mixed:
            mixing = nil
            if case .steady = phase, !isPlaying { followMixer() }
        case .latency: pipeline.recalculateLatency()
        case .found(let opening):
            guard stamp == since, case .finding(let spot, let purpose) = phase else { return }
            open(opening, at: spot, for: purpose)
        case .lost(let failure):
            if stamp == since, case .finding = phase { fail(failure) }
        case .refused:
            if stamp == since, case .seeking(let spot, let purpose) = phase { refused(spot, purpose) }
        case .rested:
            resting = nil
            if case .steady = phase { applyPlaying() }
        case .restsAnew: if stamp == since, case .steady = phase { restAnew() }
        case .look: if stamp == since { look() }
        case .clockDue: if stamp >= since, case .steady = phase { checkClock() }
        case .jumps: if stamp >= since { tellJumps() }
        case .slow:
            guard stamp == since, let purpose = phase.purpose, !purpose.isLoad else { return }
            isSlow = true
            say(buffering: wantsToPlay)
        // What it waited for may have been the end of a file, and the next is open by now.
        case .starving(let number): if isFilling || crate.feed?.number == number { checkSupply() }
        case .refilled:
            guard stamp == since, isFilling, case .steady = phase else { return }
            isFilling = false
            applyPlaying()
        }
    }

    func start(of spot: Reel.Spot) -> BookTime { needle.reel.tracks[spot.track].start + spot.offset }

    func settled() {
        switch phase {
        case .opening(let spot, let purpose):
            guard pipeline.hasAudio else {
                if let missing { return fail(missing.failure(track: spot.track)) }
                return fail(.unreadable(track: spot.track, reason: "there is no audio in it"))
            }
            if let opening, needle.reel.isStream(spot.track) { count(from: opening.origin(first: counted)) }
            if spot.offset > needle.origin || rate != 1 || pipeline.isLate {
                move(to: spot, for: purpose, isFresh: true)
            } else {
                arrived(spot, purpose)
            }
        case .seeking(let spot, let purpose): arrived(spot, purpose)
        case .finding, .waking, .steady, .ended, .failed: break
        }
    }

    /// By the pipeline, from where in the stream it was opened.
    private var counted: BookTime {
        pipeline.outlet.filePosition.map { BookTime(microseconds: $0 / 1000) } ?? .zero
    }

    private func count(from origin: BookTime) {
        needle.count(from: origin)
        if opening?.file.playlist != nil, reach?.start != nil { reach?.start = origin }
    }

    /// A server that transcodes may have begun anew for a seek: what it sends now lies elsewhere than what it sent before.
    /// - Returns: whether that is so, and the place has to be gone to once more, but not twice.
    private func isElsewhere(_ spot: Reel.Spot) -> Bool {
        guard needle.reel.isStream(spot.track), let origin = opening?.transcoded(at: counted),
            abs((origin - needle.origin).seconds) > 0.1
        else { return false }
        count(from: origin)
        return !isRecounted && spot.offset > origin
    }

    func arrived(_ spot: Reel.Spot, _ purpose: Purpose) {
        isRecounted = isElsewhere(spot)
        if isRecounted { return move(to: spot, for: purpose, isFresh: isFresh) }
        phase = .steady
        isSlow = false
        isOpenedAgain = false
        begun = nil
        insistOnVolume()
        pendingSeek = nil
        supplying?.cancel()
        crate.settle(on: spot.track)
        patience?.cancel()
        let target = start(of: spot)
        let said = pipeline.outlet.filePosition.map(needle.place)
        let isThere = said.map { isNear(target, $0) } ?? true
        // A pipeline without sound has come to nowhere, and calls that the end of the file.
        let isNowhere = !isThere && !pipeline.hasSound
        if isNowhere, let failure = crate.feed?.failure { return fail(failure, at: target) }
        let place = isThere || isNowhere ? target : said ?? target
        needle.settle(at: place, aim: purpose.aim)
        if isNowhere { needle.hold(at: place) }
        if purpose.isLoad { report(EngineReport(load, .ready(at: place))) }
        if purpose.isJump { report(EngineReport(load, .skipped)) }
        if purpose == .goOn { report(EngineReport(load, .wentOn)) }
        // The listener may already have asked for another: only the last is told.
        if purpose.aim != nil, waiting == nil { report(EngineReport(load, .seeked(to: place))) }
        if waiting != nil {
            startWaitingSeek()
        } else if pipeline.isToBeBoosted {
            openHere()
        } else if rate != pipelineRate {
            applyRate()
        } else {
            applyPlaying()
            watchSupply()
        }
    }

    /// Whether the sound was put at `target` if it is at `place` now: while playing it has gone on since, as far as the
    /// time since then allows.
    private func isNear(_ target: BookTime, _ place: BookTime) -> Bool {
        let since = pipeline.hasSound ? movedAt : nil
        let gone = since.map { BookTime(microseconds: Clock.monotonic - $0).seconds * pipelineRate } ?? 0
        return (-0.25...0.25 + gone).contains(place.seconds - target.seconds)
    }

    func streamEnded() {
        // The listener has just asked for another place: nobody is told of an end.
        if waiting != nil { return startWaitingSeek() }
        needle.finish()
        let track = needle.track
        // Where nothing was played it is where it was to begin, whatever the pipeline says.
        let played = pipeline.hasSound ? pipeline.outlet.filePosition.map(needle.place) : aimed
        let isComplete = isMissingTail
        if let failure = crate.feed?.failure, !isComplete { return fail(failure, at: played) }
        let isShort = !isComplete && played.map { needle.reel.isCutShort(track, at: $0) } ?? false
        if needle.reel.isStream(track), isShort {
            return fail(.unreachable(reason: "the stream ended early"), at: played)
        }
        if isShort && (!pipeline.hasSound || crate.stamps.isBroken(track)) || crate.stamps.breaksOff(track) {
            return fail(
                .unreadable(track: track, reason: "it has nothing from there on: was it cut short?"), at: played)
        }
        // A file on disk that is shorter than a guess of its length is as long as it is.
        if track + 1 < needle.reel.tracks.count {
            // A seek to what the file does not have any more is answered from there.
            return open(Reel.Spot(track: track + 1, offset: .zero), for: phase.purpose ?? .goOn)
        }
        let end = needle.reel.end > .zero ? needle.reel.end : played
        guard needle.hold(at: end, after: aim) else {
            // The listener goes elsewhere: that order is the next.
            phase = .steady
            return
        }
        phase = .ended
        wantsToPlay = false
        pipeline.set(playing: false)
        report(EngineReport(load, .ended))
    }

    /// A server that has begun to transcode off the grid of its playlist never makes the last segment, or less of it.
    private var isMissingTail: Bool {
        guard case .steady = phase, let feed = crate.feed, feed.lacksSegment, pipeline.hasSound,
            let place = pipeline.outlet.filePosition.map(needle.place), let end = needle.reel.end(of: needle.track)
        else { return false }
        return end - place < Self.tail
    }

    /// Two segments of Audiobookshelf's.
    private static let tail = BookTime.seconds(12)

    /// Something failed that lies ahead of what is heard.
    private var isToBeHeardOut: Bool {
        guard case .steady = phase, isPlaying, let feed = crate.feed else { return false }
        return feed.isPlaylist && feed.failure != nil && pipeline.supply > Self.reserve
    }

    /// Tells what comes behind a silence that was left out when it is heard: it lies in the sink before.
    func tellJumps() {
        guard case .steady = phase else { return }
        let (isPast, next) = needle.takeJumps()
        if isPast { report(EngineReport(load, .skipped)) }
        jump?.cancel()
        guard isPlaying, let next else { return }
        jump = post(.jumps, after: .microseconds(next.microseconds + 1000))
    }

    func filled(_ percent: Int) {
        isFilling = percent < 100
        if case .steady = phase { applyPlaying() }
    }

    func failUnanswered() { fail(.noSink(reason: "it does not answer"), isHeldUp: true) }

    func fail(_ failure: EngineFailure, at place: BookTime? = nil, isHeldUp: Bool = false) {
        phase = .failed
        needle.hold(at: place ?? needle.position)
        close(isHeldUp: isHeldUp)
        report(EngineReport(load, .failed(failure)))
    }
}

/// Something that is yet to come, unless it is cancelled.
protocol Pending { func cancel() }
extension Task: Pending {}
extension ThreadTimer: Pending {}
