/// A D-Bus value. Arrays carry the signature of their elements, for an empty one has no other way to tell.
public enum Value: Hashable, Sendable {
    case byte(UInt8)
    case bool(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    /// `a…` of one complete element type.
    case array(Signature, [Value])
    /// `a{s…}`: in order, keys unique. The element signature is that of the values.
    case dictionary(Signature, [(key: String, value: Value)])
    case structure([Value])
    indirect case variant(Value)
    case descriptor(Descriptor)

    public var signature: Signature {
        switch self {
        case .byte: .byte
        case .bool: .bool
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .array(let element, _): .array(element)
        case .dictionary(let value, _): Signature("a{s\(value.text)}")
        case .structure(let members): Signature("(\(members.map(\.signature.text).joined()))")
        case .variant: .variant
        case .descriptor: .descriptor
        }
    }

    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.byte(let a), .byte(let b)): a == b
        case (.bool(let a), .bool(let b)): a == b
        case (.int32(let a), .int32(let b)): a == b
        case (.uint32(let a), .uint32(let b)): a == b
        case (.int64(let a), .int64(let b)): a == b
        case (.uint64(let a), .uint64(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.objectPath(let a), .objectPath(let b)): a == b
        case (.array(let s, let a), .array(let t, let b)): s == t && a == b
        case (.dictionary(let s, let a), .dictionary(let t, let b)):
            s == t && a.count == b.count && zip(a, b).allSatisfy { $0.key == $1.key && $0.value == $1.value }
        case (.structure(let a), .structure(let b)): a == b
        case (.variant(let a), .variant(let b)): a == b
        case (.descriptor(let a), .descriptor(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(signature)
        switch self {
        case .string(let text): hasher.combine(text)
        case .int64(let number): hasher.combine(number)
        default: break
        }
    }
}

extension Value {
    public static func strings(_ texts: [String]) -> Value { .array(.string, texts.map(Value.string)) }

    /// `a{sv}`: what properties and metadata are made of.
    public static func variants(_ pairs: [(String, Value)]) -> Value {
        .dictionary(.variant, pairs.map { ($0.0, .variant($0.1)) })
    }

    public func string() throws(BusError) -> String {
        if case .string(let value) = self { value } else { throw .type("s", self) }
    }
    public func int64() throws(BusError) -> Int64 {
        if case .int64(let value) = self { value } else { throw .type("x", self) }
    }
    public func int32() throws(BusError) -> Int32 {
        if case .int32(let value) = self { value } else { throw .type("i", self) }
    }
    public func uint32() throws(BusError) -> UInt32 {
        if case .uint32(let value) = self { value } else { throw .type("u", self) }
    }
    public func double() throws(BusError) -> Double {
        if case .double(let value) = self { value } else { throw .type("d", self) }
    }
    public func bool() throws(BusError) -> Bool {
        if case .bool(let value) = self { value } else { throw .type("b", self) }
    }
    public func objectPath() throws(BusError) -> ObjectPath {
        if case .objectPath(let v) = self { v } else { throw .type("o", self) }
    }
    public func descriptor() throws(BusError) -> Descriptor {
        if case .descriptor(let v) = self { v } else { throw .type("h", self) }
    }
    /// A dictionary's pairs, variants opened.
    public func dictionary() throws(BusError) -> [(key: String, value: Value)] {
        guard case .dictionary(_, let pairs) = self else { throw .type("a{sv}", self) }
        return pairs.map { pair in
            if case .variant(let inner) = pair.value { (pair.key, inner) } else { pair }
        }
    }
    public func array() throws(BusError) -> [Value] {
        if case .array(_, let values) = self { values } else { throw .type("a", self) }
    }
    public func strings() throws(BusError) -> [String] {
        var texts: [String] = []
        for value in try array() { texts.append(try value.string()) }
        return texts
    }
}

/// A type signature, as the D-Bus specification writes them.
public struct Signature: Hashable, Sendable {
    public let text: String
    public init(_ text: String) { self.text = text }

    public static let byte = Signature("y")
    public static let bool = Signature("b")
    public static let int32 = Signature("i")
    public static let uint32 = Signature("u")
    public static let int64 = Signature("x")
    public static let uint64 = Signature("t")
    public static let double = Signature("d")
    public static let string = Signature("s")
    public static let objectPath = Signature("o")
    public static let variant = Signature("v")
    public static let descriptor = Signature("h")
    public static let strings = Signature("as")
    public static let variants = Signature("a{sv}")
    public static func array(_ element: Signature) -> Signature { Signature("a\(element.text)") }
}

/// A valid object path: `/`, or parts of `[A-Za-z0-9_]+` each behind a slash.
public struct ObjectPath: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    public init?(_ text: String) {
        guard text.first == "/" else { return nil }
        let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard text == "/" || parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAllowed) }) else { return nil }
        self.text = text
    }

    /// For paths written in the code or made by ``encoded(_:)``.
    public init(trusted text: String) { self.text = text }

    /// Any text as one path part: what is not a letter or digit becomes `_` and two hex digits, as systemd's bus labels.
    public static func encoded(_ text: String) -> String {
        if text.isEmpty { return "_" }
        let hex = Array("0123456789abcdef".utf8)
        var out: [UInt8] = []
        for byte in text.utf8 {
            if isAllowed(byte), byte != UInt8(ascii: "_") {
                out.append(byte)
            } else {
                out += [UInt8(ascii: "_"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    public var description: String { text }
}

/// An error as it goes over the bus: a name and a sentence.
public struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    public let name: String
    public let message: String

    public init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    public static func invalidArgs(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.InvalidArgs", message)
    }
    public static func failed(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.Failed", message)
    }
    static func type(_ wanted: String, _ value: Value) -> BusError {
        invalidArgs("expected a value of type '\(wanted)', got '\(value.signature.text)'")
    }

    public var description: String { message }
}
