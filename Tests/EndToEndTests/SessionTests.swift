import Foundation
import TestSupport
import Testing

/// A whole session of listening to a book of two files and ten chapters, as everyone on the bus sees it.
@Suite(.inTime) struct SessionTests {
    private static let names = [
        "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten",
    ]

    /// Chapters of 20 s, five in each file, in a folder of this home; beside it a file of 10 s without any.
    private func book(in house: House) throws -> (book: String, tone: String) {
        for (file, chapters) in [("a", Self.names.prefix(5)), ("b", Self.names.suffix(5))] {
            let marks = chapters.enumerated().map { ($1, Double($0) * 20) }
            let tags = Sounds.metadata([("album", "Ten"), ("artist", "Ada Ebb")], chapters: marks, end: 100)
            _ = try Sounds.tone("session/Ten/\(file).m4b", seconds: 100, metadata: tags)
        }
        let tone = try Sounds.tone("session/Tone.mp3", seconds: 10)
        return ("\(Sounds.folder)/session/Ten", tone)
    }

    private func listening(_ body: (House, Monitor, (book: String, tone: String)) async throws -> Void) async throws {
        try await House.with(keyring: .absent) { house in
            let audio = try book(in: house)
            try await house.daemon()
            // How long a pause was is the machine's affair.
            try await house.done("settings", "playback.resume-rewind", "false")
            try await house.done("play", audio.book)
            try await house.status("on its way") { $0.state == .playing && $0.position > 0.2 }
            try await house.done("pause")
            try await body(house, try await Monitor(house), audio)
        }
    }

    private static let chapter = ["PropertiesChanged Metadata", "Seeked"]

