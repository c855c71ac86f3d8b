public import DBus
public import Listening

/// What the org.mpris tables need of dogear; the daemon, on the Loop.
public protocol PlayerFace: AnyObject {
    /// As last announced: reads and signals cannot disagree.
    var shown: PlayerProperties { get }
    /// What is shown is what plays: false while one item gives way to another and the earlier one still shows.
    var isShownPresent: Bool { get }
    /// Where the sound is at this moment, from the present track's start.
    var partPosition: BookTime { get }
    /// The player's name, for people.
    var identity: String { get }
    /// What its desktop file is called, without the ending; empty: it has none.
    var desktopEntry: String { get }
    var mimeTypes: [String] { get }
    /// What addresses begin with that can be opened, without the colon.
    var uriSchemes: [String] { get }
    /// As last announced.
    var tracks: TrackRows { get }
    /// As last announced.
    var playlists: PlaylistRows { get }
    func send(_ event: Player.Event)
    /// Answers when what `body` brings about is heard, or cannot be; soon, whatever becomes of it.
    func answer(_ reply: Reply, after body: () -> Void)
    func setLoop(_ loop: Queue.Loop)
    func setShuffle(_ isOn: Bool)
    /// Opens and plays; answers when it plays or cannot.
    func open(uri: String, _ reply: Reply)
    /// Only while ``tracks`` can be edited; answers when it is there or cannot be played.
    func addTrack(uri: String, after: ObjectPath, isCurrent: Bool, _ reply: Reply)
    /// By its place in ``tracks``, and only while that can be edited.
    func removeTrack(_ index: Int)
    /// By its place in ``tracks``; plays.
    func goTo(track index: Int)
    /// Somebody looks at ``playlists``.
    func playlistsAreShown()
    /// By its place in ``playlists``; answers when it plays or cannot.
    func activate(playlist index: Int, _ reply: Reply)
    func quit()
}

public enum MPRISName {
    public static let bus = "org.mpris.MediaPlayer2.dogear"
    public static let path = "/org/mpris/MediaPlayer2"
    public static let root = "org.mpris.MediaPlayer2"
    public static let player = "org.mpris.MediaPlayer2.Player"
    public static let trackList = "org.mpris.MediaPlayer2.TrackList"
    public static let playlists = "org.mpris.MediaPlayer2.Playlists"
    public static let noTrack = ObjectPath(trusted: "/org/mpris/MediaPlayer2/TrackList/NoTrack")
}

/// org.mpris.MediaPlayer2.
public let rootInterface = BusInterface<any PlayerFace>(
    MPRISName.root,
    [
        .method("Raise") { _, _ in [] },
        .method("Quit") { face, _ in
            face.quit()
            return []
        },
        .property("CanQuit", .bool, emits: .constant, get: { _ in .bool(true) }),
        .property("CanRaise", .bool, emits: .constant, get: { _ in .bool(false) }),
        .property("HasTrackList", .bool, emits: .constant, get: { _ in .bool(true) }),
        .property("Identity", .string, emits: .constant, get: { .string($0.identity) }),
        .property("DesktopEntry", .string, emits: .constant, get: { .string($0.desktopEntry) }),
        .property("SupportedUriSchemes", .strings, emits: .constant, get: { .strings($0.uriSchemes) }),
        .property("SupportedMimeTypes", .strings, get: { .strings($0.mimeTypes) }),
    ])

/// org.mpris.MediaPlayer2.Player.
public let playerInterface = BusInterface<any PlayerFace>(
    MPRISName.player,
    [
        heard("Next", .next),
        heard("Previous", .previous),
        event("Pause") { _ in .pause(.listener) },
        .later("PlayPause") { face, _, reply in face.answer(reply) { face.send(face.shown.playPause) } },
        event("Stop") { _ in .stop },
        heard("Play", .play),
        event("Seek", ["Offset": .int64]) { .seekPart(by: BookTime(microseconds: try $0[0].int64())) },
        .method("SetPosition", in: ["TrackId": .objectPath, "Position": .int64]) { face, arguments in
            // A track that is no longer the present one: the client was late, and the specification wants silence.
            guard try arguments[0].objectPath() == face.shown.trackID, face.isShownPresent else { return [] }
            face.send(.setPartPosition(BookTime(microseconds: try arguments[1].int64())))
            return []
        },
        .later("OpenUri", in: ["Uri": .string]) { face, arguments, reply in
            do throws(BusError) { face.open(uri: try arguments[0].string(), reply) } catch { reply.fail(error) }
        },
        .signal("Seeked", ["Position": .int64]),
        .property("PlaybackStatus", .string, get: { .string($0.shown.status.rawValue) }),
        .property(
            "LoopStatus", .string, get: { .string(loopStatus($0.shown.loop)) },
            set: { face, value in
                let text = try value.string()
                guard let loop = Queue.Loop.allCases.first(where: { loopStatus($0) == text }) else {
                    throw BusError.invalidArgs("LoopStatus is None, Track or Playlist, not '\(text.prefix(40))'")
                }
                face.setLoop(loop)
            }),
        .property(
            "Rate", .double, get: { .double($0.shown.rate) },
            set: { face, value in face.send(.rate(try value.double())) }),
        .property(
            "Shuffle", .bool, get: { .bool($0.shown.isShuffled) },
            set: { face, value in face.setShuffle(try value.bool()) }),
        .property("Metadata", .variants, get: { $0.shown.metadata }),
        .property(
            "Volume", .double, get: { .double($0.shown.volume) },
            set: { face, value in face.send(.volume(try value.double())) }),
        .property("Position", .int64, emits: .never, get: { .int64($0.partPosition.microseconds) }),
        .property("MinimumRate", .double, get: { _ in .double(Player.rates.lowerBound) }),
        .property("MaximumRate", .double, get: { _ in .double(Player.rates.upperBound) }),
        .property("CanGoNext", .bool, get: { .bool($0.shown.canGoNext) }),
        .property("CanGoPrevious", .bool, get: { .bool($0.shown.canGoPrevious) }),
        .property("CanPlay", .bool, get: { .bool($0.shown.canPlay) }),
        .property("CanPause", .bool, get: { .bool($0.shown.canPlay) }),
        .property("CanSeek", .bool, get: { .bool($0.shown.canSeek) }),
        .property("CanControl", .bool, emits: .never, get: { _ in .bool(true) }),
    ])

private func loopStatus(_ loop: Queue.Loop) -> String {
    switch loop {
    case .off: "None"
    case .track: "Track"
    case .queue: "Playlist"
    }
}

/// A method that is one event for the Player, and may have something else be heard.
private func heard(_ name: String, _ event: Player.Event) -> BusInterface<any PlayerFace>.Member {
    .later(name) { face, _, reply in face.answer(reply) { face.send(event) } }
}

/// A method that is one event for the Player.
private func event(
    _ name: String, _ inputs: KeyValuePairs<String, Signature> = [:],
    _ make: @escaping @Sendable ([Value]) throws -> Player.Event
) -> BusInterface<any PlayerFace>.Member {
    .method(name, in: inputs) { face, arguments in
        face.send(try make(arguments))
        return []
    }
}
