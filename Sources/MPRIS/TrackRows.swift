public import DBus
public import Listening

/// What org.mpris.MediaPlayer2.TrackList lists: the parts of the present item, or, where it has none, the line it stands
/// in: what was played, itself, what waits.
public struct TrackRows: Sendable {
    public let rows: [TrackFacts]
    public let ids: [ObjectPath]
    /// Of the line only; chapters are as they are.
    public let canEdit: Bool
    private let picture: String?

    /// - Parameter picture: absolute path of one for what has none.
    public init(of player: Player, line: [Queue.Entry], picture: String? = nil) {
        self.picture = picture
        canEdit = player.item != nil && !player.hasChapterParts
        if let item = player.item, player.hasChapterParts {
            rows = player.parts.indices.map {
                TrackFacts(item: item, copy: player.copy, part: player.parts[$0], index: $0)
            }
        } else if player.item != nil {
            rows = line.map { TrackFacts(item: $0.item, copy: $0.copy) }
        } else {
            rows = []
        }
        ids = rows.map(\.id)
    }

    public func index(of id: ObjectPath) -> Int? { ids.firstIndex(of: id) }

    /// `aa{sv}`: one for each that is in the list, in the order asked for. What is not in the list is left out, and what is
    /// asked for again too: an answer is no longer than the list.
    public func metadata(of wanted: [ObjectPath]) -> Value {
        var places = Dictionary(zip(ids, rows)) { first, _ in first }
        return .array(.variants, wanted.compactMap { places.removeValue(forKey: $0)?.metadata(picture: picture) })
    }

    public enum Change: Hashable, Sendable {
        case replaced
        /// Behind another; ``MPRISName/noTrack``: at the start.
        case added(ObjectPath, after: ObjectPath)
        case removed(ObjectPath)
        case metadata(ObjectPath)
    }

    /// So many changes are told one by one; more of them as a new list.
    static let few = 4

    /// What is to be told of the way from `old` to this, in order.
    public func changes(since old: TrackRows) -> [Change] {
        if ids == old.ids {
            let changed = rows.indices.filter { !rows[$0].looks(like: old.rows[$0]) }
            return changed.count > Self.few ? [.replaced] : changed.map { .metadata(ids[$0]) }
        }
        // A list of chapters and a line of items have nothing in common, whatever their ids.
        guard canEdit, old.canEdit else { return [.replaced] }
        let (before, after) = (Set(old.ids), Set(ids))
        let gone = old.ids.filter { !after.contains($0) }
        let new = ids.indices.filter { !before.contains(ids[$0]) }
        let isInOrder = old.ids.filter(after.contains) == ids.filter(before.contains)
        guard isInOrder, gone.count + new.count <= Self.few, gone.count < old.ids.count else { return [.replaced] }
        return gone.map { .removed($0) }
            + new.map { .added(ids[$0], after: $0 == 0 ? MPRISName.noTrack : ids[$0 - 1]) }
    }
}

/// org.mpris.MediaPlayer2.TrackList.
public let trackListInterface = BusInterface<any PlayerFace>(
    MPRISName.trackList,
    [
        .method("GetTracksMetadata", in: ["TrackIds": .array(.objectPath)], out: ["Metadata": .array(.variants)]) {
            face, arguments in
            let wanted = try arguments[0].array().map { try $0.objectPath() }
            return [face.tracks.metadata(of: wanted)]
        },
        .later("AddTrack", in: ["Uri": .string, "AfterTrack": .objectPath, "SetAsCurrent": .bool]) {
            face, arguments, reply in
            do throws(BusError) {
                let (uri, after) = (try arguments[0].string(), try arguments[1].objectPath())
                let isCurrent = try arguments[2].bool()
                // As the specification says: no effect, and that is no error.
                guard face.tracks.canEdit else { return reply([]) }
                face.addTrack(uri: uri, after: after, isCurrent: isCurrent, reply)
            } catch {
                reply.fail(error)
            }
        },
        onTrack("RemoveTrack") { face, index in if face.tracks.canEdit { face.removeTrack(index) } },
        onTrack("GoTo") { $0.goTo(track: $1) },
        .signal("TrackListReplaced", ["Tracks": .array(.objectPath), "CurrentTrack": .objectPath]),
        .signal("TrackAdded", ["Metadata": .variants, "AfterTrack": .objectPath]),
        .signal("TrackRemoved", ["TrackId": .objectPath]),
        .signal("TrackMetadataChanged", ["TrackId": .objectPath, "Metadata": .variants]),
        .property(
            "Tracks", .array(.objectPath), emits: .invalidates,
            get: { .array(.objectPath, $0.tracks.ids.map(Value.objectPath)) }),
        .property("CanEditTracks", .bool, get: { .bool($0.tracks.canEdit) }),
    ])

/// A method on a track; of one that is not in the list it does nothing, as the specification wants.
private func onTrack(
    _ name: String, _ body: @escaping @Sendable (any PlayerFace, Int) -> Void
) -> BusInterface<any PlayerFace>.Member {
    .later(name, in: ["TrackId": .objectPath]) { face, arguments, reply in
        do throws(BusError) {
            guard let index = face.tracks.index(of: try arguments[0].objectPath()) else { return reply([]) }
            face.answer(reply) { body(face, index) }
        } catch {
            reply.fail(error)
        }
    }
}
