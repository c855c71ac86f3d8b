/// Times as people write them: `90`, `15m`, `1h30m`, `2m30s`, `1:02:03`, `12.5`.
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
        var digits = ""
        var units = Array("hms")
        for character in text.lowercased() {
            if let place = units.firstIndex(of: character) {
                guard let value = number(digits) else { return nil }
                total += value * (character == "h" ? 3600 : character == "m" ? 60 : 1)
                units.removeFirst(place + 1)
                digits = ""
            } else {
                digits.append(character)
            }
        }
        return digits.isEmpty && units.count < 3 ? total : nil
    }
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
