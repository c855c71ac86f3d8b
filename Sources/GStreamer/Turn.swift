internal import Listening

/// One load, from its opening to its unload. Lives on the gstreamer thread.
final class Turn {
    /// One thing at a time: what comes in while the pipeline moves waits until it has arrived.
    private enum Phase {
        /// Paused at the start of a file; goes on to the spot.
        case opening(Reel.Spot, Purpose)
        /// A flush seek is on its way.
        case seeking(Reel.Spot, Purpose)
        case steady
        case ended
        case failed
    }

    private enum Purpose: Equatable {
        case load
        case seek(aim: Int)
        /// Also: another file that could not be handed over without a gap. Nobody is told.
        case goOn
    }

    let load: LoadID
    private let needle: Needle
    private let pipeline: Pipeline
    private let report: @Sendable (EngineReport) -> Void
    private let post: @Sendable (Note, UInt64) -> Void
    private var phase = Phase.steady
    private var wantsToPlay = false
    private var rate: Double
    /// What the pipeline plays at.
    private var pipelineRate = 1.0
    private var waiting: (place: BookTime, aim: Int)?
    private var isFilling = false
    private var saidBuffering = false
    private var missing: MissingPlugin?
    private var opensAsRing = false
    /// Ends an opening that GStreamer forgets about.
    private var patience: Task<Void, Never>?
    /// Messages with an older stamp are about what was before.
    private var since: UInt64 = 0

    init(
        needle: Needle, outlet: Outlet, rate: Double, volume: Double,
        report: @escaping @Sendable (EngineReport) -> Void,
        post: @escaping @Sendable (Note, UInt64) -> Void
    ) throws(EngineFailure) {
        load = needle.load
        self.needle = needle
        self.report = report
        self.post = post
        self.rate = rate.clamped(to: 0.5...3)
        pipeline = try Pipeline(outlet: outlet, needle: needle, post: post)
        pipeline.set(volume: volume)
        needle.attach(pipeline.reference)
    }

    func close() {
        patience?.cancel()
        needle.attach(nil)
        pipeline.close()
    }

    // MARK: commands

    func begin(at place: BookTime) { open(needle.reel.spot(at: place), for: .load) }

    func set(playing: Bool) {
        wantsToPlay = playing
        if case .steady = phase { applyPlaying() }
    }

    func set(rate: Double) {
        self.rate = rate.clamped(to: 0.5...3)
        if case .steady = phase { applyRate() }
    }

    func set(volume: Double) { pipeline.set(volume: volume) }

    func seek(to place: BookTime, aim: Int) {
        waiting = (place, aim)
        switch phase {
        case .steady, .ended: startWaitingSeek()
        case .opening, .seeking, .failed: break
        }
    }

    // MARK: what the pipeline says

    func hear(_ note: Note, stamp: UInt64) {
        if case .failed = phase { return }
        switch note {
        case .settled: if stamp >= since { settled() }
        case .endOfStream: if stamp >= since { streamEnded() }
        case .buffering(let percent): filled(percent)
        case .missingPlugin(let plugin): if !plugin.isVideo { missing = missing ?? plugin }
        case .complaint(let complaint):
            fail(complaint.failure(missing: missing, track: needle.lastTrack, of: needle.reel))
        case .overdue:
            guard stamp == since, case .opening(let spot, _) = phase else { return }
            let isStream = needle.reel.isStream(spot.track)
            fail(
                isStream
                    ? .unreachable(reason: "the server sent too little for too long")
                    : .unreadable(track: spot.track, reason: "it could not be opened; it may be damaged"))
        case .clockLost:
            guard case .steady = phase, wantsToPlay, !isFilling else { return }
            pipeline.set(playing: false)
            pipeline.set(playing: true)
        case .moved(let device):
            // Moved by hand it goes on; only what was unplugged is silenced.
            if !OutputDevices.has(device) { report(EngineReport(load, .outputGone)) }
        case .latency: pipeline.recalculateLatency()
        }
    }

    private func settled() {
        switch phase {
        case .opening(let spot, let purpose):
            guard pipeline.hasAudio else {
                if let missing { return fail(missing.failure(track: spot.track)) }
                return fail(.unreadable(track: spot.track, reason: "there is no audio in it"))
            }
            if spot.offset > .zero || rate != 1 {
                move(to: spot, for: purpose, isFresh: true)
            } else {
                arrived(spot, purpose)
            }
        case .seeking(let spot, let purpose): arrived(spot, purpose)
        case .steady, .ended, .failed: break
        }
    }

