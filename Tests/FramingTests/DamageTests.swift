import Framing
import Listening
import TestSupport
import Testing

/// A generator whose sequence a number decides, so that a failure can be repeated.
private struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ state >> 29) &* 0xBF58_476D_1CE4_E5B9
    }
}

@Suite struct DamageTests {
    /// Reads that any search in a file of this size may take, however damaged.
    private static func limit(_ count: Int) -> Int { 200 + count / 8000 }

    private static func search(_ bytes: Bytes, count: Int) async throws {
        let finder = FrameFinder(reader: bytes, hint: .seconds(60))
        let times: [BookTime] = [
            .zero, .seconds(2), .seconds(31), .seconds(1e6), .init(microseconds: .max), .init(microseconds: .min),
        ]
        for time in times {
            bytes.forget()
            if let cut = try await finder.cut(before: time) {
                #expect(cut.byte >= 0 && cut.byte < count)
                #expect(cut.time <= max(time, .zero))
            }
            #expect(bytes.reads <= limit(count), "\(bytes.reads) reads")
        }
    }

    /// A VBRI tag that lists single frames, with its own frame, of 128 kbit/s.
    @Test(arguments: [(1, 10), (1, 4_000_000_000), (2, 10), (0, 0)]) func tablesOfSingleFramesAreNoHarm(
        version: Int, frames: Int
    ) async throws {
        let noise = ["-f", "lavfi", "-i", "anoisesrc=r=44100:d=20:a=0.3:seed=1", "-ac", "2"]
        let audio = try Files.ffmpeg(
            "damage-vbri.mp3", noise + ["-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"])
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        var tag: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + Array(repeating: 0, count: 32) + Array("VBRI".utf8)
        tag += number(version, 2) + number(0, 2) + number(50, 2) + number(audio.count + 417, 4) + number(frames, 4)
        tag += number(1, 2) + number(1, 2) + number(2, 2) + number(1, 2) + number(417, 2)
        let file = tag + Array(repeating: 0, count: 417 - tag.count) + audio
        try await Self.search(Bytes(file), count: file.count)
    }

