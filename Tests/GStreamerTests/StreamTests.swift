import Listening
import TestSupport
import Testing

@testable import GStreamer

func streams(
    _ urls: [String], seconds: Double, headers: [String: String] = [:], transcoding: Transcoding? = nil
) -> [Track] {
    Timeline.repaired(
        tracks: urls.map { url in
            let stream = AudioStream(url: url, headers: headers, transcoding: transcoding)
            return Track(start: .zero, duration: .seconds(seconds), audio: .stream(stream))
        })
}

@Suite struct StreamTests {
    func tone(_ ending: String) throws -> [UInt8] { try Sounds.read(try Sounds.tone("http.\(ending)", seconds: 30)) }

    @Test(arguments: [("m4b", "audio/mp4"), ("mp3", "audio/mpeg"), ("opus", "audio/ogg"), ("flac", "audio/flac")])
    func aStreamIsOpenedAtItsPlaceWithItsHeaders(_ ending: String, type: String) async throws {
        let bytes = try tone(ending)
        let server = try LoopbackServer { .bytes(LoopbackServer.file(bytes, type: type, for: $0)) }
        let rig = Rig("http-\(ending)", bytes: LoopbackBytes())
        let tracks = streams(["\(server.address)/a"], seconds: 30, headers: ["Authorization": "Bearer seven"])
        #expect(try await rig.open(tracks, at: .seconds(20.5)) == .seconds(20.5))
        try await rig.play(until: .seconds(20.8), hearing: 0.2)
        let first = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(first - 20.6) < 0.03)
        rig.engine.seek(rig.load, to: .seconds(7.25))
        #expect(try await rig.answer() == .seeked(to: .seconds(7.25)))
        try await rig.play(until: .seconds(7.6), hearing: 0.2)
        let second = try #require(try rig.heard.original(at: 0.1))
        #expect(abs(second - 7.35) < 0.03)
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == "Bearer seven" })
        rig.engine.unload()
        server.stop()
    }

    @Test func filesOverHTTPFollowEachOther() async throws {
        let parts = try parts(2, "flac").map(Sounds.read)
        let server = try LoopbackServer { request in
            .bytes(LoopbackServer.file(parts[request.path == "/0" ? 0 : 1], type: "audio/flac", for: request))
        }
        let rig = Rig("http-parts", bytes: LoopbackBytes())
        _ = try await rig.open(streams(["\(server.address)/0", "\(server.address)/1"], seconds: 6), at: .seconds(5))
        try await rig.play(until: .seconds(7), hearing: 1.8)
        // A second file whose length the server is slow to tell is opened anew, and the recording with it.
        let start = try #require(try rig.heard.original(at: 0.1)) - 0.1
        #expect(min(abs(start - 5), abs(start - 6)) < 0.05)
        try expectUnbroken(try rig.heard, from: start)
        rig.engine.seek(rig.load, to: .seconds(1))
        #expect(try await rig.word() == .seeked(to: .seconds(1)))
    }

    func failure(_ name: String, _ tracks: [Track]) async throws -> EngineFailure {
        try await FailureTests().failure(name, tracks)
    }

    @Test func whatTheServerRefusesIsToldApart() async throws {
        let server = try LoopbackServer { request in
            .bytes(LoopbackServer.response(String(request.path.dropFirst()) + " No"))
        }
        func failure(_ status: Int) async throws -> EngineFailure {
            try await self.failure("status\(status)", streams(["\(server.address)/\(status)"], seconds: 9))
        }
        #expect(try await failure(404) == .notFound)
        #expect(try await failure(401) == .refused)
        #expect(try await failure(403) == .refused)
        #expect(try await failure(500) == .unreachable(reason: "the server answered 500"))
        server.stop()
        let nobody = try await self.failure("nobody", streams(["http://127.0.0.1:1/a"], seconds: 9))
        guard case .unreachable = nobody else { throw Rig.Unexpected(word: .failed(nobody)) }
    }

    @Test func aPageInsteadOfAudioIsSaid() async throws {
        let page = Array("<!doctype html><html><body>login</body></html>".utf8)
        let server = try LoopbackServer { .bytes(LoopbackServer.file(page, type: "text/html", for: $0)) }
        let failure = try await failure("page", streams(["\(server.address)/a?x=1"], seconds: 9))
        guard case .unreadable(track: 0, let reason) = failure else { throw Rig.Unexpected(word: .failed(failure)) }
        #expect(!reason.contains("127.0.0.1"))
    }

    @Test func aStreamThatEndsEarlyIsNotTheEnd() async throws {
        let whole = try Sounds.read(try Sounds.tone("http.ogg", seconds: 30))
        let cut = Array(whole.prefix(whole.count / 5))
        let server = try LoopbackServer { .bytes(LoopbackServer.file(cut, type: "audio/ogg", for: $0)) }
        let rig = Rig("early", bytes: LoopbackBytes())
        _ = try await rig.open(streams(["\(server.address)/a", "\(server.address)/b"], seconds: 30))
        rig.engine.play(rig.load)
        guard case .failed(.unreachable) = try await rig.word() else { throw Reports.Silence() }
        let place = try #require(rig.engine.position(rig.load))
        #expect((1...10).contains(place.seconds))
    }

    /// A server that goes silent must not hold up what comes after.
    @Test func aLoadOvertakesOneThatIsStuck() async throws {
        let bytes = try tone("m4b")
        let server = try LoopbackServer { request in
            let whole = LoopbackServer.file(bytes, type: "audio/mp4", for: request)
            return switch request.path {
            case "/never": .stall(after: [])
            case "/head": .stall(after: Array(whole.prefix(4000)))
            default: .stall(after: Array(whole.prefix(request.headers["range"] == nil ? 200_000 : 300)))
            }
        }
        let path = try Sounds.tone("http.m4b", seconds: 30)
        let rig = Rig("stuck", bytes: LoopbackBytes())
        // Nothing gives these streams up: what they held up would never be ready.
        for (number, stuck) in ["never", "head", "body"].enumerated() {
            let first = LoadID(number: UInt64(number * 2 + 1))
            rig.engine.load(
                first, tracks: streams(["\(server.address)/\(stuck)"], seconds: 30), at: .seconds(25), rate: 1,
                volume: 1)
            rig.engine.play(first)
            try await until("a request") { server.requests.contains { $0.path == "/\(stuck)" } }
            let second = first.next
            rig.engine.load(second, tracks: files([path], seconds: 30), at: .seconds(3), rate: 1, volume: 1)
            #expect(try await rig.reports.nextWord(second) == .ready(at: .seconds(3)))
        }
    }
}
