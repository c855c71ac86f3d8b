/// Times as people write them: `90`, `15m`, `15min`, `1h30m`, `1h30`, `2m30s`, `1:02:03`, `12.5`.
public enum TimeText {
    /// - Returns: nil if it is none of the forms above, negative, or longer than a year.
    public static func parse(_ text: some StringProtocol) -> BookTime? {
        let seconds = text.contains(":") ? clock(text) : units(text)
        guard let seconds, seconds.isFinite, seconds >= 0, seconds <= 366 * 86400 else { return nil }
        return .seconds(seconds)
    }

    /// `1:02:03`, `12:05`, `0:07`: hours only when there are any; fractions cut off.
    public static func clock(_ time: BookTime) -> String {
        let whole = max(0, time.microseconds) / 1_000_000
        let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds))" : "\(minutes):\(two(seconds))"
    }

    /// `2 h 5 min`, `12 min`, `40 s`: for lengths and what is left.
    public static func length(_ time: BookTime) -> String {
        let whole = (max(0, time.microseconds) + 500_000) / 1_000_000
        if whole < 60 { return "\(whole) s" }
        let minutes = (whole + 30) / 60
        if minutes < 60 { return "\(minutes) min" }
        return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func number(_ text: some StringProtocol) -> Double? {
        guard let first = text.first, first.isASCII, first.isNumber || first == ".",
            text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
        else { return nil }
        return Double(text)
    }

    private static func clock(_ text: some StringProtocol) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var total = 0.0
        for (index, part) in parts.enumerated() {
            guard let value = number(part), index == 0 || value < 60,
                index == parts.count - 1 || value.rounded() == value
            else { return nil }
            total = total * 60 + value
        }
        return total
    }

    private static func units(_ text: some StringProtocol) -> Double? {
        if let plain = number(text) { return plain }
        var total = 0.0
        // What a number without a unit behind the last one is of: `1h30`.
        var next: Double?
        var rest = text.lowercased()[...]
        while !rest.isEmpty {
            let digits = rest.prefix { !$0.isLetter }
            let word = rest.dropFirst(digits.count).prefix { $0.isLetter }
            rest = rest.dropFirst(digits.count + word.count)
            guard let value = number(digits) else { return nil }
            if word.isEmpty {
                guard let next, next > 0, value < 60, rest.isEmpty else { return nil }
                return total + value * next
            }
            guard let unit = unitNames[String(word)], next.map({ unit <= $0 }) ?? true else { return nil }
            total += value * unit
            next = unit == 1 ? 0 : unit / 60
        }
        return next == nil ? nil : total
    }

    /// In seconds.
    private static let unitNames: [String: Double] = [
        "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600, "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
        "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
    ]
}

/// Where to go: `+30`, `-1:00`, `12:30`, `50%`, `chapter:7`, `bookmark:2`.
public enum Jump: Hashable, Sendable {
    case by(BookTime)
    case to(BookTime)
    /// 0 to 1 of the whole item.
    case share(Double)
    /// Counted from 1.
    case chapter(Int)
    /// Counted from 1, in the order of the item's timeline.
    case bookmark(Int)

    /// - Returns: nil if the text is none of the forms.
    public init?(_ text: String) {
        if text.hasPrefix("chapter:"), let number = Int(text.dropFirst(8)), number > 0 {
            self = .chapter(number)
        } else if text.hasPrefix("bookmark:"), let number = Int(text.dropFirst(9)), number > 0 {
            self = .bookmark(number)
        } else if text.hasSuffix("%"), text.first?.isNumber == true, let share = Double(text.dropLast()),
            (0...100).contains(share)
        {
            self = .share(share / 100)
        } else if let sign = text.first, sign == "+" || sign == "-", let time = TimeText.parse(text.dropFirst()) {
            self = .by(sign == "+" ? time : -time)
        } else if let time = TimeText.parse(text) {
            self = .to(time)
        } else {
            return nil
        }
    }
}
