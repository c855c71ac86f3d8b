import EventLoop
import Listening

/// What really happened, as the listener would tell it: the truth that dogear and the server are held against.
@LoopActor final class Ledger: Hearing {
    struct Entry {
        /// Seconds of sound, and how many of them may be missing on the server.
        var played = 0.0
        var slack = 0.0
        /// Where the listener is: one place, or after a death any of several stretches of places.
        var places: [ClosedRange<Double>] = [0...0]
        /// All that was heard or moved to since the disk was last safe.
        var trail: [ClosedRange<Double>] = []
        /// When, in milliseconds of the fake clock on this computer.
        var at: Int64 = 0
        /// When it was begun last: what is begun is written down before the first second is over.
        var begunAt: Int64 = 0
        /// Of the last sound or move before that: a death in between takes it back.
        var finished: Bool? = false
        /// Heard since it was opened.
        var freshly = 0.0
        /// Where the last move on purpose led, of what is loaded.
        var landing: Double?
        /// Finished before, it began anew here and nothing has been heard of it yet.
        var begun: Double?
        /// The last word was that it is not finished, which says nothing of a place that nobody here knew.
        var isUnfinished = false
        /// Where it was before it went back a little to be gone on with, and how many seconds were heard since.
        var rewound: (from: Double, heard: Double)?
        /// Said after the server's clock was set and before the server answered again: its own rule, the later time by its
        /// clock (audiobookshelf.md, section 6), cannot be kept by who does not know that clock.
        var isMisdated = false
        /// The last word was a command, and dogear died since: of a command of an earlier run nobody knows whether the
        /// server's place is one of ours that came late, for so long as a place may be on its way.
        var isInherited = false
        var isCommanded = false
        /// Seconds of sound since it last stood still.
        var run = 0.0
        var rival: Rival?
    }

    struct Rival {
        var place: Double
        var finished: Bool
        var at: Int64
        /// Something of ours was on its way when this was said: the server heeds whoever comes last.
        var isContested = false
    }

    /// Milliseconds within which nobody can say whose word was the last: the server's `Date` carries whole seconds, and it
    /// notes a sync under the time at which it came, not at which it was true (audiobookshelf.md, sections 5 and 6).
    static let doubt: Int64 = 3000

    private(set) var entries: [Thing: Entry] = [:]
    private(set) var violations: [String] = []
    /// The listener is moving the place on purpose.
    var isMoving = false
    /// A sleep timer was set: playing may end by itself, back where the sound began to fade.
    var fades = false
    /// Places asked for with openings that have not begun.
    private var wished: [Thing: [Double]] = [:]
    private let now: () -> Int64
    /// Whether dogear goes by the clock that the server has now.
    var isClockKnown: () -> Bool = { true }

    init(now: @escaping () -> Int64) { self.now = now }

    func blame(_ sentence: String) { violations.append(sentence) }

    func change(_ thing: Thing, _ body: (inout Entry) -> Void) { body(&entries[thing, default: Entry()]) }
    func entry(_ thing: Thing) -> Entry { entries[thing] ?? Entry() }

    func wishes(_ thing: Thing, at places: Double...) { wished[thing] = places }

    private func isWished(_ thing: Thing, _ place: Double) -> Bool {
        guard let index = wished[thing]?.firstIndex(where: { abs($0 - place) < 0.1 }) else { return false }
        wished[thing]?.removeFirst(index + 1)
        return true
    }

    /// Stopped before it is heard there, the listener is there or where they were.
    func mayBegin(_ thing: Thing, at place: Double) {
        guard let wishes = wished[thing], wishes.contains(where: { abs($0 - place) < 0.1 }) else { return }
        change(thing) { entry in
            entry.places.append(place...place)
            entry.trail.append(place...place)
            if entry.finished == true { entry.finished = nil }
        }
    }

    // MARK: What is heard

