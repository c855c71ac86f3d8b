/// What stays the same in every frame of an mp3 file: MPEG version, layer and sample rate, from a frame's header word.
struct MPEGFormat: Hashable, Sendable {
    /// Sync, version, layer and rate. Bit rate, padding, checksum, channels may change from frame to frame.
    private static let mask: UInt32 = 0xFFFE_0C00
    private let key: UInt32
    /// Hertz.
    let rate: Int64
    let layer: Int
    /// Version 1, not 2 or 2.5.
    let isFirstVersion: Bool
    /// Of one frame.
    let samples: Int64
    /// Bytes of a frame by bit rate index and padding; zero where there is none.
    private let sizes: [Int]

    /// Nil when `word` cannot begin a frame.
    init?(_ word: UInt32) {
        let version = word >> 19 & 3
        let rateIndex = Int(word >> 10 & 3)
        layer = 4 - Int(word >> 17 & 3)
        guard word >> 21 == 0x7FF, version != 1, layer != 4, rateIndex != 3 else { return nil }
        key = word & Self.mask
        isFirstVersion = version == 3
        rate = [44_100, 48_000, 32_000][rateIndex] >> (version == 3 ? 0 : version == 2 ? 1 : 2)
        samples = layer == 1 ? 384 : layer == 3 && !isFirstVersion ? 576 : 1152
        let (rate, samples, slot) = (rate, samples, layer == 1 ? 4 : 1)
        let kilobits = Self.kilobits(layer: layer, isFirstVersion: isFirstVersion)
        sizes = (0..<32).map { index in
            let bits = index >> 1 < kilobits.count ? kilobits[index >> 1] * 1000 : 0
            guard bits > 0 else { return 0 }
            let slots = Int(samples) / 8 / slot * bits / Int(rate)
            return (slots + (index & 1)) * slot
        }
    }

    /// By bit rate index; zero is "free format", which says nothing of the size.
    private static func kilobits(layer: Int, isFirstVersion: Bool) -> [Int] {
        switch (isFirstVersion, layer) {
        case (true, 1): [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]
        case (true, 2): [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
        case (true, _): [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
        case (false, 1): [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
        case (false, _): [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        }
    }

    /// Bytes of the frame that begins with `word`; nil when it is not one of this format.
    func size(of word: UInt32) -> Int? {
        guard word & Self.mask == key else { return nil }
        let index: UInt32 = (word >> 11) & 0x1E | (word >> 9) & 1
        let size = sizes[Int(index)]
        return size > 0 ? size : nil
    }

    /// Bits per second of a frame of this format.
    func bits(of word: UInt32) -> Int64 {
        let index = Int(word >> 12 & 15)
        let kilobits = Self.kilobits(layer: layer, isFirstVersion: isFirstVersion)
        return index < kilobits.count ? Int64(kilobits[index]) * 1000 : 0
    }

    static func isMono(_ word: UInt32) -> Bool { word >> 6 & 3 == 3 }

    /// The header word at `offset`, of which four bytes must be there.
    static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }
}

extension MPEGFormat {
    /// How many headers in a row, each where the one before says, are taken for frames and not for chance.
    static let run = 4

    /// The first place from `offset` on where frames stand in a row, of this format or (nil) of any.
    /// - Returns: nil when there is none, or too little is left in `piece` to be sure.
    static func firstRun(in piece: Piece, from offset: Int = 0, of format: MPEGFormat?) -> (Int, MPEGFormat)? {
        let bytes = piece.bytes
        var offset = offset
        while offset + 4 <= bytes.count {
            // Most bytes are not 0xFF: looked at before anything else, because whole pieces may hold no frame.
            guard bytes[offset] == 0xFF, let found = format ?? MPEGFormat(word(bytes, offset)),
                found.isRun(in: piece, at: offset)
            else {
                offset += 1
                continue
            }
            return (offset, found)
        }
        return nil
    }

    private func isRun(in piece: Piece, at start: Int) -> Bool {
        var offset = start
        for count in 0..<Self.run {
            let rest = piece.bytes.count - offset
            // A short file: its last frame ends where the file does, or where its tags begin.
            if count > 0, piece.isLast, rest == 0 || Tags.beginsTail(piece.bytes, at: offset) { return true }
            guard rest >= 4, let size = size(of: Self.word(piece.bytes, offset)) else { return false }
            offset += size
        }
        return piece.isLast ? offset <= piece.bytes.count : true
    }
}
