import Framing
import Testing

/// Whether a file ends before its own end, told by what it says of itself.
@Suite struct FileEndTests {
    private static func end(_ file: [UInt8]) -> FileEnd {
        FileEnd(size: Int64(file.count)) { Array(file[Int($0)..<Int($0) + $1]) }
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    struct Real: CustomTestStringConvertible, Sendable {
        let name: String
        let options: [String]
        let isCut: @Sendable (FileEnd) -> Bool
        var testDescription: String { name }
    }

    static let reals = [
        Real(name: "one-rate.mp3", options: ["-b:a", "96k"]) { $0.isInFrame },
        Real(name: "vbr.mp3", options: ["-q:a", "4", "-write_id3v1", "1", "-metadata", "title=Emma"]) { $0.isInFrame },
        Real(name: "low.mp3", options: ["-ar", "16000", "-b:a", "24k", "-id3v2_version", "0"]) { $0.isInFrame },
        Real(name: "real.opus", options: ["-b:a", "32k"]) { $0.isInPage },
        Real(name: "vorbis.ogg", options: ["-c:a", "libvorbis"]) { $0.isInPage },
        Real(name: "flac.oga", options: ["-c:a", "flac"]) { $0.isInPage },
        Real(name: "samples.wav", options: ["-metadata", "title=Emma"]) { $0.isInChunk },
        Real(name: "slow.m4b", options: []) { $0.isInBox },
        Real(name: "index-last.m4b", options: []) { $0.isBeforeIndex },
        Real(name: "fast.m4b", options: ["-movflags", "+faststart"]) { $0.isInBox },
        Real(name: "vorbis.mka", options: ["-c:a", "libvorbis"]) { $0.isInSegment },
        Real(name: "opus.webm", options: ["-c:a", "libopus"]) { $0.isInSegment },
        Real(name: "fragments.m4b", options: ["-movflags", "+frag_keyframe+empty_moov"]) { $0.isInBox },
    ]

    @Test(arguments: reals) func whatFFmpegWritesIsWholeAndEachPartIsNot(_ real: Real) throws {
        let noise = Files.noise(seconds: 20, volume: 0.3, rate: 48000)
        let whole = try Files.ffmpeg("end-\(real.name)", noise + real.options)
        #expect(!real.isCut(Self.end(whole)))
        // Now and then a part ends where a frame or a page does.
        let cuts = (1..<50).count { real.isCut(Self.end(Array(whole[..<(whole.count * $0 / 50 - $0)]))) }
        #expect(cuts >= 45, "\(cuts) of 49")
    }
}

// MARK: WAV

extension FileEndTests {
    private static func wav(_ told: UInt32, samples: Int) -> [UInt8] {
        let length = withUnsafeBytes(of: told.littleEndian, Array.init)
        let list = Array("LIST".utf8) + [3, 0, 0, 0, 1, 2, 3, 0]
        let data = Array("data".utf8) + length + [UInt8](repeating: 7, count: samples)
        return Array("RIFF".utf8) + length + Array("WAVE".utf8) + list + data
    }

    /// 0: a recorder that was not stopped in order; the others: what could not go back to tell.
    @Test(arguments: [0, 0x7FFF_F000, 0xFFFF_FFFF] as [UInt32]) func aLengthThatNobodyToldIsNoEnd(told: UInt32) {
        #expect(!Self.end(Self.wav(told, samples: 500)).isInChunk)
    }

    @Test func samplesThatAreToldHaveToBeThere() {
        #expect(!Self.end(Self.wav(500, samples: 500)).isInChunk)
        #expect(!Self.end(Self.wav(500, samples: 540)).isInChunk)
        #expect(Self.end(Self.wav(500, samples: 499)).isInChunk)
        #expect(Self.end(Self.wav(500, samples: 0)).isInChunk)
        for count in 0..<12 { #expect(!Self.end(Array("RIFFxxxxWAVE".utf8.prefix(count))).isInChunk) }
    }
}

// MARK: mp3

extension FileEndTests {
    /// 64 kbit/s, 44.1 kHz, mono.
    private static let frame = [0xFF, 0xFB, 0x50, 0xC4] + [UInt8](repeating: 0x55, count: 204)

    /// - Parameter told: bytes, the first frame among them.
    private static func mp3(frames: Int, told: Int?, isVBRI: Bool = false) -> [UInt8] {
        var first = frame
        func put(_ bytes: [UInt8], at offset: Int) { first.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        if isVBRI {
            put(Array("VBRI".utf8), at: 36)
            put(number(told ?? 0, 4), at: 46)
        } else {
            put(Array("Xing".utf8) + number(told == nil ? 1 : 3, 4) + number(frames, 4) + number(told ?? 0, 4), at: 21)
        }
        return first + (0..<frames).flatMap { _ in frame }
    }

    private static let id3 = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0x7F, 0x7F] + [UInt8](repeating: 0, count: 0x3FFF)
    private static let id3v1 = Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)

    @Test(arguments: [true, false]) func anMP3WithinAFrameHasNotEnded(isVBRI: Bool) {
        let whole = Self.mp3(frames: 300, told: 208 * 301, isVBRI: isVBRI)
        #expect(!Self.end(whole).isInFrame && !Self.end(whole + Self.id3v1).isInFrame)
        for tags in [[], Self.id3, Self.id3 + Self.id3] {
            for count in [208 * 5 + 1, 208 * 150 + 100, 208 * 151 - 1, 208 * 297 + 7] {
                #expect(Self.end(tags + whole[..<count]).isInFrame, "\(count) of \(whole.count)")
            }
            // As much is missing as some encoders are wrong by.
            #expect(!Self.end(tags + whole.dropLast(100)).isInFrame)
        }
    }

