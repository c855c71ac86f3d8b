internal import Listening

/// Finds frames of an mp3 file by their number.
///
/// Frames of one bit rate are found by arithmetic, with one read. Others have to be counted: from the start, from the
/// end (whose number a Xing header tells) or from any frame whose number is known already, whichever is nearest. So the
/// first search reads at most about half of a file with a Xing header, and no byte is counted twice.
actor MPEGFinder {
    let file: MPEGFile
    let reader: any ByteReader
    var index: FrameIndex
    /// The frame behind the last, when the file says how many there are.
    private var end: FrameIndex.Mark?
    private var hasLookedForEnd = false
    private var pacing: Pacing
    /// Frames whose numbers are to be settled, ascending: what was seen while looking for one bit rate.
    private var places: [Int64] = []
    private var hasSampled = false

    /// - Parameter memory: what was found of the same file before.
    init(file: MPEGFile, reader: any ByteReader, memory: Memory?) {
        self.file = file
        self.reader = reader
        index = FrameIndex(first: .init(byte: file.first, frame: 0))
        pacing = memory?.pacing ?? .unknown
        if let memory { index.insert(memory.marks.filter { $0.byte < file.size }) }
    }

    var memory: Memory { Memory(size: file.size, pacing: pacing, marks: index.marks) }

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
        if pacing == .unknown { pacing = try await pace().map(Pacing.even) ?? .uneven }
        while case .even(let pace) = pacing {
            if let mark = try await land(on: wanted, before: asked, pace) { return mark }
            // The tag said so, and was wrong.
            if !hasSampled { pacing = try await sampled().map(Pacing.even) ?? .uneven } else { break }
        }
        if !hasLookedForEnd {
            end = try await knownEnd()
            hasLookedForEnd = true
        }
        return try await count(to: end.map { min(wanted, max(0, $0.frame - (asked - wanted))) } ?? wanted)
    }
}

// MARK: One bit rate

extension MPEGFinder {
    /// How many places are looked at before a file is taken to have one bit rate.
    private static let samples: Int64 = 32

    /// The pace of the file, nil when its frames differ.
    private func pace() async throws(EngineFailure) -> EvenPace? {
        guard let (byte, tag) = file.tag, let frames = tag.frames, let bytes = tag.bytes,
            try await isWhole(bytes, from: byte)
        else { return try await sampled() }
        let audio = bytes - (file.first - byte)
        // Some encoders count the tag's own frame.
        return EvenPace.all(for: file.word, format: file.format).first {
            abs($0.byte(of: frames) - audio) <= $0.byte(of: 2)
        }
    }

    /// Whether the bytes that the tag tells of are all here and nothing else: not so in a file cut off or joined.
    func isWhole(_ bytes: Int64, from byte: Int64) async throws(EngineFailure) -> Bool {
        guard abs(byte + bytes - file.size) > 4096 else { return true }
        let count = 64 << 10
        let tail = try await Piece.read(reader, at: max(0, file.size - Int64(count)), count: count, size: file.size)
        return abs(byte + bytes - Tags.audioEnd(of: tail)) <= 4096
    }

    /// Looks at places all over the file: nil when the bit rate is not the same everywhere.
    private func sampled() async throws(EngineFailure) -> EvenPace? {
        hasSampled = true
        let step = (file.size - file.first) / (Self.samples + 1)
        var places: [Int64] = []
        for place in 1...Self.samples {
            let start = file.first + place * step
            let piece = try await Piece.read(reader, at: start, count: 8 << 10, size: file.size)
            // Damage or a tag tells nothing.
            guard let (offset, _) = MPEGFormat.firstRun(in: piece, of: file.format) else { continue }
            guard file.format.bits(of: MPEGFormat.word(piece.bytes, offset)) == file.format.bits(of: file.word) else {
                return nil
            }
            if start + Int64(offset) > places.last ?? file.first { places.append(start + Int64(offset)) }
        }
        self.places = places
        let pairs = zip([file.first] + places, places)
        // Of ways to pad that fit equally, the standard's, which is the first.
        let fits = EvenPace.all(for: file.word, format: file.format).map { pace in
            (pace: pace, count: pairs.count { pace.number(at: $1 - $0) != nil })
        }
        guard let best = fits.map(\.count).max(), best > places.count / 2 else { return nil }
        return fits.first { $0.count == best }?.pace
    }

