internal import Listening

/// Where the audio of an Ogg file begins, and what its codec says.
struct OggFile: Sendable {
    let size: Int64
    let serial: Int64
    /// The pages that a decoder must see before any other.
    let head: [UInt8]
    /// Of granules, in hertz.
    let rate: Int64
    /// What granules count before the sound begins.
    let skipped: Int64
    /// What a decoder of this codec leaves out after a cut, in samples: Vorbis needs two blocks for each piece of sound.
    let lost: Int64
    /// The granule of its end.
    let end: Int64

    /// Where the first page of audio is.
    var first: Int64 { start + Int64(head.count) }
    private let start: Int64

    /// Files with larger pictures in their tags are left to the demuxer.
    private static let largestHead = 1 << 20

    /// - Parameter start: where `OggS` stands.
    /// - Returns: nil for several streams in one file, for other codecs, and for what is too damaged.
    static func open(_ reader: any ByteReader, at start: Int64, size: Int64) async throws(EngineFailure) -> OggFile? {
        var count = 8 << 10
        while count <= largestHead * 2 {
            let piece = try await Piece.read(reader, at: start, count: count, size: size)
            guard let page = OggPage(in: piece.bytes, at: 0), let codec = Codec(piece.bytes, page) else { return nil }
            if let length = headLength(piece.bytes, codec.headers, page.serial) {
                let audio = try await Piece.read(reader, at: start + Int64(length), count: 32 << 10, size: size)
                guard beginsAtZero(audio.bytes, codec), let end = try await end(reader, size: size, serial: page.serial)
                else { return nil }
                return OggFile(
                    size: size, serial: page.serial, head: Array(piece.bytes[..<length]), rate: codec.rate,
                    skipped: codec.skipped, lost: codec.lost, end: end, start: start)
            }
            guard !piece.isLast else { return nil }
            count *= 8
        }
        return nil
    }

    /// - Returns: nil if that many packets do not end, with a page, in these bytes.
    private static func headLength(_ bytes: [UInt8], _ packets: Int, _ serial: Int64) -> Int? {
        var (offset, seen) = (0, 0)
        while let page = OggPage(in: bytes, at: offset), page.serial == serial, offset + page.size <= bytes.count {
            // A second stream begins at once if there is one.
            guard page.isFirst == (offset == 0) else { return nil }
            offset += page.size
            seen += page.packets
            if seen >= packets { return seen == packets && page.endsWhole ? offset : nil }
        }
        return nil
    }

    /// Whether the first page of audio tells the time that its packets last: of a stream that was cut out of another it is
    /// far later, and what players then count from, each in its way, is left to them.
    private static func beginsAtZero(_ bytes: [UInt8], _ codec: Codec) -> Bool {
        guard let first = OggPage(in: bytes, at: 0), first.granule >= 0 else { return false }
        guard let second = OggPage(in: bytes, at: first.size), second.granule > first.granule, second.packets > 0 else {
            return first.granule < codec.rate * 20
        }
        let expected = scaled(second.granule - first.granule, by: Int64(first.packets), over: Int64(second.packets))
        return abs(first.granule - expected) < codec.rate / 2
    }

    /// The granule of the last page.
    private static func end(
        _ reader: any ByteReader, size: Int64, serial: Int64
    ) async throws(EngineFailure) -> Int64? {
        // A page has 64 KiB at most.
        for count in [Int64(16 << 10), 72 << 10] {
            let piece = try await Piece.read(reader, at: max(0, size - count), count: Int(count), size: size)
            var last: OggPage?
            var offset = 0
            while offset < piece.bytes.count {
                if let page = OggPage(in: piece.bytes, at: offset), offset + page.size <= piece.bytes.count {
                    if page.granule >= 0 { last = page }
                    offset += page.size
                } else {
                    offset += 1
                }
            }
            // Files one behind the other, as radio is recorded: each has its own time.
            if let last { return last.serial == serial ? last.granule : nil }
        }
        return nil
    }
}

/// What the first packet of a stream says.
private struct Codec {
    let rate: Int64
    var skipped: Int64 = 0
    var lost: Int64 = 0
    /// How many packets come before the audio.
    let headers: Int

    init?(_ bytes: [UInt8], _ page: OggPage) {
        let start = 27 + Int(bytes[26])
        func number(_ offset: Int, _ count: Int) -> Int64 {
            Int64(clamping: bytes.lowFirst(at: start + offset, count: count) ?? 0)
        }
        guard page.isFirst, bytes.count >= start + 30 || bytes.count >= start + 19 && bytes.has("OpusHead", at: start)
        else { return nil }
        if bytes.has("OpusHead", at: start) {
            (rate, headers) = (48_000, 2)
            skipped = number(10, 2)
        } else if bytes.has("\u{1}vorbis", at: start) {
            (rate, headers) = (number(12, 4), 3)
            lost = (1 << Int64(bytes[start + 28] >> 4)) / 2
        } else {
            return nil
        }
        guard rate > 0 else { return nil }
    }
}
