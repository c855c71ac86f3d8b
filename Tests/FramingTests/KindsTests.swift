import Framing
import Listening
import TestSupport
import Testing

/// Kinds of mp3 file that are seldom, but there.
@Suite struct KindsTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        let name: String
        let rate: Int
        let options: [String]
        var channels = 2
        var testDescription: String { name }
    }

    static let kinds = [
        Kind(name: "stereo.mp3", rate: 48000, options: ["-b:a", "320k"]),
        Kind(name: "joint.mp3", rate: 32000, options: ["-b:a", "96k", "-joint_stereo", "1"]),
        Kind(name: "abr.mp3", rate: 44100, options: ["-abr", "1", "-b:a", "96k"]),
        Kind(name: "vbr.mp3", rate: 44100, options: ["-q:a", "4"]),
        Kind(name: "shine.mp3", rate: 44100, options: ["-c:a", "libshine", "-b:a", "128k", "-write_xing", "0"]),
        Kind(name: "second.mp3", rate: 22050, options: ["-b:a", "56k"]),
        Kind(name: "second-bare.mp3", rate: 22050, options: ["-b:a", "56k", "-write_xing", "0"]),
        Kind(name: "quarter.mp3", rate: 11025, options: ["-b:a", "24k"], channels: 1),
        Kind(name: "tail.mp3", rate: 44100, options: ["-b:a", "64k", "-write_id3v1", "1", "-metadata", "title=Emma"]),
    ]

    @Test(arguments: kinds) func everyFrameIsWhereFFmpegSaysItIs(kind: Kind) async throws {
        let noise = Files.noise(seconds: 60, volume: 0.3, rate: kind.rate, channels: kind.channels)
        let file = try Files.ffmpeg("kind-\(kind.name)", noise + kind.options)
        let rate = Int64(kind.rate)
        let truth = kind.rate >= 32000 ? Frames.first(file, rate: rate) : Frames.lower(file, rate: rate)
        #expect(truth.duration > 59)
        let finder = FrameFinder(reader: Bytes(file), hint: .seconds(60))
        for time in stride(from: 0, through: 61, by: 1.7) {
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
        }
    }

    @Test func layerTwoHasOtherBitRates() async throws {
        let file = try Files.ffmpeg(
            "kind.mp2", Files.noise(seconds: 60, volume: 0.3, rate: 44100, channels: 2) + ["-b:a", "192k"])
        let truth = Frames(
            file, samples: 1152, rate: 44100,
            kilobits: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0], factor: 144)
        let finder = FrameFinder(reader: Bytes(file), hint: .seconds(60))
        for time in stride(from: 0, through: 61, by: 3.3) {
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
        }
    }

    /// Twelve parts of 25 minutes with their covers still before each, as naive joiners leave them.
    @Test func tagsBetweenJoinedPartsTakeNoTime() async throws {
        let bare = ["-b:a", "32k", "-write_xing", "0", "-id3v2_version", "0"]
        let minute = try Files.ffmpeg("joined-1.mp3", Files.noise(seconds: 60, volume: 0.3, rate: 22050) + bare)
        var (file, truth): ([UInt8], Frames?) = ([], nil)
        for part in 0..<12 {
            let cover = 30_011 + part * 7_003
            file += Self.tag(cover)
            let start = file.count
            for _ in 0..<25 { file += minute }
            let frames = Frames.lower(file, rate: 22050, from: start)
            if truth == nil { truth = frames } else { truth?.bytes += frames.bytes }
        }
        let whole = try #require(truth)
        let bytes = Bytes(file)
        let finder = FrameFinder(reader: bytes, hint: .seconds(18000))
        for time in [17000.0, 60, 1501, 4444, 9999, 13000, 17990] {
            check(try await finder.cut(before: .seconds(time)), at: time, in: whole)
        }
        #expect(bytes.total < file.count / 3, "\(bytes.total) of \(file.count)")
    }

    @Test func severalTagsAndOnesThatLie() async throws {
        let audio = try Files.ffmpeg(
            "tags.mp3", Files.noise(seconds: 30, volume: 0.3, rate: 44100) + ["-q:a", "5", "-id3v2_version", "0"])
        var lying = Self.tag(300)
        lying[8] = 0x7F  // Says 16 KB more than there is.
        var ape = Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, 40, 0, 0, 0] + [UInt8](repeating: 0, count: 16)
        ape += [UInt8](repeating: 0x41, count: 40)
        for before in [Self.tag(5000) + Self.tag(123), Self.tag(200, hasFooter: true), ape, lying, Self.tag(3_000_000)]
        {
            let file = before + audio + Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
            // The frame with the Xing header is not heard.
            var truth = Frames.first(file, rate: 44100, from: before.count)
            truth.bytes.removeFirst()
            let bytes = Bytes(file)
            let finder = FrameFinder(reader: bytes, hint: .seconds(30))
            if before == lying {
                // Its first audio is taken for the tag, as every player does that believes the tag.
                let cut = try #require(try await finder.cut(before: .seconds(20)))
                #expect(truth.bytes.contains(cut.byte))
                continue
            }
            for time in [0.0, 3, 11.1, 29] { check(try await finder.cut(before: .seconds(time)), at: time, in: truth) }
            #expect(bytes.total < 1_000_000)
        }
    }

    /// Fraunhofer's header: GStreamer plays its frame as one of silence.
    @Test(arguments: [true, false]) func theTableOfVBRISavesCounting(isRight: Bool) async throws {
        let (bare, frames) = try MP3Tests.varying(hasHeader: false)
        let each = 1000
        let size = 72 * 64000 / 16000
        var tag = Array(bare[..<4])
        tag[2] = 0x80 | tag[2] & 0x0D  // 64 kbit/s, not padded.
        tag += [UInt8](repeating: 0, count: size - 4)
        let sums = stride(from: 0, to: frames.bytes.count, by: each).map { frames.bytes[$0] }
        let count = min(sums.count - 1, (size - 62) / 4)
        func put(_ value: Int, _ width: Int, at place: Int) {
            for index in 0..<width {
                tag[place + index] = UInt8(truncatingIfNeeded: value >> (8 * (width - 1 - index)))
            }
        }
        tag.replaceSubrange(36..<40, with: Array("VBRI".utf8))
        for (value, width, place) in [
            (1, 2, 40), (bare.count + size, 4, 46), (frames.bytes.count, 4, 50), (count, 2, 54), (1, 2, 56), (4, 2, 58),
            (each, 2, 60),
        ] { put(value, width, at: place) }
        for entry in 0..<count {
            let length = Int(sums[entry + 1] - sums[entry]) + (entry == 0 ? size : 0)
            put(length - (isRight ? 0 : 1), 4, at: 62 + 4 * entry)
        }
        let file = tag + bare
        let truth = Frames.lower(file, rate: 16000, from: 0)
        let bytes = Bytes(file)
        for time in [0.0, 100, 1000, 1700] {
            bytes.forget()
            let finder = FrameFinder(reader: bytes, hint: .seconds(36000))
            check(try await finder.cut(before: .seconds(time)), at: time, in: truth)
            if isRight { #expect(bytes.total < 800_000, "\(bytes.total) for \(time)") }
        }
    }

    @Test func whatWasFoundIsRemembered() async throws {
        let (file, truth) = try MP3Tests.varying(hasHeader: true)
        let bytes = Bytes(file)
        let finder = FrameFinder(reader: bytes, hint: .seconds(36000))
        #expect(await finder.memory() == [])
        _ = try await finder.cut(before: .seconds(16000))
        let memory = await finder.memory()
        #expect(memory.count < 12_000)
        bytes.forget()
        let later = FrameFinder(reader: bytes, hint: .seconds(36000), memory: memory)
        check(try await later.cut(before: .seconds(16000)), at: 16000, in: truth)
        #expect(bytes.total < 300_000)
        #expect(await later.memory().count >= memory.count)

        // What is not of this file, or damaged, does no harm.
        for wrong in [[UInt8](memory.dropLast()), [], [1], [1, 200], memory + [9], [9] + memory] {
            let finder = FrameFinder(reader: Bytes(file), hint: .seconds(36000), memory: wrong)
            check(try await finder.cut(before: .seconds(50)), at: 50, in: truth)
        }
        for place in stride(from: 0, to: memory.count, by: max(1, memory.count / 40)) {
            var wrong = memory
            wrong[place] ^= 0x55
            let finder = FrameFinder(reader: Bytes(file), hint: .seconds(36000), memory: wrong)
            let cut = try await finder.cut(before: .seconds(16000))
            #expect(cut.map { $0.time <= .seconds(16000) } ?? true)
        }
    }

    private static func tag(_ size: Int, hasFooter: Bool = false) -> [UInt8] {
        let bytes = [21, 14, 7, 0].map { UInt8(size >> $0 & 0x7F) }
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        return Array("ID3".utf8) + [4, 0, hasFooter ? 0x10 : 0] + bytes + body
            + (hasFooter ? Array("3DI".utf8) + [4, 0, 0x10] + bytes : [])
    }
}
