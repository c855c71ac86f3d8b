@testable import Listening

/// A Player, a clock turned by hand, and an engine that does what it is told at once.
struct Desk {
    var player = Player()
    var now = Moment(monotonic: 1_000_000_000, wall: 1_700_000_000_000)
    /// Where the engine would say the sound is.
    var sound: BookTime?
    var effects: [Player.Effect] = []
    /// What was listened to while time passed, and was told meanwhile: it goes with what is told next, and went with the
    /// last.
    private var owed = BookTime.zero
    private var told = BookTime.zero
    /// The server has no other device's place to tell, and says so at once.
    var isAnswered = true

    @discardableResult
    mutating func send(_ event: Player.Event) -> [Player.Effect] {
        effects = player.handle(event, at: now, engine: sound)
        told = .zero
        if heard != nil { (told, owed) = (owed, .zero) }
        for effect in effects {
            switch effect {
            case .load(_, _, let place, _, _): sound = place
            case .seek(_, let place): sound = place
            case .unload: sound = nil
            case .ask(let question) where isAnswered: return send(.answered(question, newer: nil))
            default: break
            }
        }
        return effects
    }

    /// Time passes, with a tick each second as in the daemon: without, it would pass for one that stood still.
    mutating func pass(_ seconds: Double) {
        var rest = seconds
        while player.phase == .playing, rest > 2 {
            passUnseen(1)
            rest -= 1
            send(.tick)
            owed = heard?.listened ?? owed
        }
        passUnseen(rest)
    }

    /// Time passes; sound goes on where it plays.
    mutating func passUnseen(_ seconds: Double) {
        now.monotonic += Int64(seconds * 1_000_000)
        now.wall += Int64(seconds * 1000)
        if player.phase == .playing, !player.isBuffering, let place = sound {
            sound = place + .seconds(seconds * player.rate)
        }
    }

    mutating func report(_ word: EngineReport.Word) { send(.report(EngineReport(player.load, word))) }

    /// - Parameter landing: where the sound comes to instead.
    mutating func seek(to place: Double, landing: Double? = nil) {
        send(.seek(to: .seconds(place)))
        report(.seeked(to: .seconds(landing ?? place)))
    }

    mutating func open(_ item: Item, at place: BookTime = .zero) {
        send(.opening(play: true))
        send(.open(item, at: place, play: true, rate: 1))
        report(.ready(at: place))
    }

    var position: Double { player.position(engine: sound).seconds }
    var heard: Player.Heard? {
        effects.lazy.compactMap { if case .heard(let heard) = $0 { heard } else { nil } }.last.map {
            Player.Heard(item: $0.item, place: $0.place, listened: told + $0.listened, why: $0.why)
        }
    }
    var isSeeked: Bool { effects.contains(.seeked) }
}

/// Three chapters of a minute in two files.
let emma = Item(
    id: ItemID(source: "abs", key: "a/emma"), kind: .book, title: "Emma", authors: ["Jane Austen"],
    tracks: [track(90), track(90)],
    chapters: [chapter("One", 0, 60), chapter("Two", 60, 120), chapter("Three", 120, 180)])
let plain = Item(
    id: ItemID(source: "file", key: "1"), kind: .file, title: "Plain", tracks: [track(100)])

func track(_ seconds: Double) -> Track {
    Track(start: .zero, duration: .seconds(seconds), audio: .file(path: "/x"))
}
func chapter(_ title: String, _ start: Double, _ end: Double) -> Chapter {
    Chapter(title: title, start: .seconds(start), end: .seconds(end))
}

extension Item {
    func divided(_ chapters: [Chapter]) -> Item {
        Item(id: id, kind: kind, title: title, authors: authors, tracks: tracks, chapters: chapters)
    }
}
