import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// What playerctl and the commands do, and what the server then knows.
@Suite struct PlayingTests {
    /// The item is on the server, its audio is not.
    @Test(arguments: [true, false]) func whatCannotBePlayedAfterAllStopsNothing(plays: Bool) async throws {
        try await House.signedIn { house, _ in
            let path = "\(Sounds.folder)/e2e/hour/one.mp3"
            try await house.done("queue", "add", "three rooms")
            try await house.done("play", path, "--at", "10")
            if !plays { try await house.done("pause") }
            // Where the session does not give it, the item is asked for it.
            for path in ["/public/**", "/api/items/*/file/*"] {
                house.server.fail(.status(404, body: "Not Found"), path: path, times: .max)
            }
            let outcome = try await house.dogear("play", "tidebook", "--at", "40")
            #expect(outcome.code == 1 && outcome.errors.contains("no longer there"), "\(outcome)")
            let back = try await house.status("back") {
                $0.item?.kind == "file" && $0.state == (plays ? .playing : .paused)
            }
            #expect((9.5...30).contains(back.position) && back.queued == 1, "\(back)")
            try await eventually("the desktop to see it") {
                try await house.playerctl("metadata", "xesam:title") == "one" ? true : nil
            }
            // And where nothing was on, it is told why nothing is.
            try await house.done("stop")
            #expect(try await house.dogear("play", "tidebook").code == 1)
            let none = try await house.status()
            #expect(none.state == .paused && none.error?.contains("no longer there") == true, "\(none)")
        }
    }

    @Test func aBookIsSteeredFromTheDesktop() async throws {
        try await House.signedIn { house, _ in
            let playing = try await house.report(StatusReport.self, "play", "tidebook")
            #expect(playing.state == .playing)
            #expect(playing.item?.title == "Tidebook")
            let status = try house.follow("status")
            try await status.first("Playing") { $0 == "Playing" }
            let titles = try house.follow("metadata", "xesam:title")
            try await titles.first("the first chapter") { $0 == "The Ebb" }

            try await house.playerctl("next")
            try await titles.first("the second chapter") { $0 == "The Flood" }
            try await house.progress("in the second chapter") { ($0.currentTime ?? 0) >= 30 }
            try await house.playerctl("position", "10")
            let seeked = try await house.status("beyond 40 s") { $0.position >= 40 }
            #expect(seeked.chapter?.index == 2 && seeked.chapters == 3)
            #expect(seeked.position < 60)

            let mark = status.count
            try await house.playerctl("pause")
            try await status.first(from: mark, "Paused") { $0 == "Paused" }
            let paused = try await house.status()
            #expect(paused.state == .paused)
            try await house.progress("where it was paused") { abs(($0.currentTime ?? 0) - paused.position) < 1 }
            let position = try #require(Double(try await house.playerctl("position")))
            #expect(abs(position - (paused.position - 30)) < 0.01)
            #expect(try await house.status().position == paused.position)

            try await house.playerctl("previous")
            try await house.status("the start of the second chapter") { $0.position == 30 }
            try await house.playerctl("previous")
            try await house.status("the start of the first chapter") { $0.position == 0 }
            try await house.playerctl("volume", "0.25")
            #expect(try await house.status().volume == 0.25)
            try await house.playerctl("play-pause")
            try await house.status("playing") { $0.state == .playing }
            try await house.playerctl("stop")
            let stopped = try await house.status("stopped") { $0.state == .stopped }
            #expect(stopped.item?.title == "Tidebook")
            try await eventually("no open session") { house.server.openSessions(of: House.user).isEmpty ? true : nil }
            try await house.playerctl("play")
            try await house.status("playing again") { $0.state == .playing }
        }
    }

