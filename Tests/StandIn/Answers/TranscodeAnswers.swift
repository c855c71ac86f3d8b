import Foundation

/// HLS of sessions that do not play directly: six-second segments made by ffmpeg when they are asked for, each as it would be
/// in a transcode of all that comes behind the session's start.
///
/// That begins half a minute before the start, and its first segment has the number of the one there, as though it lay on
/// the playlist's grid (objects/Stream.js of the real one). So each begins up to six seconds late, and the last is never made.
enum TranscodeAnswers {
    static let all = [
        Route("GET", "hls/:id/:file", .open) { world, call in
            guard let index = world.open.firstIndex(where: { $0.id == call["id"] && $0.method == .transcode }) else {
                return .notFound
            }
            if call["file"] == "output.m3u8" { return playlist(world.open[index], world.now) }
            guard let number = segment(call["file"]) else { return .notFound }
            if number < first(of: world.open[index]) {
                world.open[index].transcodedFor = max(0, Double(number) * length - 5 * length)
            }
            let session = world.open[index]
            guard let (files, begin) = input(of: session, world) else { return .notFound }
            let start = begin + Double(number - first(of: session)) * length
            guard start < files.reduce(0, { $0 + $1.duration }) else { return .notFound }
            return Answer(
                200, headers: head("video/mp2t", world.now), body: .segment(of: files, start: start, length: length))
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

    /// Seconds in the whole book.
    private static func begin(of session: PlaySession) -> Double { max(0, session.transcodedFor - 30) }

    /// The number of the segment with which transcoding began.
    private static func first(of session: PlaySession) -> Int { Int(begin(of: session) / length) }

    /// The files from that on in which transcoding began, and where in it: rounded to a tenth of a second.
    private static func input(of session: PlaySession, _ world: World) -> (files: [TranscodedFile], begin: Double)? {
        guard let item = world.find(session.itemID)?.item else { return nil }
        var begin = begin(of: session)
        var files = (session.episodeID.flatMap(item.episode).map { [$0.audio] } ?? item.audio)[...]
        while let file = files.first, files.count > 1, begin >= file.duration {
            begin -= file.duration
            files = files.dropFirst()
        }
        let known = files.compactMap { file in file.file.path.map { TranscodedFile(path: $0, duration: file.duration) }
        }
        return known.count == files.count && !files.isEmpty ? (known, (begin * 10).rounded() / 10) : nil
    }
}
