import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// What plays when an item has come to its end.
@Suite struct QueueTests {
    private func queue(_ house: House, _ arguments: String...) async throws -> [String] {
        let output = try await house.run(Child.built("dogear"), ["queue"] + arguments + ["--json"]).output
        return try JSONDecoder().decode(QueueReport.self, from: Data(output.utf8)).items.map(\.item.title)
    }

    /// It was not heard yet, so that only the queue knows of it.
    @Test func whatTheQueueWentToIsThereAfterARestart() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook", "--at", "31")
            #expect(try await queue(house, "add", "three rooms").count == 1)
            #expect(try await queue(house, "add", "echoes").count == 2)
            try await house.done("stop")
            try await house.done("queue", "--loop", "queue")
            try await house.done("settings", "playback.next", "queue")
            try await house.done("next")
            let line = try await queue(house)
            #expect(line == ["Echoes", "Tidebook"])
            daemon.send(SIGTERM)
            _ = await daemon.end()
            try await house.daemon()
            let back = try await house.status()
            #expect(back.item?.title == "Three Rooms" && back.state == .stopped, "\(back)")
            #expect(try await queue(house) == line)
        }
    }

    @Test func theNextOnePlaysAtTheEnd() async throws {
        try await House.signedIn { house, daemon in
            #expect(try await queue(house).isEmpty)
            #expect(try await queue(house, "add", "tidebook") == ["Tidebook"])
            let path = "\(house.home)/tone.mp3"
            try FileManager.default.copyItem(atPath: "\(Sounds.folder)/e2e/rooms/01.mp3", toPath: path)
            #expect(try await queue(house, "add", path).count == 2)
            #expect(try await queue(house, "add", "echoes", "--next").first == "Echoes")
            #expect(try await queue(house, "move", "3", "2").last == "Tidebook")
            for wrong in [["remove", "9"], ["move", "0", "1"]] {
                let outcome = try await house.run(Child.built("dogear"), ["queue"] + wrong)
                #expect(outcome.code == 2 && outcome.errors.contains("1 to 3"), "\(outcome)")
            }
            // It outlives the daemon.
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            #expect(try await house.status().queued == 3)

            try await house.done("play", "three rooms", "--at", "57")
            try await house.progress("finished", of: Library.files) { $0.isFinished }
            let next = try await house.status("the episode") { $0.item?.title == "Echoes" && $0.state == .playing }
            #expect(next.queued == 2)
            #expect(try await queue(house).count == 2)
            try await house.done("seek", "37")
            try await house.progress("finished", of: Library.podcast, episode: Library.episode) { $0.isFinished }
            try await house.status("the file") { $0.item?.kind == "file" && $0.state == .playing }
            #expect(try await queue(house, "clear").isEmpty)
        }
    }

    @Test func ofSeveralFilesTheFirstPlaysAndTheOthersAreNext() async throws {
        try await House.with { house in
            try await house.daemon()
            // As a shell writes '*': with spaces in the names, and with what is no audio.
            let names = ["a 1", "b 2", "c 3", "d 4"]
            let paths = try names.enumerated().map {
                try Sounds.tone("e2e/several/\($1).mp3", seconds: Double(20 + $0))
            }
            try Sounds.write(Array("no audio".utf8), to: "\(house.home)/notes.txt")
            try await house.done("queue", "add", paths[3])
            let outcome = try await house.dogear("play", paths[0], "\(house.home)/notes.txt", paths[1], paths[2])
            #expect(outcome.code == 1 && outcome.errors.contains("notes.txt"), "\(outcome)")
            #expect(outcome.output.contains("3 in the queue"), "\(outcome)")
            try await house.status("the first") { $0.item?.title == names[0] && $0.state == .playing }
            #expect(try await queue(house) == Array(names[1...]))
            #expect(try await queue(house, "add", paths[0], paths[1]) == [names[2], names[3], names[0], names[1]])
            // A name in two words, as somebody types it.
            let words = paths[2].split(separator: " ").map(String.init)
            try await house.done("play", words[0], words[1])
            try await house.status("the third") { $0.item?.title == names[2] }
            let missing = try await house.dogear("play", paths[3], "\(house.home)/none.mp3")
            #expect(missing.code != 0 && missing.errors.contains("none.mp3"), "\(missing)")
            let mixed = try await house.dogear("queue", "add", paths[0], "the tides")
            #expect(mixed.code == 64 && mixed.errors.contains("“the tides” is none"), "\(mixed)")
        }
    }

    @Test func nextAnswersWithWhatIsThereThen() async throws {
        try await House.signedIn { house, _ in
            try await house.done("settings", "playback.next", "queue")
            try await house.done("queue", "add", "three rooms")
            try await house.done("queue", "add", "echoes")
            try await house.done("play", "tidebook")
            let next = try await house.done("next", "--json")
            let first = try JSONDecoder().decode(StatusReport.self, from: Data(next.utf8))
            #expect(first.item?.title == "Three Rooms" && first.state == .playing && first.queued == 1)
            try await house.done("pause")
            #expect(try await house.done("next").contains("Echoes"))
            #expect(try await house.done("previous").contains("Three Rooms"))
            try await house.done("stop")
            #expect(try await house.done("next").contains("Echoes"))
            try await house.done("previous")
            house.server.deleteItem(Library.podcast)
            try await house.done("play")
            let gone = try await house.dogear("next")
            #expect(gone.code == 1 && gone.errors.contains("Echoes"), "\(gone)")
            #expect(try await house.status().item?.title == "Three Rooms")
        }
    }

    @Test func whatCannotBeOpenedStaysAndIsTold() async throws {
        try await House.signedIn { house, _ in
            #expect(try await queue(house, "add", "three rooms") == ["Three Rooms"])
            #expect(try await queue(house, "add", "echoes").count == 2)
            house.server.deleteItem(Library.files)
            try await house.done("play", "tidebook", "--at", "97")
            let told = try await house.status("told") { $0.error?.contains("next in the queue") == true }
            #expect(told.error?.contains("Three Rooms") == true && told.state == .paused)
            #expect(told.item?.title == "Three Rooms" && told.queued == 1, "nothing else plays in its place")
            try await house.done("next")
            let after = try await house.status()
            #expect(after.item?.title == "Echoes" && after.state == .paused && after.error == nil, "\(after)")
        }
    }

    @Test func aSeriesGoesOnBySetting() async throws {
        try await House.signedIn { configuration in
            configuration.libraries[0].items = StandInItems(
                configuration.libraries[0].items.map { item in
                    var item = item
                    item.series = [StandInItem.Series(name: "The Sea", sequence: item.id == Library.book ? "1" : "2")]
                    return item
                })
        } _: { house, _ in
            try await house.done("libraries", "--refresh")
            // Unasked, playing ends.
            try await house.done("play", "tidebook", "--at", "98")
            try await house.progress("finished", of: Library.book) { $0.isFinished }
            #expect(try await house.status("at rest") { $0.state == .stopped }.item?.title == "Tidebook")

            try await house.done("settings", "queue.end", "next")
            // What would be next and does not come is told.
            house.server.fail(.status(500), path: "/api/items/\(Library.files)/**", times: .max)
            try await house.done("play", "tidebook", "--at", "98")
            let told = try await house.status("told") { $0.error != nil && $0.state == .stopped }
            #expect(told.item?.title == "Tidebook" && told.error?.contains("'Three Rooms'") == true, "\(told)")
            house.server.clearFaults()
            try await house.done("play", "tidebook", "--at", "98")
            try await house.status("the second book") { $0.item?.title == "Three Rooms" && $0.state == .playing }
            // Nothing comes behind it: what has been heard before does not begin again.
            try await house.done("seek", "57")
            try await house.progress("finished", of: Library.files) { $0.isFinished }
            #expect(try await house.status("at rest") { $0.state == .stopped }.item?.title == "Three Rooms")
            // The queue goes first, and what the listener falls asleep over does not go on.
            try await house.done("unfinish", "three rooms")
            try await house.done("play", "tidebook", "--at", "40")
            try await house.done("sleep", "item")
            try await house.done("seek", "95")
            let asleep = try await house.status("asleep") { $0.state == .stopped || $0.state == .paused }
            #expect(asleep.item?.title == "Tidebook")
        }
    }

    @Test func draggingToTheEndFinishesNothingThoughTheQueueGoesOn() async throws {
        try await House.signedIn { house, _ in
            #expect(try await queue(house, "add", "echoes").count == 1)
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 0.5 }
            try await house.done("seek", "100%")
            try await house.status("what waited") { $0.item?.title == "Echoes" && $0.state == .playing }
            try await house.progress("before the end") { ($0.currentTime ?? 0) == 89.5 && !$0.isFinished }
            try await house.done("undo", "tidebook")
            try await house.progress("back at the start") { ($0.currentTime ?? 99) < 15 && !$0.isFinished }
        }
    }

    @Test func whatIsMissingInTheQueueIsToldUntilSomethingElseIs() async throws {
        _ = try Library.all.get()
        try await House.with(keyring: .absent) { house in
            let paths = ["first", "second", "third"].map { "\(house.bus.home)/\($0).mp3" }
            for (number, path) in paths.enumerated() {
                try Sounds.run([
                    "ffmpeg", "-nostdin", "-loglevel", "error", "-i", "\(Sounds.folder)/e2e/rooms/01.mp3", "-c", "copy",
                    "-metadata", "title=\(number)", "-t", "\(number + 15)", path,
                ])
            }
            let desk = try await FakeNotifications(on: house.bus.address)
            try await house.daemon()
            try await house.done("play", paths[0])
            try await house.done("queue", "add", paths[1], paths[2])
            try FileManager.default.removeItem(atPath: paths[1])
            try await house.done("seek", "14")
            let missing = try await house.status("standing at what is missing") {
                $0.state == .paused && $0.error?.contains("is next in the queue but cannot be played") ?? false
            }
            #expect(missing.item?.title == "1")
            #expect(missing.error?.contains("'dogear next' passes over it") == true, "\(missing)")
            // Nobody may be looking at a terminal.
            let told = try await eventually("a notification") { await desk.shown.first }
            #expect(told.title == "The queue does not go on", "\(told)")
            #expect(told.body.hasPrefix("Next passes over it. '1' is next in the queue but"), "\(told)")
            #expect(told.body.hasSuffix("."), "\(told)")
            let gone = try await house.dogear("play")
            #expect(gone.code == 2 && gone.errors.contains("second.mp3"), "\(gone)")
            #expect(try await house.status().error?.contains("second.mp3") == true)
            // Who asked was told; a key shows nothing.
            #expect(await desk.shown.count == 1)
            try await house.playerctl("play")
            let again = try await eventually("another") { await desk.shown.dropFirst().first }
            #expect(again.title == "'1' does not play" && again.body.hasSuffix("."), "\(again)")
            #expect(again.body.contains("second.mp3"))
            let there = await desk.closed.count
            try await house.done("next")
            try await house.status("what lies behind it") { $0.item?.title == "2" }
            try await house.done("play")
            _ = try await eventually("it to go") { await desk.closed.count > there ? true : nil }
            // A menu starts the program itself.
            let menu = try await house.dogear("play", "--notify", paths[1])
            #expect(menu.code == 2, "\(menu)")
            let last = try await eventually("one of the program's own") { await desk.shown.dropFirst(2).first }
            #expect(last.title == "It cannot be played" && last.body.contains("second.mp3"), "\(last)")
            #expect(await desk.shown.count == 3)
            // What plays on is no reason to take it back.
            try await house.status("playing") { $0.state == .playing && $0.item?.title == "2" }
            try await house.done("seek", "+1")
            #expect(await desk.closed.contains(last.number) == false)
            // At the end of all, too, a key says what becomes of it.
            try await house.press("Next")
            let end = try await eventually("another") { await desk.shown.dropFirst(3).first }
            #expect(end.title == "Nothing is next" && end.body.hasPrefix("'2' has no further part"), "\(end)")
            // A timer that counts is no answer to it.
            try await house.done("sleep", "1h")
            let command = try await house.dogear("next")
            #expect(command.code == 2 && command.errors.contains("nothing is next: '2' has no further"), "\(command)")
            try await house.done("play", paths[0])
            _ = try await eventually("it to go") { await desk.closed.contains(end.number) ? true : nil }
            // The desktop's menu runs the command, too.
            #expect(await desk.shown.dropFirst(4).map(\.title) == ["Nothing is next"])
            await desk.leave()
        }
    }

    /// It may be back when their turn comes.
    @Test(arguments: [false, true]) func whatTheIndexKnowsIsLinedUpWithoutTheServer(_ hangs: Bool) async throws {
        try await House.signedIn(extra: House.hasty) { house, _ in
            try await house.done("libraries", "--refresh")
            try await house.done("play", "tidebook")
            try await house.done("stop")
            let gate = StandInGate()
            house.server.fail(hangs ? .hold(gate) : .dropBefore, path: "/**", times: .max)
            #expect(try await queue(house, "add", "three rooms") == ["Three Rooms"])
            if !hangs {
                let podcast = try await house.dogear("queue", "add", "loopback hour")
                #expect(podcast.code == 4, "which episode is the next is not known: \(podcast)")
            }
            house.server.clearFaults()
            gate.release()
            #expect(try await queue(house, "add", "loopback hour") == ["Three Rooms", "Echoes"])
            try await house.done("settings", "playback.next", "queue")
            try await house.done("next")
            try await house.done("play")
            let status = try await house.status("playing") { $0.state == .playing }
            #expect(status.item?.title == "Three Rooms" && status.duration == 60, "\(status)")
        }
    }

    /// And the third time means it. Plasma's bar is told again where it is each time.
    @Test func whoPressesNextTwiceIsToldWhatIsAwaited() async throws {
        try await House.signedIn(extra: ["DOGEAR_PATIENCE": "2"]) { house, _ in
            try await house.done("play", "tidebook", "--at", "61")
            #expect(try await queue(house, "add", "three rooms").count == 1)
            #expect(try await queue(house, "add", "echoes").count == 2)
            let desk = try await FakeNotifications(on: house.bus.address)
            let monitor = try await Monitor(house)
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/api/items/\(Library.files)", times: .max)
            try await house.playerctl("next")
            try await house.status("on its way") { $0.opening == "Three Rooms" && $0.state == .playing }
            let count = monitor.messages().count { $0.field("member") == "Seeked" }
            try await house.playerctl("next")
            let told = try await eventually("a notification") { await desk.shown.first }
            #expect(told.title == "'Three Rooms' is still on its way" && told.body.hasPrefix("It plays"), "\(told)")
            try await eventually("the place again") {
                monitor.messages().count { $0.field("member") == "Seeked" } > count ? true : nil
            }
            #expect(try await house.status().item?.title == "Tidebook")
            try await house.playerctl("next")
            try await house.status("what lies behind it") { $0.item?.title == "Echoes" && $0.state == .playing }
            try await eventually("that it goes") { await desk.closed.contains(told.number) ? true : nil }
            // What comes at once is not told of.
            #expect(await desk.shown.allSatisfy { $0.title == told.title })
            gate.release()
            await desk.leave()
        }
    }

    @Test func draggingToTheEndOfAllStops() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 0.5 }
            try await house.done("seek", "100%")
            let stopped = try await house.status("stopped") { $0.state == .stopped }
            #expect(stopped.position > 99)
            try await house.progress("before the end") { ($0.currentTime ?? 0) == 89.5 && !$0.isFinished }
            try await house.done("undo")
            try await house.progress("back at the start") { ($0.currentTime ?? 99) < 15 && !$0.isFinished }
        }
    }
}
