/// A JSON value whose objects keep their order, so that answers read like the recorded ones.
public enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    /// One key and its value inside an object.
    public struct Member: Sendable, Equatable {
        public var key: String
        public var value: JSON

        public init(_ key: String, _ value: JSON) {
            self.key = key
            self.value = value
        }
    }
}

extension JSON {
    /// The value under a key, or `nil` when this is no object or has no such key.
    public subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The keys of an object in their order; empty for anything else.
    public var keys: [String] {
        guard case .object(let members) = self else { return [] }
        return members.map(\.key)
    }

    /// The elements of an array; empty for anything else.
    public var elements: [JSON] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    /// The text of a string; `nil` for anything else.
    public var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The number as a client sent it: no strings, no booleans.
    public var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The number as a whole one, rounded; `nil` for anything but a number.
    public var integer: Int? {
        switch self {
        case .int(let value): value
        case .double(let value): Int(exactly: value.rounded())
        default: nil
        }
    }

    public var isNull: Bool { self == .null }

    /// What JavaScript's `!!value` says.
    var isTruthy: Bool {
        switch self {
        case .null: false
        case .bool(let value): value
        case .int(let value): value != 0
        case .double(let value): value != 0 && !value.isNaN
        case .string(let value): !value.isEmpty
        case .array, .object: true
        }
    }

    /// What JavaScript's `Number(value)` gives; `nil` stands for NaN.
    var coerced: Double? {
        switch self {
        case .null: 0
        case .bool(let value): value ? 1 : 0
        case .int(let value): Double(value)
        case .double(let value): value
        case .string(let value): value.isEmpty ? 0 : Double(value)
        case .array, .object: nil
        }
    }

    /// This object with more members at its end; a key that is already there is replaced in its place.
    func adding(_ more: JSON) -> JSON {
        guard case .object(var members) = self, case .object(let extra) = more else { return self }
        for member in extra {
            if let index = members.firstIndex(where: { $0.key == member.key }) {
                members[index] = member
            } else {
                members.append(member)
            }
        }
        return .object(members)
    }

    func removing(_ keys: String...) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !keys.contains($0.key) })
    }

    static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }
    static func optional(_ number: Int?) -> JSON { number.map(JSON.int) ?? .null }
    static func strings(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
}
