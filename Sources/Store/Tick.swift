internal import GRDB
internal import Listening

/// What playing writes once a second.
struct Tick: Sendable {
    let place: Place
    let stretch: Stretch?
    let sitting: Sitting?
    /// Milliseconds since 1970, this computer's clock.
    let at: Int64

    var entries: [Entry] {
        [.played(place, at: at)] + (stretch.map { [.stretch($0)] } ?? []) + (sitting.map { [.sitting($0)] } ?? [])
    }

    /// Nothing but time has passed in which it was listened to: of each row there is only more.
    func goesOn(from other: Tick) -> Bool {
        sitting != nil && sitting?.id == other.sitting?.id && stretch?.id == other.stretch?.id
            && stretch?.isClosed != true
            && (place.item, place.duration, place.isFinished)
                == (other.place.item, other.place.duration, other.place.isFinished)
    }
}

/// A tick as a ``TickFile`` keeps it, with the places that the row of it may have: on any other it has nothing to say.
struct TickRecord {
    private let item: String
    /// Position, in microseconds, and when it was updated.
    private let bases: [(position: Int64, updated: Int64)]
    private let place: (position: Int64, updated: Int64)
    private let sitting: (id: String, ended: Int64, listened: Int64)
    /// Empty, and 0: there is none.
    private let stretch: (id: String, listened: Int64)

    /// - Returns: nil where it is none that goes on from these.
    init?(_ tick: Tick, from bases: [Tick]) {
        guard let last = bases.last, tick.goesOn(from: last), let sitting = tick.sitting else { return nil }
        item = tick.place.item.description
        self.bases = bases.map { ($0.place.position.microseconds, $0.place.updated) }
        place = (tick.place.position.microseconds, tick.place.updated)
        self.sitting = (sitting.id, sitting.ended, sitting.listened.microseconds)
        stretch = (tick.stretch?.id ?? "", tick.stretch?.listened.microseconds ?? 0)
    }

    /// - Returns: nil for what is not whole, or of another shape.
    init?(text: String) {
        let lines = text.split(separator: "\n", maxSplits: Self.lines + 1, omittingEmptySubsequences: false)
        guard lines.count > Self.lines, lines[0] == Self.head, lines[Self.lines - 1] == Self.end else { return nil }
        let bases = lines[2].split(separator: " ").compactMap { Int64($0) }
        let numbers = [3, 4, 6, 7, 9].compactMap { Int64(lines[$0]) }
        guard numbers.count == 5 else { return nil }
        item = String(lines[1])
        self.bases = stride(from: 0, to: bases.count - 1, by: 2).map { (bases[$0], bases[$0 + 1]) }
        place = (numbers[0], numbers[1])
        sitting = (String(lines[5]), numbers[2], numbers[3])
        stretch = (String(lines[8]), numbers[4])
    }

    private static let head = "dogear tick 1"
    private static let end = "end"
    private static let lines = 11

    var text: String {
        """
        \(Self.head)
        \(item)
        \(bases.map { "\($0.position) \($0.updated)" }.joined(separator: " "))
        \(place.position)
        \(place.updated)
        \(sitting.id)
        \(sitting.ended)
        \(sitting.listened)
        \(stretch.id)
        \(stretch.listened)
        \(Self.end)

        """
    }

    /// Brings the rows up to it. Does nothing if anything else was written of the place since, here or by another device.
    func write(to db: Database) throws {
        let isKnown = try bases.contains { base in
            try db.run(
                """
                UPDATE places SET position = ?, updated = ?, isServers = 0
                WHERE item = ? AND position = ? AND updated = ? AND NOT isFinished
                """, [place.position, place.updated, item, base.position, base.updated])
            return db.changesCount == 1
        }
        guard isKnown else { return }
        try db.run(
            "UPDATE stretches SET place = ?, updated = max(updated, ?), listened = ? WHERE id = ? AND NOT isClosed",
            [place.position, place.updated, stretch.listened, stretch.id])
        try db.run(
            "UPDATE history SET place = ?, ended = ?, listened = ? WHERE id = ?",
            [place.position, sitting.ended, sitting.listened, sitting.id])
    }
}

/// Which seconds need not be written to the database yet.
struct Ticks {
    private let file: TickFile?
    /// What the row of the place has, or one of these: the last that is known to be there, and what was given since. None:
    /// it may have anything.
    private var bases: [Tick] = []
    private var isKnown = false
    /// In the file alone.
    private var waiting: Tick?
    private var count = 0

    /// A power cut takes them all.
    private static let most = 9
    /// Of a disk that takes so long for each, no more are told apart.
    private static let mostBases = 8

    init(_ file: TickFile?) { self.file = file }

    /// - Returns: false: it is to be written. It may be in the file all the same, should that take its time.
    mutating func mayWait(_ tick: Tick) -> Bool {
        guard isKnown, let file, let record = TickRecord(tick, from: bases), file.write(record), count < Self.most
        else {
            return false
        }
        waiting = tick
        count += 1
        return true
    }

    /// Something is given to the store.
    /// - Parameters:
    ///   - tick: what that is; nil: something else.
    ///   - isOfPlace: it changes what the database has of a place.
    /// - Returns: what is to be written before it.
    mutating func given(_ tick: Tick?, isOfPlace: Bool) -> Tick? {
        defer { (waiting, count) = (nil, 0) }
        let first = waiting.flatMap { tick?.goesOn(from: $0) == true ? nil : $0 }
        if let last = bases.last, isOfPlace ? tick?.goesOn(from: last) == true : true, bases.count < Self.mostBases {
            bases += [first, tick].compactMap(\.self)
        } else {
            (bases, isKnown) = ([tick].compactMap(\.self), false)
        }
        return first
    }

    /// It is in the rows.
    mutating func wrote(_ tick: Tick) {
        guard let index = bases.lastIndex(where: { ($0.at, $0.place) == (tick.at, tick.place) }) else { return }
        bases.removeFirst(index)
        isKnown = true
    }
}
