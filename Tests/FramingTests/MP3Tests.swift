import Framing
import Listening
import TestSupport
import Testing

/// Whether `cut` is a frame that is really there, at its time to within `frames`, about a second before `seconds`.
func check(
    _ cut: Cut?, at seconds: Double, in truth: Frames, within frames: Double = 0.01,
    location: SourceLocation = #_sourceLocation
) {
    guard let cut else {
        Issue.record("nothing found at \(seconds)", sourceLocation: location)
        return
    }
    guard let number = truth.number(at: cut.byte) else {
        Issue.record("no frame at byte \(cut.byte)", sourceLocation: location)
        return
    }
    let frame = truth.time(1)
    let off = (cut.time.seconds - truth.time(number)) / frame
    #expect(abs(off) <= frames, "\(off) frames off at \(seconds)", sourceLocation: location)
    #expect(cut.time.seconds <= max(seconds, 0), sourceLocation: location)
    let heard = min(seconds, truth.duration)
    #expect(cut.time.seconds >= heard - 1.2 - 3 * frame, "too early for \(seconds)", sourceLocation: location)
    #expect(heard < 1 || cut.time.seconds <= heard - 0.9 || seconds > truth.duration, sourceLocation: location)
    #expect(cut.head.isEmpty && !cut.hasOwnTimes, sourceLocation: location)
}

/// Ten hours are real frames of ffmpeg's, repeated.
@Suite struct MP3Tests {
    private static let times: [Double] = [0, 0.3, 1, 1.5, 59, 3601.25, 17999.9, 32400, 35990, 35999.99, 40000]
    private static let bare = ["-write_xing", "0", "-id3v2_version", "0"]

    @Test(arguments: [true, false]) func oneBitRateIsFoundByArithmetic(hasHeader: Bool) async throws {
        let minute = try Files.ffmpeg(
            "low\(hasHeader).mp3", Files.noise(seconds: 60, volume: 0.4, rate: 8000) + ["-b:a", "8k"] + Self.bare)
        let file = try Files.joined("low-long\(hasHeader).mp3", [(minute, 600)], hasHeader: hasHeader)
        let truth = Frames.lower(file, rate: 8000)
        #expect(truth.duration > 36000)
        let bytes = Bytes(file)
        let finder = FrameFinder(reader: bytes, hint: .seconds(36000))
        for time in Self.times {
            bytes.forget()
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
            #expect(bytes.reads <= (time == 1.5 || time == 0 ? 40 : 1), "\(bytes.reads) reads for \(time)")
            #expect(bytes.total <= 400_000, "\(bytes.total) bytes for \(time)")
        }
    }

    @Test(arguments: [true, false]) func paddedFramesAreNumberedExactly(hasHeader: Bool) async throws {
        let file = try Files.ffmpeg(
            "padded\(hasHeader).mp3",
            Files.noise(seconds: 150, volume: 0.4, rate: 44100, channels: 2) + ["-b:a", "64k"]
                + (hasHeader ? [] : Self.bare))
        let truth = Frames.first(file, rate: 44100)
        let bytes = Bytes(file)
        let finder = FrameFinder(reader: bytes, hint: .seconds(150))
        for time in stride(from: 0, through: 160, by: 1.9) {
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
        }
        #expect(bytes.total < 84 * 16384 + 400_000)
    }

