import Framing
import Listening
import TestSupport
import Testing

@Suite struct FLACTests {
    /// Every packet as ffprobe tells: where it is, and its first sample.
    private static func packets(_ name: String) throws -> [Int64: Int64] {
        let path = "\(Sounds.folder)/framing-\(name)"
        try Sounds.run([
            "sh", "-c",
            "ffprobe -v error -show_entries packet=pts,pos -of csv=p=0 '\(path)' > '\(path).packets'",
        ])
        var found: [Int64: Int64] = [:]
        for line in String(decoding: try Sounds.read(path + ".packets"), as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: ",").compactMap { Int64($0) }
            if fields.count == 2 { found[fields[1]] = fields[0] }
        }
        return found
    }

    private static func check(
        _ cut: Cut?, at seconds: Double, in packets: [Int64: Int64], rate: Double, duration: Double,
        location: SourceLocation = #_sourceLocation
    ) {
        guard let cut, let sample = packets[cut.byte] else {
            Issue.record("no packet: \(String(describing: cut?.byte)) at \(seconds)", sourceLocation: location)
            return
        }
        #expect(abs(cut.time.seconds - Double(sample) / rate) < 0.000_002, sourceLocation: location)
        let heard = min(seconds, duration)
        #expect(cut.time.seconds <= max(0, seconds - 1), sourceLocation: location)
        #expect(cut.time.seconds > heard - 2.5, "too early for \(seconds)", sourceLocation: location)
        #expect(cut.hasOwnTimes && cut.head.count == 42 && cut.head.starts(with: "fLaC".utf8), sourceLocation: location)
    }

    /// Two hours whose first half is nearly silent, so that time and bytes part.
    private static let uneven = [
        "-f", "lavfi", "-i", "anoisesrc=a=0.3:d=3600:r=8000:seed=3,volume=0.001",
        "-f", "lavfi", "-i", "anoisesrc=a=0.3:d=3600:r=8000:seed=4",
        "-filter_complex", "[0][1]concat=n=2:v=0:a=1,aformat=sample_fmts=s16", "-compression_level", "0",
    ]

    @Test func aFewReadsFindAnyTime() async throws {
        let file = try Files.ffmpeg("hours.flac", Self.uneven)
        let packets = try Self.packets("hours.flac")
        let bytes = Bytes(file)
        for time in [0, 0.5, 2, 77.7, 2000, 3599, 3601, 3700, 6000, 7198, 7199.9, 20000] {
            bytes.forget()
            let finder = FrameFinder(reader: bytes, hint: .seconds(7200))
            let cut = try await finder.cut(before: .seconds(time))
            Self.check(cut, at: time, in: packets, rate: 8000, duration: 7200)
            #expect(
                bytes.reads <= 20 && bytes.total < 1_500_000, "\(bytes.reads) reads, \(bytes.total) bytes for \(time)")
        }
    }

    @Test func tagsBeforeAndAStrangeLengthDoNotMatter() async throws {
        var file = try Files.ffmpeg("plain.flac", Files.noise(seconds: 300, volume: 0.3, rate: 22050))
        let packets = try Self.packets("plain.flac")
        for index in 22...25 { file[index] = 0 }  // The number of samples: unknown.
        file[21] &= 0xF0
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 2, 0] + [UInt8](repeating: 0xFF, count: 256)
        let finder = FrameFinder(reader: Bytes(tag + file), hint: .seconds(300))
        let shifted = Dictionary(uniqueKeysWithValues: packets.map { ($0.key + Int64(tag.count), $0.value) })
        for time in stride(from: 0.0, to: 310, by: 12.34) {
            let cut = try await finder.cut(before: .seconds(time))
            Self.check(cut, at: time, in: shifted, rate: 22050, duration: 300)
        }
    }

    @Test(arguments: [true, false]) func aSeekTableIsUsedAndNotTrusted(isRight: Bool) async throws {
        let plain = try Files.ffmpeg("table\(isRight).flac", Files.noise(seconds: 1200, volume: 0.3, rate: 16000))
        let packets = try Self.packets("table\(isRight).flac").sorted { $0.key < $1.key }
        let points = stride(from: 0, to: packets.count, by: 40).flatMap { index -> [UInt8] in
            let place = packets[index].key - packets[0].key + (isRight ? 0 : 5)
            return Self.bytes(packets[index].value, 8) + Self.bytes(place, 8) + [0x10, 0]
        }
        let block = [3] + Self.bytes(Int64(points.count), 3) + points
        let file = plain[..<42] + block + plain[42...]
        let shifted = Dictionary(uniqueKeysWithValues: packets.map { ($0.key + Int64(block.count), $0.value) })
        let bytes = Bytes([UInt8](file))
        let finder = FrameFinder(reader: bytes, hint: .seconds(1200))
        for time in [0.0, 100, 333.3, 700, 1199] {
            bytes.forget()
            let cut = try await finder.cut(before: .seconds(time))
            Self.check(cut, at: time, in: shifted, rate: 16000, duration: 1200)
            #expect(bytes.reads <= 16)
        }
    }

    private static func bytes(_ value: Int64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> Int64($0 * 8)) }
    }
}
