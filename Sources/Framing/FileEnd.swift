/// Whether a file ends before its own end, as a part of a download does. Told by what the file says of itself.
public struct FileEnd {
    private let size: Int64
    private let read: (Int64, Int) -> [UInt8]

    /// A file of fragments has thousands.
    private static let mostBoxes = 100_000

    /// - Parameters:
    ///   - size: of the file.
    ///   - read: so many bytes at an offset, fewer where there are no more.
    public init(size: Int64, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
        // No file is larger; sums of such numbers cannot overflow.
        self.size = min(max(0, size), 1 << 48)
        self.read = read
    }

    /// MP4: a box says that it is longer than what is left.
    public var isInBox: Bool { boxes.isCut }

    /// The same, and the box that tells where the sound lies was to come behind that.
    public var isBeforeIndex: Bool {
        guard piece(at: 0, count: BoxHead.longest).bytes.has("ftyp", at: 4) else { return false }
        let (whole, isCut) = boxes
        return isCut && !whole.isEmpty && !whole.contains(Array("moov".utf8))
    }

    /// The kinds of those that are whole, and whether another one is not.
    private var boxes: (whole: Set<[UInt8]>, isCut: Bool) {
        var (whole, offset): (Set<[UInt8]>, Int64) = ([], 0)
        for _ in 0..<Self.mostBoxes where offset < size {
            guard let head = BoxHead(piece(at: offset, count: BoxHead.longest).bytes) else { return (whole, true) }
            guard let length = head.size, length >= head.length else { break }
            guard length <= size - offset else { return (whole, true) }
            whole.insert(head.kind)
            offset += Int64(length)
        }
        return (whole, false)
    }

    /// mp3: its first frame tells of notably more bytes, and the last is not whole. Both: tools that cut files in two leave
    /// the first frame as it was, but cut between frames; recorders are stopped anywhere, but told nothing before.
    public var isInFrame: Bool {
        let start = piece(at: audioStart, count: MPEGFile.landing)
        guard let (offset, format) = MPEGFormat.firstRun(in: start, of: nil),
            let length = format.size(of: MPEGFormat.word(start.bytes, offset)),
            let told = VBRTag(in: start.bytes, at: offset, size: length, format: format)?.bytes,
            // What is told may be off by some frames.
            size - start.start - Int64(offset) < told - told / 100
        else { return false }
        let tail = tail(MPEGFile.landing)
        // Tags behind the audio are written last.
        guard Tags.audioEnd(of: tail) == size, var (next, _) = MPEGFormat.firstRun(in: tail, of: format) else {
            return false
        }
        while next + 4 <= tail.bytes.count {
            // Something else than audio: nothing is known of that.
            guard let length = format.size(of: MPEGFormat.word(tail.bytes, next)) else { return false }
            next += length
        }
        return next != tail.bytes.count
    }

    /// Ogg: a page says that it is longer than what is left. Streams that were recorded have no last page, but whole ones.
    public var isInPage: Bool {
        let bytes = tail(OggPage.largest).bytes
        var (offset, isInPage) = (0, false)
        while offset < bytes.count {
            if let page = OggPage(in: bytes, at: offset), offset + page.size <= bytes.count {
                offset += page.size
                isInPage = false
            } else {
                isInPage = isInPage || bytes.has("OggS", at: offset)
                offset += 1
            }
        }
        return isInPage
    }

    /// WAV: its samples are told to be more than what is left. What was written into a pipe, or never closed, tells a size that
    /// no such file has, or none.
    public var isInChunk: Bool {
        var bytes = piece(at: 0, count: 12).bytes
        guard bytes.has("RIFF", at: 0), bytes.has("WAVE", at: 8) else { return false }
        var offset: Int64 = 12
        for _ in 0..<Self.mostChunks {
            bytes = piece(at: min(offset, size), count: 8).bytes
            guard bytes.count == 8 else { return false }
            let length = (4..<8).reversed().reduce(Int64(0)) { $0 << 8 | Int64(bytes[$1]) }
            guard !bytes.has("data", at: 0) else { return length < Self.endless && length > size - offset - 8 }
            offset += 8 + length + length % 2
        }
        return false
    }

    private static let mostChunks = 1000
    /// Bytes. Programs that cannot go back tell 2 or 4 GB, less some rounding.
    private static let endless: Int64 = 0x7FFF_0000

    /// Matroska: the element that all of it is in is told to be longer than what is left. What was recorded tells no length.
    public var isInSegment: Bool {
        guard let start = end(of: [0x1A, 0x45, 0xDF, 0xA3], at: 0),
            let end = end(of: [0x18, 0x53, 0x80, 0x67], at: start)
        else { return false }
        return end > size
    }

    /// - Parameter element: its number.
    /// - Returns: nil if it is another that is there, or tells no length.
    private func end(of element: [UInt8], at offset: Int64) -> Int64? {
        var head = ByteCursor(piece(at: min(offset, size), count: element.count + 8).bytes)
        guard head.take(element.count).map(Array.init) == element, let first = head.take(1)?.first else { return nil }
        // The length of the length is told by its first bit that is set, and all bits behind that are for none.
        let width = first.leadingZeroBitCount + 1
        guard width <= 8, let rest = head.take(width - 1) else { return nil }
        let none = Int64(1) << (7 * width) - 1
        let length = rest.reduce(Int64(first)) { $0 << 8 | Int64($1) } & none
        return length == none ? nil : offset + Int64(head.position) + min(length, 1 << 48)
    }

    private var audioStart: Int64 {
        var front = FrontTags()
        while front.pass(piece(at: front.end, count: Tags.longestHead).bytes, size: size) {}
        return front.end
    }

    private func tail(_ count: Int) -> Piece { piece(at: max(0, size - Int64(count)), count: count) }

    private func piece(at offset: Int64, count: Int) -> Piece {
        let wanted = Int(min(Int64(count), size - offset))
        return Piece(start: offset, bytes: read(offset, wanted), isLast: offset + Int64(wanted) == size)
    }
}
