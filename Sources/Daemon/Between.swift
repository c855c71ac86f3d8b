internal import DBus
internal import EventLoop
internal import Listening
internal import MPRIS

/// What was heard is over and what is wanted is not heard yet: what everyone is shown meanwhile.
struct Between {
    /// Where the sound was left, in the track that is shown.
    fileprivate(set) var position: BookTime
    fileprivate let since: Int64
    /// It has only begun: to everyone who looks all is as it was, so that nothing flickers where it is over in a moment.
    fileprivate(set) var isBrief: Bool
    /// What was chosen shows as it comes, once that takes longer.
    fileprivate var isOver = false
    fileprivate var timer: LoopTimer?

    /// Longer than another file takes to be heard, too short to be told that it is silent.
    fileprivate static let brief = BookTime.seconds(0.25)
    /// So long who only moves on waits for what that leads to.
    fileprivate static let patience = brief
}

/// Playing waits for more of a stream, for a sound output that does not go on, or behind an end for what follows, and will
/// go on by itself.
struct Drought {
    fileprivate let timer: LoopTimer
    /// It shows as a pause: who follows the signals would count on.
    fileprivate(set) var isShown = false

    /// A shorter one is not worth it that everything flickers.
    fileprivate static let brief = BookTime.second
    /// An item that follows another may have to be asked for.
    fileprivate static let briefBehindAnEnd = BookTime.seconds(2)
}

extension Service {
    /// To be called before what is shown is made anew.
    func lookForDrought() {
        guard player.isBuffering || player.isStanding || player.turning == .rolled, player.wantsPlay else {
            drought?.timer.cancel()
            drought = nil
            return
        }
        guard drought == nil else { return }
        let timer = time.timer(after: player.turning == .rolled ? Drought.briefBehindAnEnd : Drought.brief) {
            self.drought?.isShown = true
            self.announce(seeked: true)
        }
        drought = Drought(timer: timer)
    }

    /// Nothing of what is to come is shown yet.
    var isBetween: Bool { player.turning != nil || positionBetween != nil }

    /// Where everyone who followed the signals thinks it is; nil where the sound itself tells.
    var positionBetween: BookTime? {
        guard let between, !between.isOver else { return nil }
        guard between.isBrief, shown.status == .playing else { return between.position }
        let passed = BookTime(microseconds: time.now.monotonic - between.since)
        return min(between.position + .seconds(passed.seconds * shown.rate), shown.length)
    }

    /// To be called before what is shown is made anew.
    func lookBetween() {
        let isOnItsWay = player.isUnderWay && !player.isBuffering || isGoingBack
        guard isOnItsWay, between != nil || player.turning != nil || shown.trackID != MPRISName.noTrack else {
            between?.timer?.cancel()
            between = nil
            return
        }
        // What had begun to show failed, and it goes back: that is another way.
        if between?.isOver ?? false, player.turning != nil { between = nil }
        if between == nil {
            // What came to its end stands at its end, however long it takes.
            let isCut = player.turning != .rolled
            between = Between(
                position: isCut ? partPosition : shown.length, since: time.now.monotonic, isBrief: isCut)
            if isCut {
                between?.timer = time.timer(after: Between.brief) {
                    let position = self.positionBetween
                    self.endBrief()
                    self.announce(seeked: self.isElsewhere(than: position))
                }
            }
        }
        if !player.wantsPlay, !isGoingBack, shown.status == .playing { endBrief() }
    }

    /// - Parameter position: what was shown before, while it was between two items.
    /// - Returns: whether the sound is no longer where everyone thought it to be meanwhile.
    func isElsewhere(than position: BookTime?) -> Bool {
        position.map { positionBetween == nil && $0 != partPosition } ?? false
    }

    private func endBrief() {
        guard between?.isBrief == true, let position = positionBetween else { return }
        between?.timer?.cancel()
        between?.position = position
        between?.isBrief = false
        between?.isOver = player.turning == nil
    }

    /// - Returns: when what this brings about is heard, or cannot be, but not much later than a caller is willing to wait:
    ///   who asks then reads what has become of it.
    func answer(_ reply: Reply, after body: () -> Void) {
        let (before, phase) = (goings, player.phase)
        body()
        let isUnchanged = player.phase == phase
        guard
            goings != before || heading != nil && isUnchanged
                || player.isUnderWay && player.wantsPlay && !isUnchanged
        else { return reply([]) }
        let timer = time.timer(after: Between.patience) { reply([]) }
        Task { @LoopActor in
            await self.arrival()
            if self.player.isUnderWay, self.player.wantsPlay { try? await self.plays() }
            timer.cancel()
            reply([])
        }
    }
}
