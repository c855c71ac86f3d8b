/// A day of the (Gregorian) calendar, whatever the time zone.
public struct Day: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Days since 1970-01-01.
    public let number: Int64

    /// Before the year 1600 and after 9999 it stops.
    public init(number: Int64) { self.number = number.clamped(to: -135_140...2_932_896) }

    /// The day of a moment, in seconds since 1970 of the clock on the wall there.
    public init(wallSeconds: Int64) {
        self.init(number: wallSeconds / 86_400 - (wallSeconds % 86_400 < 0 ? 1 : 0))
    }

    /// - Parameter text: `2026-11-21`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, zip(parts, [4, 2, 2]).allSatisfy({ $0.utf8.count == $1 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }), let year = Int64(parts[0]),
            let month = Int64(parts[1]), let day = Int64(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// - Parameter month: from 1. Nil where there is no such day.
    public init?(year: Int64, month: Int64, day: Int64) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        // Years of 400-year eras that begin in March (Howard Hinnant, "chrono-compatible date algorithms").
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        self.init(number: era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
        // The 31st of a shorter month.
        guard date == (year, month, day) else { return nil }
    }

    public var date: (year: Int64, month: Int64, day: Int64) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// `2026-11-21`.
    public var description: String {
        let (year, month, day) = date
        return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }

    public static func < (a: Day, b: Day) -> Bool { a.number < b.number }
    public static func + (day: Day, days: Int) -> Day { Day(number: day.number + Int64(days)) }
    public static func - (day: Day, days: Int) -> Day { day + -days }
}
