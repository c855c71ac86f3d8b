/// What bytes are named by: their content, so that the name is the same wherever they lie.
///
/// FNV-1a with 128 bits. It tells a listener's files apart; it is no protection against someone who makes two files look
/// alike, and need not be.
public struct ContentHash: Sendable {
    private static let prime: UInt128 = (1 << 88) + (1 << 8) + 0x3b
    private var value: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    public init() {}

    /// Not of any sequence: generic across rooms, each byte would be a call.
    public mutating func add(_ bytes: [UInt8]) {
        var value = self.value
        bytes.withUnsafeBufferPointer { for byte in $0 { value = (value ^ UInt128(byte)) &* Self.prime } }
        self.value = value
    }

    public mutating func add(_ text: String) { add(Array(text.utf8)) }

    /// 32 hexadecimal digits.
    public var hex: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
