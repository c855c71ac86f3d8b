import Control
import Foundation
import Listening
import StandIn
import Store
import TestSupport
import Testing

/// One listener, two devices: whoever is paused goes on where the other was, and no place is lost.
@Suite struct TwoDevicesTests {
    /// Playing, paused and told to the server. Returns where.
    private func playAndPause(_ house: House, at place: Int = 10) async throws -> Double {
        try await house.done("play", "tidebook", "--at", "\(place)")
        try await house.status("on its way") { $0.position > Double(place) + 1 }
        try await house.done("pause")
        return try await told(house)
    }

    private func told(_ house: House) async throws -> Double {
        let position = try await house.status().position
        try await house.progress("where it is paused") { abs(($0.currentTime ?? 0) - position) < 0.2 }
        return position
    }

    /// The live connection is up, and what happened before it has been asked for.
    private func isConnected(_ house: House) async {
        await house.server.waitForRequest { request in
            request.method == "GET" && request.path.hasSuffix("/api/me/progress/\(Library.book)")
        }
    }

    /// As another client of the same user would, a little later, outside of any session.
    private func goOnElsewhere(_ house: House, to seconds: Int, later: Int = 10_000, finished: Bool = false) {
        let later = Int(Date().timeIntervalSince1970 * 1000) + later
        var change: JSON = ["currentTime": .int(seconds), "duration": 100, "lastUpdate": .int(later)]
        if finished { change = ["isFinished": true, "lastUpdate": .int(later)] }
        house.server.setProgress(of: House.user, item: Library.book, change)
    }

    /// As a proxy that does not pass the live connection.
    private func cutOff(_ house: House) { house.server.fail(.notFound, path: "/socket.io", times: .max) }

    /// Paused, told, and the server asked whether another device was there, so that what it does next is later.
    private func playAndPauseCutOff(_ house: House) async throws -> Double {
        cutOff(house)
        let left = try await playAndPause(house)
        try await eventually("a look behind the last word") {
            let requests = house.server.requests
            let last = requests.lastIndex { $0.method == "POST" && $0.path.hasSuffix("/sync") }
            let look = requests.lastIndex {
                $0.method == "GET" && $0.path.hasSuffix("/api/me/progress/\(Library.book)")
            }
            return last ?? .max < look ?? 0 ? true : nil
        }
        return left
    }

    private func moves(_ house: House) async throws -> [Move] {
        try await Store.open(at: "\(house.state)/state.sqlite") { _ in }.moves()
    }

    /// The way back to a place that another device's took the place of. What is heard and told does not wait for the disk.
    private func isKept(
        _ place: Double, by causes: [Player.JumpCause] = [.device], in house: House
    ) async throws {
        try await eventually("\(place) to be kept") {
            try await moves(house).contains { causes.contains($0.cause) && abs($0.from.seconds - place) < 0.5 }
                ? true : nil
        }
    }

    @Test func whatWasHeardOnAnotherDeviceIsGoneOnWithOnANewOne() async throws {
        try await House.signedIn { house, _ in
            house.server.setProgress(of: House.user, item: Library.book, ["currentTime": 55, "duration": 100])
            try await house.done("play")
            let begun = try await house.status()
            #expect(begun.item?.title == "Tidebook" && (55..<75).contains(begun.position), "\(begun)")
        }
    }

    @Test func thePausedOneFollowsAtOnce() async throws {
        try await House.signedIn { first, _ in
            let left = try await playAndPause(first)
            await isConnected(first)
            try await first.withAnother { second in
                try await second.done("play", "tidebook")
                let begun = try await second.status("playing") { $0.state == .playing }
                #expect((left - 0.5..<left + 20).contains(begun.position), "\(left) became \(begun.position)")
                try await second.done("seek", "70")
                try await second.status("on its way") { $0.position > 73 }
                try await second.done("pause")
                let there = try await told(second)
                let here = try await first.status("where the other is") { abs($0.position - there) < 0.2 }
                #expect(here.state == .paused && here.chapter?.title == "Slack Water")
                try await isKept(left, in: first)
                // And on it goes, from there.
                try await first.done("play")
                try await first.status("on its way") { $0.state == .playing && $0.position > there + 0.5 }
                try await first.done("pause")
                let end = try await told(first)
                #expect(end > there && end < there + 20)
                let doctor = try await first.done("doctor")
                #expect(doctor.contains("tells at once what other devices do"))
            }
        }
    }

