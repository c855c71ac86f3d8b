internal import Listening

/// Finds frames of a flac file by the number of their first sample, which every frame tells.
actor FLACFinder: SampleFinder {
    private let file: FLACFile
    private let reader: any ByteReader
    private let samples: Int64
    /// The first frame. A file cut out of another keeps its numbers: time begins with it all the same.
    private var first: SampleMark?
    /// Until a place of the seek table is not the frame it should be: the table was made for another file.
    private var believesTable = true

    init(file: FLACFile, reader: any ByteReader, hint duration: BookTime) {
        self.file = file
        self.reader = reader
        samples = file.info.samples > 0 ? file.info.samples : max(duration.sample(rate: file.info.rate), 1)
    }

    func cut(before time: BookTime) async throws(EngineFailure) -> Cut? {
        let rate = file.info.rate
        if first == nil { first = try await marks(at: file.first, before: file.size).first }
        guard let first else { return nil }
        let wanted = time.sample(rate: rate) - rate
        // The sum stays small: times reach to 2^63 microseconds, samples to 2^36.
        let mark = wanted <= 0 ? first : try await find(min(wanted, 1 << 60) + first.sample, behind: first)
        return Cut(
            byte: mark.byte, time: BookTime(sample: mark.sample - first.sample, rate: rate), head: file.info.head,
            hasOwnTimes: true)
    }

    /// The last frame that begins at `wanted` or before, or one that begins less than a second before that.
    private func find(_ wanted: Int64, behind first: SampleMark) async throws(EngineFailure) -> SampleMark {
        var low = first
        var high = SampleMark(byte: file.size, sample: max(samples, wanted + 1))
        if believesTable {
            for mark in file.seekTable where mark.byte > first.byte && mark.byte < high.byte {
                if mark.sample <= wanted { low = mark } else { high = mark }
            }
        }
        if low != first {
            guard try await marks(at: low.byte, before: low.byte + 1).first == low else {
                believesTable = false
                return try await find(wanted, behind: first)
            }
        }
        return try await last(upTo: wanted, from: low, to: high)
    }

    var rate: Int64 { file.info.rate }

    /// Bytes of one read.
    var chunk: Int { Int(max(64 << 10, min(file.info.largestFrame * 3, 1 << 20))) }

    /// The frames of the first piece from `start` on that has any, as far as they begin before `limit`. Each is followed by
    /// the one that must follow it, or by the end.
    func marks(at start: Int64, before limit: Int64) async throws(EngineFailure) -> [SampleMark] {
        var start = start
        for _ in 0..<16 where start < limit {
            let piece = try await Piece.read(reader, at: start, count: chunk, size: file.size)
            let found = headers(in: piece)
            var marks: [SampleMark] = []
            var behind: Set<Int64> = []
            for (byte, frame) in found.reversed() {
                let end = frame.sample + frame.count
                if behind.contains(end) || piece.isLast && end == file.info.samples {
                    marks.append(SampleMark(byte: byte, sample: frame.sample))
                }
                behind.insert(frame.sample)
            }
            marks.reverse()
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