    private func arrived(_ spot: Reel.Spot, _ purpose: Purpose) {
        phase = .steady
        if opensAsRing { set(opensAsRing: false) }
        patience?.cancel()
        let target = needle.reel.tracks[spot.track].start + spot.offset
        let said = pipeline.reference.filePosition.map { needle.reel.place(track: spot.track, filePosition: $0) }
        // While playing the sound has already gone on a little from where it was put.
        let place = said.flatMap { abs($0.seconds - target.seconds) > 0.25 ? $0 : nil } ?? target
        switch purpose {
        case .load:
            needle.settle(at: place, aim: nil)
            report(EngineReport(load, .ready(at: place)))
        case .seek(let aim):
            needle.settle(at: place, aim: aim)
            // The listener may already have asked for another: only the last is told.
            if waiting == nil { report(EngineReport(load, .seeked(to: place))) }
        case .goOn: needle.settle(at: place, aim: nil)
        }
        if waiting != nil {
            startWaitingSeek()
        } else if rate != pipelineRate {
            applyRate()
        } else {
            applyPlaying()
        }
    }

    private func streamEnded() {
        let track = needle.track
        let played = pipeline.reference.filePosition.map { needle.reel.place(track: track, filePosition: $0) }
        if needle.reel.isStream(track), let played, needle.reel.isCutShort(track, at: played) {
            return fail(.unreachable(reason: "the stream ended early"), at: played)
        }
        // A file on disk that is shorter than its tags say is as long as it is.
        if track + 1 < needle.reel.tracks.count {
            return open(Reel.Spot(track: track + 1, offset: .zero), for: .goOn)
        }
        phase = .ended
        wantsToPlay = false
        needle.hold(at: needle.reel.end > .zero ? needle.reel.end : played)
        pipeline.set(playing: false)
        report(EngineReport(load, .ended))
    }

    private func filled(_ percent: Int) {
        isFilling = percent < 100
        if case .steady = phase { applyPlaying() }
    }

    // MARK: moving

    private func startWaitingSeek() {
        guard let (place, aim) = waiting else { return }
        waiting = nil
        let spot = needle.reel.spot(at: place)
        let isHere = needle.beginMove(to: place) && needle.track == spot.track
        if isHere { move(to: spot, for: .seek(aim: aim)) } else { open(spot, for: .seek(aim: aim)) }
    }

    private func applyRate() {
        guard rate != pipelineRate else { return }
        let track = needle.track
        let place = needle.position ?? needle.reel.tracks[track].start
        let spot = needle.reel.spot(at: place)
        let isHere = needle.beginMove(to: place) && needle.track == spot.track
        if isHere { move(to: spot, for: .goOn) } else { open(spot, for: .goOn) }
    }

    private func open(_ spot: Reel.Spot, for purpose: Purpose) {
        _ = needle.beginMove(to: needle.reel.tracks[spot.track].start + spot.offset)
        phase = .opening(spot, purpose)
        pipeline.rewind()
        since = needle.open(spot.track)
        pipelineRate = 1
        isFilling = false
        missing = nil
        beginPatience(isStream: needle.reel.isStream(spot.track))
        if !pipeline.open(needle.reel.tracks[spot.track].audio) {
            // Its error message, with the reason, is already on its way: this one comes behind it.
            post(.complaint(Complaint(domain: .other, code: 0, text: "it cannot be opened", origin: .other)), since)
        }
    }

    /// Now and then decodebin keeps the error of a damaged file to itself (seen in 1.22 with an m4b cut short), and a
    /// server may send just enough to stay within its time limit: neither must leave the listener waiting for ever.
    private func beginPatience(isStream: Bool) {
        patience?.cancel()
        let stamp = since
        let post = self.post
        patience = Task {
            guard (try? await Task.sleep(for: .seconds(isStream ? 90 : 10))) != nil else { return }
            post(.overdue, stamp)
        }
    }

    /// - Parameter isFresh: the file was opened for this. One that has been played for a while may refuse to seek and
    ///   do it when opened anew.
    private func move(to spot: Reel.Spot, for purpose: Purpose, isFresh: Bool = false) {
        phase = .seeking(spot, purpose)
        since = needle.stamp + 1  // the flush of this seek
        pipelineRate = rate
        if pipeline.seek(to: spot.offset, rate: rate) { return }
        guard isFresh else { return open(spot, for: purpose) }
        guard !opensAsRing, needle.reel.isStream(spot.track) else {
            return fail(.unreadable(track: spot.track, reason: "it can only be played from its start"))
        }
        // Once more, in another way: oggdemux refuses every seek in a stream that was pushed to it and whose end had
        // come in before it began to look for that end, as with a short file from near by. Where it may fetch, it seeks.
        set(opensAsRing: true)
        open(spot, for: purpose)
    }

    private func set(opensAsRing: Bool) {
        self.opensAsRing = opensAsRing
        pipeline.set(opensAsRing: opensAsRing)
    }

    private func applyPlaying() {
        let isStarved = wantsToPlay && isFilling
        pipeline.set(playing: wantsToPlay && !isFilling)
        needle.runs(at: wantsToPlay && !isFilling ? pipelineRate : nil)
        guard isStarved != saidBuffering else { return }
        saidBuffering = isStarved
        report(EngineReport(load, .buffering(isStarved)))
    }

    private func fail(_ failure: EngineFailure, at place: BookTime? = nil) {
        phase = .failed
        needle.hold(at: place ?? needle.position)
        close()
        report(EngineReport(load, .failed(failure)))
    }
}
