/// Whether a settings file is one that its reader is sure to survive: toml++ ends the program at some of what is no TOML,
/// such as a `[=` that was left half written. All that a setting can be written as is.
struct Grammar {
    /// What is left.
    private var rest: ArraySlice<UInt8>
    /// Of values in values.
    private var depth = 0
    /// More of them, or of names in a name, are no setting and take more stack than there is.
    private static let deepest = 50

    /// - Returns: the first line that is none of a settings file, from 1.
    static func badLine(in text: String) -> Int? {
        let bytes = Array(text.replacing("\r\n", with: "\n").utf8)
        let mark = Array("\u{FEFF}".utf8)
        var grammar = Grammar(rest: bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...])
        guard !grammar.isFile() else { return nil }
        return 1 + bytes[..<min(grammar.rest.startIndex, bytes.count)].count { $0 == UInt8(ascii: "\n") }
    }

    private mutating func isFile() -> Bool {
        while !rest.isEmpty {
            skip(where: \.isSpace)
            guard isEnd(of: { $0.skip("[") ? $0.isTable() : $0.isPair() }) else { return false }
        }
        return true
    }

    /// One thing at most, and a comment, up to the end of the line.
    private mutating func isEnd(of isOne: (inout Grammar) -> Bool) -> Bool {
        if !isAtEnd, !isOne(&self) { return false }
        skip(where: \.isSpace)
        if rest.first == UInt8(ascii: "#") { skip { $0 >= 0x20 && $0 != 0x7F || $0.isSpace } }
        return rest.isEmpty || skip("\n")
    }

    private var isAtEnd: Bool { [nil, UInt8(ascii: "#"), UInt8(ascii: "\n")].contains(rest.first) }

    /// Behind its first bracket.
    private mutating func isTable() -> Bool {
        let isList = skip("[")
        return isKey() && skip("]") && (!isList || skip("]"))
    }

    /// `NAME = VALUE`
    private mutating func isPair() -> Bool {
        guard isKey(), skip("=") else { return false }
        skip(where: \.isSpace)
        return isValue()
    }

    /// Names with dots between them, and the space around.
    private mutating func isKey() -> Bool {
        for _ in 0..<Self.deepest {
            skip(where: \.isSpace)
            guard isQuoted() || skip(where: \.isOfName) else { return false }
            skip(where: \.isSpace)
            if !skip(".") { return true }
        }
        return false
    }

    private mutating func isValue() -> Bool {
        guard depth < Self.deepest else { return false }
        depth += 1
        defer { depth -= 1 }
        if skip("[") { return isSeries(upTo: "]") { $0.isValue() } }
        if skip("{") { return isSeries(upTo: "}") { $0.isPair() } }
        if isLongText() || isQuoted() { return true }
        return skip { $0.isOfName || "+.:".utf8.contains($0) }
    }

    private mutating func isSeries(upTo end: Unicode.Scalar, of isOne: (inout Grammar) -> Bool) -> Bool {
        skipBlank()
        if skip(end) { return true }
        while isOne(&self) {
            skipBlank()
            if skip(end) { return true }
            guard skip(",") else { return false }
            skipBlank()
            if skip(end) { return true }
        }
        return false
    }

    /// Between the members of a series there may be lines and comments.
    private mutating func skipBlank() {
        repeat { skip(where: \.isSpace) } while isAtEnd && !rest.isEmpty && isEnd { _ in false }
    }

    /// In quotes of either kind, on one line.
    private mutating func isQuoted() -> Bool {
        guard let quote = rest.first, quote.isQuote else { return false }
        rest.removeFirst()
        while let next = rest.popFirst(), next >= 0x20 || next.isSpace, next != 0x7F {
            if next == quote { return true }
            if next == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { _ = rest.popFirst() }
        }
        return false
    }

    /// In three quotes, over any number of lines.
    private mutating func isLongText() -> Bool {
        guard let quote = rest.first, quote.isQuote, rest.starts(with: [quote, quote, quote]) else { return false }
        rest = rest.dropFirst(3)
        while let next = rest.popFirst() {
            if next == quote, rest.starts(with: [quote, quote]) {
                // Up to two of its own may stand at its end.
                rest = rest.dropFirst(2)
                for _ in 0..<2 where rest.first == quote { rest.removeFirst() }
                return true
            }
            if next == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { _ = rest.popFirst() }
        }
        return false
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// - Returns: false if there was none.
    @discardableResult
    private mutating func skip(where belongs: (UInt8) -> Bool) -> Bool {
        let before = rest.count
        rest = rest.drop(while: belongs)
        return rest.count < before
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
    fileprivate var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }
    /// Of a name without quotes.
    fileprivate var isOfName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
