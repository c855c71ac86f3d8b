internal import Listening

/// Chapters of MP4 audiobooks, which GStreamer does not show: QuickTime's chapter track, else Nero's `chpl`.
///
/// Every length in the file is somebody else's word: none is used before it is checked against what is there.
struct MP4Chapters {
    private let file: FileBytes
    /// moov of a 40-hour book is about 40 MB; what is larger is not read.
    private static let largestTable = 64 << 20
    private static let mostChapters = 10_000

    static func read(_ file: FileBytes) -> [Chapter] {
        let reader = MP4Chapters(file: file)
        guard let moov = reader.box("moov", in: 0..<file.size) else { return [] }
        let track = reader.chapterTrack(moov)
        return track.isEmpty ? reader.nero(moov) : track
    }

    /// - Returns: the bodies of the boxes of this kind that lie in a range of the file.
    private func boxes(_ kind: String, in range: Range<Int>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var offset = range.lowerBound
        var count = 0
        while range.upperBound - offset >= 8, count < 10_000 {
            count += 1
            guard var head = file.bytes(at: offset, count: 8).map(ByteReader.init), var size = head.number(4),
                let name = head.take(4)
            else { break }
            var headSize = 8
            if size == 1 {
                guard var long = file.bytes(at: offset + 8, count: 8).map(ByteReader.init), let value = long.number(8)
                else { break }
                size = value
                headSize = 16
            } else if size == 0 {
                size = range.upperBound - offset
            }
            guard size >= headSize, size <= range.upperBound - offset else { break }
            if name.elementsEqual(kind.utf8) { found.append(offset + headSize..<offset + size) }
            offset += size
        }
        return found
    }

    private func box(_ path: String..., in range: Range<Int>) -> Range<Int>? {
        var range = range
        for kind in path {
            guard let next = boxes(kind, in: range).first else { return nil }
            range = next
        }
        return range
    }

    private func body(_ path: String..., in range: Range<Int>) -> ByteReader? {
        var range = range
        for kind in path {
            guard let next = boxes(kind, in: range).first else { return nil }
            range = next
        }
        guard range.count <= Self.largestTable else { return nil }
        return file.bytes(at: range.lowerBound, count: range.count).map(ByteReader.init)
    }

    // MARK: Nero

    private func nero(_ moov: Range<Int>) -> [Chapter] {
        guard var chpl = body("udta", "chpl", in: moov), let version = chpl.number(1), chpl.skip(3) else { return [] }
        if version > 0 { guard chpl.skip(4) else { return [] } }
        guard let count = chpl.number(1) else { return [] }
        var starts: [(BookTime, String)] = []
        for _ in 0..<count {
            guard let start = chpl.number(8), let length = chpl.number(1), let title = chpl.take(length) else { break }
            starts.append((BookTime(microseconds: Int64(start / 10)), String(decoding: title, as: UTF8.self)))
        }
        return starts.enumerated().map { index, entry in
            Chapter(
                title: entry.1, start: entry.0, end: index + 1 < starts.count ? starts[index + 1].0 : entry.0)
        }
    }

    // MARK: QuickTime

    /// The text track that a sound track names in `tref/chap`: one sample per chapter, as long as the chapter.
    private func chapterTrack(_ moov: Range<Int>) -> [Chapter] {
        let tracks = boxes("trak", in: moov)
        let named = tracks.lazy.compactMap { track -> Int? in
            var reference = body("tref", "chap", in: track)
            return reference?.number(4)
        }
        guard let id = named.first, let track = tracks.first(where: { number(of: $0) == id }),
            let media = box("mdia", in: track), let scale = timescale(media),
            let table = box("minf", "stbl", in: media)
        else { return [] }
        let durations = durations(table)
        let places = places(table)
        var time = 0
        var chapters: [Chapter] = []
        for (duration, place) in zip(durations, places) {
            let (next, overflow) = time.addingReportingOverflow(duration)
            guard !overflow else { break }
            chapters.append(
                Chapter(
                    title: text(place), start: .seconds(Double(time) / Double(scale)),
                    end: .seconds(Double(next) / Double(scale))))
            time = next
        }
        return chapters
    }

    private func number(of track: Range<Int>) -> Int? {
        guard var head = body("tkhd", in: track), let version = head.number(1), head.skip(3 + (version == 1 ? 16 : 8))
        else { return nil }
        return head.number(4)
    }

    private func timescale(_ media: Range<Int>) -> Int? {
        guard var head = body("mdhd", in: media), let version = head.number(1), head.skip(3 + (version == 1 ? 16 : 8)),
            let scale = head.number(4), scale > 0
        else { return nil }
        return scale
    }

    private func durations(_ table: Range<Int>) -> [Int] {
        guard var stts = body("stts", in: table), stts.skip(4), let runs = stts.number(4) else { return [] }
        var durations: [Int] = []
        for _ in 0..<min(runs, Self.mostChapters) {
            guard let count = stts.number(4), let duration = stts.number(4) else { break }
            let room = Self.mostChapters - durations.count
            durations += Array(repeating: duration, count: min(count, room))
        }
        return durations
    }

    private func sizes(_ table: Range<Int>) -> [Int] {
        guard var stsz = body("stsz", in: table), stsz.skip(4), let same = stsz.number(4), let count = stsz.number(4)
        else {
            return []
        }
        let wanted = min(count, Self.mostChapters)
        if same > 0 { return Array(repeating: same, count: wanted) }
        var sizes: [Int] = []
        while sizes.count < wanted, let size = stsz.number(4) { sizes.append(size) }
        return sizes
    }

    private func chunks(_ table: Range<Int>) -> [Int] {
        let wide = boxes("co64", in: table).first != nil
        guard var offsets = body(wide ? "co64" : "stco", in: table), offsets.skip(4), let count = offsets.number(4)
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
    private func places(_ table: Range<Int>) -> [(offset: Int, size: Int)] {
        guard var stsc = body("stsc", in: table), stsc.skip(4), let runs = stsc.number(4) else { return [] }
        var perChunk: [(first: Int, samples: Int)] = []
        while perChunk.count < min(runs, Self.mostChapters), let first = stsc.number(4), let samples = stsc.number(4),
            stsc.skip(4)
        {
            perChunk.append((first, samples))
        }
        var sizes = sizes(table)[...]
        var places: [(offset: Int, size: Int)] = []
        for (index, chunk) in chunks(table).enumerated() {
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
    private func text(_ place: (offset: Int, size: Int)) -> String {
        guard place.size <= 1 << 16, var sample = file.bytes(at: place.offset, count: place.size).map(ByteReader.init),
            let length = sample.number(2), let bytes = sample.take(min(length, sample.left))
        else { return "" }
        guard bytes.starts(with: [0xfe, 0xff]) else { return String(decoding: bytes, as: UTF8.self) }
        var units = ByteReader(bytes.dropFirst(2))
        var text: [UInt16] = []
        while let unit = units.number(2) { text.append(UInt16(unit)) }
        return String(decoding: text, as: UTF16.self)
    }
}