    /// As another client would that paused within the same second: the clocks cannot tell which came first.
    private func goOnAtOnce(_ house: House, to seconds: Int, finished: Bool = false) throws {
        let own = try #require(house.server.progress(of: House.user, item: Library.book)?.lastUpdate)
        house.server.setProgress(
            of: House.user, item: Library.book,
            [
                "currentTime": .int(seconds), "duration": 100, "isFinished": .bool(finished),
                "lastUpdate": .int(own + 400),
            ])
    }

    /// What a lost answer of the live connection said is not said again: its loss is a reason to ask.
    @Test func anotherDevicesWordThatIsLostIsAskedFor() async throws {
        try await House.signedIn { house, _ in
            let left = try await playAndPause(house)
            await isConnected(house)
            try await house.status("sent") { $0.unsent == 0 }
            let polls = { house.server.requests.count { $0.method == "GET" && $0.path.contains("/socket.io") } }
            let before = polls()
            house.server.fail(.dropAfter, method: "GET", path: "/socket.io")
            // Answers the poll that waits: the next one is the one whose answer is lost.
            house.server.setProgress(of: House.user, item: Library.files, ["currentTime": 3, "duration": 90])
            try await eventually("the next poll") { polls() > before ? true : nil }
            goOnElsewhere(house, to: 55)
            try await house.status("where the other is") { $0.position == 55 && $0.state == .paused }
            try await isKept(left, in: house)
        }
    }

    @Test func theOtherPausedAMomentLater() async throws {
        try await House.signedIn { house, _ in
            let left = try await playAndPause(house)
            await isConnected(house)
            try await house.status("sent") { $0.unsent == 0 }
            try goOnAtOnce(house, to: 55)
            try await house.status("where the other is") { $0.position == 55 && $0.state == .paused }
            try await isKept(left, in: house)
            // Stopped, with nobody to tell it.
            cutOff(house)
            house.server.restart()
            try await house.done("stop")
            try goOnAtOnce(house, to: 75)
            try await house.done("play")
            let there = try await house.status("playing") { $0.state == .playing }
            #expect((75..<95).contains(there.position), "\(there)")
        }
    }

    /// Which the server will know nothing of any more.
    @Test func whatPlaysKnowsWhereTheOtherIs() async throws {
        try await House.signedIn { first, _ in
            try await first.done("play", "tidebook")
            await isConnected(first)
            try await first.status("on its way") { $0.position > 1 }
            try await first.withAnother { second in
                let there = try await playAndPause(second, at: 60)
                try await isKept(there, in: first)
                let here = try await first.status()
                #expect(here.state == .playing && here.position < 50)
                try await first.done("undo")
                let back = try await first.status()
                #expect((there - 0.5..<there + 10).contains(back.position), "\(there) became \(back)")
            }
        }
    }

