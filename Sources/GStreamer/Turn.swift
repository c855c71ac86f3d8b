internal import Listening

/// One load, from its opening to its unload. Lives on the gstreamer thread.
final class Turn {
    /// One thing at a time: what comes in while the pipeline moves waits until it has arrived.
    private enum Phase {
        /// Of a stream: its length, and where in it to begin, are being found out.
        case finding(Reel.Spot, Purpose)
        /// Paused at the start of a file; goes on to the spot.
        case opening(Reel.Spot, Purpose)
        /// A flush seek is on its way.
        case seeking(Reel.Spot, Purpose)
        case steady
        case ended
        case failed
    }

    /// Who is told on arrival. Nobody: the rate changed, or a file could not be handed over without a gap.
    private struct Purpose: Equatable {
        var isLoad = false
        var aim: Int?

        static let load = Purpose(isLoad: true)
        static let goOn = Purpose()
        static func seek(aim: Int) -> Purpose { Purpose(aim: aim) }
    }

    let load: LoadID
    private let needle: Needle
    private let pipeline: Pipeline
    private let crate: Crate?
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
    private var isFresh = false
    /// How the stream that is open was opened.
    private var opening: Opening?
    /// On its way to the file's length and the cut.
    private var finding: Task<Void, Never>?
    /// On the seeker's thread.
    private var pendingSeek: PendingSeek?
    /// Of the stream that is open: from where on its demuxer finds any place by itself; nil: from its start.
    private var reach: (track: Int, start: BookTime?)?
    /// Looks at the supply again, or waits until there is more.
    private var supplying: Task<Void, Never>?
    /// Ends an opening that GStreamer forgets about.
    private var patience: Task<Void, Never>?
    /// Messages with an older stamp are about what was before.
    private var since: UInt64 = 0
    /// Of the file that is open.
    private var openedAt: UInt64 = 0

    init(
        needle: Needle, outlet: Outlet, shelf: (any ByteShelf)?, rate: Double, volume: Double,
        report: @escaping @Sendable (EngineReport) -> Void,
        post: @escaping @Sendable (Note, UInt64) -> Void
    ) throws(EngineFailure) {
        load = needle.load
        self.needle = needle
        self.report = report
        self.post = post
        self.rate = rate.clamped(to: 0.5...3)
        crate = shelf.map { shelf in
            Crate(shelf: shelf, reel: needle.reel) { post(.starving(feed: $0.number), needle.stamp) }
        }
        pipeline = try Pipeline(outlet: outlet, needle: needle, crate: crate, post: post)
        pipeline.set(volume: volume)
        needle.attach(pipeline.reference)
    }

    func close() {
        patience?.cancel()
        needle.attach(nil)
        letGo()
        pipeline.close()
        crate?.close()
    }

    /// Nothing waits for bytes any more, so that nothing holds up the pipeline.
    private func letGo() {
        finding?.cancel()
        supplying?.cancel()
        crate?.dropFeed()
        pendingSeek?.cancel()
        pendingSeek = nil
    }

    // MARK: commands

    func begin(at place: BookTime) { open(needle.reel.spot(at: place), for: .load) }

    func set(playing: Bool) {
        wantsToPlay = playing
        guard case .steady = phase else { return }
        applyPlaying()
        checkSupply()
    }

    func set(rate: Double) {
        self.rate = rate.clamped(to: 0.5...3)
        if case .steady = phase { applyRate() }
    }

    func set(volume: Double) { pipeline.set(volume: volume) }

    func seek(to place: BookTime, aim: Int) {
        waiting = (place, aim)
        switch phase {
        case .steady, .ended, .finding: startWaitingSeek()
        case .opening, .seeking: interruptIfStuck()
        case .failed: break
        }
    }

    /// Where bytes are waited for that may never come, the next seek need not.
    private func interruptIfStuck() {
        if waiting != nil, crate?.feed?.want != nil { startWaitingSeek() }
    }

    // MARK: what the pipeline says

