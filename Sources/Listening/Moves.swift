/// One jump of the listener's place, as the ring keeps it.
public struct Move: Hashable, Sendable {
    /// Milliseconds since 1970, this computer's clock; of several jumps in a row, of the last.
    public let at: Int64
    public let item: ItemID
    public let from: BookTime
    public let to: BookTime
    public let cause: Player.JumpCause

    public init(at: Int64, item: ItemID, from: BookTime, to: BookTime, cause: Player.JumpCause) {
        self.at = at
        self.item = item
        self.from = from
        self.to = to
        self.cause = cause
    }
}

extension Move {
    /// A key held down and a bar dragged are one move to the listener.
    static let burst: Int64 = 2000
    /// Another device that plays tells its place far more often.
    static let silence: Int64 = 120_000

    /// - Returns: both as one, from the first's start to the last's goal; nil if they are two.
    public func joined(by next: Move) -> Move? {
        let passed = next.at.subtractingSaturating(at)
        guard next.item == item, next.cause == cause, passed >= 0 else { return nil }
        switch cause {
        case .seek, .chapter:
            return passed <= Self.burst ? Move(at: next.at, item: item, from: from, to: next.to, cause: cause) : nil
        case .device:
            // It plays on there, beside what plays here: where it is now is what would be gone back to.
            guard passed <= Self.silence else { return nil }
            return (next.from - from).microseconds.magnitude <= 5_000_000 + 3000 * passed ? next : nil
        case .undo, .restart, .finish, .unfinish, .sleep, .begin: return nil
        }
    }

    /// What did not move the place is no entry, but for marks that stand for more than the place: a finish can be taken
    /// back, and each undo stands for the move that it took back.
    public var isWorthKeeping: Bool {
        cause == .finish || cause == .unfinish || cause == .undo || (to - from).microseconds.magnitude >= 500_000
    }

    public enum Standing: Hashable, Sendable {
        case done
        /// Taken back by a later undo.
        case undone
        case undo
    }

    /// What has become of each of these moves, which are ordered newest first: every undo takes back the newest move of
    /// its item that still stands, so that undoing again walks further back.
    public static func standings(_ moves: [Move]) -> [Standing] {
        var undos: [ItemID: Int] = [:]
        return moves.map { move in
            let open = undos[move.item, default: 0]
            if move.cause == .undo {
                undos[move.item] = open + 1
                return .undo
            }
            guard open > 0 else { return .done }
            undos[move.item] = open - 1
            return .undone
        }
    }

    /// - Parameters:
    ///   - moves: newest first.
    ///   - item: nil: of whichever was moved last.
    /// - Returns: the move that an undo takes back; nil if there is none.
    public static func next(in moves: [Move], of item: ItemID? = nil) -> Move? {
        zip(moves, standings(moves)).first { $0.item == item ?? $0.item && $1 == .done }?.0
    }
}

/// Where an item begins to play: the later of what the source and the journal say, and what lost.
public struct Beginning: Hashable, Sendable {
    public struct Step: Hashable, Sendable {
        public let from: BookTime
        public let to: BookTime
        public let cause: Player.JumpCause
    }

    public private(set) var place: BookTime
    /// What moved the listener on the way here, in order.
    public private(set) var steps: [Step] = []
    /// Another device went on: what is older is not to be told to the server.
    public let isOutdone: Bool
    /// When this place was written down, in milliseconds since 1970 of the server's clock; nil: it is chosen only now.
    public private(set) var written: Int64?
    /// The listener asked for another place than where they stood.
    public private(set) var isChosen = false
    /// Where the listener stood, beyond the end that the item has now; nil: within it.
    public private(set) var beyond: BookTime?
    /// What was finished begins anew, and is finished until something of it is heard.
    public private(set) var startsOver = false

    /// - Parameters:
    ///   - server: what the source says.
    ///   - own: where the player stands, which goes before the journal but not before another device.
    ///   - knowsOurs: the server had accepted all of ours before it was asked.
    ///   - isServers: the journal has the server's own word.
    ///   - isAhead: the journal's was dated by a clock that was ahead.
    public init(
        of item: Item, server: Place?, journal: Place?, own: BookTime? = nil, knowsOurs: Bool = false,
        isServers: Bool = false, isAhead: Bool = false
    ) {
        // Of files, both are our own.
        let isServers = isServers || item.id.source == "file"
        isOutdone =
            server.map { server in
                journal.map {
                    $0.isOutdone(by: server, knowsOurs: knowsOurs, isServers: isServers, isAhead: isAhead)
                } ?? (own == nil)
            } ?? false
        guard let winner = isOutdone ? server : journal, isOutdone || own == nil else {
            place = own ?? .zero
            if item.ends(before: place) {
                beyond = place
                place = item.reachable(item.duration)
                add(from: own ?? .zero, to: place, .begin)
            }
            startsOver = place == .zero && journal?.isFinished == true
            written = journal.flatMap { $0.position == place ? $0.updated : nil }
            return
        }
        let stood = winner.position.clamped(to: .zero...item.duration)
        place = winner.isFinished ? .zero : item.reachable(stood)
        startsOver = winner.isFinished
        written = place == winner.position ? winner.updated : nil
        // A finished item starts over; where it was finished by hand is not forgotten, nor where the listener was in what is
        // shorter now: some of it may be missing for a while.
        let isBeyond = !winner.isFinished && item.ends(before: winner.position)
        let mark = isBeyond ? winner.position : winner.isFinished && stood < item.duration ? stood : place
        if isOutdone, item.id.source == "file" {
            // What lay at its path before has handed its place on; that may have been something else after all.
            add(from: own ?? journal?.position ?? .zero, to: mark, .begin)
        } else if isOutdone, let lost = own ?? journal?.position, lost < item.duration {
            add(from: lost, to: mark, .device)
        }
        if mark != place { add(from: mark, to: place, .begin) }
        if isBeyond { beyond = mark }
    }

    /// The listener asked for another place.
    public mutating func move(to goal: BookTime) {
        add(from: place, to: goal, .begin)
        beyond = nil
        if goal != place {
            written = nil
            (isChosen, startsOver) = (true, false)
        }
        place = goal
    }

    /// Previous leads from the next item into one that was heard to its end: to the last of its parts, as within it.
    public mutating func goBack(into parts: [Chapter]) {
        guard startsOver, parts.count > 1, let last = parts.last else { return }
        place = last.start
        written = nil
        (isChosen, startsOver) = (true, false)
    }

    private mutating func add(from: BookTime, to: BookTime, _ cause: Player.JumpCause) {
        steps.append(Step(from: from, to: to, cause: cause))
    }
}

extension Item {
    /// It is shorter than it was when somebody got there, and not by a rounding.
    fileprivate func ends(before place: BookTime) -> Bool { duration > .zero && place > duration + .second }

    /// The last that can be gone to.
    var lastPlace: BookTime { max(.zero, duration - Timeline.lastMargin) }

    /// With nothing left to hear from a place, playing from there would only finish the item: its last seconds are heard
    /// again.
    public func reachable(_ place: BookTime) -> BookTime {
        duration - place < .second ? max(.zero, duration - Stretch.finishZone) : place
    }
}
