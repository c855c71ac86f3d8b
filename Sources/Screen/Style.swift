/// How a cell looks, in the terminal's own sixteen colours: they are chosen to be read on its own ground, light or dark.
public struct Style: Hashable, Sendable {
    public enum Color: Hashable, Sendable {
        /// 0 to 15.
        case own(UInt8)
        /// Of a picture only.
        case rgb(UInt8, UInt8, UInt8)
        /// For a dark room, on a ground of its own.
        case ember(Ember)
    }

    /// What glows in a dark room, from nothing to the brightest.
    public enum Ember: Hashable, Sendable { case ground, faint, calm, bright }

    public var isBold = false
    public var isDim = false
    public var isReversed = false
    public var isUnderlined = false
    public var foreground: Color?
    public var background: Color?

    public init() {}

    public static let plain = Style()
    public static let bold = Style { $0.isBold = true }
    public static let dim = Style { $0.isDim = true }
    /// What is chosen.
    public static let chosen = Style { $0.isReversed = true }
    public static let underlined = Style { $0.isUnderlined = true }
    public static let accent = Style { $0.foreground = .own(6) }
    public static let warning = Style { $0.foreground = .own(3) }
    public static let bad = Style { $0.foreground = .own(1) }
    public static let good = Style { $0.foreground = .own(2) }

    /// The same in a dark room: nothing bright, no patches of colour, and no blue light, which keeps people awake.
    public var inTheDark: Style {
        Style {
            $0.isBold = isBold || isReversed
            $0.isUnderlined = isUnderlined || isReversed
            $0.foreground = .ember(isBold || isReversed ? .bright : isDim ? .faint : .calm)
            $0.background = .ember(.ground)
        }
    }

    private init(_ change: (inout Style) -> Void) { change(&self) }

    /// Both at once; where they differ in colour, the other's. Reversed a colour would be a patch of ground: it goes.
    public func with(_ other: Style) -> Style {
        var style = self
        style.isBold = isBold || other.isBold
        style.isDim = isDim || other.isDim
        style.isReversed = isReversed || other.isReversed
        style.isUnderlined = isUnderlined || other.isUnderlined
        style.foreground = style.isReversed ? nil : other.foreground ?? foreground
        style.background = other.background ?? background
        return style
    }
}

/// Which colours the terminal shows.
public enum Colors: Hashable, Sendable {
    /// None: bold, dim and reversed only.
    case none
    case sixteen
    /// And the 256 of xterm.
    case many
    case all

    /// - Parameter environment: `NO_COLOR`, `COLORTERM` and `TERM`.
    public init(environment: [String: String]) {
        let term = environment["TERM"] ?? ""
        let promise = environment["COLORTERM"] ?? ""
        if environment["NO_COLOR"]?.isEmpty == false || term.isEmpty || term.hasPrefix("vt") {
            self = .none
        } else if ["truecolor", "24bit"].contains(promise) || term.hasSuffix("-direct") || term.contains("kitty") {
            self = .all
        } else {
            self = term.contains("256") || !promise.isEmpty ? .many : .sixteen
        }
    }

    /// The escape sequence that makes text look so, whatever it looked like before.
    func select(_ style: Style) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        if style.isUnderlined { codes.append("4") }
        if style.isReversed { codes.append("7") }
        if let color = style.foreground, let code = code(color, behind: false) { codes.append(code) }
        if let color = style.background, let code = code(color, behind: true) { codes.append(code) }
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }

    private func code(_ color: Style.Color, behind: Bool) -> String? {
        switch (self, color) {
        case (.none, _): nil
        case (_, .own(let number)):
            number < 8 ? "\((behind ? 40 : 30) + Int(number))" : "\((behind ? 100 : 90) + Int(number & 7))"
        case (.sixteen, .rgb): nil
        case (.sixteen, .ember(let ember)): ember == .ground ? "40" : ember == .bright ? "33" : "31"
        case (.many, .ember(let ember)): "\(behind ? 48 : 38);5;\(Self.many(ember))"
        case (.all, .ember(let ember)): "\(behind ? 48 : 38);2;\(Self.all(ember))"
        case (.many, .rgb(let red, let green, let blue)): "\(behind ? 48 : 38);5;\(Self.nearest(red, green, blue))"
        case (.all, .rgb(let red, let green, let blue)): "\(behind ? 48 : 38);2;\(red);\(green);\(blue)"
        }
    }

    private static func many(_ ember: Style.Ember) -> Int {
        switch ember {
        case .ground: 16
        case .faint: 58
        case .calm: 94
        case .bright: 136
        }
    }

    private static func all(_ ember: Style.Ember) -> String {
        switch ember {
        case .ground: "0;0;0"
        case .faint: "100;52;15"
        case .calm: "150;80;25"
        case .bright: "190;105;40"
        }
    }

    /// Of the colour cube of xterm, or of its greys.
    static func nearest(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        if max(red, green, blue) - min(red, green, blue) < 12 {
            let light = (Int(red) + Int(green) + Int(blue)) / 3
            if light < 4 { return 16 }
            return light > 246 ? 231 : 232 + min(23, max(0, (light - 3) / 10))
        }
        func step(_ value: UInt8) -> Int { value < 48 ? 0 : value < 115 ? 1 : (Int(value) - 35) / 40 }
        return 16 + 36 * step(red) + 6 * step(green) + step(blue)
    }
}
