import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// The place is kept whatever happens to the daemon, the bus and the server.
@Suite struct PlaceTests {
    @Test func aKilledDaemonGoesOnWhereItWas() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook", "--at", "31")
            try await house.status("on its way") { $0.position > 33 }
            let last = try await house.status().position
            daemon.send(SIGKILL)
            #expect(await daemon.end() == -SIGKILL)

            // Started by the command, and what it asks is answered from the journal.
            let back = try await house.report(StatusReport.self, "status")
            #expect(back.state == .paused && back.item?.title == "Tidebook")
            #expect((last - 1.1..<last + 5).contains(back.position), "\(last) became \(back.position)")
            #expect(try await house.playerctl("status") == "Paused")
            try await house.playerctl("play")
            let again = try await house.status("playing") { $0.state == .playing }
            #expect((back.position - 0.5..<back.position + 10).contains(again.position))
            // What the killed one had not sent yet, and nothing twice.
            try await house.done("pause")
            try await eventually("nothing unsent") { try await house.status().unsent == 0 ? true : nil }
            #expect(house.listened < 30)
            #expect(house.listened > 1.5)
        }
    }

    @Test func playAloneGoesOnAfterAKill() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "three rooms", "--at", "42")
            try await house.status("on its way") { $0.position > 43.5 }
            let last = try await house.status().position
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            let report = try await house.report(StatusReport.self, "play")
            #expect(report.state == .playing)
            #expect((last - 1.1..<last + 5).contains(report.position), "\(last) became \(report.position)")
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func askedToLeaveItTellsTheServer(_ signal: Int32) async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook", "--at", "5")
            try await house.status("on its way") { $0.position > 6 }
            let last = try await house.status().position
            let asked = ContinuousClock.now
            daemon.send(signal)
            #expect(await daemon.end() == 0)
            #expect(ContinuousClock.now - asked < .seconds(10 * Sanitizer.patience))
            let place = try #require(house.server.progress(of: House.user, item: Library.book)?.currentTime)
            #expect(place >= last - 0.1 && place < last + 5, "\(last), \(place) on the server")
            #expect(house.server.openSessions(of: House.user).isEmpty)
        }
    }

    @Test func aServerThatHangsDoesNotHoldTheDaemonUp() async throws {
        try await House.signedIn(extra: House.hasty) { house, daemon in
            try await house.done("play", "tidebook", "--at", "5")
            try await house.status("on its way") { $0.position > 6 }
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/api/session/**", times: .max)
            let last = try await house.status().position
            let asked = ContinuousClock.now
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            #expect(ContinuousClock.now - asked < .seconds(10 * Sanitizer.patience))
            gate.release()
            house.server.clearFaults()
            let back = try await house.status()
            #expect(back.position >= last - 0.1 && back.position < last + 5)
            try await house.progress("where it left") { abs(($0.currentTime ?? 0) - back.position) < 0.5 }
            try await eventually("nothing unsent") { try await house.status().unsent == 0 ? true : nil }
            #expect(house.listened < 10)
        }
    }

    /// What is asked for is shown while its server takes its time; who stops or pauses meanwhile means that too.
    @Test(arguments: ["stop", "pause", ""]) func whatIsOnItsWayIsToldAndCanBeStopped(_ command: String) async throws {
        try await House.signedIn(extra: House.hasty) { house, _ in
            try await house.done("play", "three rooms", "--at", "7")
            try await house.done("stop")
            try await house.progress("told", of: Library.files) { ($0.currentTime ?? 0) >= 7 }
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/api/items/**", times: .max)
            async let played = house.dogear("play", "tidebook")
            let told = try await house.status("told") { $0.opening == "Tidebook" }
            #expect(told.item?.title == "Three Rooms" && told.state == .stopped)
            if !command.isEmpty { try await house.done(command) }
            house.server.clearFaults()
            gate.release()
            let result = try await played
            let after = try await house.status("opened") { $0.opening == nil && $0.state != .buffering }
            switch command {
            case "stop":
                #expect(result.code == 1 && result.errors.contains("something else"), "\(result)")
                #expect(after.item?.title == "Three Rooms" && after.state == .stopped)
            case "pause": #expect(after.item?.title == "Tidebook" && after.state == .paused, "\(result)")
            default: #expect(after.item?.title == "Tidebook" && after.state == .playing, "\(result)")
            }
        }
    }

    @Test func whoWaitsIsToldOfTheEnd() async throws {
        try await House.signedIn(extra: House.hasty) { house, daemon in
            try await house.done("play", "three rooms", "--at", "7")
            let gate = StandInGate()
            defer { gate.release() }
            house.server.fail(.hold(gate), path: "/api/items/**", times: .max)
            async let played = house.dogear("play", "tidebook")
            try await house.status("told") { $0.opening == "Tidebook" }
            kill(daemon.pid, SIGTERM)
            let result = try await played
            #expect(result.code == 1 && result.errors.contains("asked to quit"), "\(result)")
        }
    }

    @Test func aSecondDaemonSaysThatOneRuns() async throws {
        try await House.with(keyring: .absent) { house in
            let first = try await house.daemon()
            let second = try await house.dogear("daemon")
            #expect(second.code == 1)
            #expect(second.errors.contains("already runs"))
            #expect(kill(first.pid, 0) == 0)
        }
    }

    /// Each would write over what the other heard.
    @Test(arguments: [false, true]) func aDaemonOfAnotherSessionLeavesTheJournalAlone(isRemoved: Bool) async throws {
        try await House.with(keyring: .absent) { house in
            try await house.daemon()
            try await house.done("play", "\(Sounds.folder)/e2e/hour/one.mp3", "--at", "10")
            if isRemoved { try FileManager.default.removeItem(atPath: house.state) }
            let bus = try await PrivateBus(keyring: .absent)
            let elsewhere = house.environment.merging(["DBUS_SESSION_BUS_ADDRESS": bus.address]) { $1 }
            let second = try await house.run(Child.built("dogear"), ["daemon"], environment: elsewhere)
            #expect(second.code == 1 && second.errors.contains("another session"), "\(second)")
            #expect(second.errors.contains("--profile"))
            // The same from a command that starts it.
            let asked = try await house.run(Child.built("dogear"), ["status"], environment: elsewhere)
            #expect(asked.code == 1 && asked.errors.contains("another session"), "\(asked)")
            // Who leaves makes room for the next.
            try await house.kill()
            let third = try await house.run(Child.built("dogear"), ["status"], environment: elsewhere)
            // On a busy machine it has played for a while by then.
            #expect(third.code == 0 && third.output.contains(/0:[1-3]\d of 0:40/), "\(third)")
            await bus.stop()
        }
    }

    @Test func aLostBusEndsTheDaemonWithTheReason() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 1 }
            house.bus.cut()
            #expect(await daemon.end() == 1)
            let log = try String(contentsOfFile: house.log, encoding: .utf8)
            #expect(log.contains("leaving") && log.contains("bus"), "\(log)")
            // The server was told all the same.
            let place = try #require(house.server.progress(of: House.user, item: Library.book)?.currentTime)
            #expect(place > 1)
        }
    }

    @Test func whatAServerMissedIsDeliveredOnce() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.status("beyond 1.5 s") { $0.position > 1.5 }
            await house.server.stop()
            let begun = ContinuousClock.now
            try await house.done("pause")
            let paused = try await house.status("unsent") { $0.unsent == 1 }
            #expect(paused.state == .paused)
            _ = try await house.server.start()
            try await house.status("sent") { $0.unsent == 0 }
            let known = try #require(house.server.progress(of: House.user, item: Library.book)?.currentTime)
            #expect(abs(known - paused.position) < 0.5)
            let sum = house.listened
            #expect(sum > 1 && sum < paused.position + seconds(ContinuousClock.now - begun) + 1)
            // Going on and pausing again adds what was played since, not what was sent before.
            try await house.done("play")
            let going = try await house.status("further on") { $0.position > paused.position + 1 }
            try await house.done("pause")
            try await house.progress("further on") { ($0.currentTime ?? 0) >= going.position }
            try await house.status("sent again") { $0.unsent == 0 }
            let more = try await house.status().position - paused.position
            #expect(abs(house.listened - sum - more) < 1, "\(sum) and \(more) became \(house.listened)")
        }
    }

    @Test(arguments: ["sync", "close"]) func aLostAnswerCountsNothingTwice(_ request: String) async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.status("beyond 2 s") { $0.position > 2 }
            house.server.fail(.dropAfter, method: "POST", path: "/api/session/*/\(request)")
            try await house.done("stop")
            let stopped = try await house.status("sent") { $0.state == .stopped && $0.unsent == 0 }
            try await house.progress("where it stopped") { abs(($0.currentTime ?? 0) - stopped.position) < 0.5 }
            try await eventually("no open session") { house.server.openSessions(of: House.user).isEmpty ? true : nil }
            #expect(abs(house.listened - stopped.position) < 1.5, "\(stopped.position) became \(house.listened)")
            #expect(house.server.history(of: House.user).count == 1)
        }
    }

    @Test func aRestartedServerLosesNothing() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.status("beyond 2 s") { $0.position > 2 }
            house.server.restart()
            try await house.done("pause")
            let paused = try await house.status("sent") { $0.unsent == 0 && $0.state == .paused }
            try await house.progress("where it was paused") { abs(($0.currentTime ?? 0) - paused.position) < 0.5 }
            #expect(abs(house.listened - paused.position) < 1.5)
            try await house.done("play")
            try await house.status("on its way") { $0.position > paused.position + 0.5 && $0.state == .playing }
        }
    }
}
