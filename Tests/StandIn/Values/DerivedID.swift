import Foundation

/// Ids that are the same in each run because they come from a name.
enum DerivedID {
    /// A UUID (in the form of version 4) made from a text.
    static func uuid(_ text: String) -> String {
        let high = fnv(text.utf8, basis: 0xcbf2_9ce4_8422_2325)
        let low = fnv(text.utf8.reversed(), basis: 0x8422_2325_cbf2_9ce4)
        return uuid(high: high, low: low)
    }

    /// A fresh random UUID in lower case, as the server writes them.
    static func random() -> String { UUID().uuidString.lowercased() }

    /// Sixteen hexadecimal digits.
    static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// 64-bit FNV-1a, with a final mix so that short texts differ in every digit.
    static func fnv(_ bytes: some Sequence<UInt8>, basis: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = basis
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash ^= hash >> 33
        hash &*= 0xff51_afd7_ed55_8ccd
        return hash ^ (hash >> 33)
    }

    private static func uuid(high: UInt64, low: UInt64) -> String {
        let high = (high & 0xffff_ffff_ffff_0fff) | 0x4000
        let low = (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000
        let first = hex(high)
        let second = hex(low)
        return [first.prefix(8), first.dropFirst(8).prefix(4), first.suffix(4), second.prefix(4), second.suffix(12)]
            .joined(separator: "-")
    }
}
