import Framing
import Listening
import TestSupport
import Testing

@Suite struct OggTests {
    /// Ten hours, and where each page of them begins: in bytes, and in seconds by the page before it.
    private struct Long {
        let bytes: [UInt8]
        let seconds: Double
        /// Where the audio begins.
        let first: Int64
        let pages: [Int64: Double]

        /// One encoded minute over and over: hours would take minutes to encode.
        init(_ name: String, _ options: [String], rate: Double, skipped: Double, headers: Int) throws {
            _ = try Files.ffmpeg("once-\(name)", Files.noise(seconds: 60, volume: 0.3, rate: 16000) + options)
            let bytes = try Files.ffmpeg(
                name, ["-stream_loop", "599", "-i", "\(Sounds.folder)/framing-once-\(name)", "-c", "copy"])
            var pages: [Int64: Double] = [:]
            var (offset, packets, first, end) = (0, 0, Int64(0), 0.0)
            while offset + 27 <= bytes.count {
                let sizes = bytes[offset + 27..<offset + 27 + Int(bytes[offset + 26])]
                let granule = (0..<8).reduce(Int64(0)) { $0 | Int64(bytes[offset + 6 + $1]) << Int64(8 * $1) }
                offset += 27 + sizes.count + sizes.reduce(0) { $0 + Int($1) }
                packets += sizes.count { $0 < 255 }
                if packets >= headers, first == 0 { first = Int64(offset) }
                end = (Double(granule) - skipped) / rate
                if first > 0 { pages[Int64(offset)] = end }
            }
            (self.bytes, self.first, self.pages, seconds) = (bytes, first, pages, end)
        }
    }

    private static let opus = Result {
        try Long("hours.opus", ["-c:a", "libopus", "-b:a", "24k"], rate: 48_000, skipped: 312, headers: 2)
    }
    private static let vorbis = Result {
        try Long("hours.ogg", ["-c:a", "libvorbis"], rate: 16_000, skipped: 0, headers: 3)
    }

    @Test(arguments: ["opus", "vorbis"]) func someTensOfKilobytesFindAnyTime(_ name: String) async throws {
        let long = try (name == "opus" ? Self.opus : Self.vorbis).get()
        #expect(long.seconds > 35_000)
        let bytes = Bytes(long.bytes)
        for time in [0, 0.5, 3, 77.7, 2000, 17_999, 32_400, 35_990, 50_000] {
            bytes.forget()
            let finder = FrameFinder(reader: bytes, hint: .seconds(long.seconds))
            let cut = try #require(try await finder.cut(before: .seconds(time)))
            #expect(bytes.total < 200_000 && bytes.reads < 16, "\(bytes.reads) reads, \(bytes.total) bytes for \(time)")
            if cut.byte == 0 {
                #expect(time < 4 && cut.time == .zero && cut.head.isEmpty)
                continue
            }
            let page = try #require(long.pages[cut.byte], "no page at \(cut.byte) for \(time)")
            // Vorbis hears nothing of its first block.
            #expect((-0.001...0.2).contains(cut.time.seconds - page), "\(cut.time), \(page)")
            #expect(cut.time.seconds <= time - 0.7 && cut.time.seconds > min(time, long.seconds) - 6, "\(cut.time)")
            #expect(cut.hasOwnTimes && cut.head.starts(with: "OggS".utf8) && Int64(cut.head.count) == long.first)
        }
        // What is known of the file is not read again.
        bytes.forget()
        let finder = FrameFinder(reader: bytes, hint: .seconds(long.seconds))
        _ = try await finder.cut(before: .seconds(100))
        bytes.forget()
        _ = try await finder.cut(before: .seconds(30_000))
        #expect(bytes.total < 130_000)
    }

    @Test func whatIsNoSimpleFileIsLeftToTheDemuxer() async throws {
        let long = try Self.opus.get()
        func cut(_ bytes: [UInt8]) async throws -> Cut? {
            try await FrameFinder(reader: Bytes(bytes), hint: .seconds(600)).cut(before: .seconds(300))
        }
        let part = Array(long.bytes[..<3_000_000])
        #expect(try await cut(part) != nil)
        // Another stream behind it, as radio is recorded; one cut out of another; one whose beginning is damaged.
        let other = try Files.ffmpeg("other.ogg", Files.noise(seconds: 5, volume: 0.3, rate: 16000))
        #expect(try await cut(part + other) == nil)
        let middle = try #require(long.pages.keys.sorted().first { $0 > 1_000_000 })
        #expect(try await cut(Array(long.bytes[..<Int(long.first)] + long.bytes[Int(middle)..<3_000_000])) == nil)
        for offset in [4, 5, 26, 30, Int(long.first) - 20] {
            var broken = part
            broken[offset] ^= 0xFF
            _ = try await cut(broken)
        }
        for count in [0, 10, 27, 60, Int(long.first), Int(long.first) + 100] {
            _ = try await cut(Array(part[..<count]))
        }
    }
}
