public import Listening

/// Finds where in the bytes of an mp3, flac or Ogg file a time is, by reading as little of it as possible.
///
/// How much that is: for flac, Ogg and mp3 of one bit rate, some reads of a few kilobytes each; for mp3 of varying bit
/// rate, what lies between the time and the nearest place whose time is known: the start, the end when there is a Xing
/// header, or anything that was searched before. So a first search reads about half of the file at most with a Xing
/// header, a tenth for the ninth of ten hours, and all of what comes before the time without one.
public actor FrameFinder {
    private let reader: any ByteReader
    private let duration: BookTime
    private let remembered: Memory?
    private var kind: Kind?

    private enum Kind {
        case mpeg(MPEGFinder)
        case flac(FLACFinder)
        case ogg(OggFinder)
        case neither
    }

    /// - Parameters:
    ///   - duration: how long the file is said to be; used only where the file itself does not tell.
    ///   - memory: what ``memory()`` gave for the same file. Anything else is passed over.
    public init(reader: any ByteReader, hint duration: BookTime, memory: [UInt8] = []) {
        self.reader = reader
        self.duration = duration
        remembered = Memory(memory)
    }

    /// What was found out so far and would cost reading to find out again, for a later finder of the same file: some
    /// kilobytes, or nothing.
    public func memory() async -> [UInt8] {
        guard case .mpeg(let finder) = kind else { return [] }
        return await finder.memory.bytes
    }

    /// Where to begin so that `time` is heard after about a second of what comes before it; the first frame of the audio
    /// when `time` is near the start, one near the end when it is beyond.
    /// - Returns: nil for anything but mp3, flac, Opus and Vorbis, and for what is too damaged: the demuxer finds its way itself.
    /// - Throws: what the reader throws; ``EngineFailure/other(reason:)`` when the task is cancelled.
    public func cut(before time: BookTime) async throws(EngineFailure) -> Cut? {
        switch try await known() {
        case .mpeg(let finder): return try await finder.cut(before: time)
        case .flac(let finder): return try await finder.cut(before: time)
        case .ogg(let finder): return try await finder.cut(before: time)
        case .neither: return nil
        }
    }

    /// How long an mp3 file is that says less of itself, as one does that others were joined to: found by reading all of it,
    /// where some reads of a few kilobytes show that there is more.
    /// - Parameter bySizeAlone: reads all over the file are dear, and only one with more bytes than it tells of is doubted.
    /// - Returns: nil of all others.
    /// - Throws: as ``cut(before:)``.
    public func untoldLength(bySizeAlone: Bool = false) async throws(EngineFailure) -> BookTime? {
        guard case .mpeg(let finder) = try await known() else { return nil }
        return try await finder.untoldLength(bySizeAlone: bySizeAlone)
    }

    private func known() async throws(EngineFailure) -> Kind {
        if kind == nil {
            let found = try await recognize()
            // Somebody else may have been faster.
            kind = kind ?? found
        }
        return kind ?? .neither
    }

    private func recognize() async throws(EngineFailure) -> Kind {
        let size = try await reader.size()
        // No file is larger; sums of such numbers cannot overflow.
        guard size > 0, size < 1 << 48 else { return .neither }
        var tags = FrontTags()
        var piece = try await Piece.read(reader, at: 0, count: MPEGFile.landing, size: size)
        while tags.pass(piece.bytes, size: size) {
            piece = try await Piece.read(reader, at: tags.end, count: MPEGFile.landing, size: size)
        }
        let start = tags.end
        if piece.bytes.has("fLaC", at: 0) {
            let flac = try await FLACFile.open(reader, at: start, size: size)
            return flac.map { .flac(FLACFinder(file: $0, reader: reader, hint: duration)) } ?? .neither
        }
        if piece.bytes.has("OggS", at: 0) {
            let ogg = try await OggFile.open(reader, at: start, size: size)
            return ogg.map { .ogg(OggFinder(file: $0, reader: reader)) } ?? .neither
        }
        guard !Self.isContainer(piece.bytes) else { return .neither }
        // A tag whose size is a lie: the audio is looked for from its start on.
        for start in start > 0 ? [start, 10] : [0] {
            if let mpeg = try await MPEGFile.open(reader, from: start, size: size) {
                let memory = remembered.flatMap { $0.size == size && $0.marks.first?.byte == mpeg.first ? $0 : nil }
                return .mpeg(MPEGFinder(file: mpeg, reader: reader, memory: memory))
            }
        }
        return .neither
    }

    /// Files that may hold frames of mp3 among other things, and have demuxers of their own.
    private static func isContainer(_ bytes: [UInt8]) -> Bool {
        bytes.has("RIFF", at: 0) || bytes.has("ftyp", at: 4) || bytes.has("FORM", at: 0)
            || bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) || bytes.starts(with: [0x30, 0x26, 0xB2, 0x75])
            || bytes.starts(with: [0, 0, 1, 0xBA]) || bytes.has("FLV", at: 0)
    }
}
