internal import HTTP
internal import Listening

/// What an Audiobookshelf server says on its live connection: socket.io packets in Engine.IO 4 ones, several in one
/// polling answer joined by 0x1e. Whatever makes no sense or is of no use here is left out.
enum EnginePacket: Hashable, Sendable {
    /// The session begins; the server pings every so many seconds.
    case open(sid: String, silence: Double)
    case close
    case ping
    /// The namespace is joined.
    case connected
    /// It may not be joined.
    case refused
    case event(LiveEvent)

    /// - Parameter body: of one polling answer. Of a flood only the first packets are read.
    static func read(_ body: [UInt8]) -> [EnginePacket] {
        body.split(separator: 0x1e, maxSplits: 256).prefix(256).compactMap { EnginePacket($0) }
    }

    /// Whether an answer is of this protocol at all: every packet begins with its kind, from open to noop.
    static func isSpoken(_ body: [UInt8]) -> Bool {
        body.first.map { (UInt8(ascii: "0")...UInt8(ascii: "6")).contains($0) } ?? false
    }

    private init?(_ packet: ArraySlice<UInt8>) {
        let rest = packet.dropFirst()
        switch packet.first {
        case UInt8(ascii: "0"):
            let json = JSON(Array(rest)) ?? .null
            guard let sid = json["sid"].text, sid.utf8.count <= 128, sid.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
                return nil
            }
            let interval = (json["pingInterval"].number ?? 25_000).clamped(to: 100...300_000)
            let patience = (json["pingTimeout"].number ?? 20_000).clamped(to: 100...300_000)
            self = .open(sid: sid, silence: (interval + patience) / 1000)
        case UInt8(ascii: "1"): self = .close
        case UInt8(ascii: "2"): self = .ping
        case UInt8(ascii: "4"):
            switch rest.first {
            case UInt8(ascii: "0"): self = .connected
            case UInt8(ascii: "1"): self = .close
            case UInt8(ascii: "2"):
                guard let event = LiveEvent(rest.dropFirst()) else { return nil }
                self = .event(event)
            case UInt8(ascii: "4"): self = .refused
            default: return nil
            }
        default: return nil
        }
    }
}

/// The events that matter for keeping a place, and for what the libraries hold.
enum LiveEvent: Hashable, Sendable {
    /// The token was taken, which is this user's.
    case welcome(user: String?)
    case authFailed
    /// One session told a place.
    case progress(session: String?, ProgressPayload)
    /// Something of a user was changed: all their progress and bookmarks.
    case user(String?, [ProgressPayload], [BookmarkPayload])
    /// Items were added, changed or removed; podcasts also when one of their episodes was.
    case items([String])
    /// Something else of the libraries: their lists, or they themselves.
    case libraries

    /// - Parameter content: `["name",{...}]`. Most are of no use here: they are known by their names and not read.
    fileprivate init?(_ content: ArraySlice<UInt8>) {
        guard content.starts(with: Array("[\"".utf8)),
            let end = content.dropFirst(2).prefix(64).firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        let value = { JSON(Array(content))?.elements.dropFirst().first ?? .null }
        switch String(decoding: content[content.startIndex + 2..<end], as: UTF8.self) {
        case "init": self = .welcome(user: value()["userId"].text)
        case "auth_failed": self = .authFailed
        case "user_item_progress_updated":
            let value = value()
            guard let payload = ProgressPayload(value["data"]) else { return nil }
            self = .progress(session: value["sessionId"].text, payload)
        case "user_updated":
            let value = value()
            self = .user(
                value["id"].text, value["mediaProgress"].elements.compactMap(ProgressPayload.init),
                value["bookmarks"].elements.compactMap(BookmarkPayload.init))
        case "item_added", "item_updated", "item_removed": self = .items([value()["id"].text].compactMap(\.self))
        case "items_added", "items_updated": self = .items(value().elements.compactMap { $0["id"].text })
        case "episode_added": self = .items([value()["libraryItemId"].text].compactMap(\.self))
        case "library_added", "library_updated", "library_removed", "collection_added", "collection_updated",
            "collection_removed", "playlist_added", "playlist_updated", "playlist_removed":
            self = .libraries
        default: return nil
        }
    }
}
