public import Listening

/// What people type, made sense of.
public enum Arguments {
    /// `seek -30` and the like: to an option parser `-30` looks like options, so it is put behind `--`.
    public static func guardingJumps(_ arguments: [String]) -> [String] {
        guard let command = arguments.first, ["seek", "speed", "volume", "settings", "sleep"].contains(command),
            !arguments.contains("--")
        else { return arguments }
        let guarded = arguments.filter(looksNegative)
        if guarded.isEmpty { return arguments }
        // Options may follow a number: what is none stays in front, in its order.
        let rest = arguments.filter { !looksNegative($0) }
        return rest + ["--"] + guarded
    }

    /// A shell's `*.mp3` knows nothing of options: `-one.mp3` is a file in this folder, not a row of letters.
    public static func guardingFiles(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { word in
            word.hasPrefix("-") && !word.contains("=") && AudioName.isAudio(word) ? "./\(word)" : word
        } + arguments[end...]
    }

    /// Takes out `--profile NAME`, which may stand anywhere before `--`.
    /// - Returns: nil as profile if it is not there, or nothing behind it.
    public static func takingProfile(_ arguments: [String]) -> (profile: String?, rest: [String]) {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        guard let place = arguments[..<end].lastIndex(where: { $0 == "--profile" || $0.hasPrefix("--profile=") }) else {
            return (nil, arguments)
        }
        var rest = arguments
        let word = rest.remove(at: place)
        if word != "--profile" { return (String(word.dropFirst("--profile=".count)), rest) }
        guard place + 1 < end else { return (nil, arguments) }
        return (rest.remove(at: place), rest)
    }

    private static func looksNegative(_ argument: String) -> Bool {
        guard argument.first == "-", let second = argument.dropFirst().first else { return false }
        return second.isASCII && (second.isNumber || second == ".")
    }

    /// What may be a path: `file:` addresses too. Nil for ids and other addresses.
    public static func filePath(_ what: String) -> String? {
        if isFileAddress(what) { return path(ofFile: what) }
        return isAddress(what) && !what.hasPrefix("/") ? nil : what
    }

    /// Ids and addresses, which are not searched for.
    public static func isAddress(_ what: String) -> Bool {
        isFileAddress(what)
            || ["\(ItemID.shelf):", "dogear:", "http://", "https://", "/"].contains { what.hasPrefix($0) }
    }

    /// With a path: `file:` and a hash is the id of an item.
    public static func isFileAddress(_ what: String) -> Bool { what.prefix(6).lowercased() == "file:/" }

    /// The path of a `file:` address on this computer; nil for anything else. A `?` or `#` in it is one of the name: there
    /// are no queries to files.
    public static func path(ofFile address: String) -> String? {
        guard isFileAddress(address) else { return nil }
        let rest = address.utf8.dropFirst(5)
        guard rest.starts(with: "//".utf8) else { return unescaped(rest) }
        let named = rest.dropFirst(2)
        guard let slash = named.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return ["", "localhost"].contains(String(named[..<slash])?.lowercased()) ? unescaped(named[slash...]) : nil
    }

    private static func unescaped(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        // What follows a zero would not be seen by the system: another file would be meant.
        return bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

extension Jump {
    /// What to say about a text that is none.
    public static func explanation(of text: String) -> String {
        "'\(Clean.line(text.prefix(60)))' is no place: write 12:30, 1h30m, 50%, chapter:7, bookmark:2, +30 or -1:00"
    }
}

/// A speed or a volume as typed: a value, or a change of the present one.
public enum Amount: Hashable, Sendable {
    case to(Double)
    case by(Double)

    public static let speeds = Player.rates
    public static let volumes = 0.0...1.0

    /// `1.25`, `1.25x`, `+0.1`, `-0.1`. Nil for anything else and for speeds that there are not.
    public init?(speed text: String) {
        var digits = text[...]
        if let last = digits.last, last == "x" || last == "×" { digits.removeLast() }
        self.init(digits, over: 1, within: Self.speeds)
    }

    /// `40%`, `0.4`, `+10%`, `-0.1`. Nil for anything else.
    public init?(volume text: String) {
        if text.hasSuffix("%") {
            self.init(text.dropLast(), over: 100, within: Self.volumes)
        } else {
            self.init(text[...], over: 1, within: Self.volumes)
        }
    }

    private init?(_ text: Substring, over divisor: Double, within range: ClosedRange<Double>) {
        let sign = text.first.flatMap { $0 == "+" ? 1.0 : $0 == "-" ? -1.0 : nil }
        let digits = sign == nil ? text : text.dropFirst()
        guard let first = digits.first, first.isASCII, first.isNumber || first == ".",
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits)
        else { return nil }
        if let sign, number / divisor <= range.upperBound - range.lowerBound {
            self = .by(sign * number / divisor)
        } else if sign != nil {
            return nil
        } else if range.contains(number / divisor) {
            self = .to(number / divisor)
        } else {
            return nil
        }
    }

    /// Rounded to thousandths, so that changes there and back end where they began.
    public func applied(to present: Double, within range: ClosedRange<Double>) -> Double {
        switch self {
        case .to(let value): value
        case .by(let change): (((present + change) * 1000).rounded() / 1000).clamped(to: range)
        }
    }
}

/// An answer to "Which one?".
public enum Choice: Hashable, Sendable {
    /// Counted from 0.
    case chosen(Int)
    /// An empty line, `q`, `n`: none of them.
    case none
    case unclear

    public init(_ answer: String, of count: Int) {
        let words = answer.split(whereSeparator: \.isWhitespace)
        if words.isEmpty || ["q", "n", "0"].contains(words[0].lowercased()) {
            self = .none
        } else if words.count == 1, let number = Int(words[0]), (1...max(1, count)).contains(number) {
            self = .chosen(number - 1)
        } else {
            self = .unclear
        }
    }
}

/// What is typed for a login.
public enum LoginText {
    /// `Name: value`. Nil if it is none: the name is a token of HTTP, the value has no control characters.
    public static func header(_ line: some StringProtocol) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let name = line[..<colon]
        let marks = Set("!#$%&'*+-.^_`|~")
        guard !name.isEmpty,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || marks.contains($0) })
        else { return nil }
        var value = line[line.index(after: colon)...]
        while let first = value.first, first == " " || first == "\t" { value = value.dropFirst() }
        while let last = value.last, last == " " || last == "\t" { value = value.dropLast() }
        guard value.unicodeScalars.allSatisfy({ ($0.value >= 0x20 || $0 == "\t") && $0.value != 0x7F }) else {
            return nil
        }
        return (String(name), String(value))
    }

    /// What stands before `://` is nothing a web server is reached by. It may be a password, and is not to be repeated.
    public static func hasForeignScheme(_ address: String) -> Bool {
        guard let slashes = address.firstRange(of: "://") else { return false }
        return !["http", "https"].contains(address[..<slashes.lowerBound].lowercased())
    }

    /// `https://user:password@host`: a password that others can see in the list of processes.
    public static func hasUserInfo(_ address: String) -> Bool {
        var rest = address[...]
        if let slashes = rest.firstRange(of: "://") { rest = rest[slashes.upperBound...] }
        return rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.contains("@")
    }
}
