import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// Whatever is wrong: a sentence with the next step, the right exit code, nothing lost, the daemon alive.
@Suite struct BadInputTests {
    @Test func answersThatAreNoAnswers() async throws {
        try await House.with { house in
            let daemon = try await house.daemon()
            // Once they have been read, which is tried again and again, the server is no longer asked: no moment without one.
            var before = house.server.fail(.serverError, path: "/api/libraries", times: .max)
            try await house.logIn()
            let faults: [(StandInFault, Int32, String)] = [
                (.html(), 1, "web page"),
                (.status(200, body: "{\"libraries\": [", contentType: "application/json"), 1, "damaged"),
                (.status(200, body: "{}", contentType: "application/json"), 1, "libraries"),
                (.truncated, 4, "broke"), (.dropBefore, 4, "broke"), (.serverError, 1, "problem of its own"),
                (.status(503, body: "busy"), 4, "problem of its own"),
                (.tooManyRequests(retryAfter: 7), 4, "7 seconds"),
            ]
            for (fault, code, words) in faults {
                // Some are tried again: until it is cleared the fault holds.
                let id = house.server.fail(fault, path: "/api/libraries", times: .max)
                house.server.clearFault(before)
                before = id
                let outcome = try await house.dogear("libraries")
                #expect(outcome.code == code, "\(fault): \(outcome.errors)")
                #expect(outcome.errors.contains(words), "\(fault): \(outcome.errors)")
                #expect(outcome.output.isEmpty)
            }
            house.server.clearFault(before)
            #expect(try await house.done("libraries").contains("Podcasts"))
            #expect(kill(daemon.pid, 0) == 0)
        }
    }

