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

    @Test func theSegmentBeforeThatOfAPlaceIsTheFirst() throws {
        let text = playlist([6, 6, 6, 6, 1.5])
        for (place, number) in [(12.0, 1), (17.9, 1), (18, 2), (24.2, 3), (1000, 3)] {
            let cut = try #require(MediaPlaylist.cut(Array(text.utf8), before: .seconds(place), delay: nil))
            #expect(cut.time == .seconds(Double(number) * 6) && !cut.hasOwnTimes)
            let rest = rest(text, cut)
            #expect(rest.hasPrefix("#EXTM3U\n") && rest.hasSuffix("#EXT-X-ENDLIST\n"))
            let names = rest.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(names == (number...4).map { "output-\($0).ts" })
            #expect(rest.ranges(of: "#EXTINF").count == names.count)
        }
        #expect(MediaPlaylist.cut(Array(text.utf8), before: .seconds(11.9), delay: nil) == nil)
    }

    @Test func whatBelongsToASegmentGoesWithIt() throws {
        let text = playlist([6, 6, 6, 6], before: "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z").replacing(
            "\n", with: "\r\n")
        let cut = try #require(MediaPlaylist.cut(Array(text.utf8), before: .seconds(19), delay: nil))
        #expect(rest(text, cut).ranges(of: "DATE-TIME").count == 1)
        #expect(rest(text, cut).ranges(of: "output-2.ts\r\n").count == 1)
    }

    @Test func whereTheDelayIsKnownItIsTheSegmentItself() throws {
        let text = Array(playlist([6, 6, 6, 6]).utf8)
        for (place, delay, start) in [(17.9, 0.0, 12.0), (18, 0, 18), (18, 4, 12), (18, -1, 18), (17.5, -1, 18)] {
            let cut = MediaPlaylist.cut(text, before: .seconds(place), delay: .seconds(delay))
            #expect(cut?.time == .seconds(start), "\(place) \(delay)")
        }
        #expect(MediaPlaylist.cut(text, before: .seconds(9), delay: .seconds(4)) == nil)
    }

    @Test func aSegmentBeginsBehindThoseBeforeIt() {
        let text = Array(playlist([6, 6.5, 6]).utf8)
        for (address, start) in [
            ("output-0.ts", 0.0), ("/hls/12/output-2.ts", 12.5), ("https://example.org/hls/output-1.ts", 6),
        ] {
            #expect(MediaPlaylist.start(of: address, in: text) == .seconds(start))
        }
        let rooted = Array("#EXTM3U\n#EXTINF:6,\n/hls/0.ts\n#EXTINF:6,\n/hls/1.ts?a=b\r\n".utf8)
        #expect(MediaPlaylist.start(of: "dogear-feed://1/hls/1.ts?a=b", in: rooted) == .seconds(6))
        #expect(MediaPlaylist.start(of: "/hls/12/output-3.ts", in: text) == nil)
        #expect(MediaPlaylist.start(of: "/hls/more-output-1.ts", in: text) == nil)
        #expect(MediaPlaylist.start(of: "a", in: Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n".utf8)) == nil)
    }

    @Test func whatCannotBeBegunElsewhereIsLeftAsItIs() {
        for line in [
            "#EXT-X-KEY:METHOD=AES-128", "#EXT-X-MAP:URI=\"a\"", "#EXT-X-BYTERANGE:5@0", "#EXT-X-DISCONTINUITY",
        ] {
            #expect(
                MediaPlaylist.cut(Array(playlist([6, 6, 6, 6], before: line).utf8), before: .seconds(19), delay: nil)
                    == nil,
                "\(line)"
            )
        }
        for text in [
            "", "\n", "output.ts", "#EXTINF:x,\na", "#EXTINF:1e999,\na", "#EXTINF:-5,\na\n#EXTINF:1,\nb",
            playlist([6, 6, 6, 6], end: ""), "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n#EXT-X-ENDLIST",
        ] {
            #expect(MediaPlaylist.cut(Array(text.utf8), before: .seconds(19), delay: nil) == nil, "\(text)")
        }
    }
}
