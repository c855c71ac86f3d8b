import EventLoop
import Listening
import TestSupport
import Testing

@testable import GStreamer

/// Nothing that was read is there for the next reader.
private struct ForgetfulBytes: ByteShelf {
    func reader(of stream: AudioStream) -> any ByteReader { LoopbackBytes().reader(of: stream) }
}

/// Transcoded streams: HLS playlists and the segments they name.
@Suite struct HLSTests {
    /// A folder with a playlist of half a minute, made once for each `name`, and what serves it.
    private func transcoded(
        _ name: String, segments: Int, lead: Double = 0.7
    ) throws -> (folder: String, serve: @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer) {
        let folder = "\(Sounds.folder)/\(name)"
        let path = try Sounds.tone("http.m4b", seconds: 30)
        try Sounds.run(["mkdir", "-p", folder])
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", path, "-c:a", "copy", "-f", "hls", "-hls_time",
            "\(segments)", "-hls_playlist_type", "vod", "-max_delay", "\(Int(lead * 1_000_000))",
            "\(folder)/output.m3u8",
        ])
        return (
            folder,
            { request in Self.answer("\(folder)/\(Self.name(of: request))", to: request) }
        )
    }

    private static func name(of request: LoopbackServer.Request) -> String {
        request.path.split(separator: "/").last.map(String.init) ?? ""
    }

    private static func answer(_ path: String, to request: LoopbackServer.Request) -> LoopbackServer.Answer {
        guard let bytes = try? Sounds.read(path) else { return .bytes(LoopbackServer.response("404 Not Found")) }
        let type = path.hasSuffix("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp2t"
        return .bytes(LoopbackServer.file(bytes, type: type, for: request))
    }

    private func track(_ server: LoopbackServer, _ list: String = "output.m3u8") -> [Track] {
        streams(["\(server.address)/\(list)"], seconds: 30, headers: ["X-Key": "seven"], transcoding: Transcoding())
    }

    /// What serves all but one segment, while it is to be kept back.
    private func server(
        _ name: String, without segment: String, _ status: String,
        while isKept: @escaping @Sendable () -> Bool = { true }
    ) throws -> LoopbackServer {
        let (_, serve) = try transcoded(name, segments: 3)
        return try LoopbackServer(port: 0) { request in
            request.path == segment && isKept() ? .bytes(LoopbackServer.response(status)) : serve(request)
        }
    }

    @Test func aTranscodedStreamPlaysAndSeeks() async throws {
        let server = try LoopbackServer(port: 0, transcoded("hls", segments: 6).serve)
        let rig = Rig("hls")
        #expect(try await rig.open(track(server), at: .seconds(14.5)) == .seconds(14.5))
        try await rig.play(until: .seconds(14.9), hearing: 0.2)
        let first = try #require(try rig.heard.original(at: 0.1))
        #expect((14.5...14.7).contains(first), "\(first)")
        rig.engine.seek(rig.load, to: .seconds(3))
        #expect(try await rig.answer() == .seeked(to: .seconds(3)))
        #expect(server.requests.allSatisfy { $0.headers["x-key"] == "seven" })
    }

    /// Every other segment of the playlist is on another server, which is not to see what opens ours.
    @Test func headersGoToTheServerOfThePlaylistAlone() async throws {
        let (folder, serve) = try transcoded("hls-two", segments: 3)
        let other = try LoopbackServer(port: 0, serve)
        let server = try LoopbackServer(port: 0, serve)
        var number = 0
        let playlist = String(decoding: try Sounds.read("\(folder)/output.m3u8"), as: UTF8.self)
        let lines = playlist.split(separator: "\n").map { line in
            if line.hasPrefix("#") { return String(line) }
            number += 1
            return number.isMultiple(of: 2) ? "\(other.address)/\(line)" : String(line)
        }
        try Sounds.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "\(folder)/output.m3u8")
        let rig = Rig("hls-two")
        _ = try await rig.open(track(server), at: .zero)
        try await rig.play(until: .seconds(14))
        let segments = server.requests.filter { $0.path.hasSuffix(".ts") }
        #expect(segments.count >= 2 && other.requests.count >= 2)
        #expect(server.requests.allSatisfy { $0.headers["x-key"] == "seven" })
        #expect(other.requests.allSatisfy { $0.headers["x-key"] == nil })
    }

    /// Real servers transcode from where the session begins, and have nothing long before it.
    @Test func nothingLongBeforeThePlaceIsAskedFor() async throws {
        let server = try LoopbackServer(port: 0, transcoded("hls-late", segments: 3).serve)
        let rig = Rig("hls-late")
        _ = try await rig.open(track(server), at: .seconds(20.5))
        try await rig.play(until: .seconds(21))
        let segments = server.requests.map(\.path).filter { $0.hasSuffix(".ts") }
        #expect(segments.first == "/output5.ts" && !segments.contains("/output0.ts"), "\(segments)")
        // Back to what the playlist as it was opened does not have.
        rig.engine.seek(rig.load, to: .seconds(4))
        #expect(try await rig.answer() == .seeked(to: .seconds(4)))
        try await rig.play(until: .seconds(4.4), hearing: 0.2)
        let first = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(first - 4.1) < 0.06, "\(first)")
        rig.engine.unload()
    }

    /// A segment's sound begins that much behind its start, and its last lies in the time of the next: 0.7 s by ffmpeg's own
    /// choice, 5 by Audiobookshelf's.
    @Test(arguments: [0.7, 5]) func eachPlaceAroundASeamIsHeardWhereItIs(_ lead: Double) async throws {
        let name = "hls-seams-\(Int(lead))"
        let server = try LoopbackServer(port: 0, transcoded(name, segments: 3, lead: lead).serve)
        for (number, place) in [0, 5.9, 8.4, 8.95, 9, 9.3, 9.65, 9.75].enumerated() {
            let rig = Rig("\(name)-\(number)")
            let rate = number.isMultiple(of: 2) ? 1 : 1.5
            _ = try await rig.open(track(server), at: .seconds(place), rate: rate)
            try await rig.play(until: .seconds(place + 0.8), hearing: 0.4)
            let opened = try #require(try rig.heard.original(at: 0.1))
            #expect(abs(opened - place - 0.1 * rate) < 0.06, "\(place): \(opened)")
            let next = place + 3
            rig.engine.seek(rig.load, to: .seconds(next))
            #expect(try await rig.word() == .seeked(to: .seconds(next)))
            let before = try rig.heard.seconds
            try await rig.play(until: .seconds(next + 0.8), hearing: before + 0.4)
            let sought = try #require(try rig.heard.original(at: before + 0.15))
            #expect((next - 0.05...next + 0.4).contains(sought), "\(next): \(sought)")
            rig.engine.unload()
        }
    }

    /// Two files of fifty seconds of which a server transcodes what comes behind a place, off the grid of its playlist, and
    /// all of it once it has been asked for what is before.
    private func restarting(
        _ name: String, from place: Double
    ) throws -> (server: LoopbackServer, restart: @Sendable () -> Void) {
        let paths = try (0..<2).map { try Sounds.tone("hls-part\($0).mp3", seconds: 50, offset: Double($0) * 50) }
        let folder = "\(Sounds.folder)/\(name)"
        let part = Int(place / 50)
        try Sounds.transcode(
            Array(paths[part...]), seconds: 50, from: ((place - Double(part) * 50) * 10).rounded() / 10,
            as: Int(place / 6), to: "\(folder)-late")
        try Sounds.transcode(paths, seconds: 50, from: 0, as: 0, to: "\(folder)-whole")
        try Sounds.run(["mkdir", "-p", folder])
        let list = (0..<17).map { "#EXTINF:\(min(6, 100 - $0 * 6)),\noutput-\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n\(list)#EXT-X-ENDLIST\n"
        try Sounds.write(Array(text.utf8), to: "\(folder)/output.m3u8")
        let isWhole = Locked(false)
        let server = try LoopbackServer(port: 0) { request in
            let name = Self.name(of: request)
            guard name.hasSuffix(".ts") else { return Self.answer("\(folder)/\(name)", to: request) }
            let number = Int(name.filter(\.isNumber)) ?? 0
            let kind = isWhole.withLock { isWhole in
                isWhole = isWhole || number < Int(place / 6)
                return isWhole ? "whole" : "late"
            }
            return Self.answer("\(folder)-\(kind)/\(name)", to: request)
        }
        return (server, { isWhole.withLock { $0 = true } })
    }

    /// Audiobookshelf begins half a minute before the place, in one of the files, and numbers what it makes as though that lay
    /// on the grid.
    @Test(arguments: [16.4, 23, 40.9, 53.7]) func whatBeginsLateIsHeardWhereItIs(_ begin: Double) async throws {
        let name = "hls-late-\(Int(begin))"
        let (server, restart) = try restarting(name, from: begin)
        let tracks = streams(
            ["\(server.address)/output.m3u8"], seconds: 100, transcoding: Transcoding(joints: [.seconds(50)]))
        let rig = Rig(name, bytes: ForgetfulBytes())
        func expect(heardAt place: Double, _ comment: String) async throws {
            try await rig.play(until: .seconds(place + 0.5), hearing: 0.4)
            let heard = try #require(try rig.heard.original(at: 0.15))
            #expect(abs(heard - place - 0.15) < 0.08, "\(comment): \(heard)")
            rig.engine.pause(rig.load)
        }
        func seek(to place: Double, _ comment: String) async throws {
            rig.engine.seek(rig.load, to: .seconds(place))
            let word = try await rig.word()
            #expect(word == .seeked(to: .seconds(place)), "\(comment)")
            try await expect(heardAt: place, comment)
        }
        _ = try await rig.open(tracks, at: .seconds(begin + 30))
        try await expect(heardAt: begin + 30, "opened")
        try await seek(to: begin + 33.3, "a bit further")
        try await seek(to: begin + 28, "back")
        // The server begins anew for somebody else's seek: what was here is told from what comes now.
        restart()
        try await seek(to: begin + 36, "the whole")
        try await seek(to: begin + 43.1, "on in that")
        try await seek(to: begin - 2, "before its beginning")
        rig.engine.unload()
    }

    /// A server that has just been asked to transcode from there denies for a while that there is such a segment.
    @Test func aSegmentThatIsNotThereYetIsWaitedFor() async throws {
        let isThere = Locked(false)
        let server = try server("hls-wait", without: "/output3.ts", "404 Not Found") { !isThere.withLock { $0 } }
        let asked = { server.requests.count { $0.path == "/output3.ts" } }
        let rig = Rig("hls-wait")
        _ = try await rig.open(track(server), at: .seconds(6))
        rig.engine.play(rig.load)
        var stood = BookTime.zero
        var stands = 0
        // A decoder that a busy machine kept from its work: once it has done it, that is heard too.
        repeat {
            if stands > 0 { #expect(try await rig.reports.next(rig.load) == .buffering(false)) }
            let word = try await rig.reports.next(rig.load)
            try #require(word == .buffering(true), "\(word) at \(rig.engine.position(rig.load)?.seconds ?? -1)")
            stands += 1
            stood = try #require(rig.engine.position(rig.load))
            let count = asked()
            try await eventually("asked again") { asked() >= count + 3 ? true : nil }
        } while rig.reports.all.count > 2 * stands
        #expect(stood.seconds > 6.5 && stood.seconds <= 9.1, "\(stood)")
        // The buffer that was under way when it stopped still counts.
        let later = try #require(rig.engine.position(rig.load))
        #expect((stood.seconds...stood.seconds + 0.1).contains(later.seconds), "\(stood), \(later)")
        #expect(rig.reports.all.last?.word == .buffering(true))
        isThere.withLock { $0 = true }
        #expect(try await rig.reports.next(rig.load) == .buffering(false))
        try await rig.play(until: .seconds(12), hearing: 5.6)
        let heard = try rig.heard
        for moment in stride(from: 0.2, to: 5.5, by: 0.25) {
            let original = try #require(heard.original(at: moment))
            #expect(abs(original - 6 - moment) < 0.1, "at \(moment): \(original)")
        }
        rig.engine.unload()
    }

    /// Nothing is passed over, and what came before is heard to its end.
    @Test func aSegmentThatIsRefusedEndsItWhereItWas() async throws {
        let server = try server("hls-refused", without: "/output3.ts", "403 Forbidden")
        let rig = Rig("hls-refused")
        _ = try await rig.open(track(server), at: .seconds(6))
        rig.engine.play(rig.load)
        while true {
            let word = try await rig.reports.next(rig.load)
            if case .buffering = word { continue }
            #expect(word == .failed(.refused))
            break
        }
        let place = try #require(rig.engine.position(rig.load))
        #expect((8.7...9.1).contains(place.seconds), "\(place)")
        rig.engine.unload()
    }

    /// hlsdemux asks for it by a way of its own.
    @Test func aListOfPlaylistsPlaysAsWell() async throws {
        let (_, serve) = try transcoded("hls-list", segments: 3)
        let server = try LoopbackServer(port: 0) { request in
            guard request.path == "/list.m3u8" else { return serve(request) }
            let list = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000\noutput.m3u8\n"
            return .bytes(LoopbackServer.file(Array(list.utf8), type: "application/vnd.apple.mpegurl", for: request))
        }
        let rig = Rig("hls-list")
        _ = try await rig.open(track(server, "list.m3u8"), at: .seconds(14.5))
        try await rig.play(until: .seconds(15), hearing: 0.2)
        let first = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(first - 14.6) < 0.06, "\(first)")
        #expect(server.requests.allSatisfy { $0.headers["x-key"] == "seven" })
        rig.engine.unload()
    }

    /// A server that began to transcode off the grid of its playlist has nothing for its end.
    @Test func whatIsNeverMadeOfTheEndIsNoFailure() async throws {
        let server = try server("hls-tail", without: "/output9.ts", "404 Not Found")
        let rig = Rig("hls-tail")
        _ = try await rig.open(track(server), at: .seconds(22))
        rig.engine.play(rig.load)
        let word = try await rig.word()
        #expect(word == .ended, "\(word) at \(rig.engine.position(rig.load)?.seconds ?? -1)")
        rig.engine.unload()
    }

    @Test func aPlaylistThatIsRefusedIsSaid() async throws {
        let server = try LoopbackServer(port: 0) { _ in .bytes(LoopbackServer.response("403 Forbidden")) }
        let rig = Rig("hls-none")
        rig.engine.load(rig.load, tracks: track(server), at: .seconds(6), rate: 1, volume: 1)
        #expect(try await rig.reports.nextWord(rig.load) == .failed(.refused))
        rig.engine.unload()
    }
}
