import Framing
import Listening
import Testing

/// What a frame's flags put before or into what it holds.
@Suite struct ID3ChapterTests {
    private static func size(_ body: [UInt8]) -> [UInt8] {
        [21, 14, 7, 0].map { UInt8(body.count >> $0 & 0x7F) }
    }

    private static func frame(_ name: String, _ body: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        Array(name.utf8) + size(body) + [0, flags] + body
    }

    private static func tag(_ title: [UInt8], flags: UInt8 = 0, before: [UInt8] = []) -> [UInt8] {
        let chapter =
            Array("c0\0".utf8) + [0, 0, 0x03, 0xE8, 0, 0, 0x07, 0xD0] + [UInt8](repeating: 0xFF, count: 8)
            + frame("TIT2", [3] + title)
        let frames = frame("CHAP", before + chapter, flags: flags)
        return Array("ID3".utf8) + [4, 0, 0] + size(frames) + frames
    }

    @Test(
        arguments: [
            (0, []), (0x01, [0, 0, 0, 40]), (0x40, [7]), (0x41, [7, 0, 0, 0, 40]),
        ] as [(UInt8, [UInt8])])
    func aFrameMayHaveAHead(flags: UInt8, before: [UInt8]) async throws {
        let bytes = Self.tag(Array("Loomings".utf8), flags: flags, before: before)
        let chapters = try await EmbeddedChapters.read(Bytes(bytes))
        #expect(chapters.map(\.title) == ["Loomings"] && chapters.map(\.start) == [.second], "\(chapters)")
    }

    @Test func whatIsCompressedOrEncryptedIsNoChapter() async throws {
        for flags in [0x04, 0x08] as [UInt8] {
            #expect(try await EmbeddedChapters.read(Bytes(Self.tag([65], flags: flags))).isEmpty)
        }
    }

    @Test func aTitleIsNoBook() async throws {
        let chapters = try await EmbeddedChapters.read(Bytes(Self.tag([UInt8](repeating: 65, count: 9000))))
        #expect(chapters.map(\.title.utf8.count) == [2048])
    }

    /// As iTunes and ffmpeg write them: a table of contents before, and a chapter with a long title, the last or not.
    @Test(arguments: [[], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
    func aSizeMayHaveAllEightBits(padding: [UInt8]) async throws {
        func plain(_ name: String, _ body: [UInt8]) -> [UInt8] {
            Array(name.utf8) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) } + [0, 0] + body
        }
        func chapter(_ title: [UInt8]) -> [UInt8] {
            Array("c0\0".utf8) + [0, 0, 0x03, 0xE8, 0, 0, 0x07, 0xD0] + [UInt8](repeating: 0xFF, count: 8)
                + Self.frame("TIT2", [3] + title)
        }
        let long = [UInt8](repeating: 0x62, count: 300)
        let contents = Array("toc\0".utf8) + [3, 60] + (0..<60).flatMap { Array("ch\($0)\0".utf8) }
        let frames =
            plain("CTOC", contents) + Self.frame("CHAP", chapter([65])) + plain("CHAP", chapter(long))
            + plain("CHAP", chapter([66])) + plain("CHAP", chapter(long)) + padding
        let chapters = try await EmbeddedChapters.read(
            Bytes(Array("ID3".utf8) + [4, 0, 0] + Self.size(frames) + frames))
        #expect(chapters.map(\.title.utf8.count) == [1, 300, 1, 300], "\(chapters)")
    }
}
