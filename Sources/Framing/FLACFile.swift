internal import Listening

/// What STREAMINFO, the first block of a flac file's metadata, says.
struct FLACInfo: Sendable {
    /// The 34 bytes of it.
    let bytes: [UInt8]
    let smallestBlock: Int64
    let largestBlock: Int64
    /// Bytes; zero when unknown.
    let largestFrame: Int64
    /// Hertz.
    let rate: Int64
    let channels: Int
    /// Bits of a sample.
    let depth: Int
    /// In all; zero when unknown.
    let samples: Int64

    /// Samples of every block but the last, when they are all the same.
    var blockSize: Int64? { smallestBlock == largestBlock ? largestBlock : nil }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == 34, let smallest = bytes.number(at: 0, count: 2),
            let largest = bytes.number(at: 2, count: 2),
            let frame = bytes.number(at: 7, count: 3), let rate = bytes.number(at: 10, count: 3),
            let samples = bytes.number(at: 13, count: 5)
        else { return nil }
        self.bytes = bytes
        (smallestBlock, largestBlock, largestFrame) = (smallest, largest, frame)
        self.rate = rate >> 4
        channels = Int(bytes[12] >> 1 & 7) + 1
        depth = Int(bytes[12] & 1) << 4 + Int(bytes[13] >> 4) + 1
        self.samples = samples & 0xF_FFFF_FFFF
        guard self.rate > 0, largestBlock >= 16, smallestBlock <= largestBlock else { return nil }
    }

    /// What a decoder must see before any frame: the mark of the format, and this block as the only one.
    var head: [UInt8] { Array("fLaC".utf8) + [0x80, 0, 0, 34] + bytes }
}

/// Where a flac file's audio begins, and what its metadata says.
struct FLACFile: Sendable {
    let info: FLACInfo
    let size: Int64
    /// Where the first frame begins.
    let first: Int64
    /// What the seek table says, ascending; empty when there is none that makes sense.
    let seekTable: [SampleMark]

    /// - Parameter start: where `fLaC` stands.
    static func open(
        _ reader: any ByteReader, at start: Int64, size: Int64
    ) async throws(EngineFailure) -> FLACFile? {
        var place = start + 4
        var info: FLACInfo?
        var table: [UInt8] = []
        var piece = Piece(start: place, bytes: [], isLast: false)
        func block(at start: Int64, count: Int) async throws(EngineFailure) -> [UInt8] {
            if start < piece.start || start + Int64(count) > piece.end {
                piece = try await Piece.read(reader, at: start, count: max(count, 16 << 10), size: size)
            }
            let offset = Int(start - piece.start)
            return [UInt8](piece.bytes[offset..<min(offset + count, piece.bytes.count)])
        }
        // A file has a handful of blocks. A picture is passed over unread.
        for _ in 0..<128 {
            guard let word = try await block(at: place, count: 4).number(at: 0, count: 4) else { return nil }
            let (isLast, type, length) = (word >> 31 == 1, word >> 24 & 0x7F, word & 0xFF_FFFF)
            guard type != 127, place + 4 + length <= size else { return nil }
            if type == 0, info == nil {
                info = FLACInfo(try await block(at: place + 4, count: Int(length)))
            } else if type == 3, length <= 1 << 20 {
                table = try await block(at: place + 4, count: Int(length))
            }
            place += 4 + length
            guard isLast else { continue }
            return info.map {
                FLACFile(info: $0, size: size, first: place, seekTable: seekTable(table, first: place, size: size, $0))
            }
        }
        return nil
    }

    private static func seekTable(_ bytes: [UInt8], first: Int64, size: Int64, _ info: FLACInfo) -> [SampleMark] {
        var marks: [SampleMark] = []
        for point in 0..<bytes.count / 18 {
            guard let sample = bytes.number(at: point * 18 + 1, count: 7),
                let byte = bytes.number(at: point * 18 + 9, count: 7), bytes[point * 18] == 0,
                bytes[point * 18 + 8] == 0
            else { continue }  // A placeholder has all bits set.
            let last = marks.last ?? SampleMark(byte: first - 1, sample: -1)
            if first + byte == last.byte, sample == last.sample { continue }
            guard first + byte > last.byte, sample > last.sample, first + byte < size,
                info.samples == 0 || sample < info.samples
            else { return [] }
            marks.append(SampleMark(byte: first + byte, sample: sample))
        }
        return marks
    }
}
