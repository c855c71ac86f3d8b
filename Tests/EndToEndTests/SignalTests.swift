import Foundation
import SDBus
import TestSupport
import Testing

/// What desktops are told, as it goes over the bus.
@Suite struct SignalTests {
    private let player = "org.mpris.MediaPlayer2.Player"

    /// A book that plays in its second chapter, with its cover already announced.
    private func playing(_ body: (House, Monitor) async throws -> Void) async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "31")
            try await eventually("a cover") {
                try await house.run("playerctl", ["-p", "dogear", "metadata", "mpris:artUrl"]).code == 0 ? true : nil
            }
            try await house.status("on its way") { $0.position > 31.2 }
            try await body(house, try await Monitor(house))
        }
    }

    @Test func eachChangeIsOneSignalWithItsValues() async throws {
        try await playing { house, monitor in
            var mark = try await monitor.mark()
            func expect(_ signals: [String], _ what: Comment) async throws {
                let end = try await monitor.mark()
                let seen = try monitor.signals(from: mark)
                #expect(seen == signals, what)
                mark = end
            }
            func expectHalt(inChapterAt start: Double, _ what: Comment) async throws {
                let end = try await monitor.mark()
                let place = try await house.status().position - start
                #expect(try monitor.signals(from: mark, haltedAt: place) == ["PropertiesChanged PlaybackStatus"], what)
                mark = end
            }
            try await house.playerctl("pause")
            try await expectHalt(inChapterAt: 30, "pause")
            try await house.playerctl("pause")
            try await expect([], "pause again")
            try await house.playerctl("position", "5")
            try await house.status("sought") { $0.position == 35 }
            try await expect(["Seeked"], "a seek within the chapter")
            try await house.playerctl("volume", "0.5")
            try await expect(["PropertiesChanged Volume"], "volume")
            try await house.run(
                "busctl",
                [
                    "--user", "set-property", "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2", player,
                    "Rate", "d", "1.5",
                ])
            try await expect(["PropertiesChanged PlaybackStatus,Rate", "Seeked"], "rate")
            try await house.playerctl("play")
            try await house.status("playing") { $0.position > 35.3 }
            let begin = mark
            try await expect(["PropertiesChanged PlaybackStatus"], "play")
            // Where the sound begins late, as on a busy machine, it is told once it does.
            let places = monitor.messages(from: begin).filter { $0.field("member") == "Seeked" }
                .compactMap { $0.arguments.first as? Int }
            let place = Int((try await house.status().position - 30) * 1_000_000)
            #expect(places.count < 3 && places.allSatisfy { (5_000_000...place).contains($0) }, "\(places)")
            try await house.playerctl("previous")
            try await house.status("at the chapter's start") { (30.2..<60).contains($0.position) }
            try await expect(["Seeked"], "previous, to the start of the chapter")
            try await house.playerctl("next")
            try await house.status("in the next chapter") { $0.position > 60.2 }
            try await expect(["PropertiesChanged CanGoNext,Metadata", "Seeked"], "next, to the last chapter")
            try await house.playerctl("stop")
            try await expectHalt(inChapterAt: 60, "stop")
        }
    }

    @Test func aChapterRollsOverWithASeeked() async throws {
        try await playing { house, monitor in
            try await house.playerctl("pause")
            try await house.playerctl("position", "26")
            let before = try await house.status("near its end") { $0.position == 56 }
            #expect(before.chapter?.index == 2)
            let mark = try await monitor.mark()
            try await house.playerctl("play")
            try await house.status("in the next chapter") { $0.position > 60.3 }
            try await monitor.mark()
            let signals = try monitor.signals(from: mark)
            #expect(
                signals == ["PropertiesChanged PlaybackStatus", "PropertiesChanged CanGoNext,Metadata", "Seeked"])
            let told = monitor.messages(from: mark)
            let roll = try #require(told.lastIndex { $0.field("member") == "PropertiesChanged" })
            let seeked = try #require(told[roll...].first { $0.field("member") == "Seeked" })
            let position = try #require(seeked.arguments.first as? Int)
            #expect((0..<300_000).contains(position))
        }
    }

    @Test func nothingIsSaidWhileItSimplyPlays() async throws {
        try await playing { house, monitor in
            let mark = try await monitor.mark()
            let begun = try await house.status().position
            try await house.status("three seconds on") { $0.position > begun + 3 }
            try await monitor.mark()
            #expect(try monitor.signals(from: mark) == [])
        }
    }

    /// Cinnamon asks for the place only while something plays, and takes it for 0 as the player appears and at Stopped.
    @Test func thePlaceIsToldOfWhatAppearsPausedAndIsBackFromAStop() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "31")
            try await house.done("pause")
            let before = try await house.status().position
            try await house.kill()
            let monitor = try await Monitor(house)
            func told(since mark: Int, _ what: String) async throws {
                let status = try await house.status("\(what), where it was") { abs($0.position - before) < 1.5 }
                let place = Int((status.position - 30) * 1_000_000)
                try await eventually("\(what) with its place") {
                    monitor.messages(from: mark).contains {
                        guard $0.field("member") == "Seeked", let said = $0.arguments.first as? Int else {
                            return false
                        }
                        return abs(said - place) < 1000
                    } ? true : nil
                }
            }
            let start = try await monitor.mark()
            try await house.daemon()
            try await told(since: start, "a paused player")
            // It is started anew, or later than the player, at the login.
            let arrival = try await monitor.mark()
            let cinnamon = try await Bus(.at(house.bus.address)) { _ in }
            #expect(try await cinnamon.own("org.Cinnamon"))
            try await told(since: arrival, "to who came later")
            await cinnamon.close()

            await house.server.stop()
            try await house.done("stop")
            let stop = try await monitor.mark()
            try await house.playerctl("play")
            try await house.status("in vain") { $0.state == .paused }
            try await told(since: stop, "what could not be played")
        }
    }

    @Test func theMetadataHasTheRightTypes() async throws {
        try await playing { house, _ in
            let answer = try await house.run(
                "busctl",
                [
                    "--user", "--json=short", "call", "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2",
                    "org.freedesktop.DBus.Properties", "GetAll", "s", player,
                ])
            let message = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
            let all = try #require((message["data"] as? [Any])?.first as? [String: [String: Any]])
            #expect(all["PlaybackStatus"]?["data"] as? String == "Playing")
            let metadata = try #require(all["Metadata"]?["data"] as? [String: [String: Any]])
            func value(_ key: String, _ type: String) -> Any? {
                #expect(metadata[key]?["type"] as? String == type, "\(key)")
                return metadata[key]?["data"]
            }
            let id = value("mpris:trackid", "o") as? String
            #expect(id?.hasPrefix("/org/dogear/Dogear/item/") == true)
            #expect(value("mpris:length", "x") as? Int == 30_000_000)
            #expect(value("xesam:title", "s") as? String == "The Flood")
            #expect(value("xesam:album", "s") as? String == "Tidebook")
            #expect(value("xesam:artist", "as") as? [String] == ["Ada Ebb, Bo Flow"])
            #expect(value("xesam:albumArtist", "as") as? [String] == ["Ada Ebb", "Bo Flow"])
            #expect(value("xesam:trackNumber", "i") as? Int == 2)
            #expect(value("xesam:genre", "as") as? [String] == ["Sea"])
            let cover = try #require(value("mpris:artUrl", "s") as? String)
            let path = String(cover.dropFirst("file://".count))
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(path.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-/".contains($0)) })
            // The address of somebody's server is not everybody's on the bus.
            #expect(!answer.output.contains(house.address))
        }
    }

    @Test func aPlayerWithNothingToPlayTakesNoKeys() async throws {
        try await House.with { house in
            try await house.daemon()
            let names = try await house.run("busctl", ["--user", "--list", "--acquired"])
            #expect(names.output.contains("org.dogear.Dogear"))
            #expect(!names.output.contains("org.mpris.MediaPlayer2"))
            try await house.logIn()
            try await house.done("play", "echoes")
            #expect(try await house.run("playerctl", ["-l"]).output == "dogear\n")
            let root = try await house.run(
                "busctl",
                [
                    "--user", "get-property", "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2",
                    "org.mpris.MediaPlayer2", "Identity", "DesktopEntry", "HasTrackList",
                ])
            #expect(root.output == "s \"Dogear\"\ns \"org.dogear.Dogear\"\nb true\n")
        }
    }
}