    func loaded(_ length: BookTime, at place: BookTime) {
        guard let thing = Thing.of(length: length.seconds) else { return blame("an unknown item was loaded") }
        let place = place.seconds
        let before = entry(thing)
        let isMoving = isMoving || isWished(thing, place)
        if !isMoving, !mayBegin(before, thing, at: place) {
            blame(
                "\(thing.name) began at \(place), but the listener was at \(before.places), finished \(before.finished as Any), rival \(before.rival as Any), at \(before.at)"
            )
        }
        change(thing) { entry in
            entry.freshly = 0
            entry.begunAt = now()
            entry.landing = nil
            let isOwn = before.places.contains { $0.lowerBound - 1 <= place && place <= $0.upperBound + 1 }
            // Until something is heard, another's place or the start of a finished item is nobody's move.
            if entry.finished == true, !isMoving {
                entry.begun = place
                return
            }
            if isMoving {
                // Asked for again where it stands, that is no news.
                let isThere = before.places.contains { abs($0.lowerBound - place) < 0.01 } && entry.finished == false
                if entry.finished == true { entry.finished = nil }
                entry.places.append(place...place)
                if !isThere {
                    entry.at = now()
                    entry.isMisdated = !isClockKnown()
                }
            } else if isOwn {
                entry.places = [place...place]
            } else {
                entry.places.append(place...place)
            }
            entry.trail.append(place...place)
        }
    }

    private func mayBegin(_ entry: Entry, _ thing: Thing, at place: Double) -> Bool {
        var ranges = entry.places
        if entry.finished != false { ranges.append(0...0) }
        // With nothing left to hear, the last seconds are heard again.
        if ranges.contains(where: { $0.upperBound > thing.length - 1 }) {
            ranges.append(thing.length - 10.5...thing.length - 10.5)
        }
        if let rival = entry.rival, rival.at >= entry.at - Ledger.doubt || entry.isMisdated {
            ranges.append(rival.finished ? 0...0 : rival.place...rival.place)
        }
        return ranges.contains { $0.lowerBound - 1 <= place && place <= $0.upperBound + 1 }
    }

    func heard(_ length: BookTime, from: BookTime, to: BookTime, for time: BookTime) {
        guard let thing = Thing.of(length: length.seconds), time > .zero else { return }
        change(thing) { entry in
            entry.played += time.seconds
            let stoodStill = now() - Int64(time.seconds * 1000) > entry.at + 50
            entry.run = (stoodStill ? 0 : entry.run) + time.seconds
            entry.freshly += time.seconds
            (entry.isCommanded, entry.isInherited) = (false, false)
            let place = to.seconds
            entry.begun = nil
            entry.rewound?.heard += time.seconds
            entry.isUnfinished = false
            if entry.finished != false { entry.finished = entry.freshly > 1.5 ? false : nil }
            if entry.freshly > 0.2 {
                entry.places = [place...place]
            } else {
                entry.places.append(place...place)
            }
            entry.trail.append(min(from.seconds, place)...place)
            entry.at = now()
            entry.isMisdated = !isClockKnown()
        }
    }

    func sought(_ length: BookTime, from: BookTime, to: BookTime) {
        guard let thing = Thing.of(length: length.seconds) else { return }
        let place = to.seconds
        let back = from.seconds - place
        let entry = entry(thing)
        let isMoving = isMoving || isWished(thing, place)
        // What was finished elsewhere begins anew.
        let isRival =
            entry.rival.map { abs(($0.finished ? 0 : $0.place) - place) < 1 && $0.at >= entry.at - Ledger.doubt }
            ?? false
        // Twenty seconds at three times the speed, and one until that is noticed.
        if !isMoving, !isRival, !(back >= -0.01 && back <= (fades ? 63 : 30.01)) {
            blame("\(thing.name) moved from \(from.seconds) to \(place) by itself")
        }
        // Heard again and asleep before it was anywhere, it is where it was before that: at the start, finished or not.
        if fades, !isMoving, back > 0, place == 0 {
            moved(thing, to: place)
            return change(thing) { $0.finished = nil }
        }
        // Nobody takes back a finish by going nowhere, from the start of what was heard to its end to that start.
        if entry.finished == true, isMoving, back == 0 { return }
        moved(thing, to: place)
        change(thing) { $0.landing = isMoving ? place : nil }
        // Going back a little at resuming is no move before it is heard.
        if !isMoving {
            change(thing) { present in
                present.at = entry.at
                present.places.append(from.seconds...from.seconds)
                present.rewound = (from.seconds, 0)
            }
        }
    }