    @Test func anMP3ThatWasCutByAToolIsWhole() {
        let part = Self.mp3(frames: 100, told: 208 * 301)
        #expect(!Self.end(part).isInFrame)
        #expect(!Self.end(part + Self.id3v1).isInFrame && !Self.end(part + [1, 2, 3] + Self.id3v1).isInFrame)
        // What is behind it is no audio.
        #expect(!Self.end(part + [UInt8](repeating: 0, count: 500)).isInFrame)
    }

    @Test func anMP3ThatTellsNothingIsWhole() {
        for told in [nil, 0, 1, 5000] {
            #expect(!Self.end(Self.mp3(frames: 100, told: told).dropLast(100)).isInFrame)
        }
        #expect(!Self.end((0..<100).flatMap { _ in Self.frame }.dropLast(100)).isInFrame)
    }
}

// MARK: Ogg

extension FileEndTests {
    /// A page of this many bytes behind its head.
    private static func page(_ count: Int, flags: UInt8 = 0) -> [UInt8] {
        let sizes = [UInt8](repeating: 255, count: count / 255) + [UInt8(count % 255)]
        return Array("OggS".utf8) + [0, flags] + [UInt8](repeating: 0, count: 20) + [UInt8(sizes.count)] + sizes
            + [UInt8](repeating: 0x4F, count: count)
    }

    @Test func anOggWithinAPageHasNotEnded() {
        // The largest there is, and others.
        for size in [0, 40, 4000, 255 * 254 + 254] {
            let whole = Self.page(19, flags: 2) + Self.page(5000) + Self.page(size)
            let start = Self.page(19).count + Self.page(5000).count
            #expect(!Self.end(whole).isInPage && !Self.end(whole + Self.page(30, flags: 4)).isInPage)
            for count in [start + 4, start + 26, whole.count - size / 2 - 1, whole.count - 1] {
                #expect(Self.end(Array(whole[..<count])).isInPage, "\(count) of \(whole.count)")
            }
        }
    }

    @Test func anOggWithSomethingBehindItIsWhole() {
        let whole = Self.page(19, flags: 2) + Self.page(5000) + Self.page(5000)
        for rest in [Self.id3v1, [0], [UInt8](repeating: 0, count: 70_000), Array("Ogg".utf8)] {
            #expect(!Self.end(whole + rest).isInPage)
        }
        // Damaged before its end: one page is longer than it says, and others follow.
        #expect(!Self.end(whole.dropLast(100) + whole).isInPage)
        #expect(!Self.end([]).isInPage && !Self.end(Array("no sound".utf8)).isInPage)
    }
}

// MARK: MP4

extension FileEndTests {
    private static func box(_ kind: String, _ count: Int) -> [UInt8] {
        number(count + 8, 4) + Array(kind.utf8) + [UInt8](repeating: 7, count: count)
    }

    @Test func anMP4WithinABoxHasNotEnded() {
        let head = Self.box("ftyp", 20) + Self.box("moov", 300)
        let body = [UInt8](repeating: 7, count: 5000)
        let whole = head + Self.box("mdat", body.count)
        let long = head + Self.number(1, 4) + Array("mdat".utf8) + Self.number(5016, 8) + body
        for file in [whole, long] {
            #expect(!Self.end(file).isInBox)
            for count in [head.count + 1, head.count + 8, head.count + 2000, file.count - 1] {
                #expect(Self.end(Array(file[..<count])).isInBox, "\(count) of \(file.count)")
            }
        }
        // All that follows is its last box; and one that cannot be.
        #expect(!Self.end(head + Self.number(0, 4) + Array("mdat".utf8) + [1, 2, 3]).isInBox)
        #expect(!Self.end(head + Self.number(4, 4) + Array("mdat".utf8) + [1, 2, 3]).isInBox)
    }
}

// MARK: Matroska

extension FileEndTests {
    private static let head: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x83, 1, 2, 3, 0x18, 0x53, 0x80, 0x67]

    /// In one byte, in three, in eight.
    @Test(arguments: [[0xE4], [0x20, 0, 100], [1, 0, 0, 0, 0, 0, 0, 100]] as [[UInt8]])
    func aSegmentThatTellsItsLengthHasToBeThere(length: [UInt8]) {
        let start = Self.head + length
        let whole = start + [UInt8](repeating: 7, count: 100)
        #expect(!Self.end(whole).isInSegment && !Self.end(whole + [1, 2, 3]).isInSegment)
        for count in [start.count, start.count + 1, whole.count - 1] {
            #expect(Self.end(Array(whole[..<count])).isInSegment, "\(count) of \(whole.count)")
        }
        for count in 0..<start.count { #expect(!Self.end(Array(whole[..<count])).isInSegment) }
    }

    /// A recorder's, and what is no number.
    @Test(arguments: [[0xFF], [1] + [UInt8](repeating: 0xFF, count: 7), [0, 1, 2, 3, 4, 5, 6, 7]] as [[UInt8]])
    func aSegmentWithoutALengthIsWhole(length: [UInt8]) {
        #expect(!Self.end(Self.head + length + [7, 7]).isInSegment)
    }
}
