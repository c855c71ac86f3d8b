import Foundation
import StandIn
import TestSupport
import Testing

/// What clients do beyond the keys: lists of tracks, lists of items, addresses, two dogears at once.
@Suite struct DesktopTests {
    private static let name = "org.mpris.MediaPlayer2.dogear"
    private static let root = "org.mpris.MediaPlayer2"

    private func call(
        _ house: House, _ interface: String, _ method: String, _ arguments: String..., to name: String = Self.name
    ) async throws -> House.Outcome {
        try await house.run(
            "busctl",
            ["--user", "--json=short", "call", name, "/org/mpris/MediaPlayer2", "\(Self.root)\(interface)", method]
                + arguments)
    }

    private func get(
        _ house: House, _ interface: String, _ property: String, of name: String = Self.name
    ) async throws -> Any {
        let answer = try await house.run(
            "busctl",
            [
                "--user", "--json=short", "get-property", name, "/org/mpris/MediaPlayer2", "\(Self.root)\(interface)",
                property,
            ])
        let value = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        return try #require(value?["data"], "\(answer)")
    }

    /// Names on the session bus.
    private func acquired(_ house: House) async throws -> [String] {
        try await house.run("busctl", ["--user", "--list", "--acquired"]).output
            .split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    private func tracks(_ house: House) async throws -> [String] {
        try #require(try await get(house, ".TrackList", "Tracks") as? [String])
    }

    /// Three files of half a minute without chapters; of each other content, which is what names them.
    private func songs() throws -> [String] { try ["A", "B", "C"].map { try song($0) } }

    private func song(_ name: String) throws -> String {
        try Sounds.tone("songs/\(name).mp3", seconds: 30, offset: Double(name.utf8.first ?? 0) / 10)
    }

    private func title(_ house: House, is title: String) async throws {
        try await house.status("at \(title)") { $0.item?.title == title && $0.state == .playing }
    }

    /// Cinnamon goes on showing the cover before, where the next has none.
    @Test func whatHasNoCoverHasDogearsWhereThatIsInstalled() async throws {
        _ = try Library.all.get()
        try await House.with(keyring: .absent) { house in
            let folder = "\(house.home)/.local/share/dogear"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("picture".utf8).write(to: URL(filePath: "\(folder)/cover.png"))
            let path = "\(house.home)/bare.mp3"
            try Sounds.run([
                "ffmpeg", "-nostdin", "-loglevel", "error", "-i", "\(Sounds.folder)/e2e/rooms/01.mp3", "-map", "0:a",
                "-c", "copy", path,
            ])
            try await house.daemon()
            try await house.done("play", path)
            #expect(
                try await house.playerctl("metadata", "mpris:artUrl") == "file://\(folder)/cover.png")
            #expect(try await house.status().cover == nil)
        }
    }

