import Foundation
import TestSupport
import Testing

@testable import GStreamer

/// Pictures made small enough to be shown.
@Suite struct CoverReaderTests {
    private func picture(_ name: String, _ color: String, _ size: String) throws -> String {
        let path = "\(Sounds.folder)/\(name)"
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "color=\(color):s=\(size)",
            "-frames:v", "1", path,
        ])
        return path
    }

    @Test(arguments: ["cover-reader.png", "cover-reader.jpg"])
    func itKeepsItsShapeAndItsColour(_ name: String) async throws {
        let path = try picture(name, "red", "300x200")
        let points = try #require(await CoverReader().points(path, width: 31, height: 60))
        #expect(points.width == 31 && (20...21).contains(points.height))
        #expect(points.bytes.count == points.width * points.height * 3)
        for place in [0, points.bytes.count - 3] {
            let (red, green, blue) = (points.bytes[place], points.bytes[place + 1], points.bytes[place + 2])
            #expect(red > 200 && green < 40 && blue < 40, "\(red) \(green) \(blue) at \(place)")
        }
        let png = try #require(await CoverReader().png(path, width: 100, height: 100))
        let size = try #require(PictureSize(png.bytes))
        #expect(size.format == .png && size.width == png.width && size.width == 100 && size.height == png.height)
    }

    @Test func whatIsNoPictureIsNone() async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/cover.png"
        #expect(await CoverReader().points(path, width: 10, height: 10) == nil)
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        // A small file that says it is 60,000 by 60,000; one with the largest numbers there are; one that stops; one that
        // is damaged; none at all.
        for bytes in [
            start + [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60, 8, 2, 0, 0, 0],
            start + Array(repeating: 0xFF, count: 8) + [8, 2, 0, 0, 0], start,
            start + [0, 0, 0, 9, 0, 0, 0, 9, 8, 2, 0, 0, 0] + Array(repeating: 7, count: 500), Array("text".utf8), [],
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 2, 0xFF, 0xC0, 0, 17, 8, 0, 9, 0, 9] + Array(repeating: 7, count: 500),
        ] {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            #expect(await CoverReader().points(path, width: 10, height: 10) == nil)
        }
        #expect(await CoverReader().points(folder.path, width: 10, height: 10) == nil)
    }

    @Test func sizesAreReadFromWhateverBytes() {
        #expect(PictureSize([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 17, 8, 1, 0, 2, 0])?.height == 256)
        #expect(PictureSize([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 17, 8, 1, 0, 2, 0])?.width == 512)
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<5000 {
            let bytes = (0..<40).map { _ in
                [0xFF, 0xD8, 0, 2, UInt8.random(in: 0...255, using: &numbers)].randomElement(using: &numbers)!
            }
            _ = PictureSize([0xFF, 0xD8] + bytes)
        }
    }
}
