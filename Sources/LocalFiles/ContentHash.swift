/// What a file is named by: its content, so that it is the same after a move or a rename.
///
/// FNV-1a with 128 bits over the size, the first and the last 64 KiB and 16 KiB from the middle. It tells a listener's
/// files apart; it is no protection against someone who makes two files look alike, and need not be.
struct ContentHash {
    private static let prime: UInt128 = (1 << 88) + (1 << 8) + 0x3b
    private var value: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt128(byte)) &* Self.prime }
    }

    mutating func add(_ file: FileBytes) {
        let size = file.size
        add(withUnsafeBytes(of: UInt64(size).littleEndian) { Array($0) })
        let edge = 64 << 10
        let middle = 16 << 10
        let parts = [
            (0, min(size, edge)), (max(0, size / 2 - middle / 2), min(size, middle)),
            (max(0, size - edge), min(size, edge)),
        ]
        for (offset, count) in parts {
            if let bytes = file.bytes(at: offset, count: count) { add(bytes) }
        }
    }

    /// 32 hexadecimal digits.
    var hex: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