    @Test func everySignalOfASessionInOrder() async throws {
        try await listening { house, monitor, audio in
            let titles = try house.follow("metadata", "xesam:title")
            let states = try house.follow("status")
            try await titles.first("the first chapter") { $0 == "One" }
            try await states.first("paused") { $0 == "Paused" }
            var mark = try await monitor.mark()
            /// - Parameter start: of the chapter in which the last of it is a halt.
            func expect(
                _ signals: [String], lists: [String] = [], haltsInChapterAt start: Double? = nil, _ what: Comment
            ) async throws {
                let end = try await monitor.mark()
                let seen =
                    if let start {
                        try monitor.signals(from: mark, haltedAt: try await house.status().position - start)
                    } else { try monitor.signals(from: mark) }
                #expect(seen == signals, what)
                let tracks = try monitor.listSignals(from: mark).filter { $0.hasPrefix("TrackList") }
                #expect(tracks == lists, what)
                mark = end
            }

            // While paused nothing moves by itself.
            try await house.done("seek", "110")
            try await house.status("in the second file") { $0.position == 110 }
            try await expect(Self.chapter, "a seek into the other file")
            try await house.done("seek", "15")
            try await house.status("in the first file") { $0.position == 15 }
            try await expect(Self.chapter, "and back")
            try await house.playerctl("previous")
            try await house.status("at the start") { $0.position == 0 }
            try await expect(["Seeked"], "previous, to the start of the chapter")
            try await house.playerctl("previous")
            try await house.status("at the start") { $0.position == 0 }
            try await expect(["Seeked"], "previous, where nothing is before")
            try await house.playerctl("next")
            try await house.status("in the second chapter") { $0.position == 20 }
            try await expect(Self.chapter, "next")

            try await house.done("seek", "38")
            try await expect(["Seeked"], "a seek within the chapter")
            try await house.playerctl("play")
            try await house.status("in the third chapter") { $0.position > 40.2 }
            try await house.playerctl("pause")
            try await expect(
                ["PropertiesChanged PlaybackStatus"] + Self.chapter + ["PropertiesChanged PlaybackStatus"],
                haltsInChapterAt: 40, "a chapter rolls by playing")
            try await house.done("seek", "99")
            try await expect(Self.chapter, "close to the end of the file")
            try await house.playerctl("play")
            try await house.status("in the other file") { $0.position > 100.2 }
            try await house.playerctl("pause")
            try await expect(
                ["PropertiesChanged PlaybackStatus"] + Self.chapter + ["PropertiesChanged PlaybackStatus"],
                haltsInChapterAt: 100, "a chapter rolls from file to file")
            for speed in ["2", "1"] {
                try await house.done("speed", speed)
                try await expect(["PropertiesChanged PlaybackStatus,Rate", "Seeked"], "another speed")
            }

            try await house.done("seek", "chapter:10")
            try await house.status("in the last chapter") { $0.position == 180 }
            try await expect(["PropertiesChanged CanGoNext,Metadata", "Seeked"], "the last chapter")
            try await house.playerctl("stop")
            try await expect(["PropertiesChanged PlaybackStatus"], "stop")
            try await house.done("queue", "add", audio.tone)
            try await expect(["PropertiesChanged CanGoNext,PlaybackStatus"], "something waits")
            try await house.done("seek", "198")
            try await expect(["Seeked"], "a seek while stopped")

            try await house.playerctl("play")
            try await house.status("the other item") { $0.item?.title == "Tone" && $0.state == .playing }
            try await house.status("its end") { $0.state == .stopped }
            try await titles.first("the other title") { $0 == "Tone" }
            try await expect(
                [
                    "PropertiesChanged PlaybackStatus", "Seeked",
                    // The book turns into what waited without ever stopping.
                    "PropertiesChanged CanGoNext,Metadata", "Seeked",
                    "PropertiesChanged PlaybackStatus", "Seeked",
                ],
                lists: [
                    "TrackList PropertiesChanged CanEditTracks,Tracks", "TrackList TrackListReplaced",
                ], "play, the end of the book, what waited, its end")

            let seen = titles.texts.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
            #expect(
                seen == [
                    "One", "Six", "One", "Two", "Three", "Five", "Six", "Ten", "Tone",
                ])
            try await states.first("stopped") { $0 == "Stopped" }
            #expect(
                states.texts == [
                    "Paused", "Playing", "Paused", "Playing", "Paused", "Stopped", "Playing", "Stopped",
                ])
        }
    }

    /// A client that asks once its call is answered reads what it asked for; nobody is shown a pause nobody made.
    @Test func whoGoesFromItemToItemSeesOneTurnIntoTheOther() async throws {
        try await listening { house, monitor, audio in
            try await house.done("settings", "playback.next", "queue")
            try await house.done("settings", "playback.previous", "queue")
            try await house.done("queue", "add", audio.tone)
            try await house.done("play")
            for (step, title) in [("next", "Tone"), ("previous", "One"), ("next", "Tone")] {
                let start = try await monitor.mark()
                let asked = ContinuousClock.now
                try await house.playerctl(step)
                let wasQuick = ContinuousClock.now - asked < .seconds(0.25)
                let read = try await house.playerctl("metadata", "xesam:title")
                #expect(read == title || !wasQuick, "a caller waits no longer than a quarter of a second")
                try await house.status("the other") {
                    $0.state == .playing && ($0.item?.title == "Tone") == (title == "Tone")
                }
                _ = try await monitor.mark()
                let seen = try monitor.signals(from: start).filter {
                    $0 != "PropertiesChanged CanGoNext,PlaybackStatus"
                }
                let turn = ["PropertiesChanged CanGoNext,Metadata", "Seeked"]
                // On a machine that needs a quarter of a second for it, it shows.
                let slow = [
                    "PropertiesChanged PlaybackStatus", "PropertiesChanged CanGoNext,Metadata,PlaybackStatus", "Seeked",
                ]
                #expect(seen == turn || seen == slow, "\(step)")
            }
        }
    }

    /// Plasma does not see a place that it was told just before.
    @Test func noPlaceIsToldTwiceInARow() async throws {
        try await listening { house, monitor, _ in
            let start = try await monitor.mark()
            for place in ["15", "15", "0", "0", "0", "15"] { try await house.done("seek", place) }
            try await monitor.mark()
            let told = monitor.messages(from: start).filter { $0.field("member") == "Seeked" }
                .compactMap { $0.arguments.first as? Int }
            #expect(told.count == 6 && zip(told, told.dropFirst()).allSatisfy { $0 != $1 }, "\(told)")
            #expect(try await house.status().position == 15)
            // It puts its bar to the start as Next is pressed, whatever comes of that.
            let path = "\(house.bus.home)/gone.mp3"
            try FileManager.default.copyItem(atPath: "\(Sounds.folder)/e2e/rooms/01.mp3", toPath: path)
            try await house.done("settings", "playback.next", "queue")
            try await house.done("queue", "add", path)
            try FileManager.default.removeItem(atPath: path)
            let press = try await monitor.mark()
            try await house.playerctl("next")
            try await house.status("told") { $0.error != nil }
            try await monitor.mark()
            let recalled = monitor.messages(from: press).filter { $0.field("member") == "Seeked" }
                .compactMap { $0.arguments.first as? Int }
            #expect(Set(recalled).count == 2 && recalled.allSatisfy { 0...1 ~= $0 - 15_000_000 }, "\(recalled)")
        }
    }

    @Test func whoOnlyFollowsSignalsKnowsThePosition() async throws {
        try await listening { house, monitor, _ in
            try await house.done("seek", "10")
            func ask() async throws {
                for _ in 1...3 {
                    try await house.run(
                        "busctl",
                        [
                            "--user", "get-property", "org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2",
                            "org.mpris.MediaPlayer2.Player", "Position",
                        ])
                }
            }
            try await ask()
            try await house.done("play")
            try await house.status("on its way") { $0.position > 10.5 }
            try await ask()
            try await house.done("speed", "2")
            try await ask()
            try await house.done("seek", "+3")
            try await ask()
            try await house.status("in the next chapter") { $0.position > 21 }
            try await ask()
            try await house.done("speed", "1")
            try await house.done("seek", "98")
            try await ask()
            try await house.status("in the other file") { $0.position > 100.5 }
            try await ask()
            try await house.done("pause")
            try await ask()
            try await house.done("play")
            try await house.playerctl("next")
            try await ask()
            try await house.playerctl("stop")
            try await ask()
            try await house.playerctl("play")
            try await house.status("playing") { $0.state == .playing }
            try await ask()
            try await monitor.mark()

            // Each answer is true at some moment between the call and itself.
            var follower = Follower()
            var calls: [String: Int] = [:]
            var errors: [Double] = []
            var slowest = 0
            for message in monitor.messages() {
                follower.see(message)
                let key = { (name: String, cookie: String) in "\(message.field(name)) \(message.number(cookie))" }
                if message.field("member") == "Get", message.arguments.last as? String == "Position" {
                    calls[key("sender", "cookie")] = message.at
                } else if message.field("type") == "method_return",
                    let called = calls[key("destination", "reply_cookie")],
                    let value = (message.arguments.first as? [String: Any])?["data"] as? Int
                {
                    let known = follower.position(at: called)...follower.position(at: message.at)
                    errors.append(max(known.lowerBound - Double(value), Double(value) - known.upperBound, 0))
                    slowest = max(slowest, message.at - called)
                }
            }
            #expect(errors.count == 33)
            // How late the machine let each have its turn cannot be told: the sink that begins to play, dogear that says so,
            // the bus, the monitor that sees it. None was later than the slowest of so many calls.
            let worst = errors.max() ?? 0
            #expect(worst < Double(50_000 + 4 * slowest), "\(errors), the slowest call took \(slowest)")
            #expect(errors.sorted()[errors.count / 2] < 50_000, "\(errors)")
        }
    }
}