    func hear(_ note: Note, stamp: UInt64) {
        if case .failed = phase { return }
        switch note {
        case .settled: if stamp >= since { settled() }
        case .changed:
            guard stamp >= since, case .seeking(let spot, let purpose) = phase else { return }
            arrived(spot, purpose, isSure: false)
        case .endOfStream: if stamp >= since { streamEnded() }
        case .buffering(let percent): filled(percent)
        case .missingPlugin(let plugin): if !plugin.isVideo { missing = missing ?? plugin }
        case .complaint(let complaint):
            // What is closed in the middle of a seek complains of that.
            guard stamp >= openedAt else { return }
            let track = needle.lastTrack
            let isFetched = needle.reel.isStream(track) && !isFed(track)
            // What GStreamer says of a file that broke off is not the reason.
            fail(
                crate?.feed?.failure
                    ?? complaint.failure(missing: missing, track: track, isFetched: isFetched))
        case .overdue:
            guard stamp == since, case .opening(let spot, _) = phase else { return }
            let isFed = isFed(spot.track)
            // A reader says itself when there is no hope.
            if isFed, crate?.feed?.want != nil { return beginPatience(isFetched: false) }
            fail(
                needle.reel.isStream(spot.track) && !isFed
                    ? .unreachable(reason: "the server sent too little for too long")
                    : .unreadable(track: spot.track, reason: "it could not be opened; it may be damaged"))
        case .clockLost:
            guard case .steady = phase, wantsToPlay, !isFilling else { return }
            pipeline.set(playing: false)
            pipeline.set(playing: true)
        case .latency: pipeline.recalculateLatency()
        case .found(let opening):
            guard stamp == since, case .finding(let spot, let purpose) = phase else { return }
            open(opening, at: spot, for: purpose)
        case .lost(let failure):
            if stamp == since, case .finding = phase { fail(failure) }
        case .refused:
            if stamp == since, case .seeking(let spot, let purpose) = phase { refused(spot, purpose) }
        case .slow:
            switch phase {
            case .finding(_, let purpose), .opening(_, let purpose), .seeking(_, let purpose):
                if stamp == since, wantsToPlay, !purpose.isLoad { say(buffering: true) }
            case .steady, .ended, .failed: break
            }
        case .starving(let number): if crate?.feed?.number == number { checkSupply() }
        case .refilled(let number):
            guard crate?.feed?.number == number, case .steady = phase else { return }
            isFilling = false
            applyPlaying()
        }
    }

    private func isFed(_ track: Int) -> Bool { crate?.has(track) == true }

    private func settled() {
        switch phase {
        case .opening(let spot, let purpose):
            guard pipeline.hasAudio else {
                if let missing { return fail(missing.failure(track: spot.track)) }
                return fail(.unreadable(track: spot.track, reason: "there is no audio in it"))
            }
            if let opening, isFed(spot.track) {
                let first = pipeline.reference.filePosition.map { BookTime(microseconds: $0 / 1000) }
                needle.count(from: opening.origin(first: first ?? .zero))
            }
            if spot.offset > needle.origin || rate != 1 {
                move(to: spot, for: purpose, isFresh: true)
            } else {
                arrived(spot, purpose)
            }
        case .seeking(let spot, let purpose): arrived(spot, purpose)
        case .finding, .steady, .ended, .failed: break
        }
    }

    /// - Parameter isSure: the first sound is at the sink, so that the pipeline knows where it is.
    private func arrived(_ spot: Reel.Spot, _ purpose: Purpose, isSure: Bool = true) {
        phase = .steady
        pendingSeek = nil
        supplying?.cancel()
        crate?.settle(on: spot.track)
        if opensAsRing { set(opensAsRing: false) }
        patience?.cancel()
        let target = needle.reel.tracks[spot.track].start + spot.offset
        let said = isSure ? pipeline.reference.filePosition.map(needle.place) : nil
        // While playing the sound has already gone on a little from where it was put.
        let place = said.flatMap { abs($0.seconds - target.seconds) > 0.25 ? $0 : nil } ?? target
        needle.settle(at: place, aim: purpose.aim)
        if purpose.isLoad { report(EngineReport(load, .ready(at: place))) }
        // The listener may already have asked for another: only the last is told.
        if purpose.aim != nil, waiting == nil { report(EngineReport(load, .seeked(to: place))) }
        if waiting != nil {
            startWaitingSeek()
        } else if rate != pipelineRate {
            applyRate()
        } else {
            applyPlaying()
            checkSupply()
        }
    }

