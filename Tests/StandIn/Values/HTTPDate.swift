import Foundation

/// Times as text, in UTC and independent of the locale.
enum HTTPDate {
    private static let days = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private struct Parts {
        var year, month, day, hour, minute, second, millisecond, weekday: Int

        init(milliseconds: Int) {
            let seconds = Int((Double(milliseconds) / 1000).rounded(.down))
            millisecond = milliseconds - seconds * 1000
            var time = seconds
            var parts = tm()
            gmtime_r(&time, &parts)
            (year, month, day) = (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
            (hour, minute, second) = (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
            weekday = (Int(parts.tm_wday) + 3) % 7
        }
    }

    /// `Sat, 21 Nov 2026 01:10:00 GMT`.
    static func text(milliseconds: Int) -> String {
        let at = Parts(milliseconds: milliseconds)
        let clock = [at.hour, at.minute, at.second].map { padded($0) }.joined(separator: ":")
        return "\(days[at.weekday].prefix(3)), \(padded(at.day)) \(months[at.month - 1]) \(at.year) \(clock) GMT"
    }

    /// `2026-11-21T01:13:41.685Z`.
    static func iso(milliseconds: Int) -> String {
        let at = Parts(milliseconds: milliseconds)
        let clock = [at.hour, at.minute, at.second].map { padded($0) }.joined(separator: ":")
        return "\(day(milliseconds: milliseconds))T\(clock).\(padded(at.millisecond, to: 3))Z"
    }

    /// `2026-11-21`.
    static func day(milliseconds: Int) -> String {
        let at = Parts(milliseconds: milliseconds)
        return "\(at.year)-\(padded(at.month))-\(padded(at.day))"
    }

    static func year(milliseconds: Int) -> Int { Parts(milliseconds: milliseconds).year }

    /// January is 0, as in JavaScript.
    static func month(milliseconds: Int) -> Int { Parts(milliseconds: milliseconds).month - 1 }

    static func weekday(milliseconds: Int) -> String { days[Parts(milliseconds: milliseconds).weekday] }

    private static func padded(_ number: Int, to width: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
