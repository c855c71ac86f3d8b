/// Big-endian numbers out of bytes that may end too soon.
struct ByteCursor {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = ArraySlice(Array(bytes))
        position = 0
    }

    var left: Int { bytes.count - position }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= left else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func number(_ width: Int) -> Int? { word(width).flatMap { Int(exactly: $0) } }

    /// All its bits: a number of eight bytes may have a sign.
    mutating func word(_ width: Int) -> UInt64? { take(width)?.reduce(0) { $0 << 8 | UInt64($1) } }

    mutating func skip(_ count: Int) -> Bool { take(count) != nil }
}
