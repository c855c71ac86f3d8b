import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// Listening that ends by itself. The book's chapters begin at 0, 30 and 60 s; it is 100 s long.
@Suite(.inTime) struct SleepTimerTests {
    private func sleep(_ house: House, _ arguments: String...) async throws -> SleepReport {
        let outcome = try await house.run(Child.built("dogear"), ["sleep"] + arguments + ["--json"])
        guard outcome.code == 0 else { throw TestFailure("sleep \(arguments): \(outcome)") }
        return try JSONDecoder().decode(SleepReport.self, from: Data(outcome.output.utf8))
    }

    private func moves(_ house: House) async throws -> [MovesReport.Row] {
        try await house.report(MovesReport.self, "undo", "--list")
            .moves
    }

    /// Two seconds of fading are enough for a test.
    private func playing(
        at place: String, fade: String = "2", configure: @Sendable (inout StandInConfiguration) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (House, Child) async throws -> Void
    ) async throws {
        try await House.signedIn(configure: configure) { house, daemon in
            try await house.done("settings", "sleep.fade", fade)
            try await house.done("play", "tidebook", "--at", place)
            try await body(house, daemon)
        }
    }

    /// Where the timer's end left the listener, by the ring: where it ended, and where the fade began.
    private func ended(_ house: House) async throws -> MovesReport.Row {
        let status = try await house.status("asleep") { $0.state == .paused }
        let move = try #require(try await moves(house).first)
        #expect(move.cause == "sleep" && move.to == status.position && status.sleep == nil, "\(move) \(status)")
        return move
    }

    @Test func afterATimeItIsBackWhereTheFadeBegan() async throws {
        try await playing(at: "31") { house, _ in
            #expect(try await house.done("sleep") == "No sleep timer is set.\n")
            let set = try await sleep(house, "4")
            let left = try #require(set.sleep?.left)
            #expect(set.sleep?.kind == "time" && left <= 4 && set.playing)
            let move = try await ended(house)
            #expect(move.from > move.to + 0.5 && move.to >= 31 && move.to < move.from, "\(move)")
            try await house.progress("where the fade began") { abs(($0.currentTime ?? 0) - move.to) < 0.01 }
            // The way back is to where it ended.
            try await house.done("undo")
            try await house.status("where it ended") { abs($0.position - move.from) < 0.01 && $0.state == .paused }
            try await house.done("play")
            try await house.status("awake") { $0.state == .playing && $0.sleep == nil }
        }
    }

    @Test func aPauseStopsTheTimer() async throws {
        try await playing(at: "31") { house, _ in
            try await house.done("sleep", "1h")
            try await house.done("pause")
            let first = try await sleep(house)
            let text = try await house.done("sleep")
            #expect(text.hasPrefix("Sleeps in 1 h.") && text.contains("stands still"))
            // Something that takes its time.
            try await house.done("search", "rooms")
            #expect(try await sleep(house).sleep?.left == first.sleep?.left)
            let later = try #require(try await sleep(house, "+30m").sleep?.left)
            #expect(abs(later - (first.sleep?.left ?? 0) - 1800) < 0.001)
            #expect(try await house.done("status").contains("sleeps in 1 h 30 min"))
            #expect(try await sleep(house, "off").sleep == nil)
        }
    }

    @Test func withTheChapterItEndsAtItsEnd() async throws {
        try await playing(at: "26") { house, _ in
            let set = try await sleep(house, "chapter")
            #expect(set.sleep?.kind == "chapter" && set.sleep?.chapters == 1 && (set.sleep?.left ?? 9) <= 4)
            let move = try await ended(house)
            #expect(move.from >= 30 && move.to < 30, "\(move)")
            let status = try await house.status()
            #expect(status.chapter?.index == 1)
        }
    }

    @Test func severalChaptersAreCountedByPlaying() async throws {
        try await playing(at: "28") { house, _ in
            #expect(try await sleep(house, "chapter:2").sleep?.chapters == 2)
            try await house.status("in the second chapter") { $0.position > 30 && $0.sleep?.chapters == 1 }
            try await house.done("seek", "chapter:1")
            #expect(try await sleep(house).sleep?.chapters == 1, "a jump counts nothing")
            try await house.done("seek", "56")
            let move = try await ended(house)
            #expect(move.from >= 60 && move.to < 60 && move.to >= 56, "\(move)")
        }
    }