    @Test func anItemThatIsDeletedWhileItPlays() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook", "--at", "10")
            try await house.status("on its way") { $0.position > 10.5 }
            house.server.deleteItem(Library.book)
            try await house.done("pause")
            let paused = try await house.status()
            #expect(paused.state == .paused)
            try await house.done("stop")
            let again = try await house.dogear("play")
            #expect(again.code == 2, "\(again)")
            #expect(again.errors.contains("not there"), "\(again)")
            // The place outlives the item: it may come back.
            #expect(abs(try await house.status().position - paused.position) < 0.1)
            try await house.done("play", "echoes")
            #expect(kill(daemon.pid, 0) == 0)
        }
    }

    @Test func filesThatCannotBePlayed() async throws {
        try await House.with(keyring: .absent) { house in
            let daemon = try await house.daemon()
            let folder = "\(house.home)/bad"
            try FileManager.default.createDirectory(atPath: "\(folder)/none", withIntermediateDirectories: true)
            try Sounds.write([], to: "\(folder)/empty.mp3")
            try Sounds.write(
                (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 7) }, to: "\(folder)/noise.mp3")
            try Sounds.write(Array("just words".utf8), to: "\(folder)/none/notes.txt")
            for (name, words) in [
                ("empty.mp3", "is empty"), ("noise.mp3", "cannot be played"), ("none", "no audio file"),
                ("none/notes.txt", "cannot be played"),
            ] {
                let outcome = try await house.dogear("play", "\(folder)/\(name)")
                #expect(outcome.code == 1, "\(name): \(outcome.errors)")
                #expect(outcome.errors.contains(words), "\(name): \(outcome.errors)")
            }
            let missing = try await house.dogear("play", "\(folder)/missing.mp3")
            #expect(missing.code == 2 || missing.code == 3, "\(missing)")
            #expect(try await house.status().state == .empty)
            #expect(kill(daemon.pid, 0) == 0)
        }
    }

    @Test func addressesThatNameNoServer() async throws {
        try await House.with(keyring: .absent) { house in
            try await house.daemon()
            for address in [
                "http://", "http://[::1", "http://a b/c.mp3", "https://a:b/c.mp3", "http://a:65536/", "http://a:+1/",
            ] {
                let outcome = try await house.dogear("play", address)
                #expect(outcome.code == 64 && outcome.errors.contains("names no server"), "\(address): \(outcome)")
            }
            for address in ["http://[::1]:1", "http://localhost:1/c.mp3"] {
                let outcome = try await house.dogear("play", address)
                #expect(outcome.code == 4, "\(address): \(outcome)")
            }
        }
    }

    @Test func aSettingsFileWithMistakes() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = "\(house.home)/.config/dogear"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = "\(folder)/config.toml"
            try "[playback]\nrate = 1.5\nskip-forward = \"far\"\n\n[audio]\nsnik = \"x\"\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let outcome = try await house.dogear("settings", "playback.rate")
            #expect(outcome.code == 0)
            #expect(outcome.output.contains("1.5"))
            #expect(outcome.errors.contains("config.toml, line 3") && outcome.errors.contains("config.toml, line 6"))
            #expect(outcome.errors.contains("did you mean 'audio.sink'"))
            let wrong = try await house.dogear("settings", "playback.rate", "9")
            #expect(wrong.code == 64)
            #expect(wrong.errors.contains("0.5 to 3"))
            let doctor = try await house.dogear("doctor")
            #expect(doctor.output.contains("line 3"))

            for sink in ["bogussink", "audiotestsrc"] {
                let nowhere = try await house.dogear("settings", "audio.sink", sink)
                #expect(nowhere.code == 64 && nowhere.errors.contains(sink), "\(nowhere)")
            }
            let both = try await house.dogear("settings", "playback.rate", "2", "--default")
            #expect(both.code == 64 && both.errors.contains("not both"), "\(both)")
            let usual = try await house.done("settings", "playback.rate", "--default")
            #expect(usual.contains("playback.rate = 1\n"), "\(usual)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains("1.5") && text.contains("snik"), "\(text)")
        }
    }

    @Test func aStateFolderThatCannotBeWritten() async throws {
        try await House.with(extra: ["XDG_STATE_HOME": "HOME_/file/state"]) { house in
            try Sounds.write([], to: "\(house.home)/file")
            // The daemon plays without a log and without a journal; both are said.
            let outcome = try await house.dogear("status")
            #expect(outcome.code == 0)
            #expect(outcome.errors.contains("\(house.home)/file/state/dogear"))
            try await house.logIn()
            try await house.done("play", "tidebook")
            let status = try await house.status("on its way") { $0.position > 0.5 }
            #expect(status.error?.contains("XDG_STATE_HOME") == true, "\(status)")
            try await house.done("pause")
            try await house.progress("on its way") { ($0.currentTime ?? 0) > 0.5 }
            #expect(try await house.dogear("status").code == 0)
        }
    }

    @Test(arguments: [["status"], ["daemon"]]) func noSessionBus(_ arguments: [String]) async throws {
        try await House.with(keyring: .absent) { house in
            var environment = house.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = nil
            environment["XDG_RUNTIME_DIR"] = house.home
            let outcome = try await house.run(Child.built("dogear"), arguments, environment: environment)
            #expect(outcome.code == 1)
            #expect(outcome.errors.contains("session bus") && outcome.errors.contains("dbus-run-session"))
        }
    }

    /// The command line lets none of these through; the bus does.
    @Test func numbersThatMeanNothing() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("libraries", "--refresh")
            let calls: [(String, String, (String) -> [String])] = [
                ("Search", "si", { ["tide", $0] }), ("Continue", "i", { [$0] }), ("Latest", "ii", { [$0, $0] }),
                ("List", "ssii", { ["Books", "title", $0, $0] }), ("History", "si", { ["", $0] }),
                ("Stats", "i", { [$0] }), ("Logs", "si", { ["info", $0] }), ("QueueRemove", "i", { [$0] }),
                ("QueueMove", "ii", { [$0, $0] }), ("RemoveBookmark", "si", { ["tidebook", $0] }),
                ("RenameBookmark", "sis", { ["tidebook", $0, "title"] }),
            ]
            for (member, signature, arguments) in calls {
                for number in ["-2147483648", "-1", "0", "2147483647"] {
                    let address = ["org.dogear.Dogear", "/org/dogear/Dogear", "org.dogear.Dogear1", member, signature]
                    let outcome = try await house.run(
                        "busctl", ["--user", "call"] + address + ["--"] + arguments(number))
                    #expect(!outcome.errors.contains("disconnected"), "\(member) \(number): \(outcome)")
                }
            }
            #expect(kill(daemon.pid, 0) == 0)
        }
    }

    @Test(arguments: [PrivateBus.Keyring.absent, .locked, .neverUnlocked])
    func aKeyringThatKeepsNothing(_ keyring: PrivateBus.Keyring) async throws {
        try await House.with(keyring: keyring) { house in
            let daemon = try await house.daemon()
            let outcome = try await house.dogear(
                "login", house.address, "--user", House.user, "--password-stdin", input: House.password + "\n")
            #expect(outcome.code == 3)
            #expect(
                outcome.errors.contains("keyring") || outcome.errors.contains("Secret Service"), "\(outcome.errors)")
            #expect(try await house.done("accounts", "--json").contains("[]"))
            // What needs no login still plays.
            _ = try Library.all.get()
            try await house.done("play", "\(Sounds.folder)/e2e/hour/one.mp3")
            #expect(kill(daemon.pid, 0) == 0)
        }
    }

    @Test func aKeyringThatIsLockedLater() async throws {
        try await House.signedIn { house, daemon in
            try await house.bus.lock()
            daemon.send(SIGTERM)
            _ = await daemon.end()
            try await house.daemon()
            let outcome = try await house.dogear("list", "Books")
            #expect(outcome.code == 3)
            #expect(outcome.errors.contains("locked"), "\(outcome.errors)")
        }
    }
}