    @Test func chaptersAreTheTracksOfABook() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.done("pause")
            let all = try await tracks(house)
            #expect(all.count == 3)
            #expect(try await get(house, ".TrackList", "CanEditTracks") as? Bool == false)
            let answer = try await call(
                house, ".TrackList", "GetTracksMetadata", "ao", "3", all[2], "/no/such/track", all[0])
            #expect(answer.output.contains("Slack Water") && answer.output.contains("The Ebb"))
            #expect(!answer.output.contains("The Flood"))
            // Not editable is no error, and has no effect.
            #expect(try await call(house, ".TrackList", "RemoveTrack", "o", all[0]).code == 0)
            let add = ["sob", "file:///x", "/org/mpris/MediaPlayer2/TrackList/NoTrack", "false"]
            #expect(try await call(house, ".TrackList", "AddTrack", add[0], add[1], add[2], add[3]).code == 0)
            #expect(try await tracks(house) == all)
            #expect(try await call(house, ".TrackList", "GoTo", "o", "/no/such/track").code == 0)
            #expect(try await house.status().state == .paused)
            #expect(try await call(house, ".TrackList", "GoTo", "o", all[2]).code == 0)
            try await house.status("in the last chapter") { $0.position >= 60 && $0.state == .playing }
        }
    }

    @Test func theLineOfItemsIsEdited() async throws {
        try await House.with(keyring: .absent) { house in
            let songs = try songs()
            try await house.daemon()
            try await house.done("play", songs[0])
            let monitor = try await Monitor(house)
            func add(_ path: String, after: String, _ isCurrent: Bool = false) async throws -> House.Outcome {
                try await call(house, ".TrackList", "AddTrack", "sob", "file://\(path)", after, "\(isCurrent)")
            }
            let none = "/org/mpris/MediaPlayer2/TrackList/NoTrack"
            let first = try await tracks(house)
            #expect(first.count == 1)
            var mark = try await monitor.mark()
            #expect(try await add(songs[1], after: first[0]).code == 0)
            #expect(try await add(songs[2], after: none).code == 0)
            #expect(try await add("\(house.home)/missing.mp3", after: none).errors.contains("missing.mp3"))
            try await monitor.mark()
            #expect(
                try monitor.listSignals(from: mark).filter { $0.hasPrefix("TrackList") } == [
                    "TrackList PropertiesChanged Tracks", "TrackList TrackAdded",
                    "TrackList PropertiesChanged Tracks", "TrackList TrackAdded",
                ])
            let three = try await tracks(house)
            #expect(three.count == 3 && three[1] == first[0])
            #expect(try await house.status().queued == 1, "what is put in front was as good as played")

            // Along the line nothing changes but what is played; what is paused stays so, at its start.
            try await house.done("pause")
            try await house.done("seek", "0")
            mark = try await monitor.mark()
            for (key, name) in [("next", "B"), ("previous", "A"), ("previous", "C")] {
                try await house.playerctl(key)
                try await house.status("at \(name)") { $0.item?.title == name && $0.state == .paused }
                // What the desktop is shown is there: keys pressed before that mean nothing yet.
                try await eventually("\(name) on the bus") {
                    try await house.playerctl("metadata", "xesam:title") == name ? true : nil
                }
            }
            #expect(try await call(house, ".TrackList", "GoTo", "o", three[1]).code == 0)
            try await title(house, is: "A")
            try await monitor.mark()
            #expect(try await tracks(house) == three)
            #expect(try monitor.listSignals(from: mark).filter { $0.contains("TrackList Track") } == [])

            mark = try await monitor.mark()
            #expect(try await call(house, ".TrackList", "RemoveTrack", "o", three[0]).code == 0)
            try await monitor.mark()
            #expect(try monitor.listSignals(from: mark).last == "TrackList TrackRemoved")
            // The same once more, and at once; what is gone past goes on waiting.
            #expect(try await add(songs[1], after: three[2], true).code == 0)
            try await title(house, is: "B")
            let present = try await house.playerctl("metadata", "mpris:trackid").trimmingCharacters(in: ["'"])
            #expect(!three.contains(present))
            let last = try await tracks(house)
            #expect(last.count == 3 && Set(last) == Set(three.dropFirst() + [present]))
            #expect(try await house.status().queued == 1)
        }
    }

    /// Who asks for something else while a track is looked up that was to play at once means that; it is added all the same.
    @Test(arguments: ["stop", "pause", "play", ""]) func whatWasAddedToPlayGivesWay(_ command: String) async throws {
        try await House.signedIn(extra: House.hasty) { house, _ in
            try await house.done("play", "tidebook")
            let id = try #require(try await house.status().item?.id)
            try await house.done("play", try song("A"))
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/api/items/**", times: .max)
            async let added = call(
                house, ".TrackList", "AddTrack", "sob", "dogear:\(id)", try await tracks(house)[0], "true")
            try await house.status("told") { $0.opening == "Tidebook" }
            if command == "play" {
                try await house.done("play", try song("B"))
            } else if !command.isEmpty {
                try await house.playerctl(command)
            }
            house.server.clearFaults()
            gate.release()
            #expect(try await added.code == 0)
            switch command {
            case "stop":
                try await house.status("added") { $0.item?.title == "A" && $0.state == .stopped && $0.queued == 1 }
            case "play":
                try await house.status("added") { $0.item?.title == "B" && $0.state == .playing && $0.queued == 1 }
            case "pause": try await house.status("there") { $0.item?.title == "Tidebook" && $0.state == .paused }
            default:
                try await title(house, is: "Tidebook")
                // From where the last key would not go back within the item, however slow this computer is.
                try await house.done("pause")
                try await house.done("seek", "0")
                try await house.playerctl("previous")
                try await house.status("back") { $0.item?.title == "A" && $0.queued == 1 }
            }
        }
    }

    /// It is asked for again when its turn comes.
    @Test func whatWasAddedToPlayAndCannotWaits() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            let id = try #require(try await house.status().item?.id)
            try await house.done("play", try song("A"))
            house.server.fail(.serverError, path: "/api/items/*/play", times: .max)
            let added = try await call(
                house, ".TrackList", "AddTrack", "sob", "dogear:\(id)", try await tracks(house)[0], "true")
            #expect(added.code != 0, "\(added)")
            try await house.status("A goes on") { $0.item?.title == "A" && $0.state == .playing && $0.queued == 1 }
            house.server.clearFaults()
            try await house.playerctl("next")
            try await title(house, is: "Tidebook")
        }
    }

    /// The second while the first is still giving way to it.
    @Test func whatIsRemovedOnItsWayDoesNotPlay() async throws {
        try await House.with(keyring: .absent) { house in
            let songs = try songs()
            try await house.daemon()
            try await house.done("play", songs[0], songs[1], songs[2])
            let three = try await tracks(house)
            #expect(three.count == 3)
            async let first = call(house, ".TrackList", "RemoveTrack", "o", three[0])
            async let second = call(house, ".TrackList", "RemoveTrack", "o", three[1])
            #expect(try await [first.code, second.code] == [0, 0])
            try await title(house, is: "C")
            try await eventually("one track") { try await tracks(house).count == 1 ? true : nil }
        }
    }

    @Test func theQueueGoesRound() async throws {
        try await House.with(keyring: .absent) { house in
            let songs = try songs()
            try await house.daemon()
            try await house.done("play", songs[0])
            try await house.done("pause")
            try await house.done("queue", "add", songs[1])
            try await house.playerctl("loop", "Playlist")
            for (next, last) in [("B", "A"), ("A", "B")] {
                try await house.done("seek", "28")
                try await house.done("play")
                try await title(house, is: next)
                try await house.done("pause")
                #expect(try await house.done("queue", "--json").contains("\"title\":\"\(last)\""))
            }
            // It outlives the daemon, and so does the lot.
            try await house.playerctl("shuffle", "On")
            #expect(try await house.done("queue", "--loop", "track", "--json").contains("\"loop\":\"track\""))
            try await house.kill()
            try await house.daemon()
            try await house.status("as it was left") { $0.item?.title == "A" }
            #expect(try await house.playerctl("loop") == "Track")
            #expect(try await house.playerctl("shuffle") == "On")
            try await house.done("play", songs[2], "--at", "28")
            let position = try await house.status("begun again") { $0.item?.title == "C" && $0.position < 20 }
            #expect(position.state == .playing || position.state == .buffering)
            let off = try await house.done("queue", "--loop", "off", "--shuffle", "off", "--json")
            #expect(off.contains("\"loop\":\"off\"") && off.contains("\"shuffle\":false"))
        }
    }

    @Test func whatWasPlayedBeforeOutlivesTheDaemon() async throws {
        try await House.with(keyring: .absent) { house in
            let songs = try songs()
            try await house.daemon()
            try await house.done("play", songs[0], songs[1], songs[2])
            let line = try await tracks(house)
            #expect(try await call(house, ".TrackList", "GoTo", "o", line[1]).code == 0)
            try await title(house, is: "B")
            let active = try #require(try await get(house, ".Playlists", "ActivePlaylist") as? [Any])
            #expect(active.first as? Bool == true)
            #expect(try await tracks(house) == line)
            try await house.kill()
            try await house.daemon()
            try await house.status("as it was left") { $0.item?.title == "B" && $0.queued == 1 }
            #expect(try await tracks(house) == line)
            #expect((try await get(house, ".Playlists", "ActivePlaylist") as? [Any])?.first as? Bool == true)
            #expect(try await call(house, ".TrackList", "GoTo", "o", line[0]).code == 0)
            try await title(house, is: "A")
            #expect(try await house.status().queued == 2)
        }
    }

    /// `(oss)` each.
    private func lists(_ house: House) async throws -> [[String]] {
        let answer = try await call(house, ".Playlists", "GetPlaylists", "uusb", "0", "9", "User", "false")
        let object = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        return try #require((object?["data"] as? [Any])?.first as? [[String]])
    }

    /// They are asked of the server when somebody looks at the lists, and told when they are there.
    @Test func listsHavePictures() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            try await house.done("play", "echoes")
            let monitor = try await Monitor(house)
            let icon = try await eventually("a picture") {
                try await lists(house).first { $0[1] == "Books: recently added" && !$0[2].isEmpty }?[2]
            }
            #expect(FileManager.default.fileExists(atPath: String(icon.dropFirst("file://".count))))
            try await monitor.mark()
            #expect(try monitor.listSignals(from: 0).contains("Playlists PlaylistChanged"))
            // What waits was lined up before anybody had seen its picture.
            try await house.done("queue", "add", "tidebook")
            try await eventually("a picture of the queue") {
                try await lists(house).first { $0[1] == "Queue" && $0[2].hasPrefix("file://") }
            }
            // What is finished is not to be gone on with.
            #expect(try await lists(house).contains { $0[1] == "Continue listening" })
            try await house.done("finish")
            try await eventually("nothing to go on with") {
                try await lists(house).contains { $0[1] == "Continue listening" } ? nil : true
            }
        }
    }

    @Test func aListIsPlayedBehindTheQueue() async throws {
        try await House.with(keyring: .absent) { house in
            let songs = try songs()
            try await house.daemon()
            for song in songs {
                try await house.done("play", song)
                try await house.status("on its way") { $0.position > 0.2 && $0.state == .playing }
            }
            try await house.done("pause")
            let extra = try song("extra")
            try await house.done("queue", "add", extra)
            let found = try await eventually("two lists") {
                let lists = try await lists(house)
                return lists.count == 2 ? lists : nil
            }
            #expect(found.map { $0[1] } == ["Continue listening", "Queue"])
            #expect(try await get(house, ".Playlists", "PlaylistCount") as? Int == 2)
            #expect(try await call(house, ".Playlists", "ActivatePlaylist", "o", "/no/such/list").code != 0)
            #expect(try await call(house, ".Playlists", "ActivatePlaylist", "o", found[0][0]).code == 0)
            #expect(try await house.status().state == .playing)
            let queue = try await house.done("queue", "--json")
            let order = ["extra", "B", "A"].compactMap { queue.range(of: "\"title\":\"\($0)\"")?.lowerBound }
            #expect(order.count == 3 && order == order.sorted(), "\(queue)")
            let active = try #require(try await get(house, ".Playlists", "ActivePlaylist") as? [Any])
            #expect(active.first as? Bool == true)
            // Something else: the rest of the list is done with, the listener's own is not.
            try await house.done("play", try song("D"))
            #expect(try await house.status().queued == 1)
        }
    }

    /// What a list begins with and what follows it come together.
    @Test func aListThatIsPlayedIsToldOnce() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            try await house.done("play", try song("A"))
            let latest = try #require(try await lists(house).first { $0[1] == "Latest" })
            let monitor = try await Monitor(house)
            #expect(try await call(house, ".Playlists", "ActivatePlaylist", "o", latest[0]).code == 0)
            try await house.status("on its way") { ($0.queued ?? 0) > 1 && $0.state == .playing }
            try await monitor.mark()
            // Pictures come when they come.
            let told = try monitor.listSignals(from: 0).filter {
                $0.hasPrefix("TrackList ") && $0 != "TrackList TrackMetadataChanged"
            }
            #expect(told == ["TrackList PropertiesChanged Tracks", "TrackList TrackListReplaced"])
        }
    }

    @Test func addressesAreOpenedOrRefused() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            let id = try #require(try await house.status().item?.id)
            try await house.done("play", "echoes")
            for bad in [
                "ftp://user:secret@host/x.mp3", "no address", "dogear:abs:", "dogear:path:%2Fetc%2Fpasswd",
                "file://host/x",
                "dogear:abs:nobody/nothing", ":", "%", "http://", "http://ada:secret@127.0.0.1:1/x.mp3",
                "http://127.0.0.1/" + String(repeating: "x", count: 70_000),
            ] {
                let outcome = try await call(house, ".Player", "OpenUri", "s", bad)
                #expect(outcome.code != 0 && !outcome.errors.contains("secret"), "\(bad): \(outcome)")
            }
            #expect(try await house.status().item?.title == "Echoes")
            #expect(try await house.status().state == .playing)
            let escaped = id.replacingOccurrences(of: "-", with: "%2D").replacingOccurrences(of: "/", with: "%2F")
            for form in ["dogear:\(id)", "dogear://\(id)", "dogear:\(escaped)"] {
                #expect(try await call(house, ".Player", "OpenUri", "s", form).code == 0, "\(form)")
                try await title(house, is: "Tidebook")
                #expect(try await tracks(house).count == 3)
                try await house.done("play", "echoes")
                try await house.done("play", form)
                try await title(house, is: "Tidebook")
                try await house.done("play", "echoes")
            }
            for (bad, why) in [
                ("dogear:x", "names no item"), ("dogear://abs:", "names no item"), ("ftp://host/x", "cannot open"),
                ("file:0123", "was played here"),
            ] {
                let outcome = try await house.dogear("play", bad)
                #expect(outcome.code != 0 && outcome.errors.contains(why), "\(bad): \(outcome)")
            }
            let unknown = try await call(house, ".Player", "OpenUri", "s", "dogear:file:0123")
            #expect(unknown.code != 0 && unknown.errors.contains("was played here"), "\(unknown)")
            let file = "FILE://\(Sounds.folder)/e2e/hour/one.mp3"
            #expect(try await call(house, ".Player", "OpenUri", "s", file).code == 0)
            let schemes = try #require(try await get(house, "", "SupportedUriSchemes") as? [String])
            #expect(Set(schemes) == ["file", "http", "https", "dogear"])
            let types = try await eventually("media types") {
                let types = try await self.get(house, "", "SupportedMimeTypes") as? [String]
                return types?.isEmpty == false ? types : nil
            }
            #expect(Set(types).isSuperset(of: ["audio/mpeg", "audio/mp4", "audio/flac", "audio/ogg", "audio/opus"]))
            #expect(Set(types).count == types.count)
        }
    }

    /// A client that hands in an address means one track; what comes behind it in the queue has its chapters.
    @Test func onlyWhatWasHandedInIsOneTrack() async throws {
        try await House.signedIn { house, _ in
            let song = try song("A")
            try await house.done("play", "echoes")
            let opened = try await call(house, ".Player", "OpenUri", "s", "file://\(song)")
            #expect(opened.code == 0, "\(opened)")
            try await house.done("queue", "add", "tidebook")
            try await house.done("stop")
            try await house.done("next")
            try await house.done("play")
            try await title(house, is: "Tidebook")
            try await house.done("next")
            let next = try await house.status()
            #expect(next.item?.title == "Tidebook" && next.chapter?.title == "The Flood", "\(next)")
        }
    }

    @Test func anotherProfileIsAnotherDogear() async throws {
        try await House.with(keyring: .absent) { house in
            let songs = try songs()
            try await house.daemon()
            try await house.done("play", songs[0])
            try await house.done("--profile", "kids", "play", songs[1])
            try await house.done("pause", "--profile=kids")
            #expect(try await house.status().item?.title == "A")
            #expect(try await house.status().state == .playing)
            let kids = try await house.run(
                Child.built("dogear"), ["status"],
                environment: house.environment.merging(["DOGEAR_PROFILE": "kids"]) { $1 })
            #expect(kids.output.hasPrefix("Paused") && kids.output.contains("B"))
            let names = try await acquired(house)
            #expect(names.contains("org.dogear.Dogear") && names.contains("org.dogear.Dogear.kids"))
            let second = try #require(names.first { $0.hasPrefix("\(Self.name).instance") })
            #expect(names.contains(Self.name))
            #expect(try await get(house, "", "Identity", of: second) as? String == "Dogear (kids)")
            // A click on its card in GNOME must not start the other.
            #expect(try await get(house, "", "DesktopEntry", of: second) as? String == "")
            #expect(try await get(house, "", "DesktopEntry") as? String == "org.dogear.Dogear")
            #expect(FileManager.default.fileExists(atPath: "\(house.state)/profiles/kids/state.sqlite"))
            for wrong in [["--profile", "../x", "status"], ["--profile", "1", "status"], ["status", "--profile"]] {
                #expect(try await house.run(Child.built("dogear"), wrong).code == 64, "\(wrong)")
            }
            #expect(try await call(house, "", "Quit", to: second).code == 0)
            try await eventually("one dogear") {
                let names = try await house.run("busctl", ["--user", "--list", "--acquired"]).output
                return names.contains("instance") || names.contains("kids") ? nil : true
            }
            let folder = "\(try #require(house.environment["HOME"]))/.local/share/applications"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Sounds.write([], to: "\(folder)/org.dogear.Dogear.kids.desktop")
            try await house.done("--profile", "kids", "status")
            let third = try await eventually("the other again") {
                try await acquired(house).first { $0.hasPrefix("\(Self.name).instance") }
            }
            #expect(try await get(house, "", "DesktopEntry", of: third) as? String == "org.dogear.Dogear.kids")
            #expect(try await house.status().state == .playing)
        }
    }
}