    /// Slept through, and perhaps heard on by a hand that was still half asleep.
    @Test(arguments: [false, true]) func theItemsEndIsTheEnd(isHeardOn: Bool) async throws {
        try await playing(at: "95") { house, _ in
            try await house.done("queue", "add", "echoes")
            #expect(try await sleep(house, "item").sleep?.kind == "item")
            try await house.progress("finished") { $0.isFinished }
            let status = try await house.status("at what is next") { $0.item?.title == "Echoes" }
            #expect(status.state == .paused && status.queued == 0 && status.sleep == nil)
            #expect(try await house.playerctl("status") == "Paused")
            // The fade may have been slept through: the way back is kept.
            let move = try #require(try await moves(house).first)
            #expect(move.cause == "sleep" && move.to == 100 && move.from >= 95 && move.from < 100, "\(move)")
            if isHeardOn {
                try await house.done("play")
                try await house.status("on its way") { $0.state == .playing && $0.position > 0.5 }
            }
            try await house.done("undo")
            if isHeardOn { try await house.done("pause") }
            let back = try await house.status()
            let gone = isHeardOn ? 2 : 0.001
            #expect(back.item?.title == "Tidebook" && back.queued == 1)
            #expect((move.from - 0.001...move.from + gone).contains(back.position), "\(back.position)")
            try await house.progress("unfinished") { !$0.isFinished }
        }
    }

    /// What plays instead has moves of its own, and none of them is meant.
    @Test func whatWasSleptThroughAndIsGoneMovesNothingElse() async throws {
        try await playing(at: "95") { house, _ in
            try await house.done("play", "echoes", "--at", "10")
            try await house.done("seek", "30")
            try await house.done("play", "tidebook", "--at", "95")
            try await house.done("queue", "add", "echoes")
            try await house.done("sleep", "item")
            try await house.status("at what is next") { $0.item?.title == "Echoes" && $0.state == .paused }
            try await house.done("play")
            house.server.deleteItem(Library.book)
            let undone = try await house.dogear("undo")
            #expect(undone.code == 1 && undone.errors.contains("'Tidebook'"), "\(undone)")
            let still = try await house.status()
            #expect(still.item?.title == "Echoes" && still.position > 25, "\(still)")
        }
    }

    @Test(arguments: ["play-pause", "next"]) func aKeyInTheDarkOnlyPutsItOff(_ key: String) async throws {
        // Long enough to press a key in, whatever else the machine does.
        try await playing(at: "31", fade: "60") { house, _ in
            try await house.done("sleep", "10m")
            #expect(try await sleep(house).sleep?.fading == false)
            try await house.done("sleep", "50")
            try await house.status("fading") { $0.sleep?.fading == true }
            #expect(try await house.playerctl("volume") == "1.000000", "the volume is the listener's")
            try await house.playerctl(key)
            let awake = try await house.status()
            #expect(awake.state == .playing && awake.position < 60, "the key itself is not carried out")
            #expect(awake.sleep?.fading == false && (awake.sleep?.left ?? 0) > 900)
            try await house.playerctl(key)
            try await house.status("as the key says") { key == "next" ? $0.position >= 60 : $0.state == .paused }
        }
    }

    @Test func playingAgainSetsItAgainBySetting() async throws {
        try await playing(at: "31", fade: "1") { house, _ in
            try await house.done("settings", "sleep.again", "on")
            try await house.done("settings", "sleep.rewind", "none")
            try await house.done("sleep", "2")
            let paused = try await house.status("asleep") { $0.state == .paused }
            #expect(paused.sleep == nil && paused.position > 31)
            #expect(try await moves(house).first?.cause == "begin")
            try await house.done("play")
            try await house.status("asleep again") { $0.state == .paused && $0.position > paused.position }
        }
    }