    func ended(_ length: BookTime) {
        guard let thing = Thing.of(length: length.seconds) else { return }
        // Nobody heard the end who moved into the last second.
        if let landing = self.entry(thing).landing, landing > thing.length - 1 {
            change(thing) { $0.places.append(landing...landing) }
        } else {
            finished(thing)
        }
    }

    // MARK: What the listener does

    func moved(_ thing: Thing, to place: Double) {
        change(thing) { entry in
            entry.begun = nil
            entry.rewound = nil
            entry.isUnfinished = false
            entry.places = [place...place]
            entry.trail.append(place...place)
            entry.at = now()
            entry.isMisdated = !isClockKnown()
            entry.finished = false
            entry.isCommanded = true
        }
    }

    /// A command was carried out.
    func marked(_ thing: Thing, _ kind: ProgressWrite.Kind) {
        change(thing) { entry in
            entry.isUnfinished = kind == .unfinish
            (entry.isCommanded, entry.isInherited) = (true, false)
            switch kind {
            case .place: break
            case .finish: entry.finished = true
            case .unfinish:
                // It goes on where the newer place is; another device's only if the server could be asked for it.
                if let rival = entry.rival, rival.at >= entry.at - Ledger.doubt {
                    entry.places.append(rival.place...rival.place)
                }
                // Begun anew, that is where it stands; with something else opened since, or where it was before.
                if entry.finished == true, let begun = entry.begun { entry.places.append(begun...begun) }
                entry.finished = false
            case .restart:
                entry.places = [0...0]
                entry.finished = false
            }
            entry.at = now()
            entry.isMisdated = !isClockKnown()
            entry.trail += entry.places
        }
    }

    func finished(_ thing: Thing) {
        change(thing) { entry in
            entry.finished = true
            entry.at = now()
            entry.isMisdated = !isClockKnown()
        }
    }

    // MARK: What happens to the machine

    /// The player knows of the last second's sound by the clock alone.
    func soundFailed(_ thing: Thing, rate: Double) {
        change(thing) { entry in
            entry.places = entry.places.map { max(0, $0.lowerBound - 1.01 * rate)...$0.upperBound }
        }
    }

    /// The next run does not know what became of a request that was under way.
    func left() {
        for thing in entries.keys { change(thing) { $0.isInherited = $0.isCommanded } }
    }

    /// The disk holds all that was heard up to now.
    func safe() {
        for thing in entries.keys {
            change(thing) { entry in
                entry.trail = entry.places
                // Not written down before the first second of it is over.
                if let rewound = entry.rewound, rewound.heard < 1.01 { entry.trail.append(rewound.from...rewound.from) }
            }
        }
    }

    /// - Parameter isPower: all since the disk was last safe may be gone, else a second of sound.
    func died(isPower: Bool, sounding thing: Thing?, rate: Double) {
        wished = [:]
        for thing in entries.keys {
            change(thing) { entry in
                if let begun = entry.begun { entry.places.append(begun...begun) }
                entry.begun = nil
            }
        }
        left()
        for thing in entries.keys where isPower {
            change(thing) { entry in
                if entry.trail.count > 1 || entry.trail != entry.places {
                    // What another device said meanwhile is newer than what is left.
                    entry.isMisdated = true
                    entry.slack += 15
                    entry.places = entry.trail + entry.places
                    if entry.finished != nil, entry.trail.count > 1 { entry.finished = nil }
                }
            }
        }
        // The disk may be safe, the second that is being heard is not on it yet.
        if let thing {
            change(thing) { entry in
                entry.slack += 1.01
                if entry.run < 1.01 {
                    entry.isMisdated = true
                    if entry.rival?.finished == true { entry.finished = nil }
                }
                entry.places = entry.places.map { max(0, $0.lowerBound - 1.01 * rate)...$0.upperBound }
                // The second that may be lost is the one in which it went back.
                if let rewound = entry.rewound, rewound.heard < 1.01 {
                    entry.places.append(rewound.from...rewound.from)
                }
            }
        }
    }
}
