import Listening
import Testing

@testable import Framing

@Suite struct MediaPlaylistTests {
    /// As Audiobookshelf makes them.
    private func playlist(_ lengths: [Double], before: String = "", end: String = "#EXT-X-ENDLIST") -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD"]
        for (number, length) in lengths.enumerated() {
            if number == 2, !before.isEmpty { lines.append(before) }
            lines += ["#EXTINF:\(length),", "output-\(number).ts"]
        }
        return (lines + [end]).joined(separator: "\n") + "\n"
    }

    /// What is left of it.
    private func rest(_ text: String, _ cut: Cut) -> String {
        String(decoding: cut.head + Array(text.utf8)[Int(cut.byte)...], as: UTF8.self)
    }

    @Test func theSegmentOfAPlaceIsTheFirst() throws {
        let text = playlist([6, 6, 6, 1.5])
        for (place, number) in [(6.0, 1), (11.9, 1), (12, 2), (18.2, 3), (1000, 3)] {
            let cut = try #require(MediaPlaylist.cut(Array(text.utf8), before: .seconds(place)))
            #expect(cut.time == .seconds(Double(number) * 6) && !cut.hasOwnTimes)
            let rest = rest(text, cut)
            #expect(rest.hasPrefix("#EXTM3U\n") && rest.hasSuffix("#EXT-X-ENDLIST\n"))
            let names = rest.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(names == (number...3).map { "output-\($0).ts" })
            #expect(rest.ranges(of: "#EXTINF").count == names.count)
        }
        #expect(MediaPlaylist.cut(Array(text.utf8), before: .seconds(5.9)) == nil)
    }

    @Test func whatBelongsToASegmentGoesWithIt() throws {
        let text = playlist([6, 6, 6], before: "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z").replacing(
            "\n", with: "\r\n")
        let cut = try #require(MediaPlaylist.cut(Array(text.utf8), before: .seconds(13)))
        #expect(rest(text, cut).ranges(of: "DATE-TIME").count == 1)
        #expect(rest(text, cut).ranges(of: "output-2.ts\r\n").count == 1)
    }

    @Test func whatCannotBeBegunElsewhereIsLeftAsItIs() {
        for line in [
            "#EXT-X-KEY:METHOD=AES-128", "#EXT-X-MAP:URI=\"a\"", "#EXT-X-BYTERANGE:5@0", "#EXT-X-DISCONTINUITY",
        ] {
            #expect(
                MediaPlaylist.cut(Array(playlist([6, 6, 6], before: line).utf8), before: .seconds(13)) == nil, "\(line)"
            )
        }
        for text in [
            "", "\n", "output.ts", "#EXTINF:x,\na", "#EXTINF:1e999,\na", "#EXTINF:-5,\na\n#EXTINF:1,\nb",
            playlist([6, 6, 6], end: ""), "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n#EXT-X-ENDLIST",
        ] {
            #expect(MediaPlaylist.cut(Array(text.utf8), before: .seconds(13)) == nil, "\(text)")
        }
    }
}
