import Control
import EventLoop
import Foundation
import TestSupport
import Testing

/// Audio at an http address, without any account: its place is kept here, and what opens the door is shown to nobody.
@Suite struct AddressTests {
    private static let password = "p@ss 8134"
    private static let token = "t0ken-5521"
    private static let login = "Basic " + Data("ida:\(password)".utf8).base64EncodedString()

    /// A server with one recording, at `/free.m4b`, and at `/locked.m4b` for who has a login and a token; `/go` leads to
    /// the latter.
    private func withServer(_ body: (LoopbackServer) async throws -> Void) async throws {
        _ = try Library.all.get()
        let audio = try Sounds.read("\(Sounds.folder)/e2e/tide/tide.m4b")
        let server = try LoopbackServer { .bytes(Self.answer($0, audio)) }
        defer { server.stop() }
        try await body(server)
    }

    private static func answer(_ request: LoopbackServer.Request, _ audio: [UInt8]) -> [UInt8] {
        let path = request.path.prefix { $0 != "?" }
        let query = request.path.dropFirst(path.count)
        let isKnown = request.headers["authorization"] == login && query == "?token=\(token)"
        let whole =
            switch path {
            case "/go": LoopbackServer.response("302 Found", headers: ["Location": "/locked.m4b\(query)"])
            case "/circle": LoopbackServer.response("302 Found", headers: ["Location": "/circle"])
            case "/away": LoopbackServer.response("302 Found", headers: ["Location": "file:///etc/hostname"])
            case "/locked.m4b" where !isKnown: LoopbackServer.response("401 Unauthorized", body: Array("who?".utf8))
            case "/locked.m4b", "/free.m4b": LoopbackServer.file(audio, type: "audio/mp4", for: request)
            case "/page":
                LoopbackServer.response("200 OK", headers: ["Content-Type": "text/html"], body: Array("<p>".utf8))
            default: LoopbackServer.response("404 Not Found", body: Array("nothing".utf8))
            }
        let head = whole.count - (whole.firstRange(of: Array("\r\n\r\n".utf8)).map { whole.count - $0.upperBound } ?? 0)
        return request.method == "HEAD" ? Array(whole[..<head]) : whole
    }

    @Test func itIsGoneOnWithWhereItWasLeft() async throws {
        try await withServer { server in
            try await House.with(keyring: .absent) { house in
                try await house.daemon()
                try await house.done("play", "\(server.address)/free.m4b", "--at", "40")
                try await house.status("on its way") { $0.position > 40.5 && $0.state == .playing }
                try await house.done("pause")
                let left = try await house.status()
                #expect(left.item?.id.hasPrefix("url:") == true && left.account == nil && left.unsent == 0, "\(left)")
                #expect(left.duration.rounded() == 100 && left.item?.title == "Tidebook", "\(left)")
                try await house.done("play", "\(server.address)/free.m4b")
                try await house.status("on its way") { $0.position > left.position && $0.state == .playing }
                try await house.kill()
                try await house.daemon()
                try await house.done("play")
                let back = try await house.status("playing") { $0.state == .playing }
                // A pause is written down as it is asked for, a moment before the sound stands.
                #expect((left.position - 0.5..<left.position + 15).contains(back.position), "\(left) became \(back)")
                func open(_ path: String) async throws -> House.Outcome {
                    try await house.run(
                        "busctl",
                        [
                            "--user", "call", "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2",
                            "org.mpris.MediaPlayer2.Player", "OpenUri", "s", "\(server.address)\(path)",
                        ])
                }
                #expect(try await open("/none.mp3").code != 0)
                #expect(try await open("/free.m4b").code == 0)
                // As one track, as clients expect that hand in an address.
                #expect(try await house.playerctl("metadata", "mpris:length").hasPrefix("100"))
                let none = try await house.dogear("play", "\(server.address)/none.mp3")
                #expect(none.code == 2 && none.errors.contains("127.0.0.1"), "\(none)")
                // Who asked for a page has a wrong address, and is told so at once: it is asked for once.
                let page = try await house.dogear("play", "\(server.address)/page")
                #expect(page.code == 1 && page.errors.contains("has a web page there"), "\(page)")
                #expect(server.requests.filter { $0.path == "/page" }.count == 1)
                for (path, sentence) in ["/circle": "sends on in circles", "/away": "dogear does not follow"] {
                    let outcome = try await house.dogear("play", "\(server.address)\(path)")
                    #expect(outcome.code == 1 && outcome.errors.contains(sentence), "\(outcome)")
                    #expect(server.requests.allSatisfy { $0.path != path || $0.method == "HEAD" })
                }
                // Where nobody listens, nothing is waited for.
                let nobody = try await house.dogear("play", "http://127.0.0.1:1/none.mp3")
                #expect(nobody.code == 4 && nobody.errors.contains("check the network and the address"), "\(nobody)")
                let wrongs = ["http://": "write http://SERVER/PATH", "ftp://h/a.mp3": "cannot open 'ftp:'"]
                for (wrong, sentence) in wrongs {
                    let outcome = try await house.dogear("play", wrong)
                    #expect(outcome.code == 64 && outcome.errors.contains(sentence), "\(outcome)")
                }
                #expect(try await house.status().item?.id == left.item?.id, "what played goes on")
            }
        }
    }

