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

    public private(set) var status: Status
    public private(set) var volume: Double
    public private(set) var loop: Queue.Loop
    public private(set) var isShuffled: Bool
    public private(set) var rate: Double
    public let canGoNext: Bool
    public let canGoPrevious: Bool
    public let canPlay: Bool
    public let canSeek: Bool
    public let trackID: ObjectPath
    /// Of the track.
    public let length: BookTime
    public let metadata: Value
    private let origin: Origin

    /// - Parameters:
    ///   - previous: its metadata is kept where nothing it is made of has changed.
    ///   - isBrief: what was heard was cut off a moment ago, and still shows.
    ///   - isDry: it has waited for what is to be heard for so long that nobody should count on.
    ///   - picture: absolute path of one for what has none; the same each time.
    public init(
        of player: Player, previous: PlayerProperties? = nil, isBrief: Bool = false, isDry: Bool = false,
        picture: String? = nil
    ) {
        if let previous, isBrief || player.turning != nil {
            // One item gives way to another. What was heard to its end still shows until the next one is heard.
            self = previous
            rate = player.chosenRate ?? rate
            if player.turning == .rolled, status != .stopped {
                status = player.wantsPlay && !isDry ? .playing : .paused
            } else if !isBrief, status == .playing {
                status = .paused
            }
        } else {
            status = Self.status(player, previous, isDry: isDry)
            rate = player.rate
            canGoNext = player.canGoNext
            canGoPrevious = player.canGoPrevious
            canPlay = player.item != nil
            canSeek = player.item.map { $0.duration > .zero } ?? false
            length = player.part?.duration ?? .zero
            origin = player.facts.map(Origin.track) ?? .nothing
            if let previous, origin.looks(like: previous.origin) {
                trackID = previous.trackID
                metadata = previous.metadata
            } else {
                trackID = player.trackID
                metadata = player.metadata(picture: picture)
            }
            (volume, loop, isShuffled) = (1, .off, false)
        }
        volume = player.volume
        loop = player.lineup.loop
        isShuffled = player.lineup.isShuffled
    }

    /// What the metadata was made of, in one piece of memory: all that is shown is copied for each property that is read.
    private enum Origin {
        case nothing
        indirect case track(TrackFacts)

        func looks(like other: Origin) -> Bool {
            switch (self, other) {
            case (.track(let facts), .track(let others)): facts.looks(like: others)
            case (.nothing, .nothing): true
            default: false
            }
        }
    }

    /// Never Playing before sound can come: while something is opened, what was shown before stays.
    private static func status(_ player: Player, _ previous: PlayerProperties?, isDry: Bool) -> Status {
        switch player.phase {
        case .playing: isDry ? .paused : .playing
        case .paused: .paused
        case .empty: .stopped
        case .stopped: player.isSetDown ? .paused : .stopped
        // A stream that is coming back is still playing for everyone who looks.
        case .opening, .loading:
            player.isBuffering && !isDry ? .playing : (previous?.status ?? .stopped) == .stopped ? .stopped : .paused
        }
    }

    /// What PlayPause means to who sees this: where what is wanted is long on its way that shows as a pause, and who
    /// presses it does not want less of it.
    public var playPause: Player.Event { status == .playing ? .pause(.listener) : .play }

    /// Names of the properties in which this differs from what was shown before. The status goes along with what some client
    /// looks at only as it is told one: XFCE at what can be done, unless there is other metadata, and Cinnamon at the rate,
    /// for it has a bar at 1 alone.
    public func changes(since old: PlayerProperties) -> [String] {
        let isSame = origin.looks(like: old.origin)
        let can = (canGoNext, canGoPrevious, canPlay, canSeek)
        let isUnseen = isSame && can != (old.canGoNext, old.canGoPrevious, old.canPlay, old.canSeek) || rate != old.rate
        var names: [String] = []
        if status != old.status || isUnseen { names.append("PlaybackStatus") }
        if loop != old.loop { names.append("LoopStatus") }
        if rate != old.rate { names.append("Rate") }
        if isShuffled != old.isShuffled { names.append("Shuffle") }
        if volume != old.volume { names.append("Volume") }
        if canGoNext != old.canGoNext { names.append("CanGoNext") }
        if canGoPrevious != old.canGoPrevious { names.append("CanGoPrevious") }
        if canPlay != old.canPlay { names += ["CanPlay", "CanPause"] }
        if canSeek != old.canSeek { names.append("CanSeek") }
        // Last: XFCE draws its menu anew at this, by what it has read until then.
        if !isSame { names.append("Metadata") }
        return names
    }
}

extension Player {
    /// Of the present part: see ``TrackFacts/id``.
    public var trackID: ObjectPath { facts?.id ?? MPRISName.noTrack }

    /// `a{sv}` of the present part; what is not known is left out, never empty.
    func metadata(picture: String?) -> Value {
        facts?.metadata(picture: picture) ?? .variants([("mpris:trackid", .objectPath(MPRISName.noTrack))])
    }

    fileprivate var facts: TrackFacts? {
        guard let item, let part else { return nil }
        return TrackFacts(item: item, copy: copy, part: hasChapterParts ? part : nil, index: partIndex)
    }
}
