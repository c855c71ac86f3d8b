internal import CSystemd
internal import DBus
internal import Glibc

/// One sd-bus message, reference counted by libsystemd: this holds one reference.
final class Message {
    let raw: OpaquePointer

    init(borrowing raw: OpaquePointer) { self.raw = sd_bus_message_ref(raw) }
    init(consuming raw: OpaquePointer) { self.raw = raw }
    deinit { sd_bus_message_unref(raw) }
}

/// Calls out of libsystemd answer with a negative errno.
@discardableResult
func check(_ code: Int32, _ what: @autoclosure () -> String) throws(BusError) -> Int32 {
    guard code < 0 else { return code }
    throw BusError.failed("\(what()): \(String(cString: strerror(-code)))")
}

/// Appending and reading of values on a message that somebody else holds.
enum Coding {
    static func append(_ value: Value, to m: OpaquePointer) throws(BusError) {
        switch value {
        case .byte(let v): try basic("y", v, m)
        case .bool(let v): try basic("b", Int32(v ? 1 : 0), m)
        case .int32(let v): try basic("i", v, m)
        case .uint32(let v): try basic("u", v, m)
        case .int64(let v): try basic("x", v, m)
        case .uint64(let v): try basic("t", v, m)
        case .double(let v): try basic("d", v, m)
        case .descriptor(let v): try basic("h", v.number, m)
        case .string(let v): try text("s", v, m)
        case .objectPath(let v): try text("o", v.text, m)
        case .array(let element, let values):
            try container("a", element.text, m) { () throws(BusError) in
                for value in values { try append(value, to: m) }
            }
        case .dictionary(let element, let pairs):
            let pair = "s\(element.text)"
            try container("a", "{\(pair)}", m) { () throws(BusError) in
                for (key, value) in pairs {
                    try container("e", pair, m) { () throws(BusError) in
                        try text("s", key, m)
                        try append(value, to: m)
                    }
                }
            }
        case .structure(let members):
            try container("r", members.map(\.signature.text).joined(), m) { () throws(BusError) in
                for member in members { try append(member, to: m) }
            }
        case .variant(let inner):
            try container("v", inner.signature.text, m) { () throws(BusError) in try append(inner, to: m) }
        }
    }

    private static func basic(_ type: Unicode.Scalar, _ value: some BitwiseCopyable, _ m: OpaquePointer)
        throws(BusError)
    {
        var value = value
        try check(sd_bus_message_append_basic(m, CChar(type.value), &value), "append \(type)")
    }

    private static func text(_ type: Unicode.Scalar, _ value: String, _ m: OpaquePointer) throws(BusError) {
        if sd_bus_message_append_basic(m, CChar(type.value), value) >= 0 { return }
        try check(sd_bus_message_append_basic(m, CChar(type.value), value.sendable), "append \(type)")
    }

    private static func container(
        _ type: Unicode.Scalar, _ contents: String, _ m: OpaquePointer, _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try check(sd_bus_message_open_container(m, CChar(type.value), contents), "open \(type)")
        try body()
        try check(sd_bus_message_close_container(m), "close \(type)")
    }

    /// Everything from the read position to the end of the message or of the container entered last.
    static func readAll(_ m: OpaquePointer) throws(BusError) -> [Value] {
        var values: [Value] = []
        while sd_bus_message_at_end(m, 0) == 0 { values.append(try read(m)) }
        return values
    }

    static func read(_ m: OpaquePointer) throws(BusError) -> Value {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        try check(sd_bus_message_peek_type(m, &type, &contents), "read")
        switch UnicodeScalar(UInt8(bitPattern: type)) {
        case "y": return .byte(try readBasic(m, type, UInt8(0)))
        case "b": return .bool(try readBasic(m, type, Int32(0)) != 0)
        case "n": return .int32(Int32(try readBasic(m, type, Int16(0))))
        case "q": return .uint32(UInt32(try readBasic(m, type, UInt16(0))))
        case "i": return .int32(try readBasic(m, type, Int32(0)))
        case "u": return .uint32(try readBasic(m, type, UInt32(0)))
        case "x": return .int64(try readBasic(m, type, Int64(0)))
        case "t": return .uint64(try readBasic(m, type, UInt64(0)))
        case "d": return .double(try readBasic(m, type, 0.0))
        case "s", "g": return .string(try readText(m, type))
        case "o": return .objectPath(ObjectPath(trusted: try readText(m, type)))
        case "h":
            return .descriptor(Descriptor(owning: fcntl(try readBasic(m, type, Int32(-1)), F_DUPFD_CLOEXEC, 3)))
        case "v":
            return .variant(try inside(m, type, contents) { (m) throws(BusError) in try read(m) })
        case "a":
            let element = contents.map { String(cString: $0) } ?? ""
            if element.hasPrefix("{s") {
                let pairs = try inside(m, type, contents) { (m) throws(BusError) in try readPairs(m) }
                return .dictionary(Signature(String(element.dropFirst(2).dropLast())), pairs)
            }
            return .array(
                Signature(element), try inside(m, type, contents) { (m) throws(BusError) in try readAll(m) })
        case "r", "e":
            return .structure(try inside(m, type, contents) { (m) throws(BusError) in try readAll(m) })
        default: throw .invalidArgs("a value of type '\(UnicodeScalar(UInt8(bitPattern: type)))' cannot be read")
        }
    }

    private static func readPairs(_ m: OpaquePointer) throws(BusError) -> [(key: String, value: Value)] {
        var pairs: [(key: String, value: Value)] = []
        while sd_bus_message_at_end(m, 0) == 0 {
            guard case .structure(let pair) = try read(m), pair.count == 2, case .string(let key) = pair[0] else {
                throw .invalidArgs("a dictionary entry without a string key")
            }
            pairs.append((key, pair[1]))
        }
        return pairs
    }

    private static func inside<Result>(
        _ m: OpaquePointer, _ type: CChar, _ contents: UnsafePointer<CChar>?,
        _ body: (OpaquePointer) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try check(sd_bus_message_enter_container(m, type, contents), "enter")
        let result = try body(m)
        try check(sd_bus_message_exit_container(m), "exit")
        return result
    }

    private static func readBasic<T: BitwiseCopyable>(
        _ m: OpaquePointer, _ type: CChar, _ zero: T
    ) throws(BusError) -> T {
        var value = zero
        try check(sd_bus_message_read_basic(m, type, &value), "read")
        return value
    }

    private static func readText(_ m: OpaquePointer, _ type: CChar) throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        try check(sd_bus_message_read_basic(m, type, &text), "read")
        return text.map { String(cString: $0) } ?? ""
    }
}

extension String {
    /// libsystemd sends no noncharacters (U+FFFE and the like), which a title from anywhere may hold.
    var sendable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.isNoncharacterCodePoint ? "\u{FFFD}" : $0 }))
    }
}