    /// A frame near `wanted` whose number follows from its place; nil when the pace is not even there.
    private func land(
        on wanted: Int64, before asked: Int64, _ pace: EvenPace
    ) async throws(EngineFailure) -> FrameIndex.Mark? {
        while let last = index.marks.last, last.frame <= wanted, let place = places.first {
            try await settle(place, behind: last, pace)
            if places.first == place { places.removeFirst() }
        }
        let low = index.last(upTo: wanted)
        // Beyond the end: as long before it as a cut is before its time.
        let frames = scaled(file.size - low.byte, by: pace.frames, over: pace.bytes)
        let target = low.byte + pace.byte(of: min(wanted - low.frame, max(0, frames - (asked - wanted))))
        // Before a damaged stretch, when the target is in one.
        for back in [0, 64 << 10, 1 << 20] as [Int64] {
            let start = max(low.byte, target - back - pace.tolerance)
            let found = try await MPEGFile.find(
                reader, from: start, reach: max(back, 64 << 10), size: file.size, of: file.format)
            guard let found, let number = pace.number(at: found.byte - low.byte), low.frame + number <= asked else {
                continue
            }
            return .init(byte: found.byte, frame: low.frame + number)
        }
        return nil
    }

    /// Finds the number of the frame at `place`: by arithmetic, or, where something else stands between the frames, as
    /// in files that were joined with their tags, by halving until what is left is soon counted.
    private func settle(_ place: Int64, behind low: FrameIndex.Mark, _ pace: EvenPace) async throws(EngineFailure) {
        guard place > low.byte else { return }
        if let number = pace.number(at: place - low.byte) {
            index.insert(.init(byte: place, frame: low.frame + number))
            return
        }
        if place - low.byte > 1 << 20 {
            let middle = low.byte + (place - low.byte) / 2
            let found = try await MPEGFile.find(reader, from: middle, reach: 1 << 20, size: file.size, of: file.format)
            if let found, found.byte < place {
                try await settle(found.byte, behind: low, pace)
                guard let next = index.marks.last, next.byte == found.byte else { return }
                return try await settle(place, behind: next, pace)
            }
        }
        let counted = try await FrameCount(file: file, reader: reader).from(low, toByte: place)
        index.insert(.init(byte: place, frame: counted.end.frame))
    }
}

// MARK: Counting

extension MPEGFinder {
    private func count(to wanted: Int64) async throws(EngineFailure) -> FrameIndex.Mark? {
        let counter = FrameCount(file: file, reader: reader)
        try await useStretches(upTo: wanted)
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

    /// Takes from the tag's table the frame before `wanted`, when there really is one.
    private func useStretches(upTo wanted: Int64) async throws(EngineFailure) {
        guard let (byte, tag) = file.tag, tag.framesPerStretch > 0, wanted > 0 else { return }
        let count = Int(min((wanted - 1) / tag.framesPerStretch, Int64(tag.stretches.count)))
        // The tag's own frame is in the first stretch as bytes, though not as a frame; unless the sums say otherwise.
        let frame = Int64(count) * tag.framesPerStretch + 1
        let own = Int64(file.format.size(of: file.word) ?? 0)
        let isInside = tag.bytes != tag.stretches.reduce(own, +)
        let place = byte + (isInside ? 0 : own) + tag.stretches[..<count].reduce(0, +)
        guard count > 0, index.last(upTo: wanted).frame < frame, place < file.size else { return }
        let found = try await MPEGFile.find(reader, from: place, reach: 1, size: file.size, of: file.format)
        if found?.byte == place { index.insert(.init(byte: place, frame: frame)) }
    }

    /// About where frame `wanted` is, and by how much that may be wrong.
    private func estimate(
        of wanted: Int64, between low: FrameIndex.Mark, and high: FrameIndex.Mark
    ) -> (place: Int64, margin: Int64) {
        let span = high.byte - low.byte
        let (part, whole) = (wanted - low.frame, high.frame - low.frame)
        let even = (low.byte + scaled(span, by: part, over: whole), span / 64 + Int64(MPEGFile.landing))
        // The tag's hundredths know better, as long as much is unknown.
        guard let (byte, tag) = file.tag, let table = tag.hundredths, let end, span > (end.byte - byte) / 32 else {
            return even
        }
        let thousandth = Int(scaled(wanted, by: 1000, over: end.frame))
        let (hundredth, rest) = (thousandth / 10, Int64(thousandth % 10))
        guard hundredth < 100 else { return even }
        let from = Int64(table[hundredth])
        let to = hundredth < 99 ? Int64(table[hundredth + 1]) : 256
        guard to >= from else { return even }
        let place = byte + scaled(end.byte - byte, by: from * 10 + (to - from) * rest, over: 2560)
        guard place > low.byte, place < high.byte else { return even }
        return (place, (end.byte - byte) / 128 + Int64(MPEGFile.landing))
    }
}
