public import DBus
public import Listening

/// What the org.mpris tables need of dogear; the daemon, on the Loop.
public protocol PlayerFace: AnyObject {
    /// As last announced: reads and signals cannot disagree.
    var shown: PlayerProperties { get }
    /// Where the sound is at this moment, from the present track's start.
    var partPosition: BookTime { get }
    var mimeTypes: [String] { get }
    func send(_ event: Player.Event)
    /// Opens and plays; answers when it plays or cannot.
    func open(uri: String, _ reply: Reply)
    func quit()
}

public enum MPRISName {
    public static let bus = "org.mpris.MediaPlayer2.dogear"
    public static let path = "/org/mpris/MediaPlayer2"
    public static let root = "org.mpris.MediaPlayer2"
    public static let player = "org.mpris.MediaPlayer2.Player"
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
        .property("HasTrackList", .bool, emits: .constant, get: { _ in .bool(false) }),
        .property("Identity", .string, emits: .constant, get: { _ in .string("Dogear") }),
        .property("DesktopEntry", .string, emits: .constant, get: { _ in .string("org.dogear.Dogear") }),
        .property("SupportedUriSchemes", .strings, emits: .constant, get: { _ in .strings(["file"]) }),
        .property("SupportedMimeTypes", .strings, emits: .constant, get: { .strings($0.mimeTypes) }),
    ])

/// org.mpris.MediaPlayer2.Player.
public let playerInterface = BusInterface<any PlayerFace>(
    MPRISName.player,
    [
        event("Next") { _ in .next },
        event("Previous") { _ in .previous },
        event("Pause") { _ in .pause(.listener) },
        event("PlayPause") { _ in .toggle },
        event("Stop") { _ in .stop },
        event("Play") { _ in .play },
        event("Seek", ["Offset": .int64]) { .seekPart(by: BookTime(microseconds: try $0[0].int64())) },
        .method("SetPosition", in: ["TrackId": .objectPath, "Position": .int64]) { face, arguments in
            // A track that is no longer the present one: the client was late, and the specification wants silence.
            guard try arguments[0].objectPath() == face.shown.trackID else { return [] }
            face.send(.setPartPosition(BookTime(microseconds: try arguments[1].int64())))
            return []
        },
        .later("OpenUri", in: ["Uri": .string]) { face, arguments, reply in
            do throws(BusError) { face.open(uri: try arguments[0].string(), reply) } catch { reply.fail(error) }
        },
        .signal("Seeked", ["Position": .int64]),
        .property("PlaybackStatus", .string, get: { .string($0.shown.status.rawValue) }),
        .property(
            "Rate", .double, get: { .double($0.shown.rate) },
            set: { face, value in face.send(.rate(try value.double())) }),
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
