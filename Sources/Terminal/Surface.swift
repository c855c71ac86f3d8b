internal import Listening

/// Where lines are shown: on a terminal, or in a pipe where they stay plain and whole.
public struct Surface: Sendable {
    /// Nil in a pipe: nothing is cut, no bars.
    public var columns: Int?
    /// Bold and dim.
    public var styled: Bool
    /// Of characters beyond ASCII nothing is known to be shown.
    public var isASCII: Bool
    /// Milliseconds since 1970.
    public var now: Int64
    /// Of the listener's time zone, at a moment in seconds since 1970.
    public var secondsEastOfUTC: @Sendable (Int64) -> Int

    public init(
        columns: Int? = nil, styled: Bool = false, isASCII: Bool = false, now: Int64 = 0,
        secondsEastOfUTC: @escaping @Sendable (Int64) -> Int = { _ in 0 }
    ) {
        self.columns = columns
        self.styled = styled
        self.isASCII = isASCII
        self.now = now
        self.secondsEastOfUTC = secondsEastOfUTC
    }

    public enum Style: Sendable { case plain, bold, dim, warning, bad, good }

    public func paint(_ text: String, _ style: Style) -> String {
        guard styled, !text.isEmpty else { return text }
        let code =
            switch style {
            case .plain: ""
            case .bold: "1"
            case .dim: "2"
            case .warning: "33"
            case .bad: "31"
            case .good: "32"
            }
        return code.isEmpty ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    /// A share from 0 to 1, as a line that fills up.
    public func bar(_ share: Double, columns: Int = 10) -> String {
        let share = share.isFinite ? share.clamped(to: 0...1) : 0
        // Neither empty nor full before it is true.
        let filled = share >= 1 ? columns : share <= 0 ? 0 : Int(share * Double(columns)).clamped(to: 1...columns - 1)
        return String(repeating: "━", count: filled) + paint(String(repeating: "─", count: columns - filled), .dim)
    }
}

/// Numbers as people read them.
public enum Figures {
    /// `42%`: 0 only when nothing was heard, 100 only when all was.
    public static func percent(_ share: Double) -> String {
        guard share.isFinite, share > 0 else { return "0%" }
        return share >= 1 ? "100%" : "\(Int((share * 100).rounded()).clamped(to: 1...99))%"
    }

    /// `1.25×`
    public static func speed(_ rate: Double) -> String { "\(decimal(rate))×" }

    /// At most two digits behind the point, and no more than are needed.
    public static func decimal(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e9 else { return "?" }
        let hundredths = Int((abs(number) * 100).rounded())
        let sign = number < 0 && hundredths > 0 ? "-" : ""
        let rest = hundredths % 100
        if rest == 0 { return "\(sign)\(hundredths / 100)" }
        return "\(sign)\(hundredths / 100).\(rest % 10 == 0 ? "\(rest / 10)" : two(rest))"
    }

    /// `1:02:03`
    public static func clock(_ seconds: Double) -> String { TimeText.clock(.seconds(seconds)) }
    /// `2 h 5 min`
    public static func length(_ seconds: Double) -> String { TimeText.length(.seconds(seconds)) }
    static func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// `3 chapters`, `1 file`.
    public static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
