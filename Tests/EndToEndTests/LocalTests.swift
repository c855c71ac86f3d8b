import Control
import Foundation
import Listening
import Store
import TestSupport
import Testing

/// Files and folders on this computer, played without any server.
@Suite struct LocalTests {
    /// A book with chapters, tags and a picture, in the home of a house.
    private func book(in house: House) throws -> String {
        _ = try Library.all.get()
        let (folder, path) = ("\(Sounds.folder)/e2e", "\(house.home)/Audio Böoks/a tide.m4b")
        try FileManager.default.createDirectory(
            atPath: "\(house.home)/Audio Böoks", withIntermediateDirectories: true)
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", "\(folder)/tide/tide.m4b", "-i",
            "\(folder)/tide/cover.jpg", "-map", "0:a", "-map", "1", "-c", "copy", "-disposition:v:0", "attached_pic",
            "-metadata", "artist=Ada Ebb", "-f", "mp4", path,
        ])
        return path
    }

    @Test func aPathIsTakenWhereverAnItemIs() async throws {
        try await House.with(keyring: .absent) { house in
            let path = try book(in: house)
            try await house.daemon()
            #expect(try await house.done("show", path).contains("Tidebook"))
            #expect(try await house.done("chapters", path).contains("The Flood"))
            let early = try await house.dogear("finish", path)
            #expect(early.code == 2 && early.errors.contains("was not played here yet"), "\(early)")
            try await house.done("play", path, "--at", "40")
            try await house.done("pause")
            try await house.done("restart", path)
            #expect(try await house.status().position == 0)
            try await house.done("undo", path)
            #expect(try await house.status().position > 39)
            try await house.done("finish", path)
            #expect(try await house.done("show", path).contains("finished"))
        }
    }

    /// Once what a pause brings is done, no thread of it does anything.
    @Test func whatIsPausedIsNotWoken() async throws {
        try await House.with(keyring: .absent) { house in
            let daemon = try await house.daemon()
            try await house.done("play", try book(in: house), "--at", "40")
            try await house.status("on its way") { $0.position > 40.5 }
            try await house.done("pause")
            var last: [String: Int] = [:]
            // Longer than the second after which libdispatch would look at its threads.
            try await eventually("a while without waking", every: .milliseconds(1500)) {
                let wakes = try wakes(of: daemon.pid)
                defer { last = wakes }
                return wakes == last ? true : nil
            }
        }
    }

    @Test func launchersFindWhatWasPlayedHere() async throws {
        try await House.with(keyring: .absent) { house in
            let path = try book(in: house)
            try await house.daemon()
            #expect(try await house.gnomeSearch("GetInitialResultSet", "['tide']") == "(@as [],)\n")
            try await house.done("play", path, "--at", "40")
            try await house.done("stop")
            let id = try #require(try await house.status().item?.id)
            #expect(try await house.gnomeSearch("GetInitialResultSet", "['ebb', 'tide']") == "(['\(id)'],)\n")
            #expect(try await house.gnomeSearch("GetInitialResultSet", "['tide', 'xyzzyx']") == "(@as [],)\n")
            let metas = try await house.gnomeSearch("GetResultMetas", "['file:nonsense', '\(id)']")
            #expect(
                metas.contains("'name': <'Tidebook'>") && metas.contains("'Ada Ebb · ") && metas.contains(" left'")
                    && metas.contains("/covers/"), "\(metas)")
            let matches = try await house.krunner("tide")
            #expect(matches.contains("'Tidebook'") && matches.contains("'Ada Ebb · "), "\(matches)")
            _ = try await house.gnomeSearch("ActivateResult", "'\(id)'", "['tide']", "uint32 0")
            try await house.status("playing") { $0.state == .playing && $0.position >= 40 }
        }
    }

    @Test func aMovedFileKeepsItsPlace() async throws {
        try await House.with(keyring: .absent) { house in
            let path = try book(in: house)
            let daemon = try await house.daemon()
            try await house.done("play", path, "--at", "40")
            try await house.status("on its way") { $0.position > 40.3 }
            #expect(try await house.playerctl("metadata", "xesam:title") == "The Flood")
            #expect(try await house.playerctl("metadata", "xesam:album") == "Tidebook")
            #expect(try await house.playerctl("metadata", "xesam:artist") == "Ada Ebb")
            #expect(try await house.playerctl("metadata", "xesam:url").hasSuffix("/Audio%20B%C3%B6oks/a%20tide.m4b"))
            let cover = try await house.playerctl("metadata", "mpris:artUrl").dropFirst("file://".count)
            #expect(FileManager.default.fileExists(atPath: String(cover)))
            try await house.playerctl("next")
            try await house.status("in the last chapter") { $0.position > 60.3 }
            try await house.done("pause")
            let paused = try await house.status()
            #expect(paused.item?.kind == "file" && paused.unsent == 0 && paused.account == nil)
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)

            let moved = "\(house.home)/elsewhere.m4b"
            try FileManager.default.moveItem(atPath: path, toPath: moved)
            try await house.daemon()
            // It says where it looked, and the place is still there.
            let gone = try await house.dogear("play")
            #expect(gone.code == 2 && gone.errors.contains("a tide.m4b any more; play it from where it is"), "\(gone)")
            try await house.done("play", moved)
            let back = try await house.status("playing") { $0.state == .playing }
            #expect((paused.position - 1..<paused.position + 10).contains(back.position))
            #expect(back.item?.id == paused.item?.id)
        }
    }

    /// A folder of three files, in the home of a house.
    private func rooms(in house: House) throws -> String {
        _ = try Library.all.get()
        let folder = "\(house.home)/Rooms"
        try FileManager.default.copyItem(atPath: "\(Sounds.folder)/e2e/rooms", toPath: folder)
        return folder
    }

    /// Played from half a minute on and paused, and the daemon gone.
    private func left(_ folder: String, in house: House) async throws -> StatusReport {
        let daemon = try await house.daemon()
        try await house.done("play", folder, "--at", "30")
        try await house.done("pause")
        let paused = try await house.status()
        daemon.send(SIGTERM)
        #expect(await daemon.end() == 0)
        return paused
    }

    @Test func aDamagedFileInAFolderIsLeftOutAndTold() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            try Sounds.write(Array("no sound in here".utf8), to: "\(folder)/02.opus")
            #expect(try await house.done("play", folder).contains("left out: "))
            let status = try await house.status("playing") { $0.state == .playing }
            #expect(status.duration < 41 && status.error?.contains("02.opus") == true, "\(status)")
            try await house.done("play", "\(folder)/01.mp3")
            #expect(try await house.status().error == nil)
            for name in ["./gone.mp3", "Rooms/gone", "gone.m4b"] {
                let gone = try await house.dogear("play", name)
                #expect(gone.code == 2 && gone.errors.contains("no file or folder"), "\(gone)")
            }
            let garbled = try await house.run(
                "sh", ["-c", "exec \(Child.built("dogear")) play \"$(printf 'a\\377.mp3')\""])
            #expect(garbled.code == 2 && garbled.errors.contains("has to be UTF-8"), "\(garbled)")
        }
    }

    /// Played as soon as there is somebody to play it, before what was restored has been looked at again.
    @Test func aFolderThatChangedWhileNobodyLookedKeepsThePlace() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            let paused = try await left(folder, in: house)
            try FileManager.default.removeItem(atPath: "\(folder)/01.mp3")
            try await house.daemon()
            try await until("somebody plays it") { (try? await house.playerctl("play")) != nil }
            let back = try await house.status("playing") { $0.state == .playing }
            #expect(back.duration < 41)
            #expect((paused.position - 21..<paused.position - 10).contains(back.position), "\(back.position)")
        }
    }

    /// A file is away for a while, and what is heard meanwhile is heard in the others.
    @Test func aFolderThatIsWholeAgainGoesOnWhereTheRestOfItWas() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            let away = "\(house.home)/away.mp3"
            try await house.daemon()
            try await house.done("settings", "playback.resume-rewind", "off")
            try await house.done("play", folder, "--at", "30")
            let whole = try await house.status().duration
            try await house.done("stop")
            let left = try await house.status().position
            try FileManager.default.moveItem(atPath: "\(folder)/01.mp3", toPath: away)
            try await house.done("play", folder)
            let missing = try await house.status("the rest") { $0.state == .playing && $0.duration < whole - 1 }
            try await house.done("bookmark", "the door")
            try await house.done("seek", "+12")
            try await house.done("stop")
            let end = try await house.status().position
            try FileManager.default.moveItem(atPath: away, toPath: "\(folder)/01.mp3")
            try await house.done("play", folder)
            let back = try await house.status("all of it") { $0.state == .playing && $0.duration == whole }
            let place = end + whole - missing.duration
            #expect((place - 0.1..<place + 10).contains(back.position), "\(place) became \(back.position)")
            #expect(try await house.done("bookmarks").contains("the door"))
            #expect(try await house.report(ListReport.self, "continue").items.count == 1)
            // And what lies there now may be something else after all.
            try await house.done("undo")
            try await house.status("where that was left") { abs($0.position - left) < 10 }
        }
    }

    @Test func aFileUnderAnotherNameKeepsThePlaceInIt() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            try await house.daemon()
            try await house.done("play", folder, "--at", "10")
            try await house.done("bookmark", "the door")
            try await house.done("seek", "30")
            try await house.done("bookmark", "the window")
            try await house.done("stop")
            let left = try await house.status().position
            try FileManager.default.moveItem(atPath: "\(folder)/02.opus", toPath: "\(folder)/02 Two.opus")
            try await house.done("play", folder)
            let back = try await house.status("playing") { $0.state == .playing }
            #expect((left - 1..<left + 10).contains(back.position), "\(left) became \(back.position)")
            // What marks a moment in a file that is away waits for it.
            let away = "\(house.home)/away.mp3"
            try FileManager.default.moveItem(atPath: "\(folder)/01.mp3", toPath: away)
            try await house.done("play", folder)
            let rest = try await house.report(BookmarksReport.self, "bookmarks").bookmarks
            #expect(rest.map(\.title) == ["the window"])
            try FileManager.default.moveItem(atPath: away, toPath: "\(folder)/01.mp3")
            try await house.done("play", folder)
            let marks = try await house.report(BookmarksReport.self, "bookmarks").bookmarks
            #expect(marks.map(\.title) == ["the door", "the window"] && abs(marks[0].time - 10) < 3, "\(marks)")
            #expect(abs(marks[1].time - 30) < 3, "\(marks)")
        }
    }

    /// A file comes into the folder that was heard to its end, and what the listener has put to it comes along.
    @Test func whatGrowsBehindItsEndGoesOnFromThere() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            let late = "\(house.home)/late.flac"
            try FileManager.default.moveItem(atPath: "\(folder)/03.flac", toPath: late)
            try await house.daemon()
            try await house.done("play", folder, "--at", "20")
            try await house.done("speed", "1.5")
            try await house.done("bookmark", "the door")
            let end = try await house.status().duration
            try FileManager.default.moveItem(atPath: late, toPath: "\(folder)/03.flac")
            try await house.done("seek", "\(Int(end) - 3)")
            try await house.status("over") { $0.state == .stopped }
            try await house.done("play")
            let back = try await house.status("playing") { $0.state == .playing }
            #expect(back.duration > end + 10 && (end - 0.1..<end + 10).contains(back.position), "\(back)")
            #expect(back.rate == 1.5)
            #expect(try await house.done("bookmarks").contains("the door"))
        }
    }

    /// What waits, and was never played, is what it was under other tags.
    @Test func whatIsRetaggedInTheQueueIsPlayed() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            try await house.daemon()
            try await house.done("play", "\(folder)/01.mp3", "--at", "17")
            let late = "\(house.home)/late.flac"
            try FileManager.default.copyItem(atPath: "\(folder)/03.flac", toPath: late)
            try await house.done("queue", "add", late)
            try Sounds.run([
                "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", "\(folder)/03.flac", "-c", "copy", "-metadata",
                "title=Another Name", late,
            ])
            try await house.status("what waited") { $0.item?.title == "Another Name" && $0.state == .playing }
        }
    }

    /// The same files, and another timeline: the disk was too slow for one of them the first time.
    @Test(arguments: [true, false]) func aFileThatCouldNotBeReadBeforeMovesNoPlace(isNamed: Bool) async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            let paused = try await left(folder, in: house)

            let id = try #require(paused.item.flatMap { ItemID($0.id) })
            do {
                let store = try Store.open(at: "\(house.state)/state.sqlite") { Issue.record("\($0)") }
                let whole = try #require(try await store.item(id))
                var item = Item(
                    id: id, kind: whole.kind, title: whole.title, tracks: Array(whole.tracks.dropFirst()))
                item.url = whole.url
                var place = try #require(try await store.place(of: id))
                place.position = place.position - whole.tracks[0].duration
                let door = Bookmark(item: id, time: place.position, title: "the door", created: 1)
                try await store.write(.item(item), .place(place), .bookmark(door))
                try await store.flush()
            }
            try await house.daemon()
            // Who only looks moves nothing.
            try await house.done("show", folder)
            try await house.done("chapters", folder)
            if isNamed { try await house.done("play", folder) } else { try await house.done("play") }
            let back = try await house.status("playing") { $0.state == .playing }
            #expect(back.item?.id == paused.item?.id && back.duration > 59)
            #expect((paused.position - 1..<paused.position + 10).contains(back.position), "\(back.position)")
            let marks = try await house.report(BookmarksReport.self, "bookmarks").bookmarks
            #expect(marks.count == 1 && abs(marks[0].time - paused.position) < 0.1, "\(marks)")
        }
    }

    @Test func whatWasPlayedHereIsFoundWithoutAServer() async throws {
        try await House.with(keyring: .absent) { house in
            let nobody = try await house.dogear("search", "thunder")
            #expect(nobody.code == 3 && nobody.errors.contains("dogear login"), "\(nobody)")
            let path = try Sounds.tone("e2e/found/Thunderstorm.mp3", seconds: 21)
            try await house.done("play", path)
            for words in ["thunderstorm", "thund", "thunderstrom", "tunderstorm"] {
                #expect(try await house.done("search", words).contains("Thunderstorm"), "\(words)")
            }
            try await house.done("stop")
            #expect(try await house.done("play", "thundrestorm").contains("Thunderstorm"))
            let none = try await house.dogear("search", "lightning")
            #expect(none.code == 2 && none.errors.contains("nothing that was played here"), "\(none)")
        }
    }

    /// What breaks off is not over: the place stays where the sound ended, also when it is played from there again.
    @Test(arguments: ["mp3", "opus", "wav"]) func halfAFileIsNeverFinished(_ ending: String) async throws {
        try await House.with(keyring: .absent) { house in
            let whole = try Sounds.read(try Sounds.tone("e2e/half/whole.\(ending)", seconds: 20))
            let path = "\(house.home)/half.\(ending)"
            try Sounds.write(Array(whole.prefix(whole.count / 2)), to: path)
            for goes in [["--at", "7"], []] {
                let outcome = try await house.run(Child.built("dogear"), ["play", path] + goes)
                #expect(outcome.code == 0, "\(outcome)")
                let status = try await house.status("told of the break") {
                    $0.state != .playing && $0.error?.contains("cut short") == true
                }
                #expect((8..<11).contains(status.position), "\(status)")
                #expect(try await !house.done("show", path).contains("finished"))
            }
            // The rest of it has come.
            try Sounds.write(whole, to: path)
            try await house.done("play", path)
            let status = try await house.status("playing") { $0.state == .playing }
            #expect(status.duration > 19 && status.position > 7, "\(status)")
            #expect(try await house.done("continue", "--json").components(separatedBy: "\"id\"").count == 2)
            // It may have been something else after all.
            try await house.done("undo")
            try await house.status("from the start") { $0.position < 3 }
        }
    }

    @Test func aFolderIsOneBook() async throws {
        try await House.with(keyring: .absent) { house in
            let folder = try rooms(in: house)
            try await house.done("play", folder, "--at", "19.5")
            let titles = try house.follow("metadata", "xesam:title")
            try await titles.first("the second file") { $0 == "02" }
            try await house.playerctl("next")
            try await titles.first("the third file") { $0 == "03" }
            try await house.status("in the third file") { $0.position > 40.3 && $0.state == .playing }
            #expect(try await house.status().duration.rounded() == 60)
            try await house.done("seek", "chapter:2")
            try await house.done("stop")
            let moved = "\(house.home)/Other Rooms"
            try FileManager.default.moveItem(atPath: folder, toPath: moved)
            try await house.done("play", moved)
            #expect((19.5..<39).contains(try await house.status().position))
            try await house.done("finish")
            try await house.done("play", moved)
            #expect(try await house.status().position < 15)
        }
    }
}
