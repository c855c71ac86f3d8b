internal import EventLoop
internal import Listening

/// Playing, as long as there is something to play.
extension Turn {
    func applyPlaying() {
        let playing = wantsToPlay && !isFilling
        if playing && isToRest { return }
        if playing && pipeline.hasStoodTooLong { return openUnheard() }
        let isToStand = isPlaying && !playing
        if isToStand { stops = stops.suffix(3) + [Clock.monotonic] }
        isPlaying = playing
        if playing { begun = needle.position.map { ($0, Clock.monotonic) } }
        pipeline.set(playing: playing)
        needle.runs(at: playing ? pipelineRate : nil)
        beginVigil()
        if playing {
            leaveMixer()
            watchClock()
            watchDevices()
            // It may have come to the sound server only now.
            pipeline.setGrain()
            tellJumps()
        }
        if !wantsToPlay { watchMixer() }
        if isToStand && isToRestAnew { post(.restsAnew, after: Self.standing) }
        say(buffering: wantsToPlay && isFilling)
    }

    /// The sink waits for the end of the sound until its clock comes to that, and while that stands (GStreamer 1.22) looks
    /// again each time after as long as is left: dozens of times a second at last. After a flush it waits for nothing.
    ///
    /// Not for a stream, whose server would be asked for it, nor before another format, where all would be opened anew, nor
    /// where the file is longer than it was said to be: nobody knows then where in it that is.
    private var isToRestAnew: Bool {
        let track = needle.track
        return pipeline.lag > .zero && pipeline.isLast && needle.lastTrack == track
            && !needle.reel.isStream(track) && needle.reel.end(of: track).map { here < $0 } ?? true
            && pipeline.isSeekable
    }

    /// Who pauses and goes on at once is not kept waiting by it.
    private static let standing = Duration.seconds(2)

    func restAnew() { if !isPlaying && isToRestAnew { moveHere() } }

    /// PulseAudio takes up to a tenth of a second for played each time it is stopped and let go, and its clock stands
    /// still until that is made up for: for many seconds after hundreds of times, and the place with it.
    static let rest = BookTime.seconds(0.03)
    /// Nobody stops four times in a second.
    static let longRest = BookTime.seconds(0.3)

    /// It was stopped only a moment ago: it goes on when that is over, if it is still to.
    private var isToRest: Bool {
        guard !isPlaying, let last = stops.last else { return false }
        let now = Clock.monotonic
        let isStorm = stops.count == 4 && now - stops[0] < 1_000_000
        let left = (isStorm ? Self.longRest : Self.rest) - BookTime(microseconds: now - last)
        guard left > .zero else { return false }
        if resting == nil { resting = post(.rested, after: .microseconds(left.microseconds)) }
        return true
    }

    func say(buffering: Bool) {
        guard buffering != saidBuffering else { return }
        saidBuffering = buffering
        report(EngineReport(load, .buffering(buffering)))
    }

    /// What is left when sound is stopped for want of more, so that none of it is lost.
    static let reserve = BookTime.seconds(0.2)
    /// What must have come to the sink meanwhile for sound to go on without anything new.
    static let regained = BookTime.seconds(0.5)
    /// How far ahead a parser is let read on to get there.
    static let stride = BookTime.seconds(10)

    /// Looks whether there is enough, if anything is waited for: not at once, the clock may just be starting.
    func watchSupply(after delay: BookTime = .seconds(0.2)) {
        guard !isFilling, let feed = crate.feed, feed.want != nil else { return }
        supplying?.cancel()
        supplying = post(.starving(feed: feed.number), after: .microseconds(delay.microseconds))
    }

    /// Stops the clock once what is on its way to the sink is nearly used up and more is being waited for; until then
    /// nobody notices.
    func checkSupply() {
        guard let feed = crate.feed, isFilling || feed.want != nil else { return }
        guard case .steady = phase else { return interruptIfStuck() }
        guard wantsToPlay else { return }
        let number = feed.number
        let post = self.post
        let stamp = since
        let left = pipeline.supply - Self.reserve
        if isFilling {
            // On a busy machine it was only the decoder that came late: what is here is played out. So it is once the
            // way to the sink is full, which is when nothing more is asked for.
            satedLooks = feed.want == nil ? satedLooks + 1 : 0
            guard left > Self.regained || satedLooks > 1 else { return }
            supplying?.cancel()
            isFilling = false
            applyPlaying()
            return watchSupply()
        }
        guard left <= .zero else { return watchSupply(after: left + .seconds(0.02)) }
        supplying?.cancel()
        isFilling = true
        satedLooks = 0
        applyPlaying()
        supplying = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while (try? await Task.sleep(for: .milliseconds(300))) != nil {
                        post(.starving(feed: number), stamp)
                    }
                }
                await feed.refill()
                group.cancelAll()
            }
            // One that was given up has not refilled anything.
            guard !Task.isCancelled else { return }
            post(.refilled, stamp)
        }
    }

    /// Says that it waits for bytes when a move takes long: the listener hears nothing meanwhile.
    func sayIfSlow() {
        isSlow = false
        supplying?.cancel()
        supplying = post(.slow, after: .milliseconds(500))
    }
}