    private func streamEnded() {
        let track = needle.track
        let played = pipeline.reference.filePosition.map(needle.place)
        if let failure = crate?.feed?.failure { return fail(failure, at: played) }
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
        switch phase {
        // Whoever waits for the load is told with the seek.
        case .finding(_, let purpose), .opening(_, let purpose), .seeking(_, let purpose):
            open(spot, for: Purpose(isLoad: purpose.isLoad, aim: aim))
        case .steady, .ended, .failed:
            let isHere = isReachable(spot)
            if needle.beginMove(to: place), isHere {
                move(to: spot, for: .seek(aim: aim))
            } else {
                open(spot, for: .seek(aim: aim))
            }
        }
    }

    /// Whether the pipeline gets there from where it is without reading what nobody will hear. Asked before the move
    /// begins.
    private func isReachable(_ spot: Reel.Spot) -> Bool {
        guard needle.track == spot.track else { return false }
        guard isFed(spot.track) else { return true }
        var start = BookTime.zero
        if let reach, reach.track == spot.track {
            guard let from = reach.start else { return true }
            start = from
        }
        let here = pipeline.reference.filePosition.map { needle.origin + BookTime(microseconds: $0 / 1000) } ?? start
        return spot.offset >= start && spot.offset <= here + Self.stride
    }

    private func applyRate() {
        guard rate != pipelineRate else { return }
        let track = needle.track
        let place = needle.position ?? needle.reel.tracks[track].start
        let spot = needle.reel.spot(at: place)
        let isHere = isReachable(spot)
        if needle.beginMove(to: place), isHere { move(to: spot, for: .goOn) } else { open(spot, for: .goOn) }
    }

    private func open(_ spot: Reel.Spot, for purpose: Purpose) {
        _ = needle.beginMove(to: needle.reel.tracks[spot.track].start + spot.offset)
        letGo()
        patience?.cancel()
        pipeline.rewind()
        since = needle.open(spot.track)
        openedAt = since
        pipelineRate = 1
        isFilling = false
        missing = nil
        if isFed(spot.track) {
            find(spot, for: purpose)
        } else {
            phase = .opening(spot, purpose)
            beginPatience(isFetched: needle.reel.isStream(spot.track))
            opened(pipeline.open(needle.reel.tracks[spot.track].audio))
        }
    }

    /// Asks the reader; what comes of it is heard as `found` or `lost`.
    private func find(_ spot: Reel.Spot, for purpose: Purpose) {
        phase = .finding(spot, purpose)
        guard let file = crate?.file(spot.track) else { return }
        let stamp = since
        let post = self.post
        finding = Task {
            do throws(EngineFailure) {
                post(.found(try await file.opening(at: spot.offset)), stamp)
            } catch {
                post(.lost(error), stamp)
            }
        }
        sayIfSlow(stamp)
    }

    private func open(_ opening: Opening, at spot: Reel.Spot, for purpose: Purpose) {
        guard let feed = crate?.feed(of: opening) else { return }
        phase = .opening(spot, purpose)
        reach = (spot.track, opening.reachesAll ? nil : opening.cut.time)
        self.opening = opening
        beginPatience(isFetched: false)
        opened(pipeline.open(feed))
    }

    private func opened(_ isUnderWay: Bool) {
        guard !isUnderWay else { return }
        // Its error message, with the reason, is already on its way: this one comes behind it.
        post(.complaint(Complaint(domain: .other, code: 0, text: "it cannot be opened", origin: .other)), since)
    }

    /// Now and then decodebin keeps the error of a damaged file to itself (seen in 1.22 with an m4b cut short), and a
    /// server may send just enough to stay within its time limit: neither must leave the listener waiting for ever.
    private func beginPatience(isFetched: Bool) {
        patience?.cancel()
        let stamp = since
        let post = self.post
        patience = Task {
            guard (try? await Task.sleep(for: .seconds(isFetched ? 90 : 10))) != nil else { return }
            post(.overdue, stamp)
        }
    }

