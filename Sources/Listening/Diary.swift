/// Some listening to one item within one day, without a longer rest: a row of the history. Unlike a ``Stretch`` it stays
/// when a server has it, and there is one for what has no server, too.
public struct Sitting: Hashable, Sendable, Identifiable {
    /// A uuid made here.
    public let id: String
    public let item: ItemID
    /// The session under which a server has it, or will; nil: none does. One session may have several sittings.
    public let session: String?
    /// By the listener's calendar.
    public let day: Day
    /// Milliseconds since 1970, this computer's clock.
    public let started: Int64
    public internal(set) var ended: Int64
    /// Where it began, and where the listener was at its end.
    public let from: BookTime
    public internal(set) var to: BookTime
    /// Wall-clock time in Playing.
    public internal(set) var listened: BookTime

    public init(
        id: String, item: ItemID, session: String?, day: Day, started: Int64, ended: Int64, from: BookTime,
        to: BookTime, listened: BookTime
    ) {
        self.id = id
        self.item = item
        self.session = session
        self.day = day
        self.started = started
        self.ended = ended
        self.from = from
        self.to = to
        self.listened = listened
    }
}

/// Makes rows of the history of what is heard. Pure: the daemon writes them, in one transaction with the place.
public struct Diary: Sendable {
    /// A longer one begins a new row, in milliseconds.
    public static let rest: Int64 = 1_800_000

    private var present: Sitting?
    private var last: (item: ItemID, place: BookTime)?

    public init() {}

    /// - Parameters:
    ///   - session: what a server knows this listening by.
    ///   - day: today, by the listener's calendar.
    ///   - id: for a new row.
    /// - Returns: the row as it is now, all of it; nil if nothing was listened to.
    public mutating func heard(
        _ heard: Player.Heard, rate: Double, session: String?, day: Day, id: () -> String, _ now: Moment
    ) -> Sitting? {
        let before = last.flatMap { $0.item == heard.item ? $0.place : nil }
        last = (heard.item, heard.place)
        guard heard.listened > .zero else { return nil }
        if var sitting = present, goesOn(sitting, heard.item, session, day, now) {
            sitting.ended = max(sitting.ended, now.wall)
            sitting.to = heard.place
            sitting.listened += heard.listened
            present = sitting
            return sitting
        }
        // Before a jump nobody noted where it began.
        let reach = BookTime.seconds(heard.listened.seconds * rate)
        let guess = heard.why == .seek ? heard.place : max(.zero, heard.place - reach)
        let sitting = Sitting(
            id: id(), item: heard.item, session: session, day: day,
            started: now.wall - heard.listened.microseconds / 1000, ended: now.wall, from: before ?? guess,
            to: heard.place, listened: heard.listened)
        present = sitting
        return sitting
    }

    private func goesOn(
        _ sitting: Sitting, _ item: ItemID, _ session: String?, _ day: Day, _ now: Moment
    ) -> Bool {
        sitting.item == item && sitting.session == session && sitting.day == day
            && abs(now.wall - sitting.ended) <= Self.rest
    }
}