    /// Files that were joined keep the first one's word of how long it is.
    @Test(arguments: [["-q:a", "6"], ["-b:a", "64k"]]) func whatTellsOfLessThanThereIsIsMeasured(_ coding: [String])
        async throws
    {
        let noise = Files.noise(seconds: 20, volume: 0.4, rate: 44100)
        let name = coding.joined()
        let part = try Files.ffmpeg("part\(name).mp3", noise + coding + ["-id3v2_version", "0"])
        let tagged = try Files.ffmpeg("tagged\(name).mp3", noise + coding + ["-metadata", "title=Two"])
        func length(_ file: [UInt8]) async throws -> (seconds: Double?, read: Int) {
            let bytes = Bytes(file)
            return (try await FrameFinder(reader: bytes, hint: .zero).untoldLength()?.seconds, bytes.total)
        }
        let alone = try await length(part)
        #expect(alone.seconds == nil && alone.read < 120_000)
        let joined = try #require(try await length(part + part + part).seconds)
        #expect(abs(joined - Frames.first(part + part + part, rate: 44100).duration) < 0.001 && joined > 60)
        let mixed = try #require(try await length(part + tagged).seconds)
        #expect(abs(mixed - joined * 2 / 3) < 0.1)
        // Of the frames, only half are told.
        var halved = part
        let tag = try #require(
            part.indices.first { ["Xing", "Info"].map { Array($0.utf8) }.contains(Array(part[$0..<$0 + 4])) })
        let count = part[tag + 8..<tag + 12].reduce(0) { $0 << 8 | UInt32($1) } / 2
        for place in 0..<4 { halved[tag + 8 + place] = UInt8(truncatingIfNeeded: count >> (24 - 8 * place)) }
        let whole = try #require(try await length(halved).seconds)
        #expect(abs(whole - joined / 3) < 0.1)
        // The end is missing: it is as long as it says.
        let cut = try await length(Array(part.prefix(part.count / 2)))
        #expect(cut.seconds == nil)
        for nothing in [[], Array(part.prefix(100)), Array("no sound in here".utf8)] {
            let none = try await length(nothing)
            #expect(none.seconds == nil)
        }
    }

    @Test func varyingBitRateIsCountedFromTheNearestEnd() async throws {
        let (file, truth) = try Self.varying(hasHeader: true)
        let bytes = Bytes(file)
        for time in Self.times {
            bytes.forget()
            // Each search is the first of a file.
            let finder = FrameFinder(reader: bytes, hint: .seconds(36000))
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
            #expect(bytes.total < file.count * 6 / 10, "\(bytes.total) of \(file.count) bytes for \(time)")
            #expect(bytes.reads < file.count / 400_000 + 40)
        }
        bytes.forget()
        let finder = FrameFinder(reader: bytes, hint: .seconds(36000))
        _ = try await finder.cut(before: .seconds(35000))
        #expect(bytes.total < file.count / 8)
    }

    @Test func whatWasCountedOnceIsKnown() async throws {
        let (file, truth) = try Self.varying(hasHeader: true)
        let bytes = Bytes(file)
        let finder = FrameFinder(reader: bytes, hint: .seconds(36000))
        for time in [9000.0, 35000, 20000, 1000, 28000] {
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
        }
        #expect(bytes.total < file.count * 12 / 10)
        for time in stride(from: 100.0, to: 8990, by: 777) {
            bytes.forget()
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
            #expect(bytes.total < 200_000 && bytes.reads <= 2)
        }
    }

    @Test func varyingBitRateWithoutHeaderIsCountedFromTheStart() async throws {
        let (file, truth) = try Self.varying(hasHeader: false)
        let bytes = Bytes(file)
        let finder = FrameFinder(reader: bytes, hint: .seconds(36000))
        for time in [3600.0, 18000, 1000] {
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
        }
        #expect(bytes.total < file.count * 8 / 10)
    }

    /// Made once: hundreds of megabytes to write and to go through.
    private static let withHeader = Result { try make("varying", hasHeader: true) }
    private static let withoutHeader = Result { try make("bare", hasHeader: false) }

    /// Ten hours, quiet for some, then loud, so that time and bytes part.
    static func varying(hasHeader: Bool) throws -> ([UInt8], Frames) {
        try (hasHeader ? withHeader : withoutHeader).get()
    }

    private static func make(_ name: String, hasHeader: Bool) throws -> ([UInt8], Frames) {
        let encoding = ["-q:a", "9"] + bare
        let quiet = try Files.ffmpeg("\(name)-1.mp3", Files.noise(seconds: 60, volume: 0.002, rate: 16000) + encoding)
        let loud = try Files.ffmpeg("\(name)-2.mp3", Files.noise(seconds: 60, volume: 0.5, rate: 16000) + encoding)
        let parts = [(quiet, 200), (loud, 150), (quiet, 100), (loud, 150)]
        let file = try Files.joined("\(name).mp3", parts, hasHeader: hasHeader)
        let truth = Frames.lower(file, rate: 16000)
        #expect(truth.duration > 36000)
        return (file, truth)
    }
}