    @Test func itsChaptersAreItsTracks() async throws {
        let text = Sounds.metadata([("title", "Far")], chapters: [("Ebb", 0), ("Flow", 4), ("Slack", 11)], end: 20)
        let book = try Sounds.read(
            try Sounds.tone("e2e/far.m4b", seconds: 20, options: ["-c:a", "aac"], metadata: text))
        let server = try LoopbackServer { .bytes(LoopbackServer.file(book, type: "audio/mp4", for: $0)) }
        defer { server.stop() }
        try await House.with(keyring: .absent) { house in
            try await house.daemon()
            try await house.done("play", "\(server.address)/far.m4b", "--at", "5")
            let status = try await house.status("on its way") { $0.position > 5.2 }
            #expect(status.chapter?.title == "Flow" && status.chapters == 3, "\(status)")
            #expect(try await house.playerctl("metadata", "xesam:title") == "Flow")
            try await house.playerctl("next")
            try await house.status("in the next one") { $0.chapter?.title == "Slack" }
        }
    }

    /// As podcasts are that had something put before them.
    @Test func whatWasJoinedIsAsLongAsItIs() async throws {
        let part = try Sounds.read(try Sounds.tone("e2e/part.mp3", seconds: 20))
        let server = try LoopbackServer { .bytes(LoopbackServer.file(part + part, type: "audio/mpeg", for: $0)) }
        defer { server.stop() }
        try await House.with(keyring: .absent) { house in
            try await house.daemon()
            try await house.done("play", "\(server.address)/joined.mp3", "--at", "30")
            let status = try await house.status("beyond the first") { $0.state == .playing && $0.position > 31 }
            #expect((40..<40.3).contains(status.duration), "\(status)")
        }
    }

    @Test func whatOpensTheDoorIsShownToNobody() async throws {
        try await withServer { server in
            try await House.with(keyring: .absent) { house in
                let monitor = try await Monitor(house)
                let daemon = try await house.daemon()
                try await house.done("settings", "log.level", "debug")
                let place = server.address.replacingOccurrences(of: "http://", with: "http://ida:p%40ss%208134@")
                let door = "\(place)/go?token=\(Self.token)"
                var said = ""
                for what in ["\(place)/locked.m4b?token=no\(Self.token)", "\(place)x/?token=\(Self.token)"] {
                    let outcome = try await house.dogear("play", what)
                    #expect(outcome.code != 0)
                    said += outcome.output + outcome.errors
                }
                try await house.done("play", door, "--at", "30")
                try await house.status("on its way") { $0.position > 30.5 && $0.state == .playing }
                try await house.done("pause")
                let left = try await house.status()
                said += try await house.done("status", "--json") + house.playerctl("metadata")
                said += try await house.done("continue", "--json") + house.done("show", "--json")
                said += try await house.done("queue", "add", door, "--json")
                said += try await house.done("logs", "--level", "debug", "--limit", "2000", "--json")
                try await monitor.mark()
                daemon.send(SIGTERM)
                _ = await daemon.end()
                // The journal too knows no more than where to ask.
                try await house.daemon()
                let again = try await house.dogear("play")
                #expect(again.code == 2 && again.errors.contains("by its address"), "\(again)")
                #expect(abs(try await house.status().position - left.position) < 0.1)
                said += again.errors
                try await house.done("play", door)
                let back = try await house.status("playing") { $0.state == .playing }
                #expect(back.position > left.position - 0.1 && back.item?.id == left.item?.id, "\(left), \(back)")
                for file in [house.log, "\(house.state)/state.sqlite", "\(house.state)/state.sqlite-wal"] {
                    said += (try? String(decoding: Sounds.read(file), as: UTF8.self)) ?? ""
                }
                // What the command itself hands to the daemon is between the two.
                for message in monitor.messages() where message.field("destination") != ControlName.bus {
                    said += message.text
                }
                for secret in [Self.password, "p%40ss", Self.token, String(Self.login.dropFirst(6))] {
                    #expect(!said.contains(secret), "\(secret) was shown")
                }
            }
        }
    }
}
