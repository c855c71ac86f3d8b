public import Foundation

extension JSON {
    /// Why a text is not JSON.
    public struct SyntaxError: Error, CustomStringConvertible {
        public var offset: Int
        public var description: String { "not JSON: unexpected byte at offset \(offset)" }
    }

    /// Reads one JSON value from UTF-8 bytes; anything after it but white space is an error.
    public init(parsing bytes: some Sequence<UInt8>) throws(SyntaxError) {
        var reader = Reader(bytes: Array(bytes))
        self = try reader.value()
        reader.skipSpace()
        guard reader.index == reader.bytes.count else { throw reader.error }
    }

    /// The value as compact UTF-8 text, numbers as JavaScript prints them (`12`, not `12.0`).
    public var bytes: Data {
        var out = Data()
        write(to: &out)
        return out
    }

    private func write(to out: inout Data) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .int(let value): out.append(contentsOf: String(value).utf8)
        case .double(let value): out.append(contentsOf: Self.text(of: value).utf8)
        case .string(let value): Self.write(value, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                element.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func text(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        if let whole = Int(exactly: value) { return String(whole) }
        return "\(value)"
    }

    private static func write(_ text: String, to out: inout Data) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): out.append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): out.append(contentsOf: "\\\\".utf8)
            case 0x0A: out.append(contentsOf: "\\n".utf8)
            case 0x0D: out.append(contentsOf: "\\r".utf8)
            case 0x09: out.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                let hex = String(byte, radix: 16)
                out.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - hex.count) + hex).utf8)
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}

private struct Reader {
    let bytes: [UInt8]
    var index = 0

    var error: JSON.SyntaxError { JSON.SyntaxError(offset: index) }
    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    mutating func value() throws(JSON.SyntaxError) -> JSON {
        skipSpace()
        guard let byte = next else { throw error }
        switch byte {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func take(_ character: Unicode.Scalar) throws(JSON.SyntaxError) {
        guard next == UInt8(ascii: character) else { throw error }
        index += 1
    }

    private mutating func word(_ text: String, _ value: JSON) throws(JSON.SyntaxError) -> JSON {
        guard bytes[index...].starts(with: text.utf8) else { throw error }
        index += text.utf8.count
        return value
    }

    private mutating func object() throws(JSON.SyntaxError) -> JSON {
        try take("{")
        var members: [JSON.Member] = []
        skipSpace()
        if next == UInt8(ascii: "}") {
            index += 1
            return .object([])
        }
        while true {
            skipSpace()
            let key = try string()
            skipSpace()
            try take(":")
            members.append(JSON.Member(key, try value()))
            skipSpace()
            guard next == UInt8(ascii: ",") else { break }
            index += 1
        }
        try take("}")
        return .object(members)
    }

    private mutating func array() throws(JSON.SyntaxError) -> JSON {
        try take("[")
        var elements: [JSON] = []
        skipSpace()
        if next == UInt8(ascii: "]") {
            index += 1
            return .array([])
        }
        while true {
            elements.append(try value())
            skipSpace()
            guard next == UInt8(ascii: ",") else { break }
            index += 1
        }
        try take("]")
        return .array(elements)
    }

    private mutating func number() throws(JSON.SyntaxError) -> JSON {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte) {
            index += 1
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if let whole = Int(text) { return .int(whole) }
        guard let value = Double(text) else {
            index = start
            throw error
        }
        return .double(value)
    }

    private mutating func string() throws(JSON.SyntaxError) -> String {
        try take("\"")
        var units: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): units.append(contentsOf: try escape())
            case 0..<0x20: throw error
            default: units.append(byte)
            }
        }
        throw error
    }

    private mutating func escape() throws(JSON.SyntaxError) -> [UInt8] {
        guard let byte = next else { throw error }
        index += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"):
            var units = [try hex()]
            // A character outside the basic plane is written as a pair of escapes.
            if (0xD800..<0xDC00).contains(units[0]), bytes[index...].starts(with: "\\u".utf8) {
                index += 2
                units.append(try hex())
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        default: throw error
        }
    }

    private mutating func hex() throws(JSON.SyntaxError) -> UInt16 {
        guard index + 4 <= bytes.count,
            let unit = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { throw error }
        index += 4
        return unit
    }
}