    @Test func aMinuteBeforeItsEndTheDesktopTells() async throws {
        try await playing(at: "0") { house, _ in
            let desk = try await FakeNotifications(on: house.bus.address)
            try await house.done("sleep", "item")
            #expect(await desk.shown.isEmpty)
            try await house.done("seek", "45")
            let first = try await eventually("a notification") { await desk.shown.first }
            // While it stands still nothing ends in a minute.
            try await house.done("pause")
            _ = try await eventually("it to go") { await desk.closed == [first.number] ? true : nil }
            try await house.done("play")
            let notice = try await eventually("it again") { await desk.shown.dropFirst().first }
            #expect(
                notice.title == "The sleep timer is about to end"
                    && notice.actions == ["extend", "Extend", "default", ""])
            // A click beside the button, which not every desktop shows, is meant so too.
            try await desk.choose("default", of: notice.number)
            try await house.status("later") { $0.sleep?.kind == "time" && ($0.sleep?.left ?? 0) > 900 }
            _ = try await eventually("it to go") { await desk.closed == [first, notice].map(\.number) ? true : nil }
            // Nobody would hear its button.
            try await house.done("sleep", "item")
            let last = try await eventually("it once more") { await desk.shown.dropFirst(2).first }
            try await house.run(
                "busctl",
                [
                    "--user", "call", "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2",
                    "org.mpris.MediaPlayer2", "Quit",
                ])
            _ = try await eventually("it to go with dogear") { await desk.closed.last == last.number ? true : nil }
            await desk.leave()
        }
    }

    @Test func aShortTimerIsToldOfOnItsWay() async throws {
        try await playing(at: "0") { house, _ in
            let desk = try await FakeNotifications(on: house.bus.address)
            try await house.done("sleep", "20s")
            #expect(await desk.shown.isEmpty, "who has just set it needs no reminder")
            let notice = try await eventually("a notification") { await desk.shown.first }
            try await desk.choose("extend", of: notice.number)
            try await house.status("later") { ($0.sleep?.left ?? 0) > 900 }
            await desk.leave()
        }
    }

    @Test func whatCannotBeIsSaid() async throws {
        try await House.signedIn { house, _ in
            for goal in ["chapter", "item"] {
                let nothing = try await house.dogear("sleep", goal)
                #expect(nothing.code == 2 && nothing.errors.contains("nothing is loaded"), "\(nothing)")
            }
            // A time can be set before anything plays.
            #expect(try await sleep(house, "30m").sleep?.left == 1800)
            _ = try Library.all.get()
            try await house.done("play", "\(Sounds.folder)/e2e/rooms/01.mp3")
            let plain = try await house.dogear("sleep", "chapter")
            #expect(plain.code == 64 && plain.errors.contains("has no chapters; write 'dogear sleep item'"), "\(plain)")
            let wrong = try await house.run(
                "busctl",
                ["--user", "call", ControlName.bus, ControlName.path, ControlName.interface, "Sleep", "s", "x"])
            #expect(wrong.code != 0 && wrong.errors.contains("is no sleep timer: write 30m"), "\(wrong)")
        }
    }

    @Test func theSoundFadesAndComesBack() async throws {
        let path = "\(Sounds.folder)/sleep-timer.raw"
        try await House.with(extra: ["DOGEAR_AUDIO_SINK": Recording.sink(path)]) { house in
            try await house.daemon()
            try await house.logIn()
            try await house.done("settings", "sleep.fade", "12")
            try await house.done("play", "tidebook", "--at", "31")
            try await house.done("sleep", "3")
            try await house.status("asleep") { $0.state == .paused }
            // The jump back empties the recording, and what is heard from there on is as loud as ever.
            try await eventually("the jump back") { Recording.seconds(path) < 1 ? true : nil }
            try await house.done("play")
            try await eventually("sound") { Recording.seconds(path) > 1 ? true : nil }
            #expect(try Recording(path).strength(from: 0, to: 1) > 0.45)
            try await house.done("sleep", "12")
            let fading = try await eventually("softer sound") {
                let heard = try Recording(path)
                return heard.strength(from: heard.seconds - 0.1, to: heard.seconds) < 0.15 ? heard.seconds : nil
            }
            try await house.done("toggle")
            try await eventually("full sound") {
                let heard = try Recording(path)
                return heard.strength(from: heard.seconds - 0.1, to: heard.seconds) > 0.45 ? true : nil
            }
            // Little by little, and never louder. A decoder needs a moment until it is in full voice.
            let steps = try Recording(path).strengths(from: 0.1, to: fading, window: 0.1)
            #expect(zip(steps, steps.dropFirst()).allSatisfy { $1 < $0 + 0.02 }, "\(steps)")
            #expect(steps.filter { (0.15...0.4).contains($0) }.count >= 3, "\(steps)")
            #expect(try await house.status().state == .playing)
        }
    }
}
