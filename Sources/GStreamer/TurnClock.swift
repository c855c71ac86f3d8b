internal import EventLoop
internal import Listening

/// The clock of the output, which may run away: see ``ClockWatch``.
extension Turn {
    /// When it goes wrong it does so as sound goes on, and a moment later it shows.
    func watchClock() {
        clockCheck?.cancel()
        let stamp = since
        let post = self.post
        clockCheck = Task {
            guard (try? await Task.sleep(for: .milliseconds(250))) != nil else { return }
            post(.clockDue, stamp)
        }
    }

    /// Opens the output anew, with a new clock, where the sound was.
    func checkClock() {
        guard isPlaying, pipeline.clockHasRunAway() else { return }
        let spot = needle.reel.spot(at: needle.position ?? needle.reel.tracks[needle.track].start)
        open(spot, for: .goOn)
    }
}
