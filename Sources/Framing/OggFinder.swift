internal import Listening

/// Finds pages of an Ogg file by the time that the page before each of them tells.
actor OggFinder: SampleFinder {
    private let file: OggFile
    private let reader: any ByteReader
    let rate: Int64
    /// Some pages of most files.
    let chunk = 16 << 10

    init(file: OggFile, reader: any ByteReader) {
        (self.file, self.reader, rate) = (file, reader, file.rate)
    }

    func cut(before time: BookTime) async throws(EngineFailure) -> Cut {
        let first = SampleMark(byte: file.first, sample: file.skipped)
        // The sum stays small: times reach to 2^63 microseconds.
        let wanted = min(time.sample(rate: rate), 1 << 60) - rate + file.skipped
        guard wanted > first.sample else { return Cut(byte: 0, time: .zero, head: [], hasOwnTimes: true) }
        let high = SampleMark(byte: file.size, sample: max(file.end, wanted + 1))
        let mark = try await last(upTo: wanted, from: first, to: high)
        guard mark != first else { return Cut(byte: 0, time: .zero, head: [], hasOwnTimes: true) }
        let heard = mark.sample - file.skipped + file.lost
        return Cut(byte: mark.byte, time: BookTime(sample: heard, rate: rate), head: file.head, hasOwnTimes: true)
    }

    func marks(at start: Int64, before limit: Int64) async throws(EngineFailure) -> [SampleMark] {
        var start = start
        for _ in 0..<16 where start < limit {
            let piece = try await Piece.read(reader, at: start, count: chunk, size: file.size)
            let found = marks(in: piece).filter { $0.byte < min(limit, file.size) }
            if !found.isEmpty { return found }
            guard !piece.isLast, piece.bytes.count > OggPage.largestHead else { break }
            // No page begins in it: they may be four times as large.
            start = piece.end - Int64(OggPage.largestHead)
        }
        return []
    }

    /// A page says when its last packet ends, which is where the next page begins; a page that goes on with a packet of
    /// the one before is no place to begin.
    private func marks(in piece: Piece) -> [SampleMark] {
        var found: [SampleMark] = []
        var offset = 0
        while offset < piece.bytes.count {
            guard let page = page(in: piece, at: offset) else {
                offset += 1
                continue
            }
            offset += page.size
            if page.endsWhole, page.granule >= 0 {
                found.append(SampleMark(byte: piece.start + Int64(offset), sample: page.granule))
            }
        }
        return found
    }

    /// What looks like one within another's audio is not followed by one.
    private func page(in piece: Piece, at offset: Int) -> OggPage? {
        guard piece.bytes[offset] == UInt8(ascii: "O"), let page = OggPage(in: piece.bytes, at: offset),
            page.serial == file.serial
        else { return nil }
        let next = offset + page.size
        return next + 4 > piece.bytes.count || piece.bytes.has("OggS", at: next) ? page : nil
    }
}