    /// - Parameter isFresh: the file was opened for this. One that has been played for a while may refuse to seek and
    ///   do it when opened anew.
    private func move(to spot: Reel.Spot, for purpose: Purpose, isFresh: Bool = false) {
        phase = .seeking(spot, purpose)
        since = needle.stamp + 1  // the flush of this seek
        pipelineRate = rate
        self.isFresh = isFresh
        let offset = spot.offset - needle.origin
        guard isFed(spot.track) else {
            if !pipeline.seek(to: offset, rate: rate) { refused(spot, purpose) }
            return
        }
        supplying?.cancel()
        isFilling = false
        guard let seek = pipeline.prepareSeek(to: offset, rate: rate) else { return refused(spot, purpose) }
        pendingSeek = seek
        let stamp = since
        let post = self.post
        Task { if await !Seeker.shared.push(seek) { post(.refused, stamp) } }
        sayIfSlow(stamp)
    }

    private func refused(_ spot: Reel.Spot, _ purpose: Purpose) {
        guard isFresh else { return open(spot, for: purpose) }
        guard !opensAsRing, needle.reel.isStream(spot.track), !isFed(spot.track) else {
            return fail(.unreadable(track: spot.track, reason: "it can only be played from its start"))
        }
        // Once more, in another way: oggdemux refuses every seek in a stream that was pushed to it and whose end had
        // come in before it began to look for that end, as with a short file from near by. Where it may fetch, it seeks.
        set(opensAsRing: true)
        open(spot, for: purpose)
    }

    // MARK: supply

    /// What is left when sound is stopped for want of more, so that none of it is lost.
    private static let reserve = BookTime.seconds(0.2)
    /// How far ahead a parser is let read on to get there.
    private static let stride = BookTime.seconds(10)

    /// Stops the clock once what is on its way to the sink is nearly used up and more is being waited for; until then
    /// nobody notices.
    private func checkSupply() {
        guard let feed = crate?.feed, feed.want != nil else { return }
        guard case .steady = phase else { return interruptIfStuck() }
        guard wantsToPlay, !isFilling else { return }
        let number = feed.number
        let post = self.post
        let stamp = since
        let left = pipeline.supply - Self.reserve
        supplying?.cancel()
        if left > .zero {
            supplying = Task {
                guard (try? await Task.sleep(for: .microseconds(left.microseconds + 20_000))) != nil else { return }
                post(.starving(feed: number), stamp)
            }
            return
        }
        isFilling = true
        applyPlaying()
        let seconds = needle.reel.tracks[needle.lastTrack].duration.seconds
        let enough = seconds > 0 ? (Double(feed.size) / seconds * 2).clamped(to: 4096...262_144) : 32_768
        supplying = Task {
            await feed.refill(Int(enough))
            post(.refilled(feed: number), stamp)
        }
    }

    /// Says that it waits for bytes when a move takes long: the listener hears nothing meanwhile.
    private func sayIfSlow(_ stamp: UInt64) {
        let post = self.post
        supplying?.cancel()
        supplying = Task {
            guard (try? await Task.sleep(for: .milliseconds(500))) != nil else { return }
            post(.slow, stamp)
        }
    }

    private func set(opensAsRing: Bool) {
        self.opensAsRing = opensAsRing
        pipeline.set(opensAsRing: opensAsRing)
    }

    private func applyPlaying() {
        pipeline.set(playing: wantsToPlay && !isFilling)
        needle.runs(at: wantsToPlay && !isFilling ? pipelineRate : nil)
        say(buffering: wantsToPlay && isFilling)
    }

    private func say(buffering: Bool) {
        guard buffering != saidBuffering else { return }
        saidBuffering = buffering
        report(EngineReport(load, .buffering(buffering)))
    }

    private func fail(_ failure: EngineFailure, at place: BookTime? = nil) {
        phase = .failed
        needle.hold(at: place ?? needle.position)
        close()
        report(EngineReport(load, .failed(failure)))
    }
}
