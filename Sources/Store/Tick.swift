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

/// A tick as a ``TickFile`` keeps it, with the place that the rows have: on any other it has nothing to say.
struct TickRecord {
    private let item: String
    /// Position, in microseconds, and when it was updated.
    private let base: (position: Int64, updated: Int64)
    private let place: (position: Int64, updated: Int64)
    private let sitting: (id: String, ended: Int64, listened: Int64)
    /// Empty, and 0: there is none.
    private let stretch: (id: String, listened: Int64)

    /// - Returns: nil where it is none that goes on from what is written.
    init?(_ tick: Tick, from written: Tick) {
        guard tick.goesOn(from: written), let sitting = tick.sitting else { return nil }
        item = tick.place.item.description
        base = (written.place.position.microseconds, written.place.updated)
        place = (tick.place.position.microseconds, tick.place.updated)
        self.sitting = (sitting.id, sitting.ended, sitting.listened.microseconds)
        stretch = (tick.stretch?.id ?? "", tick.stretch?.listened.microseconds ?? 0)
    }

    /// - Returns: nil for what is not whole, or of another shape.
    init?(text: String) {
        let lines = text.split(separator: "\n", maxSplits: Self.lines + 1, omittingEmptySubsequences: false)
        guard lines.count > Self.lines, lines[0] == Self.head, lines[Self.lines - 1] == Self.end else { return nil }
        let numbers = [2, 3, 4, 5, 7, 8, 10].compactMap { Int64(lines[$0]) }
        guard numbers.count == 7 else { return nil }
        item = String(lines[1])
        base = (numbers[0], numbers[1])
        place = (numbers[2], numbers[3])
        sitting = (String(lines[6]), numbers[4], numbers[5])
        stretch = (String(lines[9]), numbers[6])
    }

    private static let head = "dogear tick 1"
    private static let end = "end"
    private static let lines = 12

    var text: String {
        """
        \(Self.head)
        \(item)
        \(base.position)
        \(base.updated)
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
        try db.run(
            """
            UPDATE places SET position = ?, updated = ?, isServers = 0
            WHERE item = ? AND position = ? AND updated = ? AND NOT isFinished
            """, [place.position, place.updated, item, base.position, base.updated])
        guard db.changesCount == 1 else { return }
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
    /// In its rows, and nothing was given to the store since.
    private var written: Tick?
    /// In the file alone.
    private var waiting: Tick?
    private var count = 0
    /// Given to the store, and not in the rows yet.
    private var pending: Tick?

    /// A power cut takes them all.
    private static let most = 9

    init(_ file: TickFile?) { self.file = file }

    /// - Returns: false: it is to be written.
    mutating func mayWait(_ tick: Tick) -> Bool {
        guard let file, let written, count < Self.most, let record = TickRecord(tick, from: written),
            file.write(record)
        else { return false }
        waiting = tick
        count += 1
        return true
    }

    /// Something is given to the store.
    /// - Parameter tick: what that is.
    /// - Returns: what is to be written before it.
    mutating func given(_ tick: Tick?) -> Tick? {
        defer { (written, waiting, pending, count) = (nil, nil, tick, 0) }
        guard let waiting, tick?.goesOn(from: waiting) != true else { return nil }
        return waiting
    }

    mutating func wrote(_ tick: Tick) {
        guard let pending, (pending.at, pending.place) == (tick.at, tick.place) else { return }
        written = tick
    }
}
