internal import Control
internal import DBus
internal import Listening
internal import Logging
internal import MPRIS

/// What the desktop was told of lists. They are put together when an item or the queue changes, never because time passes.
struct Lists {
    var tracks = TrackRows(of: Player(), line: [])
    var playlists = PlaylistRows()
    /// What there is to choose from, in the order of the rows.
    var choice: [Playlist] = []
    /// What of the present item the list of tracks was made of.
    fileprivate var made: Made?
    /// The queue or what there is to choose from changed.
    var isStale = true

    fileprivate struct Made: Hashable {
        let load: LoadID
        let item: ItemID?
        let copy: Int
        let parts: Int
        let cover: String?

        init(_ player: Player) {
            load = player.load
            item = player.item?.id
            copy = player.copy
            parts = player.parts.count
            cover = player.item?.coverPath
        }
    }
}

extension Service {
    /// Silently: for when nobody could have asked yet.
    func refreshLists() {
        lists.made = Lists.Made(player)
        lists.isStale = false
        lists.tracks = TrackRows(of: player, line: queue.line, picture: pictures.own)
        lists.choice = choices + queuePlaylist
        let active = queue.present?.playlist ?? (queue.isUnderWay ? Self.queueID : nil)
        lists.playlists = PlaylistRows(lists.choice, active: active)
    }

    /// Tells what became of lists since they were last told of.
    func announceLists() {
        // Of an item that is only on its way nothing is shown.
        guard !isBetween, lists.isStale || lists.made != Lists.Made(player) else { return }
        let old = lists
        refreshLists()
        guard ownsMPRIS else { return }
        let changes = lists.tracks.changes(since: old.tracks)
        var names = old.tracks.ids == lists.tracks.ids ? [] : ["Tracks"]
        if old.tracks.canEdit != lists.tracks.canEdit { names.append("CanEditTracks") }
        bus.propertiesChanged(names, of: MPRISName.trackList, at: MPRISName.path)
        for change in changes { announce(change) }
        let (properties, playlists) = lists.playlists.changes(since: old.playlists)
        bus.propertiesChanged(properties, of: MPRISName.playlists, at: MPRISName.path)
        for playlist in playlists { signal("PlaylistChanged", [playlist.value], of: MPRISName.playlists) }
    }

    private func announce(_ change: TrackRows.Change) {
        let tracks = lists.tracks
        func metadata(_ id: ObjectPath) -> Value {
            tracks.index(of: id).map { tracks.rows[$0].metadata(picture: pictures.own) } ?? .variants([])
        }
        switch change {
        case .replaced:
            let all = Value.array(.objectPath, tracks.ids.map(Value.objectPath))
            signal("TrackListReplaced", [all, .objectPath(shown.trackID)], of: MPRISName.trackList)
        case .added(let id, let other):
            signal("TrackAdded", [metadata(id), .objectPath(other)], of: MPRISName.trackList)
        case .removed(let id): signal("TrackRemoved", [.objectPath(id)], of: MPRISName.trackList)
        case .metadata(let id):
            signal("TrackMetadataChanged", [.objectPath(id), metadata(id)], of: MPRISName.trackList)
        }
    }

    private func signal(_ name: String, _ values: [Value], of interface: String) {
        do throws(BusError) { try bus.emit(name, values, of: interface, at: MPRISName.path) } catch {
            log.warning("a signal could not be sent", metadata: ["why": "\(error)"])
        }
    }

    // MARK: Playlists

    private static let queueID = "queue"

    private var queuePlaylist: [Playlist] {
        queue.entries.isEmpty ? [] : [Playlist(id: Self.queueID, name: "Queue", items: queue.items)]
    }

    /// Plays the first of a list and puts the rest behind what the listener lined up.
    func play(_ playlist: Playlist) async throws(ControlError) {
        guard let first = playlist.items.first else { throw ControlError(.notFound, "'\(playlist.name)' is empty") }
        if playlist.id == Self.queueID {
            guard let next = queue.next else { throw ControlError(.notFound, "the queue is empty") }
            return try await open(next.item.id, at: nil, as: Wish(.onward, next.key, plays: true))
        }
        let (wish, ticket) = (wishes, opening)
        let rest = await described(Array(playlist.items.dropFirst()))
        guard wish == wishes, ticket == opening else { throw ControlError(Self.overtaken) }
        if first.id == player.item?.id, player.phase != .empty {
            stay()
            line { queue in
                queue.begin(first, nil, .chosen, playlist: playlist.id)
                queue.follow(rest, of: playlist.id)
            }
            send(.play)
            return try await plays()
        }
        var chosen = Wish(.chosen, playlist: playlist.id, plays: true)
        chosen.rest = rest
        try await open(first.id, at: nil, as: chosen)
    }
}
