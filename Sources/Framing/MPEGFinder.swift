internal import Listening

/// Finds frames of an mp3 file by their number.
///
/// Frames of one bit rate are found by arithmetic, with one read. Others have to be counted: from the start, from the
/// end (whose number a Xing header tells) or from any frame whose number is known already, whichever is nearest. So the
/// first search reads at most about half of a file with a Xing header, and no byte is counted twice.
actor MPEGFinder {
    private let file: MPEGFile
    private let reader: any ByteReader
    private var index: FrameIndex
    /// The frame behind the last, when the file says how many there are.
    private var end: FrameIndex.Mark?
    private var pacing = Pacing.unknown

    private enum Pacing {
        case unknown
        case even(EvenPace)
        case uneven
    }

    init(file: MPEGFile, reader: any ByteReader) {
        self.file = file
        self.reader = reader
        index = FrameIndex(first: .init(byte: file.first, frame: 0))
    }

    func cut(before time: BookTime) async throws(EngineFailure) -> Cut? {
        let format = file.format
        let asked = time.sample(rate: format.rate) / format.samples
        // A second before, and one frame more for what was rounded.
        let wanted = asked - format.rate / format.samples - 1
        let mark = wanted <= 0 ? index.marks[0] : try await find(wanted, before: asked)
        guard let mark else { return nil }
        let sample = scaled(mark.frame, by: format.samples, over: 1)
        return Cut(byte: mark.byte, time: BookTime(sample: sample, rate: format.rate), head: [], hasOwnTimes: false)
    }

    private func find(_ wanted: Int64, before asked: Int64) async throws(EngineFailure) -> FrameIndex.Mark? {
        if case .unknown = pacing {
            let pace = try await pace()
            pacing = pace.map(Pacing.even) ?? .uneven
        }
        if case .even(let pace) = pacing {
            if let mark = try await land(on: wanted, before: asked, pace) { return mark }
            pacing = .uneven
        }
        if end == nil { end = try await knownEnd() }
        return try await count(to: end.map { min(wanted, max(0, $0.frame - (asked - wanted))) } ?? wanted)
    }
}

// MARK: One bit rate

extension MPEGFinder {
    /// At how many places frames must be where one bit rate puts them.
    private static let places: Int64 = 32

    /// The pace of the whole file, nil when its frames differ.
    private func pace() async throws(EngineFailure) -> EvenPace? {
        var paces = EvenPace.all(for: file.word, format: file.format)
        if let (byte, tag) = file.tag, let frames = tag.frames, let bytes = tag.bytes {
            guard try await isWhole(bytes, from: byte) else { return try await sampled(paces) }
            let audio = bytes - (file.first - byte)
            // Some encoders count the tag's own frame.
            paces.removeAll { abs($0.byte(of: frames) - audio) > $0.byte(of: 2) }
            return paces.first
        }
        return try await sampled(paces)
    }

    /// Whether the bytes that the tag tells of are all here and nothing else: not so in a file cut off or joined.
    private func isWhole(_ bytes: Int64, from byte: Int64) async throws(EngineFailure) -> Bool {
        guard abs(byte + bytes - file.size) > 4096 else { return true }
        let count = 64 << 10
        let tail = try await Piece.read(reader, at: max(0, file.size - Int64(count)), count: count, size: file.size)
        return abs(byte + bytes - Tags.audioEnd(of: tail)) <= 4096
    }

    /// Looks at places all over the file.
    private func sampled(_ paces: [EvenPace]) async throws(EngineFailure) -> EvenPace? {
        var paces = paces
        let step = (file.size - file.first) / (Self.places + 1)
        for place in 1...Self.places where !paces.isEmpty {
            let start = file.first + place * step
            let piece = try await Piece.read(reader, at: start, count: 8 << 10, size: file.size)
            // Damage or a tag at the end tells nothing.
            guard let (offset, _) = MPEGFormat.firstRun(in: piece, of: file.format) else { continue }
            guard file.format.bits(of: MPEGFormat.word(piece.bytes, offset)) == file.format.bits(of: file.word) else {
                return nil
            }
            paces.removeAll { $0.number(at: start + Int64(offset) - file.first) == nil }
        }
        return paces.first
    }

    /// A frame near `wanted` whose number follows from its place; nil when there is none: the pace is not even there.
    private func land(
        on wanted: Int64, before asked: Int64, _ pace: EvenPace
    ) async throws(EngineFailure) -> FrameIndex.Mark? {
        // Beyond the end: as long before it as a cut is before its time.
        let frames = scaled(file.size - file.first, by: pace.frames, over: pace.bytes)
        let target = file.first + pace.byte(of: min(wanted, max(0, frames - (asked - wanted))))
        // Before a damaged stretch, when the place is in one.
        for back in [0, 64 << 10, 1 << 20] as [Int64] {
            let start = max(file.first, target - back - pace.tolerance)
            let found = try await MPEGFile.find(
                reader, from: start, reach: max(back, 64 << 10), size: file.size, of: file.format)
            guard let found, let number = pace.number(at: found.byte - file.first), number <= asked else { continue }
            return .init(byte: found.byte, frame: number)
        }
        return nil
    }
}

// MARK: Counting

extension MPEGFinder {
    private func count(to wanted: Int64) async throws(EngineFailure) -> FrameIndex.Mark? {
        let counter = FrameCount(file: file, reader: reader)
        // Each round from behind leaves less between the marks; a few are enough.
        for _ in 0..<4 {
            let low = index.last(upTo: wanted)
            guard let high = index.first(after: wanted) ?? end, high.frame > wanted, high.byte > low.byte else { break }
            let (place, margin) = estimate(of: wanted, between: low, and: high)
            let start = max(low.byte, place - margin)
            guard place - low.byte > 1 << 20, high.byte - start < place - low.byte,
                let found = try await MPEGFile.find(
                    reader, from: start, reach: 1 << 20, size: file.size, of: file.format),
                found.byte < high.byte
            else { break }
            let counted = try await counter.from(.init(byte: found.byte, frame: 0), toByte: high.byte)
            let number = high.frame - counted.end.frame
            guard number > low.frame else {
                end = nil
                break
            }
            index.insert(.init(byte: found.byte, frame: number))
            index.insert(counted.marks.map { .init(byte: $0.byte, frame: $0.frame + number) })
        }
        let low = index.last(upTo: wanted)
        guard low.frame < wanted else { return low }
        let limit = index.first(after: wanted)?.byte ?? .max
        let counted = try await counter.from(low, toFrame: wanted, toByte: limit)
        index.insert(counted.marks)
        guard counted.end.frame == wanted, counted.end.byte < min(limit, file.size) else { return counted.last }
        index.insert(counted.end)
        return counted.end
    }

    /// The end of the audio, when the file's tag tells its number and can be believed.
    private func knownEnd() async throws(EngineFailure) -> FrameIndex.Mark? {
        guard let (byte, tag) = file.tag, let frames = tag.frames, let bytes = tag.bytes, frames > 1,
            try await isWhole(bytes, from: byte), byte + bytes <= file.size
        else { return nil }
        return .init(byte: byte + bytes, frame: frames + (tag.isHeard ? 1 : 0))
    }

    /// About where frame `wanted` is, and by how much that may be wrong.
    private func estimate(
        of wanted: Int64, between low: FrameIndex.Mark, and high: FrameIndex.Mark
    ) -> (place: Int64, margin: Int64) {
        let span = high.byte - low.byte
        let (part, whole) = (wanted - low.frame, high.frame - low.frame)
        return (low.byte + scaled(span, by: part, over: whole), span / 64 + Int64(MPEGFile.landing))
    }
}