    @Test func damagedFilesAreSearchedToAnEnd() async throws {
        let noise = Files.noise(seconds: 40, volume: 0.3, rate: 16000)
        let files = [
            try Files.ffmpeg("damage-1.mp3", noise + ["-b:a", "32k"]),
            try Files.ffmpeg("damage-2.mp3", noise + ["-q:a", "6"]),
            try Files.ffmpeg("damage-3.mp3", noise + ["-q:a", "6", "-write_xing", "0"]),
            try Files.ffmpeg("damage-4.flac", noise + ["-ar", "8000"]),
            try Files.ffmpeg("damage-5.opus", noise + ["-b:a", "16k"]),
        ]
        for seed in UInt64(1)...100 {
            var dice = Dice(state: seed)
            var file = files[Int(seed) % files.count]
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                // Most of the harm is where the numbers are that are believed.
                let reach = Bool.random(using: &dice) ? min(300, file.count) : file.count
                let place = Int.random(in: 0..<reach, using: &dice)
                let end = min(file.count, place + Int.random(in: 1...20000, using: &dice))
                switch Int.random(in: 0..<6, using: &dice) {
                case 0: file[place] = .random(in: 0...255, using: &dice)
                case 1: for index in place..<min(end, place + 8) { file[index] = 0xFF }
                case 2: file.replaceSubrange(place..<end, with: [UInt8](repeating: 0, count: end - place))
                case 3: file.insert(contentsOf: file[place..<end], at: Int.random(in: 0...place, using: &dice))
                case 4: file.removeSubrange(place..<min(end, file.count - 1))
                default: file.removeSubrange(max(1, place)...)
                }
                if file.isEmpty { file = [0] }
            }
            try await Self.search(Bytes(file), count: file.count)
            Self.lookAtTheEnd(file)
        }
    }

    /// Nothing is read that is not there, and not much.
    private static func lookAtTheEnd(_ file: [UInt8]) {
        var total = 0
        let end = FileEnd(size: Int64(file.count)) { offset, count in
            #expect(offset >= 0 && count >= 0 && Int(offset) + count <= file.count)
            total += count
            return Array(file[Int(offset)..<Int(offset) + count])
        }
        _ = (end.isInFrame, end.isInPage, end.isInSegment)
        #expect(total < 100_000, "\(total) bytes")
        _ = end.isInBox
        _ = end.isBeforeIndex
    }

    @Test func endsOfWhatIsNoFile() {
        var dice = Dice(state: 7)
        for seed in 0..<400 {
            // Numbers that are large, and what is looked for.
            let words = ["OggS", "ID3", "TAG", "APETAGEX", "Xing", "VBRI", "ftyp"].map { Array($0.utf8) }
            var file: [UInt8] = []
            while file.count < seed * 10 {
                file += Bool.random(using: &dice) ? words.randomElement(using: &dice)! : [0xFF, 0xFB, 0x50, 0xC4]
                file += (0..<Int.random(in: 0...40, using: &dice)).map { _ in .random(in: 0...255, using: &dice) }
            }
            Self.lookAtTheEnd(file)
        }
        for size in [Int64.min, -1, 0, 1, 1000, 1 << 47, .max] {
            let end = FileEnd(size: size) { _, _ in [] }
            #expect(!end.isInFrame && !end.isInPage && !end.isInSegment && end.isInBox == (size > 0))
        }
    }

    @Test func afterAnyReadThatFailsTheNextSearchGoesOn() async throws {
        let noise = Files.noise(seconds: 120, volume: 0.3, rate: 16000)
        let bare = ["-write_xing", "0", "-id3v2_version", "0"]
        let files = [
            try Files.ffmpeg("fails-1.mp3", noise + ["-b:a", "32k"] + bare),
            try Files.ffmpeg("fails-2.mp3", noise + ["-q:a", "6"]), try Files.ffmpeg("fails-3.flac", noise),
        ]
        for file in files {
            let whole = Bytes(file)
            let right = try await FrameFinder(reader: whole, hint: .seconds(120)).cut(before: .seconds(100))
            for step in 1...whole.reads {
                let bytes = Bytes(file)
                bytes.failing = step
                let finder = FrameFinder(reader: bytes, hint: .seconds(120))
                await #expect(throws: EngineFailure.unreachable(reason: "gone")) {
                    try await finder.cut(before: .seconds(100))
                }
                #expect(try await finder.cut(before: .seconds(100)) == right)
            }
        }
    }

    @Test func aSearchThatIsNoLongerWantedEnds() async throws {
        let file = try Files.ffmpeg("cancel.flac", Files.noise(seconds: 20, volume: 0.3, rate: 16000))
        let finder = FrameFinder(reader: Bytes(file), hint: .seconds(20))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await finder.cut(before: .seconds(10))
        }
        await #expect(throws: EngineFailure.self) { try await task.value }
    }

    @Test func sizesThatAreLies() async throws {
        let file = try Files.ffmpeg("lies.mp3", Files.noise(seconds: 20, volume: 0.3, rate: 16000) + ["-q:a", "6"])
        for told in [0, 1, 100, Int64(file.count) * 1000, 1 << 47, .max] {
            try await Self.search(Bytes(file, told: told), count: file.count)
        }
    }

    @Test func whatIsNeitherIsLeftToTheDemuxer() async throws {
        let noise = Files.noise(seconds: 5, volume: 0.3, rate: 16000)
        for name in ["other.m4b", "other.wav", "other.mka"] {
            let file = try Files.ffmpeg(name, noise + (name == "other.mka" ? ["-c:a", "libmp3lame"] : []))
            let finder = FrameFinder(reader: Bytes(file), hint: .seconds(5))
            #expect(try await finder.cut(before: .seconds(3)) == nil, "\(name)")
        }
        var dice = Dice(state: 5)
        let random = (0..<700_000).map { _ in UInt8.random(in: 0...255, using: &dice) }
        for file in [[], [0xFF], [UInt8](repeating: 0xFF, count: 600_000), random] {
            let finder = FrameFinder(reader: Bytes(file), hint: .seconds(5))
            #expect(try await finder.cut(before: .seconds(3)) == nil)
        }
    }
}