    /// A key that is held down starts a command for each of its presses.
    @Test func changesSideBySideAllCount() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.done("pause")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (what, change) in [("volume", "-10%"), ("speed", "+0.1")] {
                    for _ in 1...4 { group.addTask { _ = try await house.done(what, change) } }
                }
                try await group.waitForAll()
            }
            let status = try await house.status()
            #expect(status.volume == 0.6 && status.rate == 1.4, "\(status)")
            for (method, number) in [("Speed", "0"), ("Speed", "nan"), ("Volume", "-0.1"), ("ChangeVolume", "9")] {
                let refused = try await house.run(
                    "busctl",
                    [
                        "--user", "call", ControlName.bus, ControlName.path, ControlName.interface, method, "d", "--",
                        number,
                    ])
                #expect(refused.code != 0 && refused.errors.contains("goes from"), "\(refused)")
            }
            let still = try await house.status()
            #expect(still.volume == 0.6 && still.rate == 1.4 && still.state == .paused, "\(still)")
        }
    }

    @Test func theHistoryHasTheTimeThatWasPlayed() async throws {
        try await House.signedIn { house, _ in
            let begun = ContinuousClock.now
            try await house.done("play", "tidebook")
            let began = ContinuousClock.now
            try await house.status("beyond two seconds") { $0.position > 2 }
            let before = ContinuousClock.now
            try await house.done("pause")
            let most = seconds(ContinuousClock.now - begun) + 0.5
            let least = min(2, seconds(before - began))
            try await house.progress("beyond two seconds") { ($0.currentTime ?? 0) > 2 }
            #expect(house.listened <= most && house.listened >= least - 0.1, "\(least)…\(most): \(house.listened)")
            // A jump is not listened to.
            try await house.done("seek", "50%")
            try await house.progress("half way") { abs(($0.currentTime ?? 0) - 50) < 0.1 }
            #expect(house.listened <= most)
        }
    }

    @Test func theRealEndFinishesABook() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "98.5")
            try await house.progress("finished") { $0.isFinished }
            try await house.status("over") { $0.state != .playing }
            let status = try await house.status("sent") { $0.unsent == 0 }
            #expect(status.error == nil)
            // Playing it again begins at its beginning.
            try await house.done("play")
            #expect(try await house.status().position < 10)
        }
    }

    @Test func threeFilesAreOneBook() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "three rooms", "--at", "19")
            let status = try house.follow("metadata", "xesam:title")
            try await status.first("the second file") { $0 == "02" }
            let second = try await house.status("in the second file") { $0.position > 20.5 }
            #expect(second.state == .playing && second.duration == 60 && second.chapter?.index == 2)
            try await house.playerctl("next")
            try await status.first("the third file") { $0 == "03" }
            try await house.status("in the third file") { $0.position > 40.2 && $0.state == .playing }
            try await house.done("pause")
            let there = try await house.status().position
            try await house.done("seek", "-25")
            try await house.status("in the first file") { abs($0.position - (there - 25)) < 0.1 }
            try await house.progress("there too", of: Library.files) {
                abs(($0.currentTime ?? 0) - (there - 25)) < 0.5
            }
            try await house.done("play")
            try await house.status("on its way") { $0.state == .playing && $0.position > there - 24.5 }
        }
    }

    /// A short file from near by has come in whole before anything looks for its end.
    @Test func anOpusStreamIsOpenedInItsMiddle() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "three rooms", "--at", "25")
            try await house.status("in the second file") { (25.3..<39).contains($0.position) && $0.state == .playing }
            try await house.done("seek", "32")
            try await house.status("further on in it") { (32.3..<40).contains($0.position) && $0.state == .playing }
        }
    }

    @Test func anEpisodeKeepsItsPlace() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "echoes", "--at", "12")
            let status = try await house.status("on its way") { $0.position > 12.3 }
            #expect(status.item?.kind == "episode" && status.item?.podcast == "The Loopback Hour")
            #expect(try await house.playerctl("metadata", "xesam:album") == "The Loopback Hour")
            #expect(try await house.playerctl("metadata", "xesam:title") == "Echoes")
            try await house.done("pause")
            try await house.progress("beyond 12 s", of: Library.podcast, episode: Library.episode) {
                ($0.currentTime ?? 0) > 12
            }
        }
    }

    @Test func finishUnfinishAndRestartReachTheServer() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "40")
            try await house.status("on its way") { $0.position > 40.2 }
            try await house.done("pause")
            try await house.done("finish", "tidebook")
            try await house.progress("finished") { $0.isFinished }
            try await house.done("unfinish", "tidebook")
            try await house.progress("where it was") { !$0.isFinished && (40..<60).contains($0.currentTime ?? 0) }
            try await house.done("restart", "tidebook")
            try await house.progress("at the start") { !$0.isFinished && $0.currentTime == 0 }
            try await house.done("play")
            #expect(try await house.status().position < 20)
        }
    }

    @Test func aFinishOfWhatWasNeverBegunIsTakenBack() async throws {
        try await House.signedIn { house, _ in
            try await house.done("finish", "tidebook")
            try await house.progress("finished") { $0.isFinished }
            let undone = try await house.report(UndoReport.self, "undo", "tidebook")
            #expect(undone.position == 0)
            try await house.progress("as it was") { !$0.isFinished && $0.currentTime ?? 0 == 0 }
            let more = try await house.dogear("undo", "tidebook")
            #expect(more.code != 0 && more.errors.contains("nothing to undo"), "\(more)")
        }
    }

    @Test func whatCannotBeHeardIsRefused() async throws {
        try await House.signedIn { house, daemon in
            let paper = try await house.dogear("play", "paper only")
            #expect(paper.code == 1)
            #expect(paper.errors.contains("only an e-book"))
            #expect(try await house.status().state == .empty)
            #expect(kill(daemon.pid, 0) == 0)
        }
    }

    /// Whoever names a podcast means what they would hear next of it.
    @Test func ofAPodcastTheNextEpisodePlays() async throws {
        try await House.signedIn { house, _ in
            house.server.setProgress(
                of: House.user, item: Library.podcast, episode: Library.episode, ["currentTime": 11, "duration": 40])
            try await house.done("play", "loopback hour")
            let status = try await house.status("playing the episode") { $0.state == .playing && $0.position >= 11 }
            #expect(status.item?.kind == "episode" && status.item?.podcast == "The Loopback Hour")
            try await house.done("finish")
            let heard = try await house.dogear("play", "loopback hour")
            #expect(heard.code == 1 && heard.errors.contains("is heard to its end"), "\(heard)")
        }
    }
}

func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
