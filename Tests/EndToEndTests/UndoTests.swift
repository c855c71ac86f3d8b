import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// The way back after a jump, another device's place, and a mark set by mistake.
@Suite struct UndoTests {
    private func moves(_ house: House) async throws -> [MovesReport.Row] {
        try await house.report(MovesReport.self, "undo", "--list")
            .moves
    }

    @Test func jumpsAreTakenBackOneAfterTheOther() async throws {
        try await House.signedIn { house, _ in
            let nothing = try await house.dogear("undo")
            #expect(nothing.code == 2 && nothing.errors.contains("nothing is loaded"), "\(nothing)")
            try await house.done("play", "tidebook", "--at", "20")
            try await house.done("pause")
            let first = try await house.status().position
            try await house.done("seek", "chapter:2")
            try await house.playerctl("next")
            try await house.status("in the third chapter") { $0.position == 60 }

            let report = try await house.report(UndoReport.self, "undo")
            #expect(report.position == 30 && report.from == 60 && report.undone.cause == "chapter")
            try await house.status("back in the second chapter") { $0.position == 30 }
            try await house.progress("back in the second chapter") { $0.currentTime == 30 }
            try await house.done("undo")
            try await house.status("where it was paused") { abs($0.position - first) < 0.01 }
            try await house.done("undo")
            try await house.status("where it began") { $0.position == 0 }
            let over = try await house.dogear("undo")
            #expect(over.code == 2 && over.errors.contains("nothing to undo for 'Tidebook'"))
            let list = try await moves(house)
            #expect(list.map(\.cause) == ["undo", "undo", "undo", "chapter", "seek", "begin"])
            #expect(list.map(\.undone) == [false, false, false, true, true, true])
            #expect(list.allSatisfy { $0.item.title == "Tidebook" })
            #expect(try await house.done("undo", "--list").split(separator: "\n").count == 6)
            try await house.done("play", "three rooms", "--at", "20")
            #expect(try await moves(house).count == 7)
            for (title, count) in ["tidebook": 6, "three rooms": 1, "echoes": 0] {
                let report = try await house.report(MovesReport.self, "undo", "--list", title)
                #expect(report.moves.count == count, "\(title)")
            }
        }
    }

