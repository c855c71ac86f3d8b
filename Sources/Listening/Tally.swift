/// How long was listened, by day and by item: what servers counted, and beside it what only this computer knows.
public struct Tally: Hashable, Sendable {
    /// Something of it.
    public struct Share: Hashable, Sendable {
        /// Counted by a server: from all devices.
        public var server = BookTime.zero
        /// Counted here, and by no server that was asked.
        public var local = BookTime.zero

        public init(server: BookTime = .zero, local: BookTime = .zero) {
            self.server = server
            self.local = local
        }

        public var sum: BookTime { server + local }
    }

    /// What one server says.
    public struct Counted: Hashable, Sendable {
        /// Since the server has known the listener.
        public var total: BookTime
        public var days: [Day: BookTime]
        /// Within the days that were asked for.
        public var items: [ItemID: BookTime]

        public init(total: BookTime, days: [Day: BookTime], items: [ItemID: BookTime]) {
            self.total = total
            self.days = days
            self.items = items
        }
    }

    /// What was listened to of one item on one day.
    public struct Row: Hashable, Sendable {
        public let day: Day
        public let item: ItemID
        public let listened: BookTime

        public init(day: Day, item: ItemID, listened: BookTime) {
            self.day = day
            self.item = item
            self.listened = listened
        }
    }

    public private(set) var total = Share()
    public private(set) var days: [Day: Share] = [:]
    public private(set) var items: [ItemID: Share] = [:]

    /// - Parameters:
    ///   - first: items count from this day on; days and the total do from the beginning.
    ///   - here: all that was listened to on this computer.
    ///   - owed: of that, what those servers have not got yet.
    ///   - servers: what they say, by account. What was heard here of their items is among it, and not added again.
    public init(since first: Day, here: [Row], owed: [Row], servers: [String: Counted]) {
        let isTheirs = { (item: ItemID) in item.account.map { servers[$0] != nil } ?? false }
        for row in here.filter({ !isTheirs($0.item) }) + owed.filter({ isTheirs($0.item) }) {
            total.local += row.listened
            days[row.day, default: Share()].local += row.listened
            if row.day >= first { items[row.item, default: Share()].local += row.listened }
        }
        for counted in servers.values {
            total.server += counted.total
            for (day, time) in counted.days { days[day, default: Share()].server += time }
            for (item, time) in counted.items { items[item, default: Share()].server += time }
        }
    }

    /// How many days in a row something was listened to, up to today; a day that has only begun does not break it.
    public func streak(today: Day) -> Int {
        func isHeard(_ day: Day) -> Bool { days[day].map { $0.sum >= .second } ?? false }
        var day = isHeard(today) ? today : today - 1
        var count = 0
        while isHeard(day) {
            count += 1
            // There is a first one.
            guard day - 1 < day else { break }
            day = day - 1
        }
        return count
    }

    /// The longest first.
    public var ranking: [(item: ItemID, share: Share)] {
        items.filter { $0.value.sum > .zero }.sorted {
            ($1.value.sum, $0.key.key) < ($0.value.sum, $1.key.key)
        }.map { ($0.key, $0.value) }
    }
}
