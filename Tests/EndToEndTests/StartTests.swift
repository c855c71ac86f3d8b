import Control
import Foundation
import TestSupport
import Testing

/// How the daemon comes to run, and what the status says.
@Suite struct StartTests {
    @Test(arguments: [false, true]) func aCommandBringsTheDaemon(_ activation: Bool) async throws {
        try await House.with(keyring: .absent, activation: activation) { house in
            let text = try await house.done("status", "--json")
            let status = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let keys = [
                "account", "buffered", "chapter", "chapters", "cover", "duration", "error", "finished", "item",
                "opening", "parked",
                "position", "queued", "rate", "rateOf", "sleep", "state", "unsent", "volume",
            ]
            #expect(status.keys.sorted() == keys)
            #expect(status["state"] as? String == "empty")
            #expect(try await house.done("status").hasPrefix("Nothing is loaded."))
            // Only a daemon that a command started itself writes a file; the bus hands its own on.
            #expect(FileManager.default.fileExists(atPath: "\(house.state)/dogear.log") == !activation)
            let nothing = try await house.dogear("play")
            #expect(nothing.code == 2)
            #expect(nothing.errors.contains("dogear login ADDRESS") && nothing.errors.contains("dogear play FILE"))
        }
    }

    @Test(arguments: [false, true]) func aQuestionOutlivesTheDaemon(_ activation: Bool) async throws {
        try await House.with(keyring: .absent, activation: activation) { house in
            let daemon = try await house.daemon()
            let monitor = try await Monitor(house)
            try await daemon.freeze()
            let status = try house.start(Child.built("dogear"), ["status", "--json"])
            try await eventually("the question to be asked") {
                monitor.messages().contains { $0.field("member") == "Status" } ? true : nil
            }
            daemon.send(SIGKILL)
            #expect(try await status.toEnd().contains("\"state\":\"empty\""))
            #expect(await status.child.end() == 0)
        }
    }

    @Test func aDaemonThatHangsIsNotWaitedForByWhoLooksForTheReason() async throws {
        try await House.with(keyring: .absent) { house in
            // Started by a command, it has a log of its own.
            try await house.done("status")
            let answer = try await house.run(
                "busctl",
                ["--user", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID"]
                    + ["s", ControlName.bus])
            let number = try #require(answer.output.split(whereSeparator: \.isWhitespace).last.flatMap { Int32($0) })
            defer { kill(number, SIGKILL) }
            try await Child.freeze(number)
            let logs = try await house.dogear("logs")
            #expect(logs.code == 0 && logs.errors.contains("does not answer"), "\(logs)")
            #expect(logs.output.contains("ready"), "\(logs)")
            let doctor = try await house.dogear("doctor")
            #expect(doctor.code == 1 && doctor.output.contains("does not answer"), "\(doctor)")
        }
    }

    @Test func theStatusOfABookHasEveryKey() async throws {
        try await House.signedIn { house, _ in
            let follower = try house.start(Child.built("dogear"), ["status", "--follow", "--json"])
            try await follower.first("empty") { $0.contains("\"state\":\"empty\"") }
            try await house.done("play", "tidebook", "--at", "31")
            let line = try await follower.first("playing") { $0.contains("\"state\":\"playing\"") }
            let status = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let item = try #require(status["item"] as? [String: Any])
            #expect(item.keys.sorted() == ["authors", "id", "kind", "narrators", "podcast", "series", "title"])
            #expect(item["authors"] as? [String] == ["Ada Ebb", "Bo Flow"] && item["kind"] as? String == "book")
            #expect(item["narrators"] as? [String] == ["C. Current"])
            let chapter = try #require(status["chapter"] as? [String: Any])
            #expect(chapter["index"] as? Int == 2 && chapter["title"] as? String == "The Flood")
            #expect(chapter["start"] as? Double == 30 && chapter["end"] as? Double == 60)
            #expect(status["account"] as? String == "\(House.user)@\(house.address.split(separator: "/")[1])")
            let mark = follower.count
            try await house.done("speed", "1.5")
            try await follower.first(from: mark, "faster") { $0.contains("\"rate\":1.5") }
        }
    }

    @Test func whatIsThereIsFound() async throws {
        try await House.signedIn { house, _ in
            func list(_ arguments: String...) async throws -> [ItemRow] {
                let outcome = try await house.run(Child.built("dogear"), arguments + ["--json"])
                return try JSONDecoder().decode(ListReport.self, from: Data(outcome.output.utf8)).items
            }
            #expect(try await list("list", "Books").map(\.item.title) == ["Paper Only", "Three Rooms", "Tidebook"])
            let latest = try await list("latest")
            #expect(latest.map(\.item.title) == ["Echoes", "Three Rooms", "Tidebook"])
            #expect(try await list("search", "flow").map(\.item.title).contains("Tidebook"))
            #expect(try await list("continue").isEmpty)
            try await house.done("play", "tidebook", "--at", "20")
            try await house.done("pause")
            try await house.progress("begun") { ($0.currentTime ?? 0) >= 20 }
            let begun = try await list("continue")
            #expect(begun.map(\.item.title) == ["Tidebook"] && (begun.first?.position ?? 0) >= 20)
            let chapters = try await house.done("chapters")
            #expect(chapters.contains("The Ebb") && chapters.contains("Slack Water"))
            #expect(try await house.dogear("search", "nothing-like-this").code == 2)
        }
    }
}
