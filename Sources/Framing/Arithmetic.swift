internal import Listening

/// `value * factor / divisor`, rounded down, for what is not negative; what does not fit stops at the largest number.
func scaled(_ value: Int64, by factor: Int64, over divisor: Int64) -> Int64 {
    guard value > 0, factor > 0, divisor > 0 else { return 0 }
    let product = value.multipliedFullWidth(by: factor)
    guard product.high < divisor else { return .max }
    let quotient = UInt64(divisor).dividingFullWidth((UInt64(product.high), UInt64(product.low))).quotient
    return Int64(clamping: quotient)
}

extension BookTime {
    /// When the sample of this number is heard.
    init(sample: Int64, rate: Int64) { self.init(microseconds: scaled(sample, by: 1_000_000, over: rate)) }

    /// The last sample heard at this time or before.
    func sample(rate: Int64) -> Int64 { scaled(microseconds, by: rate, over: 1_000_000) }
}

extension [UInt8] {
    /// A number of `count` bytes, the highest first; nil beyond the end.
    func number(at offset: Int, count: Int) -> Int64? {
        guard offset >= 0, count <= 7, count <= self.count - offset else { return nil }
        return self[offset..<offset + count].reduce(0) { $0 << 8 | Int64($1) }
    }

    /// A number of `count` bytes, the lowest first; nil beyond the end.
    func lowFirst(at offset: Int, count: Int) -> UInt64? {
        guard offset >= 0, count <= 8, count <= self.count - offset else { return nil }
        return self[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    func has(_ text: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, text.utf8CodeUnitCount <= count - offset else { return false }
        return text.withUTF8Buffer { wanted in wanted.indices.allSatisfy { self[offset + $0] == wanted[$0] } }
    }
}
