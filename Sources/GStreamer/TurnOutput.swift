internal import EventLoop
internal import Listening

/// The output: its volume, its clock, which may run away (see ``ClockWatch``), and its devices, which may be taken away.
extension Turn {
    /// Milliseconds between the times at which the volume of a new stream is said.
    private static let insistence = [20, 30, 100, 250, 600]

    func insistOnVolume() {
        guard pipeline.loudness.insist(isLast: false) else { return }
        insisting?.cancel()
        let post = self.post
        let stamp = since
        let pauses = Self.insistence
        insisting = Task {
            for index in pauses.indices {
                try? await Task.sleep(for: .milliseconds(pauses[index]))
                if Task.isCancelled { return }
                post(.volumeDue(isLast: index == pauses.count - 1), stamp)
            }
        }
    }

    /// A mixer that is moved while nothing plays is heard of only by asking.
    func followMixer() {
        guard pipeline.loudness.isServed, let heard = pipeline.heardVolume() else { return }
        take(heard.volume, after: heard.after)
    }

    /// Who moves one says so many times; and while one of our own settles nothing is heard (see ``Loudness/heard()``).
    static let mixingTime = Duration.milliseconds(250)

    /// Begins when it has stood for a moment, and ends with ``leaveMixer()``.
    func watchMixer() {
        guard mixerWatch == nil, pipeline.loudness.isServed else { return }
        let post = self.post
        let stamp = since
        let server = pipeline.loudness.address
        let watch = MixerWatch { post(.mixing, stamp) }
        mixerWatch = watch
        Task {
            try? await Task.sleep(for: .milliseconds(100))
            await watch.start(server: server)
        }
    }

    func leaveMixer() {
        guard let watch = mixerWatch else { return }
        mixerWatch = nil
        Task { await watch.stop() }
    }

    /// - Parameter number: see ``Loudness/heard()``.
    func take(_ volume: Double, after number: UInt64) {
        guard pipeline.loudness.take(volume, after: number) else { return }
        report(EngineReport(load, .volume(volume.clamped(to: 0...1))))
    }

    /// What is heard through headphones must not go on from the speakers. Beginning to play comes first.
    func watchDevices() {
        guard listening == nil, pipeline.loudness.isServed else { return }
        let post = self.post
        let stamp = since
        let number = load.number
        listening = Task {
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
            await DeviceWatch.shared.start(number) { post(.unplugged(device: $0), stamp) }
        }
    }

    /// When it goes wrong it does so as sound goes on, and a moment later it shows.
    func watchClock() {
        clockCheck?.cancel()
        clockCheck = post(.clockDue, after: .milliseconds(250))
    }

    /// Opens the output anew, with a new clock, where the sound was: as far as it can have come since it began.
    func checkClock() {
        guard isPlaying, pipeline.clockHasRunAway() else { return }
        guard let begun else { return openHere() }
        let passed = BookTime(microseconds: Clock.monotonic - begun.at)
        openBack(at: begun.place + .seconds(passed.seconds * pipelineRate))
    }

    /// What stood too long, even if it had been told to play, a moment before that: no sound had come.
    func openUnheard() {
        if pipeline.hasPlayed, let begun { openBack(at: begun.place) } else { openHere() }
    }

    /// Anew, and not behind `place`: its clock said more than was heard.
    private func openBack(at place: BookTime) {
        open(needle.reel.spot(at: min(here, place)), for: .goBack)
    }

    /// Where it is, or is on its way to.
    func openAgain() {
        switch phase {
        case .opening(let spot, let purpose), .seeking(let spot, let purpose): open(spot, for: purpose)
        case .finding, .waking, .steady, .ended, .failed: openHere()
        }
    }

    /// Anew, where it is.
    func openHere() { open(needle.reel.spot(at: here), for: .goOn) }

    /// Where it is, or else the start of its file.
    var here: BookTime { needle.position ?? needle.reel.tracks[needle.track].start }
}
