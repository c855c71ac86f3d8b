internal import Listening

/// Where the audio of an mp3 file begins, and what its first frame says.
struct MPEGFile: Sendable {
    let format: MPEGFormat
    let size: Int64
    /// The first frame that is heard.
    let first: Int64
    /// The header word of that frame.
    let word: UInt32
    /// Where the frame with the tag is, and what it says.
    let tag: (byte: Int64, tag: VBRTag)?

    /// How far to look for a first frame behind the tags.
    static let reach: Int64 = 512 << 10
    /// Holds ``MPEGFormat/run`` frames of the largest size from anywhere in the first.
    static let landing = 16 << 10

    /// Nil when no frames stand in a row near `start`.
    static func open(
        _ reader: any ByteReader, from start: Int64, size: Int64
    ) async throws(EngineFailure) -> MPEGFile? {
        guard let (byte, format, piece) = try await find(reader, from: start, reach: reach, size: size, of: nil) else {
            return nil
        }
        let offset = Int(byte - piece.start)
        let word = MPEGFormat.word(piece.bytes, offset)
        guard let length = format.size(of: word) else { return nil }
        let tag = VBRTag(in: piece.bytes, at: offset, size: length, format: format)
        guard let tag, !tag.isHeard, offset + length + 4 <= piece.bytes.count else {
            return MPEGFile(format: format, size: size, first: byte, word: word, tag: tag.map { (byte, $0) })
        }
        return MPEGFile(
            format: format, size: size, first: byte + Int64(length),
            word: MPEGFormat.word(piece.bytes, offset + length), tag: (byte, tag))
    }

    /// The first frame at `start` or at most `reach` bytes behind it, and the piece of the file that it is in.
    static func find(
        _ reader: any ByteReader, from start: Int64, reach: Int64, size: Int64, of format: MPEGFormat?
    ) async throws(EngineFailure) -> (byte: Int64, format: MPEGFormat, piece: Piece)? {
        var start = start
        let limit = start + reach
        var count = landing
        while start < min(limit, size) {
            let piece = try await Piece.read(reader, at: start, count: count, size: size)
            if let (offset, format) = MPEGFormat.firstRun(in: piece, of: format) {
                return (start + Int64(offset), format, piece)
            }
            guard !piece.isLast, piece.bytes.count > landing / 2 else { return nil }
            start = piece.end - Int64(landing / 4 * 3)
            count = min(count * 4, 256 << 10)
        }
        return nil
    }
}
