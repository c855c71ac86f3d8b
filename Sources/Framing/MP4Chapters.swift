internal import Listening

/// Chapters of MP4 audiobooks, which GStreamer does not show: QuickTime's chapter track, else Nero's `chpl`.
///
/// Every length in the file is somebody else's word: none is used before it is checked against what is there.
struct MP4Chapters {
    private let file: Window
    /// moov of a 40-hour book is about 40 MB; what is larger is not read.
    private static let largestTable = 64 << 20
    private static let mostChapters = 10_000

    static func read(_ file: Window) async throws(EngineFailure) -> [Chapter] {
        let reader = MP4Chapters(file: file)
        guard let moov = try await reader.box(["moov"], in: 0..<file.size) else { return [] }
        let track = try await reader.chapterTrack(moov)
        return track.isEmpty ? try await reader.nero(moov) : track
    }

    /// - Returns: the bodies of the boxes of this kind that lie in a range of the file.
    private func boxes(_ kind: String, in range: Range<Int>) async throws(EngineFailure) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var offset = range.lowerBound
        var count = 0
        while range.upperBound - offset >= 8, count < 10_000 {
            count += 1
            let left = range.upperBound - offset
            guard let bytes = try await file.bytes(at: offset, count: min(left, BoxHead.longest)),
                let head = BoxHead(bytes), case let size = head.size ?? left, (head.length...left).contains(size)
            else { break }
            if head.kind.elementsEqual(kind.utf8) { found.append(offset + head.length..<offset + size) }
            offset += size
        }
        return found
    }

    private func box(_ path: [String], in range: Range<Int>) async throws(EngineFailure) -> Range<Int>? {
        var range = range
        for kind in path {
            guard let next = try await boxes(kind, in: range).first else { return nil }
            range = next
        }
        return range
    }

    private func body(_ path: String..., in range: Range<Int>) async throws(EngineFailure) -> ByteCursor? {
        guard let range = try await box(path, in: range), range.count <= Self.largestTable else { return nil }
        return try await file.bytes(at: range.lowerBound, count: range.count).map(ByteCursor.init)
    }

    // MARK: Nero

    private func nero(_ moov: Range<Int>) async throws(EngineFailure) -> [Chapter] {
        guard var chpl = try await body("udta", "chpl", in: moov), let version = chpl.number(1), chpl.skip(3) else {
            return []
        }
        if version > 0 { guard chpl.skip(4) else { return [] } }
        guard let count = chpl.number(1) else { return [] }
        var starts: [(BookTime, String)] = []
        for _ in 0..<count {
            guard let word = chpl.word(8), let length = chpl.number(1), let title = chpl.take(length) else { break }
            // Of a book whose beginning was cut off, one may have begun before it.
            starts.append(
                (BookTime(microseconds: max(0, Int64(bitPattern: word) / 10)), String(decoding: title, as: UTF8.self)))
        }
        return starts.enumerated().map { index, entry in
            Chapter(
                title: entry.1, start: entry.0, end: index + 1 < starts.count ? starts[index + 1].0 : entry.0)
        }
    }

    // MARK: QuickTime

    /// The text track that a sound track names in `tref/chap`: one sample per chapter, as long as the chapter.
    private func chapterTrack(_ moov: Range<Int>) async throws(EngineFailure) -> [Chapter] {
        let tracks = try await boxes("trak", in: moov)
        var named: Int?
        for track in tracks where named == nil {
            var reference = try await body("tref", "chap", in: track)
            named = reference?.number(4)
        }
        guard let named, let track = try await self.track(named, of: tracks),
            let media = try await box(["mdia"], in: track), let scale = try await timescale(media),
            let table = try await box(["minf", "stbl"], in: media)
        else { return [] }
        let durations = try await durations(table)
        let places = try await places(table)
        var time = 0
        var chapters: [Chapter] = []
        for (duration, place) in zip(durations, places) {
            let (next, overflow) = time.addingReportingOverflow(duration)
            guard !overflow else { break }
            chapters.append(
                Chapter(
                    title: (try? await text(place)) ?? "", start: .seconds(Double(time) / Double(scale)),
                    end: .seconds(Double(next) / Double(scale))))
            time = next
        }
        return chapters
    }

    private func track(_ number: Int, of tracks: [Range<Int>]) async throws(EngineFailure) -> Range<Int>? {
        for track in tracks where try await self.number(of: track) == number { return track }
        return nil
    }

    private func number(of track: Range<Int>) async throws(EngineFailure) -> Int? {
        guard var head = try await body("tkhd", in: track), let version = head.number(1),
            head.skip(3 + (version == 1 ? 16 : 8))
        else { return nil }
        return head.number(4)
    }

    private func timescale(_ media: Range<Int>) async throws(EngineFailure) -> Int? {
        guard var head = try await body("mdhd", in: media), let version = head.number(1),
            head.skip(3 + (version == 1 ? 16 : 8)),
            let scale = head.number(4), scale > 0
        else { return nil }
        return scale
    }

    private func durations(_ table: Range<Int>) async throws(EngineFailure) -> [Int] {
        guard var stts = try await body("stts", in: table), stts.skip(4), let runs = stts.number(4) else { return [] }
        var durations: [Int] = []
        for _ in 0..<min(runs, Self.mostChapters) {
            guard let count = stts.number(4), let duration = stts.number(4) else { break }
            let room = Self.mostChapters - durations.count
            durations += Array(repeating: duration, count: min(count, room))
        }
        return durations
    }

    private func sizes(_ table: Range<Int>) async throws(EngineFailure) -> [Int] {
        guard var stsz = try await body("stsz", in: table), stsz.skip(4), let same = stsz.number(4),
            let count = stsz.number(4)
        else { return [] }
        let wanted = min(count, Self.mostChapters)
        if same > 0 { return Array(repeating: same, count: wanted) }
        var sizes: [Int] = []
        while sizes.count < wanted, let size = stsz.number(4) { sizes.append(size) }
        return sizes
    }

    private func chunks(_ table: Range<Int>) async throws(EngineFailure) -> [Int] {
        let wide = try await boxes("co64", in: table).first != nil
        guard var offsets = try await body(wide ? "co64" : "stco", in: table), offsets.skip(4),
            let count = offsets.number(4)
        else {
            return []
        }
        var chunks: [Int] = []
        while chunks.count < min(count, Self.mostChapters), let chunk = offsets.number(wide ? 8 : 4) {
            chunks.append(chunk)
        }
        return chunks
    }

    /// Offset and size of each sample.
    private func places(_ table: Range<Int>) async throws(EngineFailure) -> [(offset: Int, size: Int)] {
        guard var stsc = try await body("stsc", in: table), stsc.skip(4), let runs = stsc.number(4) else { return [] }
        var perChunk: [(first: Int, samples: Int)] = []
        while perChunk.count < min(runs, Self.mostChapters), let first = stsc.number(4), let samples = stsc.number(4),
            stsc.skip(4)
        {
            perChunk.append((first, samples))
        }
        var sizes = try await sizes(table)[...]
        var places: [(offset: Int, size: Int)] = []
        for (index, chunk) in try await chunks(table).enumerated() {
            var offset = chunk
            let samples = perChunk.last { $0.first <= index + 1 }?.samples ?? 0
            for _ in 0..<samples {
                guard let size = sizes.popFirst() else { return places }
                places.append((offset, size))
                let (next, overflow) = offset.addingReportingOverflow(size)
                guard !overflow else { return places }
                offset = next
            }
        }
        return places
    }

    /// A length in two bytes, then UTF-8, or UTF-16 behind a byte order mark.
    private func text(_ place: (offset: Int, size: Int)) async throws(EngineFailure) -> String {
        // A table may name the same long sample ten thousand times.
        guard var sample = try await file.bytes(at: place.offset, count: min(place.size, 1 << 11)).map(ByteCursor.init),
            let length = sample.number(2), let bytes = sample.take(min(length, sample.left))
        else { return "" }
        guard bytes.starts(with: [0xfe, 0xff]) else { return String(decoding: bytes, as: UTF8.self) }
        var units = ByteCursor(bytes.dropFirst(2))
        var text: [UInt16] = []
        while let unit = units.number(2) { text.append(UInt16(unit)) }
        return String(decoding: text, as: UTF16.self)
    }
}
