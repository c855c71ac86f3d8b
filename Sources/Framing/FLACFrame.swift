/// The header of one flac frame: which samples it holds.
struct FLACFrame: Hashable, Sendable {
    /// The number of its first sample.
    let sample: Int64
    let count: Int64

    /// The frame whose header begins at `offset`; nil when none does, it does not belong to this file, or its checksum
    /// is wrong.
    init?(in bytes: [UInt8], at offset: Int, info: FLACInfo) {
        guard bytes.count - offset >= 6, bytes[offset] == 0xFF, bytes[offset + 1] & 0xFE == 0xF8 else { return nil }
        let (sizeCode, rateCode) = (bytes[offset + 2] >> 4, bytes[offset + 2] & 15)
        let (channelCode, depthCode) = (bytes[offset + 3] >> 4, bytes[offset + 3] >> 1 & 7)
        guard sizeCode != 0, rateCode != 15, channelCode < 11, depthCode != 3, bytes[offset + 3] & 1 == 0 else {
            return nil
        }
        var next = offset + 4
        guard let number = Self.codedNumber(in: bytes, at: &next) else { return nil }
        func field(_ length: Int) -> Int64? {
            defer { next += length }
            return bytes.number(at: next, count: length)
        }
        switch sizeCode {
        case 1: count = 192
        case 2...5: count = 576 << Int64(sizeCode - 2)
        case 6, 7:
            guard let value = field(Int(sizeCode) - 5) else { return nil }
            count = value + 1
        default: count = 256 << Int64(sizeCode - 8)
        }
        switch rateCode {
        case 12: guard let value = field(1), value * 1000 == info.rate else { return nil }
        case 13: guard let value = field(2), value == info.rate else { return nil }
        case 14: guard let value = field(2), value * 10 == info.rate else { return nil }
        case 0: break
        default: guard Self.rates[Int(rateCode)] == info.rate else { return nil }
        }
        let channels = channelCode < 8 ? Int(channelCode) + 1 : 2
        guard channels == info.channels, depthCode == 0 || Self.depths[Int(depthCode)] == info.depth,
            next < bytes.count, crc8(bytes[offset..<next]) == bytes[next]
        else { return nil }
        // With blocks of one size the number is the frame's, otherwise the sample's.
        let isVariable = bytes[offset + 1] & 1 == 1
        sample = isVariable ? number : scaled(number, by: info.blockSize ?? count, over: 1)
        guard count <= info.largestBlock, info.samples == 0 || sample < info.samples else { return nil }
    }

    private static let rates: [Int64] = [
        0, 88200, 176400, 192000, 8000, 16000, 22050, 24000, 32000, 44100, 48000, 96000,
    ]
    private static let depths = [0, 8, 12, 0, 16, 20, 24, 32]

    /// A number of up to 36 bits, coded as UTF-8 codes characters.
    private static func codedNumber(in bytes: [UInt8], at next: inout Int) -> Int64? {
        let first = bytes[next]
        let ones = (~first).leadingZeroBitCount
        let length = max(ones, 1)
        guard ones != 1, ones <= 7, bytes.count - next > length else { return nil }
        var value = Int64(first) & (ones == 0 ? 0x7F : 0x7F >> Int64(ones))
        for byte in bytes[next + 1..<next + length] {
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | Int64(byte & 0x3F)
        }
        next += length
        return value
    }
}
