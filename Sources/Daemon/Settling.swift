internal import EventLoop
internal import Listening
internal import MPRIS

/// The sound is about to begin, or to go on elsewhere or at another rate. The clock that it follows may stand meanwhile, begin
/// late, run ahead or fall back: a device far away takes a second to wake up. Whoever follows the signals counts on as if all
/// went well, so the place is looked at until it keeps pace.
struct Settling {
    fileprivate let since: Int64
    fileprivate var timer: LoopTimer?
    /// As of the last look.
    fileprivate var place: BookTime
    fileprivate var at: Int64
    /// Looks in a row at which it had kept pace since the one before.
    fileprivate var steady = 0
    /// How often it was told while it moved.
    fileprivate var told = 0
    /// It was told while it stood: where it goes on from there is worth it, however near that is.
    fileprivate var stood = false

    /// Between two looks; and, of the book, between those at what keeps pace: so the second look tells of what stands before
    /// it is 50 ms off.
    fileprivate static let (pause, longPause) = (BookTime.seconds(0.02), BookTime.seconds(0.03))
    /// Then the tick goes on, once a second. The clock of PulseAudio may keep pace for a second, and stand then until the
    /// sound has begun.
    fileprivate static let patience = BookTime.seconds(2)
    /// The same for what stands: by then it shows as a pause.
    fileprivate static let longPatience = BookTime.seconds(5)
    /// The tick tells nothing anew that was told so shortly before.
    fileprivate static let lately = BookTime.seconds(0.5)
    /// A clock that does not settle is no reason to draw a bar again and again.
    fileprivate static let most = 4

    fileprivate init(_ place: BookTime, at now: Int64) {
        (since, at) = (now, now)
        self.place = place
    }

    fileprivate func pause(at rate: Double) -> BookTime {
        steady > 2 ? max(Self.pause, .seconds(Self.longPause.seconds / rate)) : Self.pause
    }

    fileprivate enum Finding {
        /// Who counts on is further away with each look.
        case stands
        /// Worth telling where it is.
        case moves
        /// Not worth it: it may be elsewhere with the next look.
        case leaps
    }

    /// - Returns: what has become of it since the last look. Worth telling is at first that it moves, then where it stays in
    ///   step.
    fileprivate mutating func look(_ place: BookTime, rate: Double, at now: Int64) -> Finding {
        let passed = BookTime(microseconds: now - at).seconds * rate
        let moved = (place - self.place).seconds
        let stray = abs(moved - passed)
        steady = stray <= passed / 4 ? steady + 1 : 0
        (self.place, at) = (place, now)
        if abs(moved) <= passed / 4 { return .stands }
        return (told == 0 ? stray <= passed / 2 : steady > 1 && told < Self.most) ? .moves : .leaps
    }

    fileprivate func isOver(_ finding: Finding, at now: Int64) -> Bool {
        let limit = finding == .stands ? Self.longPatience : Self.patience
        return now - since >= limit.microseconds
    }
}

extension Service {
    /// The clock that the sound follows does not go as all others do: a sound server may begin late, and every device has
    /// a speed of its own. Looked at once a second while something plays, and more often where it has yet to settle.
    var isAstray: Bool { isAstray(in: .zero) }

    /// - Parameter pause: so much later, if it stands until then.
    private func isAstray(in pause: BookTime) -> Bool {
        guard ownsMPRIS, shown.status == .playing, player.phase == .playing, !isBetween else { return false }
        let now = time.now.monotonic
        let place = partPosition
        // Who was kept from going on between the two compares nothing.
        guard time.now.monotonic - now < 5_000 else { return false }
        return followed.isAstray(from: place, at: now + pause.microseconds)
    }

    /// Close to the end of a chapter the tick comes again and again.
    var isToldLately: Bool { time.now.monotonic - followed.told < Settling.lately.microseconds }

    func watchSettling() {
        settling?.timer?.cancel()
        settling = nil
        guard shown.status == .playing else { return }
        let now = time.now.monotonic
        settling = Settling(position, at: now)
        lookOnceMore()
    }

    private func lookOnceMore() {
        guard let settling else { return }
        self.settling?.timer = time.timer(after: settling.pause(at: player.rate)) {
            guard self.shown.status == .playing, var settling = self.settling else {
                self.settling = nil
                return
            }
            let now = self.time.now.monotonic
            let finding = settling.look(self.position, rate: self.player.rate, at: now)
            let isTold =
                switch finding {
                // Once a second is enough where that may last.
                case .stands: !self.player.isOverrun && self.isAstray(in: Settling.pause)
                case .moves: settling.stood || self.isAstray
                case .leaps: false
                }
            if isTold {
                settling.stood = finding == .stands
                if finding == .moves { settling.told += 1 }
            }
            self.settling = settling.isOver(finding, at: now) ? nil : settling
            if isTold { self.announce(seeked: true) }
            self.lookOnceMore()
        }
    }
}
