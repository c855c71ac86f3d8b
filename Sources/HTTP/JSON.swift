/// A JSON value, read leniently: servers send numbers as strings, null where a list should be, and fields nobody named.
/// Whatever is asked of it that it does not have is nil or empty, never a failure.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// A field of an object; null when there is none.
    public subscript(name: String) -> JSON {
        if case .object(let fields) = self { fields[name] ?? .null } else { .null }
    }

    /// Text, or a number as it would be written; nil for anything else.
    public var string: String? {
        switch self {
        case .string(let text): text
        case .number(let number): JSON.written(number)
        case .null, .bool, .array, .object: nil
        }
    }

    /// Text that has something in it, without blanks around.
    public var text: String? {
        guard let string else { return nil }
        let isBlank: (Character) -> Bool = { $0.isWhitespace }
        var rest = string.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest.isEmpty ? nil : String(rest)
    }

    /// A finite number, or text that is one.
    public var number: Double? {
        switch self {
        case .number(let number): number
        case .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        case .null, .bool, .array, .object: nil
        }
    }

    /// A whole number; what would not fit stops at the nearest that is exact.
    public var integer: Int64? {
        number.map { Int64(Swift.min(Swift.max($0, -9_007_199_254_740_991), 9_007_199_254_740_991)) }
    }

    public var bool: Bool? {
        switch self {
        case .bool(let value): value
        case .number(let number): number != 0
        case .string("true"): true
        case .string("false"): false
        case .null, .string, .array, .object: nil
        }
    }

    /// The elements of a list; empty for anything else.
    public var elements: [JSON] {
        if case .array(let elements) = self { elements } else { [] }
    }

    public var isNull: Bool { self == .null }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSON {
    /// As text in UTF-8, the fields of objects in order of their names. Numbers that JSON cannot hold are written 0.
    public var bytes: [UInt8] {
        var text = ""
        write(to: &text)
        return Array(text.utf8)
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let number): text += JSON.written(number)
        case .string(let string): JSON.write(string, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(to: &text)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            for (index, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text += "," }
                JSON.write(field.key, to: &text)
                text += ":"
                field.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func written(_ number: Double) -> String {
        guard number.isFinite else { return "0" }
        let isWhole = number.rounded() == number && abs(number) < 9_007_199_254_740_992
        return isWhole ? "\(Int64(number))" : "\(number)"
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
