internal import Listening

/// Counts frames by going from header to header.
struct FrameCount: Sendable {
    let file: MPEGFile
    let reader: any ByteReader
    /// Bytes of one read.
    static let piece = 512 << 10

    /// What a count came to.
    struct Result: Sendable {
        /// The last whole frame seen before the end.
        var last: FrameIndex.Mark
        /// Where it stopped: the frame that was looked for, or what would be the next one.
        var end: FrameIndex.Mark
        /// About one frame in ten seconds.
        var marks: [FrameIndex.Mark] = []
    }

    /// Goes on from a known frame until frame number `frame`, or the last one that begins before `limit`.
    func from(
        _ start: FrameIndex.Mark, toFrame frame: Int64 = .max, toByte limit: Int64 = .max
    ) async throws(EngineFailure) -> Result {
        let limit = min(limit, file.size)
        let step = max(file.format.rate * 10 / file.format.samples, 1)
        var result = Result(last: start, end: start)
        while result.end.byte < limit, result.end.frame < frame {
            let wanted = min(Int64(Self.piece), limit - result.end.byte + Int64(MPEGFile.landing))
            let piece = try await Piece.read(reader, at: result.end.byte, count: Int(wanted), size: file.size)
            let before = result.end.byte
            scan(piece, toFrame: frame, toByte: limit, step: step, &result)
            guard result.end.byte > before, !piece.bytes.isEmpty else { break }
        }
        return result
    }

    /// Counts what is whole in one piece, and passes over what is no frame.
    private func scan(_ piece: Piece, toFrame frame: Int64, toByte limit: Int64, step: Int64, _ result: inout Result) {
        var offset = 0
        var number = result.end.frame
        var last: Int?
        let stop = Int(min(limit - piece.start, Int64(piece.bytes.count)))
        var nextMark = (result.marks.last?.frame ?? result.last.frame) + step
        while offset < stop, number < frame, offset + 4 <= piece.bytes.count {
            if let size = file.format.size(of: MPEGFormat.word(piece.bytes, offset)) {
                guard offset + size <= piece.bytes.count else { break }
                if number >= nextMark {
                    result.marks.append(.init(byte: piece.start + Int64(offset), frame: number))
                    nextMark = number + step
                }
                last = offset
                offset += size
                number += 1
            } else if let (next, _) = MPEGFormat.firstRun(in: piece, from: offset + 1, of: file.format) {
                offset = next
            } else {
                // The start of a run may be near the end of the piece, too near to be sure of it.
                offset =
                    piece.isLast ? piece.bytes.count : max(offset + 1, piece.bytes.count - MPEGFile.landing / 4 * 3)
                break
            }
        }
        // A frame cut off by the end of the file is none.
        if piece.isLast, offset < stop, number < frame { offset = piece.bytes.count }
        if let last { result.last = .init(byte: piece.start + Int64(last), frame: number - 1) }
        result.end = .init(byte: piece.start + Int64(offset), frame: number)
    }
}
