internal import Listening

/// Finds frames of a flac file by the number of their first sample, which every frame tells.
actor FLACFinder {
    private let file: FLACFile
    private let reader: any ByteReader
    private let samples: Int64
    /// The first frame. A file cut out of another keeps its numbers: time begins with it all the same.
    private var first: FLACFile.Mark?
    /// Until a place of the seek table is not the frame it should be: the table was made for another file.
    private var believesTable = true

    init(file: FLACFile, reader: any ByteReader, hint duration: BookTime) {
        self.file = file
        self.reader = reader
        samples = file.info.samples > 0 ? file.info.samples : max(duration.sample(rate: file.info.rate), 1)
    }

    func cut(before time: BookTime) async throws(EngineFailure) -> Cut? {
        let rate = file.info.rate
        if first == nil { first = try await frames(at: file.first, before: file.size).first }
        guard let first else { return nil }
        let wanted = time.sample(rate: rate) - rate
        // The sum stays small: times reach to 2^63 microseconds, samples to 2^36.
        let mark = wanted <= 0 ? first : try await find(min(wanted, 1 << 60) + first.sample, behind: first)
        return Cut(
            byte: mark.byte, time: BookTime(sample: mark.sample - first.sample, rate: rate), head: file.info.head,
            hasOwnTimes: true)
    }

    /// The last frame that begins at `wanted` or before, or one that begins less than a second before that.
    private func find(_ wanted: Int64, behind first: FLACFile.Mark) async throws(EngineFailure) -> FLACFile.Mark {
        var low = first
        var high = FLACFile.Mark(byte: file.size, sample: max(samples, wanted + 1))
        if believesTable {
            for mark in file.seekTable where mark.byte > first.byte && mark.byte < high.byte {
                if mark.sample <= wanted { low = mark } else { high = mark }
            }
        }
        if low != first {
            guard try await frames(at: low.byte, before: low.byte + 1).first == low else {
                believesTable = false
                return try await find(wanted, behind: first)
            }
        }
        var isSlow = false
        for _ in 0..<96 {
            guard wanted - low.sample >= file.info.rate, high.byte - low.byte > 1 else { break }
            let gap = high.byte - low.byte
            // Interpolation finds the place in evenly loud files at once; halving when it is slow bounds it in any.
            let part = scaled(gap, by: wanted - low.sample, over: high.sample - low.sample)
            let aim = isSlow ? gap / 2 - Int64(chunk / 2) : min(part - Int64(chunk / 2), gap - 1)
            let start = low.byte + max(1, aim)
            let found = try await frames(at: start, before: high.byte).filter {
                $0.sample > low.sample && $0.sample < max(high.sample, wanted + 1)
            }
            if let before = found.last(where: { $0.sample <= wanted }) {
                low = before
                if let next = found.first(where: { $0.sample > wanted }) { high = next }
            } else {
                high = .init(byte: start, sample: found.first?.sample ?? high.sample)
            }
            isSlow = !isSlow && high.byte - low.byte > gap / 2
        }
        return low
    }

    /// Bytes of one read.
    private var chunk: Int { Int(max(64 << 10, min(file.info.largestFrame * 3, 1 << 20))) }

    /// The frames of the first piece from `start` on that has any, as far as they begin before `limit`. Each is followed by
    /// the one that must follow it, or by the end.
    private func frames(at start: Int64, before limit: Int64) async throws(EngineFailure) -> [FLACFile.Mark] {
        var start = start
        for _ in 0..<16 where start < limit {
            let piece = try await Piece.read(reader, at: start, count: chunk, size: file.size)
            let found = headers(in: piece)
            let confirmed = found.indices.filter { place in
                let frame = found[place].frame
                return found[(place + 1)...].contains { $0.frame.sample == frame.sample + frame.count }
                    || piece.isLast && frame.sample + frame.count == file.info.samples
            }
            let marks = confirmed.map { FLACFile.Mark(byte: found[$0].byte, sample: found[$0].frame.sample) }
            if !marks.isEmpty { return marks.filter { $0.byte < limit } }
            guard !piece.isLast, piece.bytes.count > 32 else { break }
            start = piece.end - Int64(piece.bytes.count / 4)
        }
        return []
    }

    private func headers(in piece: Piece) -> [(byte: Int64, frame: FLACFrame)] {
        var found: [(byte: Int64, frame: FLACFrame)] = []
        for offset in piece.bytes.indices where piece.bytes[offset] == 0xFF {
            guard let frame = FLACFrame(in: piece.bytes, at: offset, info: file.info) else { continue }
            found.append((piece.start + Int64(offset), frame))
        }
        return found
    }
}
