internal import EventLoop
internal import Listening

/// From one place to another.
extension Turn {
    func startWaitingSeek() {
        guard let (place, aim) = waiting else { return }
        waiting = nil
        let spot = needle.reel.spot(at: place)
        // Whoever waits for the load is told with the seek.
        if let purpose = phase.purpose { return open(spot, for: Purpose(isLoad: purpose.isLoad, aim: aim)) }
        let isHere = isReachable(spot) && !pipeline.clockHasRunAway()
        if needle.beginMove(to: place), isHere {
            move(to: spot, for: .seek(aim: aim))
        } else {
            open(spot, for: .seek(aim: aim))
        }
    }

    /// Whether the pipeline gets there from where it is without reading what nobody will hear. Asked before the move
    /// begins.
    func isReachable(_ spot: Reel.Spot) -> Bool {
        guard needle.track == spot.track else { return false }
        guard needle.reel.isStream(spot.track) else { return true }
        var start = BookTime.zero
        if let reach, reach.track == spot.track {
            guard let from = reach.start else { return true }
            start = from
        }
        let here = pipeline.outlet.filePosition.map { needle.origin + BookTime(microseconds: $0 / 1000) } ?? start
        return spot.offset >= start && spot.offset <= here + Self.stride
    }

    func applyRate() { if rate != pipelineRate { moveHere() } }

    /// To where it is.
    func moveHere() {
        let place = here
        let spot = needle.reel.spot(at: place)
        let isHere = isReachable(spot)
        if needle.beginMove(to: place), isHere { move(to: spot, for: .goOn) } else { open(spot, for: .goOn) }
    }

    func open(_ spot: Reel.Spot, for purpose: Purpose) {
        _ = needle.beginMove(to: start(of: spot))
        aimed = start(of: spot)
        movedAt = nil
        isRecounted = false
        letGo()
        patience?.cancel()
        looking?.cancel()
        followMixer()
        pipeline.rewind()
        since = needle.open(spot.track)
        openedAt = since
        pipelineRate = 1
        isFilling = false
        missing = nil
        if needle.reel.isStream(spot.track) { find(spot, for: purpose) } else { open(nil, at: spot, for: purpose) }
    }

    /// Asks the reader; what comes of it is heard as `found` or `lost`.
    func find(_ spot: Reel.Spot, for purpose: Purpose) {
        phase = .finding(spot, purpose)
        guard let file = crate.file(spot.track) else { return }
        let stamp = since
        let post = self.post
        finding = Task {
            do throws(EngineFailure) {
                post(.found(try await file.opening(at: spot.offset)), stamp)
            } catch {
                post(.lost(error), stamp)
            }
        }
        sayIfSlow()
    }

    /// The output first, where that is closed: the pipeline would open it on the thread that opens the file, and a sound
    /// server may take as long as it likes.
    /// - Parameter opening: nil for what GStreamer reads itself.
    func open(_ opening: Opening?, at spot: Reel.Spot, for purpose: Purpose) {
        guard pipeline.isSinkClosed else { return openFile(opening, at: spot, for: purpose) }
        phase = .waking(spot, purpose, opening)
        beginPatience()
        let stamp = since
        let post = self.post
        pipeline.openSink { post(.awake($0), stamp) }
    }

    func openFile(_ opening: Opening?, at spot: Reel.Spot, for purpose: Purpose) {
        phase = .opening(spot, purpose)
        beginPatience()
        awaitsDisk = false
        if case .file(let path) = needle.reel.tracks[spot.track].audio {
            let (stamps, post, stamp) = (crate.stamps, self.post, since)
            // Where the disk does not answer, nobody waits for it but this.
            awaitsDisk = onOwnThread {
                stamps.note(spot.track)
                post(.answers(path: path), stamp)
            }
            if !awaitsDisk { opened { pipeline.open(path: path) } }
            return
        }
        guard let opening else { return }
        let feed = crate.feed(of: opening)
        reach = (spot.track, opening.reachesAll ? nil : opening.cut.time)
        self.opening = opening
        opened { pipeline.open(feed) }
    }

    func opened(_ open: () -> Bool) {
        guard !open() else { return }
        // Its error message, with the reason, is already on its way: this one comes behind it.
        post(.complaint(Complaint(domain: .other, code: 0, text: "it cannot be opened", origin: .other)), since)
    }

    /// Now and then decodebin keeps the error of a damaged file to itself (seen in 1.22 with an m4b cut short): that must
    /// not leave the listener waiting for ever. Nor must a sound output that does not answer.
    func beginPatience(isLast: Bool = false) {
        patience?.cancel()
        isLastWait = isLast
        patience = post(.overdue, after: .seconds(isLast ? openingLimit / 5 : openingLimit))
    }

    /// - Parameter isFresh: the file was opened for this. One that has been played for a while may refuse to seek and
    ///   do it when opened anew.
    func move(to spot: Reel.Spot, for purpose: Purpose, isFresh: Bool = false) {
        phase = .seeking(spot, purpose)
        aimed = start(of: spot)
        movedAt = wantsToPlay && !isFilling && !isFresh ? Clock.monotonic : nil
        since = needle.stamp + 1  // the flush of this seek
        pipelineRate = rate
        self.isFresh = isFresh
        let offset = spot.offset - needle.origin
        guard needle.reel.isStream(spot.track) else {
            beginVigil()
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
        sayIfSlow()
    }

    func refused(_ spot: Reel.Spot, _ purpose: Purpose) {
        guard isFresh else { return open(spot, for: purpose) }
        fail(.unreadable(track: spot.track, reason: "it can only be played from its start"))
    }
}
