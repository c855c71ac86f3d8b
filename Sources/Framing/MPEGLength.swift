internal import Listening

/// How long an mp3 file is whose first frame tells of less: one that others were joined to keeps what it told of itself.
extension MPEGFinder {
    /// How many places are looked at, and how much there.
    private static let glances: (count: Int64, bytes: Int) = (4, 8 << 10)

    /// Counts all frames where there seem to be more than are told.
    /// - Returns: nil where what is told is right, or nothing is.
    func untoldLength(bySizeAlone: Bool) async throws(EngineFailure) -> BookTime? {
        guard let (byte, tag) = file.tag, let frames = tag.frames, frames > 0,
            try await hasMore(than: frames, tag, byte, bySizeAlone: bySizeAlone)
        else { return nil }
        let counted = try await FrameCount(file: file, reader: reader).from(index.marks[0])
        index.insert(counted.marks)
        guard counted.end.frame > frames else { return nil }
        return BookTime(sample: scaled(counted.end.frame, by: file.format.samples, over: 1), rate: file.format.rate)
    }

    private func hasMore(
        than frames: Int64, _ tag: VBRTag, _ byte: Int64, bySizeAlone: Bool
    ) async throws(EngineFailure) -> Bool {
        let all = file.size - byte
        if let told = tag.bytes, told < all, try await !isWhole(told, from: byte) { return true }
        // Frames of half the size are twice as many.
        guard !bySizeAlone, let seen = try await frameSize() else { return false }
        return (tag.bytes ?? all) / frames > seen + seen / 2
    }

    /// In bytes, of some that are seen all over the file; nil if there are none.
    private func frameSize() async throws(EngineFailure) -> Int64? {
        var (count, bytes): (Int64, Int64) = (0, 0)
        let step = (file.size - file.first) / (Self.glances.count + 1)
        for place in 1...Self.glances.count {
            let piece = try await Piece.read(
                reader, at: file.first + place * step, count: Self.glances.bytes, size: file.size)
            guard var (offset, _) = MPEGFormat.firstRun(in: piece, of: file.format) else { continue }
            while offset + 4 <= piece.bytes.count,
                let size = file.format.size(of: MPEGFormat.word(piece.bytes, offset))
            {
                (offset, count, bytes) = (offset + size, count + 1, bytes + Int64(size))
            }
        }
        return count > 0 ? bytes / count : nil
    }
}