    @Test func whatPlaysKnowsWhatTheServerWasTold() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            await isConnected(house)
            try await house.status("on its way") { $0.position > 1 }
            goOnElsewhere(house, to: 70, later: 0)
            try await isKept(70, in: house)
            let here = try await house.status()
            #expect(here.state == .playing && here.position < 50)
        }
    }

    /// Whose first word afterwards would be the last that is known of the other.
    @Test(arguments: ["", "pause", "stop", "finish", "kill"]) func aServerThatWasAwayIsAskedBeforeItIsTold(
        _ meanwhile: String
    ) async throws {
        try await House.signedIn { house, daemon in
            cutOff(house)
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 1 }
            let outage = house.server.fail(.dropBefore, path: "/api/session/**", times: .max)
            let unsent = try await house.dogear("sync")
            #expect(unsent.code == 4, "\(unsent)")
            // What makes a record is dated by the server.
            for _ in 0..<2 { goOnElsewhere(house, to: 70, later: -10_000) }
            if meanwhile == "kill" {
                daemon.send(SIGKILL)
                _ = await daemon.end()
                house.server.clearFault(outage)
                try await house.daemon()
            } else {
                if !meanwhile.isEmpty { try await house.done(meanwhile) }
                house.server.clearFault(outage)
            }
            try await house.done("sync")
            try await isKept(70, in: house)
            try await house.progress("where it plays") { ($0.currentTime ?? 70) < 50 }
        }
    }

    /// Without the live connection, and within a minute, after which it would be asked before playing goes on.
    @Test func whoStandsGoesOnThereOnceTheServerHasAllOfIt() async throws {
        try await House.signedIn { house, _ in
            cutOff(house)
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 1 }
            let outage = house.server.fail(.dropBefore, path: "/api/**", times: .max)
            try await house.done("pause")
            let left = try await house.status("unsent") { $0.unsent > 0 }.position
            #expect(try await house.dogear("sync").code == 4)
            goOnElsewhere(house, to: 70)
            house.server.clearFault(outage)
            try await house.done("sync")
            try await house.status("where the other is") { $0.position == 70 && $0.state == .paused }
            try await isKept(left, in: house)
        }
    }

    /// Before the live connection is there, which would tell of the other.
    @Test(arguments: [false, true]) func whoIsQuickerThanTheLiveConnectionLosesNothing(
        isRestart: Bool
    ) async throws {
        try await House.signedIn { house, _ in
            _ = try await playAndPause(house)
            cutOff(house)
            house.server.restart()
            goOnElsewhere(house, to: 70, later: 0)
            if isRestart { try await house.done("restart") } else { try await house.done("seek", "40") }
            // It may have been told of the other's before all the same: then it was there that this led away from.
            try await isKept(70, by: [.device, isRestart ? .restart : .seek], in: house)
            try await house.progress("as was said") { $0.currentTime == (isRestart ? 0 : 40) }
        }
    }

    @Test func aCommandThatAnotherDeviceOutdidIsSaidToBeGivenUp() async throws {
        try await House.signedIn { house, _ in
            _ = try await playAndPauseCutOff(house)
            let outage = house.server.fail(.dropBefore, path: "/api/me/progress/**", times: .max)
            try await house.done("finish")
            goOnElsewhere(house, to: 70, later: 60_000)
            house.server.clearFault(outage)
            let report = try await house.report(SyncReport.self, "sync")
            #expect(report.rows.map(\.outcome) == [.outdone], "\(report)")
            try await house.progress("as the other left it") { $0.currentTime == 70 && !$0.isFinished }
        }
    }

    /// The listener's last word holds, and what they did elsewhere before it can be gone back to.
    @Test(arguments: ["restart", "finish"]) func aCommandThatComesLatePutsNoPlaceAsideForGood(
        _ command: String
    ) async throws {
        try await House.signedIn { house, _ in
            let left = try await playAndPauseCutOff(house)
            let outage = house.server.fail(.dropBefore, path: "/api/me/progress/**", times: .max)
            try await house.done(command)
            goOnElsewhere(house, to: 70, later: -10_000)
            house.server.clearFault(outage)
            try await house.done("sync")
            try await isKept(70, in: house)
            try await house.progress("as was said") { $0.currentTime == 0 || $0.isFinished == true }
            try await house.done("undo")
            try await house.status("where the other was") { $0.position == 70 }
            try await house.done("undo")
            try await house.status("where it was") { abs($0.position - left) < 0.5 }
        }
    }

    /// Next leads to what was never heard.
    private func stopBeforeThreeRooms(_ house: House) async throws {
        try await house.done("play", "tidebook")
        await isConnected(house)
        try await house.done("queue", "add", "three rooms")
        try await house.done("settings", "playback.next", "queue")
        try await house.done("stop")
    }

    /// Nothing of it is in the journal: another device's place is the only one there is.
    @Test(arguments: [false, true]) func whatIsGoneToWithoutPlayingIsWhereTheOtherLeftIt(
        _ isAway: Bool
    ) async throws {
        try await House.signedIn { house, _ in
            try await stopBeforeThreeRooms(house)
            if isAway {
                cutOff(house)
                house.server.fail(.serverError, method: "GET", path: "/api/me/progress/*", times: .max)
                house.server.restart()
            }
            let there: JSON = ["currentTime": 21, "duration": 60]
            house.server.setProgress(of: House.user, item: Library.files, there)
            try await house.playerctl("next")
            try await house.status("gone to") {
                $0.item?.title == "Three Rooms" && $0.state == .stopped && $0.position == (isAway ? 0 : 21)
            }
            try await house.done("play")
            let playing = try await house.status("playing") { $0.state == .playing }
            #expect((21..<60).contains(playing.position), "\(playing)")
            try await house.done("pause")
            try await house.progress("where it is", of: Library.files) { ($0.currentTime ?? 0) >= 21 }
            let moves = try await moves(house)
            #expect(!moves.contains { $0.cause == .device }, "\(moves)")
        }
    }

    /// And one that moves there while it stands here.
    @Test func whatStandsUnheardFollowsTheOther() async throws {
        try await House.signedIn { house, _ in
            try await stopBeforeThreeRooms(house)
            try await house.playerctl("next")
            try await house.status("gone to") { $0.item?.title == "Three Rooms" && $0.state == .stopped }
            house.server.setProgress(
                of: House.user, item: Library.files, ["currentTime": 23, "duration": 60])
            try await house.status("where the other is") { $0.position == 23 && $0.state == .stopped }
        }
    }

    /// The length of the pause is what is tested; nothing is waited for.
    private func pauseForLong() async throws { try await Task.sleep(for: .seconds(61)) }

    @Test func afterALongPauseItAsksFirst() async throws {
        try await House.signedIn { house, _ in
            let left = try await playAndPauseCutOff(house)
            goOnElsewhere(house, to: 55)
            try await pauseForLong()
            #expect(abs(try await house.status().position - left) < 0.1)
            try await house.done("play")
            let there = try await house.status("playing") { $0.state == .playing }
            #expect((55..<75).contains(there.position))
            try await isKept(left, in: house)
            try await house.done("pause")
            #expect(try await told(house) >= 55)
        }
    }

    @Test func aServerThatSaysNothingIsNotWaitedFor() async throws {
        try await House.signedIn(extra: House.hasty) { house, _ in
            let left = try await playAndPauseCutOff(house)
            goOnElsewhere(house, to: 55)
            let gate = StandInGate()
            house.server.fail(.hold(gate), method: "GET", path: "/api/me/progress/*", times: .max)
            try await pauseForLong()
            try await house.playerctl("play")
            #expect(try await house.playerctl("status") == "Playing")
            await gate.waitForArrivals()
            let own = try await house.status("on its way") { $0.state == .playing && $0.position > left + 0.5 }
            #expect(own.position < 50)
            gate.release()
            try await isKept(55, in: house)
            #expect(try await house.status().position < 50)
        }
    }

    @Test func theStoppedOneGoesOnThere() async throws {
        try await House.signedIn { house, _ in
            let left = try await playAndPauseCutOff(house)
            try await house.done("stop")
            goOnElsewhere(house, to: 55)
            try await house.done("play")
            let there = try await house.status("playing") { $0.state == .playing }
            #expect((55..<75).contains(there.position))
            try await isKept(left, in: house)
        }
    }

    @Test(arguments: [SIGTERM, SIGKILL]) func whoLeavesWhilePausedTakesNothingBack(signal: Int32) async throws {
        try await House.signedIn { house, daemon in
            let left = try await playAndPauseCutOff(house)
            goOnElsewhere(house, to: 55)
            daemon.send(signal)
            _ = await daemon.end()
            #expect(house.server.progress(of: House.user, item: Library.book)?.currentTime == 55)
            try await house.daemon()
            #expect(abs(try await house.status().position - left) < 1)
            try await house.done("play")
            let there = try await house.status("playing") { $0.state == .playing }
            #expect((55..<75).contains(there.position))
            try await isKept(left, in: house)
        }
    }

    @Test func aDaemonThatStartsLearnsWhatItMissed() async throws {
        try await House.signedIn { house, daemon in
            let left = try await playAndPause(house)
            daemon.send(SIGTERM)
            _ = await daemon.end()
            goOnElsewhere(house, to: 55)
            try await house.daemon()
            let here = try await house.status("where the other was") { $0.position == 55 }
            #expect(here.state == .paused)
            try await isKept(left, in: house)
        }
    }

    @Test func whatIsFinishedElsewhereIsNotGoneOnWith() async throws {
        try await House.signedIn { house, _ in
            _ = try await playAndPause(house)
            await isConnected(house)
            goOnElsewhere(house, to: 100, finished: true)
            try await house.status("stopped") { $0.state == .stopped && $0.position == 0 }
            #expect(house.server.progress(of: House.user, item: Library.book)?.isFinished == true)
            try await eventually("no open session") { house.server.openSessions(of: House.user).isEmpty ? true : nil }
            try await house.done("play")
            let again = try await house.status("playing") { $0.state == .playing }
            #expect(again.position < 20)
        }
    }

    /// While another item is loaded: one of the same server, so that it is told of, or a file, so that whoever names the item
    /// is the first to learn of it.
    @Test(arguments: [false, true], [false, true]) func whatIsMovedElsewhereWhileSomethingElseIsLoadedCanBeUndone(
        isTold: Bool, isFinished: Bool
    ) async throws {
        try await House.signedIn { house, _ in
            let left = try await playAndPause(house)
            try await house.status("sent") { $0.unsent == 0 }
            if isTold {
                try await house.done("play", "three rooms")
            } else {
                try await house.done("play", try Sounds.tone("beside.m4b", seconds: 100))
            }
            // So long that nobody's clock is in doubt.
            try await house.status("a while later") { $0.item?.title != "Tidebook" && $0.position > 4 }
            let now = Int(Date().timeIntervalSince1970 * 1000)
            house.server.setProgress(
                of: House.user, item: Library.book,
                [
                    "currentTime": .int(isFinished ? 100 : 55), "duration": 100, "isFinished": .bool(isFinished),
                    "lastUpdate": .int(now),
                ])
            if isTold { try await isKept(left, in: house) }
            try await house.done("undo", "tidebook")
            try await house.progress("where it was left") {
                abs(($0.currentTime ?? 0) - left) < 0.5 && $0.isFinished != true
            }
            try await isKept(left, in: house)
        }
    }

    /// Where another device left it is not where the listener left it here: there is no way back to that, today or tomorrow.
    @Test func onlyAPlaceOfOursIsKeptForUndo() async throws {
        try await House.signedIn { house, daemon in
            let left = try await playAndPause(house)
            try await house.status("sent") { $0.unsent == 0 }
            try await house.done("play", "three rooms")
            try await house.status("a while later") { $0.item?.title != "Tidebook" && $0.position > 4 }
            try await house.done("pause")
            try await isTaken(55, in: house)
            try await isTaken(65, in: house)
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            try await house.daemon()
            try await isTaken(75, in: house)
            let kept = try await moves(house).filter { $0.cause == .device }
            #expect(kept.count == 1 && abs((kept.first?.from.seconds ?? 0) - left) < 0.5, "\(kept)")
        }
    }

    /// From another device, while something else is loaded. Said until it is heard: the live connection may not be up.
    private func isTaken(_ place: Int, in house: House) async throws {
        try await eventually("\(place) to be known") {
            goOnElsewhere(house, to: place, later: place * 1000)
            let store = try Store.open(at: "\(house.state)/state.sqlite") { _ in }
            return try await store.recentPlaces(limit: 9).contains {
                $0.item.description.hasSuffix(Library.book) && $0.position == .seconds(Double(place))
            } ? true : nil
        }
    }

    @Test func whatIsFinishedAMomentAfterItWasPausedThereIsFinished() async throws {
        try await House.signedIn { house, _ in
            _ = try await playAndPause(house)
            await isConnected(house)
            try await house.status("sent") { $0.unsent == 0 }
            try goOnAtOnce(house, to: 55)
            try await house.status("where the other is") { $0.position == 55 && $0.state == .paused }
            try goOnAtOnce(house, to: 55, finished: true)
            try await house.status("stopped") { $0.state == .stopped && $0.position == 0 }
            #expect(house.server.progress(of: House.user, item: Library.book)?.isFinished == true)
        }
    }

    @Test func ourOwnEchoMovesNothing() async throws {
        try await House.signedIn { house, _ in
            _ = try await playAndPause(house, at: 40)
            await isConnected(house)
            // A rewind is the listener's word, whatever was further.
            try await house.done("seek", "5")
            #expect(try await told(house) == 5)
            try await house.done("finish")
            try await house.done("unfinish")
            try await house.done("play", "--at", "20")
            try await house.status("on its way") { $0.position > 21 }
            try await house.done("stop")
            try await house.progress("where it stopped") { ($0.currentTime ?? 0) > 21 }
            let moves = try await moves(house)
            guard moves.allSatisfy({ $0.cause != .device }) else { throw TestFailure("\(moves)") }
        }
    }

    @Test func aRestartedServerIsAskedWhatWasMissed() async throws {
        try await House.signedIn { house, _ in
            let left = try await playAndPause(house)
            await isConnected(house)
            // The event goes to a connection that the server no longer has.
            house.server.restart()
            goOnElsewhere(house, to: 55)
            try await house.status("where the other was") { $0.position == 55 }
            try await isKept(left, in: house)
        }
    }

    @Test func anAPIKeyIsToldOnceThatItCannotListen() async throws {
        try await House.with { house in
            try await house.daemon()
            let key = house.server.makeAPIKey(for: House.user)
            try await house.done("login", house.address, "--api-key-stdin", input: key + "\n")
            _ = try await playAndPause(house)
            try await eventually("a doctor who says so") {
                try await house.done("doctor").contains("does not offer them to this login") ? true : nil
            }
            let tries = house.server.requests.filter { String(decoding: $0.body, as: UTF8.self).contains("\"auth\"") }
            #expect(tries.count == 1)
        }
    }
}
