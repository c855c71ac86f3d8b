extension JSON {
    /// - Parameter most: values beyond which it is not read: in memory each is many times what it is as text.
    /// - Returns: nil if the text is not one whole JSON value: cut off, followed by something else, or not JSON at all.
    ///   Numbers too large for a Double become the largest one, damaged UTF-8 becomes U+FFFD, and of two fields with one
    ///   name the later stays.
    public init?(_ bytes: [UInt8], most: Int = 2_000_000) {
        let value = bytes.withUnsafeBufferPointer { buffer in
            var parser = JSONParser(bytes: buffer, most: most)
            return parser.document()
        }
        guard let value else { return nil }
        self = value
    }
}

private struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    var at = 0
    /// Deeper than any server nests; a document of nothing but brackets must not exhaust the stack.
    let deepest = 128
    /// How many more values are read.
    var most: Int

    init(bytes: UnsafeBufferPointer<UInt8>, most: Int) {
        self.bytes = bytes
        self.most = most
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    }

    mutating func document() -> JSON? {
        guard let value = value(depth: 0) else { return nil }
        skipBlanks()
        return at == bytes.count ? value : nil
    }

    private mutating func value(depth: Int) -> JSON? {
        skipBlanks()
        most -= 1
        guard depth < deepest, most >= 0, at < bytes.count else { return nil }
        switch bytes[at] {
        case UInt8(ascii: "{"): return object(depth: depth + 1)
        case UInt8(ascii: "["): return array(depth: depth + 1)
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return word("true", .bool(true))
        case UInt8(ascii: "f"): return word("false", .bool(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> JSON? {
        at += 1
        var fields: [String: JSON] = [:]
        if take("}") { return .object(fields) }
        repeat {
            skipBlanks()
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\""), let name = string(), take(":"),
                let value = value(depth: depth)
            else { return nil }
            fields[name] = value
        } while take(",")
        return take("}") ? .object(fields) : nil
    }

    private mutating func array(depth: Int) -> JSON? {
        at += 1
        var elements: [JSON] = []
        if take("]") { return .array(elements) }
        repeat {
            guard let value = value(depth: depth) else { return nil }
            elements.append(value)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func string() -> String? {
        at += 1
        let start = at
        while at < bytes.count, bytes[at] != UInt8(ascii: "\""), bytes[at] != UInt8(ascii: "\\") { at += 1 }
        if at < bytes.count, bytes[at] == UInt8(ascii: "\"") {
            defer { at += 1 }
            return String(decoding: bytes[start..<at], as: UTF8.self)
        }
        var text = Array(bytes[start..<at])
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte != UInt8(ascii: "\\") {
                text.append(byte)
            } else if !escape(into: &text) {
                return nil
            }
        }
        return nil
    }

    private mutating func escape(into text: inout [UInt8]) -> Bool {
        guard at < bytes.count else { return false }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "u"):
            guard let unit = hex() else { return false }
            text.append(contentsOf: scalar(beginning: unit).utf8)
        default: return false
        }
        return true
    }

    /// The scalar of one or two \u escapes; half a surrogate pair becomes U+FFFD.
    private mutating func scalar(beginning unit: UInt32) -> String {
        if let scalar = Unicode.Scalar(unit) { return String(Character(scalar)) }
        let back = at
        if unit < 0xDC00, at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") {
            at += 2
            if let low = hex(), (0xDC00...0xDFFF).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
            {
                return String(Character(scalar))
            }
            at = back
        }
        return "\u{FFFD}"
    }

    private mutating func hex() -> UInt32? {
        guard at + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[at..<at + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        at += 4
        return value
    }

    private mutating func number() -> JSON? {
        let start = at
        while at < bytes.count, "+-.0123456789eE".utf8.contains(bytes[at]) { at += 1 }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        guard let first = text.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "."),
            let value = Double(text)
        else { return nil }
        let limit = Double.greatestFiniteMagnitude
        return .number(min(max(value, -limit), limit))
    }

    private mutating func word(_ word: StaticString, _ value: JSON) -> JSON? {
        let end = at + word.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[at..<end].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { return nil }
        at = end
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func skipBlanks() {
        while at < bytes.count, [32, 10, 13, 9].contains(bytes[at]) { at += 1 }
    }
}
