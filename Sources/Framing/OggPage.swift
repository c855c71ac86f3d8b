/// The head of an Ogg page (RFC 3533, 6): packets go on from page to page, and each page tells the time of its end.
struct OggPage: Sendable {
    /// In bytes, with its head.
    let size: Int
    /// The number of the last sample of the last packet that ends in it, as its codec counts; negative: none ends.
    let granule: Int64
    /// Of the stream it belongs to.
    let serial: Int64
    let isFirst: Bool
    /// How many packets end in it.
    let packets: Int
    /// The next page begins with a packet of its own.
    let endsWhole: Bool

    static let largestHead = 27 + 255
    static let largest = largestHead + 255 * 255

    /// - Returns: nil unless a whole head is there.
    init?(in bytes: [UInt8], at offset: Int) {
        guard bytes.has("OggS", at: offset), bytes.count - offset >= 27, bytes[offset + 4] == 0, bytes[offset + 5] < 8
        else { return nil }
        let count = Int(bytes[offset + 26])
        guard bytes.count - offset >= 27 + count else { return nil }
        guard let granule = bytes.lowFirst(at: offset + 6, count: 8),
            let serial = bytes.lowFirst(at: offset + 14, count: 4)
        else { return nil }
        let sizes = bytes[offset + 27..<offset + 27 + count]
        size = 27 + count + sizes.reduce(0) { $0 + Int($1) }
        isFirst = bytes[offset + 5] & 2 != 0
        self.granule = Int64(bitPattern: granule)
        self.serial = Int64(serial)
        packets = sizes.count { $0 < 255 }
        endsWhole = sizes.last.map { $0 < 255 } ?? true
    }
}
