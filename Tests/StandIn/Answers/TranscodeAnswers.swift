import Foundation

/// HLS of sessions that do not play directly: six-second segments made by ffmpeg when they are asked for.
enum TranscodeAnswers {
    static let all = [
        Route("GET", "hls/:id/:file", .open) { world, call in
            guard let session = world.open.first(where: { $0.id == call["id"] && $0.method == .transcode }) else {
                return .notFound
            }
            if call["file"] == "output.m3u8" { return playlist(session, world.now) }
            guard let number = segment(call["file"]),
                let source = source(of: session, at: Double(number) * length, world)
            else { return .notFound }
            return Answer(
                200, headers: head("video/mp2t", world.now),
                body: .segment(
                    path: source.path, start: source.start, length: length, at: Double(number) * length))
        }
    ]

    /// Seconds of one segment.
    private static let length = 6.0

    private static func segment(_ name: String) -> Int? {
        guard name.hasPrefix("output-"), name.hasSuffix(".ts") else { return nil }
        return Int(name.dropFirst(7).dropLast(3))
    }

    private static func head(_ type: String, _ now: Int) -> [(name: String, value: String)] {
        [
            ("Accept-Ranges", "bytes"), ("Cache-Control", "public, max-age=0"),
            ("Last-Modified", HTTPDate.text(milliseconds: now)), ("ETag", "W/\"\(String(now, radix: 16))\""),
            ("Content-Type", type),
        ]
    }

    private static func playlist(_ session: PlaySession, _ now: Int) -> Answer {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-ALLOW-CACHE:NO", "#EXT-X-TARGETDURATION:6",
            "#EXT-X-MEDIA-SEQUENCE:0",
            "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
        var start = 0.0
        var number = 0
        while start < session.duration {
            lines += ["#EXTINF:\(min(length, session.duration - start)),", "output-\(number).ts"]
            start += length
            number += 1
        }
        lines.append("#EXT-X-ENDLIST")
        let text = lines.joined(separator: "\n") + "\n"
        return Answer(200, headers: head("application/vnd.apple.mpegurl", now), body: .data(Data(text.utf8)))
    }

    /// The file that holds a time of the book, and the time inside it. A segment ends where its file does.
    private static func source(of session: PlaySession, at time: Double, _ world: World) -> (
        path: String, start: Double
    )? {
        guard let item = world.find(session.itemID)?.item else { return nil }
        var start = 0.0
        for audio in session.episodeID.flatMap(item.episode).map({ [$0.audio] }) ?? item.audio {
            if time < start + audio.duration { return audio.file.path.map { ($0, time - start) } }
            start += audio.duration
        }
        return nil
    }
}