    /// A key that is pressed by mistake, where a book has come to its end.
    @Test func whatWasFinishedIsFinishedAgain() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "40")
            try await house.status("on its way") { $0.position > 40.2 }
            try await house.done("finish")
            let place = try await house.status("finished") { $0.finished == true && $0.state == .stopped }.position
            #expect(try await house.done("status").hasPrefix("Finished  Tidebook"))
            for isLoaded in [true, false] {
                if isLoaded { try await house.done("seek", "+30") } else { try await house.done("next") }
                try await house.progress("not finished any more") { !$0.isFinished }
                #expect(try await house.status().finished == false)
                if !isLoaded { try await house.done("play", "loopback hour") }
                let back = try await house.report(UndoReport.self, "undo", "tidebook")
                #expect(back.finished == true && back.undone.cause == "unfinish" && abs(back.position - place) < 0.01)
                try await house.progress("finished again") { $0.isFinished }
            }
            #expect(try await house.status().item?.title != "Tidebook")
        }
    }

    @Test func anotherDevicesPlaceIsGivenBackForGood() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook", "--at", "20")
            try await house.status("on its way") { $0.position > 20.5 }
            try await house.done("stop")
            let own = try await house.status("sent") { $0.unsent == 0 && $0.state == .stopped }.position
            try await eventually("no open session") { house.server.openSessions(of: House.user).isEmpty ? true : nil }
            let now = Int(Date().timeIntervalSince1970 * 1000)
            house.server.setProgress(
                of: House.user, item: Library.book,
                ["currentTime": 80, "duration": 100, "lastUpdate": .int(now + 9000)])
            try await house.done("play")
            try await house.status("at the other device's place") { $0.position >= 80 }
            try await house.done("stop")
            #expect(try await moves(house).first?.cause == "device")

            // Stopped, and through a restart: the way back is known, and the server is told.
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            try await house.done("undo")
            try await house.status("back") { abs($0.position - own) < 0.1 && $0.state == .stopped }
            try await house.progress("back") { abs(($0.currentTime ?? 0) - own) < 0.1 }
            try await house.done("play")
            let playing = try await house.status("playing") { $0.state == .playing }
            #expect((own - 0.1..<own + 15).contains(playing.position))
        }
    }

    @Test func aFinishByMistakeIsTakenBack() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "40")
            try await house.status("on its way") { $0.position > 40.5 }
            try await house.done("finish")
            let finished = try await house.progress("finished") { $0.isFinished }
            try await house.done("undo")
            let back = try await house.progress("not finished") { !$0.isFinished }
            #expect(abs((back.currentTime ?? 0) - (finished.currentTime ?? 0)) < 0.1, "\(finished) became \(back)")

            // And of one that stands.
            let left = try await house.status("paused") { $0.state == .paused || $0.state == .stopped }.position
            try await house.done("finish")
            try await house.progress("finished") { $0.isFinished }
            try await house.done("undo")
            try await house.progress("not finished") { !$0.isFinished && abs(($0.currentTime ?? 0) - left) < 0.1 }

            // Of an item that does not play, too.
            try await house.done("restart", "three rooms")
            house.server.setProgress(of: House.user, item: Library.files, ["currentTime": 33, "duration": 60])
            try await house.done("restart", "three rooms")
            try await house.progress("at the start", of: Library.files) { $0.currentTime == 0 }
            try await house.done("undo", "three rooms")
            try await house.progress("back", of: Library.files) { $0.currentTime == 33 }
        }
    }

    /// A server takes the last ten seconds for finished; the place here is the listener's all the same.
    @Test func aFinishInTheLastSecondsIsTakenBack() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "94")
            try await house.done("pause")
            let left = try await house.status("paused") { $0.state == .paused }.position
            try await house.done("unfinish")
            #expect(try await house.status().position == left, "it was not finished")
            try await house.done("finish")
            try await house.progress("finished") { $0.isFinished }
            try await house.done("unfinish")
            let back = try await house.progress("not finished") { !$0.isFinished }
            #expect(abs((back.currentTime ?? 0) - 89.5) < 0.1)
            #expect(abs(try await house.status().position - left) < 0.01)
            try await house.done("play")
            let on = try await house.status("playing") { $0.state == .playing }
            #expect(on.position > left - 0.1, "\(left) became \(on)")
        }
    }

    /// Paused there, or come to its end.
    @Test(arguments: [true, false]) func whatWasSoughtToItsEndAndPlayedAgainIsKept(isPaused: Bool) async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "20")
            if isPaused { try await house.done("pause") }
            try await house.done("seek", "100%")
            try await house.status("at its end") { $0.state == (isPaused ? .paused : .stopped) && $0.position > 99 }
            try await house.done("play")
            let again = try await house.status("in the last seconds") { $0.state == .playing }
            #expect((89..<99).contains(again.position))
            try await house.done("pause")
            let list = try await moves(house)
            #expect(list.map(\.cause) == ["begin", "seek", "begin"], "\(list)")
            #expect(abs(list[0].from - 99.95) < 0.1 && abs(list[0].to - 89.5) < 0.1)
            try await house.done("undo")
            try await house.status("back at the end") { $0.position > 99 }
        }
    }

    /// The server's own way to un-finish wipes the place; a lost answer must not leave it so.
    @Test(arguments: [StandInFault.dropBefore, .dropAfter, .serverError])
    func unfinishingWipesNoPlace(_ fault: StandInFault) async throws {
        try await House.signedIn { house, daemon in
            house.server.setProgress(
                of: House.user, item: Library.book, ["currentTime": 42, "duration": 100, "isFinished": true])
            house.server.fail(fault, method: "PATCH", path: "/api/me/progress/**")
            try await house.done("unfinish", "tidebook")
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            let back = try await house.progress("not finished") { !$0.isFinished }
            #expect(abs((back.currentTime ?? 0) - 42) < 0.1)
            try await house.status("sent") { $0.unsent == 0 }
            let after = try #require(house.server.progress(of: House.user, item: Library.book))
            #expect(!after.isFinished && abs((after.currentTime ?? 0) - 42) < 0.1)
        }
    }
}
