internal import Listening

/// A moment as the listener's calendar and clock show it (the Gregorian one; no locale is loaded for this).
struct LocalTime {
    let year: Int64
    let month: Int64
    let day: Int64
    let hour: Int64
    let minute: Int64
    let second: Int64
    let millisecond: Int64

    /// - Parameter milliseconds: since 1970. Before 1900 and after the year 9000 it stops.
    init(_ milliseconds: Int64, on surface: Surface = Surface()) {
        let given = milliseconds.clamped(to: -2_208_988_800_000...221_845_392_000_000)
        let shift = Int64(surface.secondsEastOfUTC(given.floored(by: 1000)))
        let local = given + shift * 1000
        let seconds = local.floored(by: 1000)
        let days = seconds.floored(by: 86400)
        let rest = seconds - days * 86400
        millisecond = local - seconds * 1000
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
        (year, month, day) = Day(number: days).date
    }

    /// `2026-11-21`
    var date: String { "\(year)-\(Figures.two(month))-\(Figures.two(day))" }
    /// `09:05:07`
    var clock: String { "\(Figures.two(hour)):\(Figures.two(minute)):\(Figures.two(second))" }
}

extension Int64 {
    fileprivate func floored(by divisor: Int64) -> Int64 { self / divisor - (self % divisor < 0 ? 1 : 0) }
}
