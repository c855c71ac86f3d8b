public import DBus
public import Listening

/// Everything of org.mpris.MediaPlayer2.Player that is announced when it changes, as one value: two of them compared give
/// the one PropertiesChanged that is due.
public struct PlayerProperties: Sendable {
    public enum Status: String, Sendable {
        case playing = "Playing"
        case paused = "Paused"
        case stopped = "Stopped"
    }

    public let status: Status
    public let rate: Double
    public let volume: Double
    public let canGoNext: Bool
    public let canGoPrevious: Bool
    public let canPlay: Bool
    public let canSeek: Bool
    public let trackID: ObjectPath
    public let metadata: Value
    /// What the metadata was made of: comparing this costs nothing where comparing a whole dictionary would.
    private let made: MetadataKey

    /// - Parameter previous: its metadata is kept where nothing it is made of has changed.
    public init(of player: Player, previous: PlayerProperties? = nil) {
        let status = Self.status(player, previous)
        self.status = status
        rate = player.rate
        volume = player.volume
        canGoNext = player.canGoNext
        canGoPrevious = player.canGoPrevious
        canPlay = player.item != nil
        canSeek = player.item.map { $0.duration > .zero } ?? false
        made = MetadataKey(player)
        if let previous, previous.made == made {
            trackID = previous.trackID
            metadata = previous.metadata
        } else {
            trackID = player.trackID
            metadata = player.metadata
        }
    }

    /// Never Playing before sound can come: while something is opened, what was shown before stays.
    private static func status(_ player: Player, _ previous: PlayerProperties?) -> Status {
        switch player.phase {
        case .playing: .playing
        case .paused: .paused
        case .empty, .stopped: .stopped
        // A stream that is coming back is still playing for everyone who looks.
        case .opening, .loading:
            player.isBuffering ? .playing : (previous?.status ?? .stopped) == .stopped ? .stopped : .paused
        }
    }

    /// Names of the properties in which this differs from what was shown before.
    public func changes(since old: PlayerProperties) -> [String] {
        var names: [String] = []
        if status != old.status { names.append("PlaybackStatus") }
        if rate != old.rate { names.append("Rate") }
        if made != old.made { names.append("Metadata") }
        if volume != old.volume { names.append("Volume") }
        if canGoNext != old.canGoNext { names.append("CanGoNext") }
        if canGoPrevious != old.canGoPrevious { names.append("CanGoPrevious") }
        if canPlay != old.canPlay { names += ["CanPlay", "CanPause"] }
        if canSeek != old.canSeek { names.append("CanSeek") }
        return names
    }
}

private struct MetadataKey: Hashable {
    let item: ItemID?
    let part: Int
    let parts: Int
    let title: String?
    let cover: String?
    let duration: BookTime

    init(_ player: Player) {
        item = player.item?.id
        part = player.partIndex
        parts = player.parts.count
        title = player.item?.title
        cover = player.item?.coverPath
        duration = player.part?.duration ?? .zero
    }
}

extension Player {
    /// `/org/dogear/Dogear/item/<encoded id>/<part>`: the same for the same place, another for another.
    public var trackID: ObjectPath {
        guard let item else { return MPRISName.noTrack }
        return ObjectPath(
            trusted: "/org/dogear/Dogear/item/\(ObjectPath.encoded(item.id.description))/\(partIndex)")
    }

    /// `a{sv}` of the present part; what is not known is left out, never empty.
    var metadata: Value {
        guard let item, let part else { return .variants([("mpris:trackid", .objectPath(MPRISName.noTrack))]) }
        var pairs: [(String, Value)] = [("mpris:trackid", .objectPath(trackID))]
        if part.duration > .zero { pairs.append(("mpris:length", .int64(part.duration.microseconds))) }
        if let path = item.coverPath { pairs.append(("mpris:artUrl", .string("file://\(path)"))) }
        func add(_ key: String, _ text: String?) {
            if let text = text.map(shownText), !text.isEmpty { pairs.append((key, .string(text))) }
        }
        func add(_ key: String, all texts: [String]) {
            let texts = texts.map(shownText).filter { !$0.isEmpty }
            if !texts.isEmpty { pairs.append((key, .strings(texts))) }
        }
        let partTitle = hasChapterParts ? shownText(part.title) : ""
        add("xesam:title", hasChapterParts ? (partTitle.isEmpty ? "Chapter \(partIndex + 1)" : partTitle) : item.title)
        add("xesam:album", item.podcast ?? item.title)
        // Joined: KDE Connect shows nothing for two artists, XFCE and BlueZ only the first.
        add("xesam:artist", all: [item.authors.joined(separator: ", ")])
        add("xesam:albumArtist", all: item.authors)
        // The ontology has no narrator; who performs comes nearest.
        add("xesam:performer", all: item.narrators)
        if hasChapterParts { pairs.append(("xesam:trackNumber", .int32(Int32(clamping: partIndex + 1)))) }
        add("xesam:genre", all: item.genres)
        add("xesam:contentCreated", item.published)
        // Applets show a line or two; the whole of a long one would burden every read of the properties.
        add("xesam:comment", all: item.summary.map { [String($0.prefix(500))] } ?? [])
        // Of files only: the address of somebody's server is not everybody's on the bus.
        if item.url?.hasPrefix("file:") == true { add("xesam:url", item.url) }
        return .variants(pairs)
    }
}

/// Without control characters, which some applets draw as boxes and a NUL would end on the bus.
private func shownText(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
    let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
}
