public import DBus
public import Listening

/// The lists there are, as org.mpris.MediaPlayer2.Playlists shows them.
public struct PlaylistRows: Hashable, Sendable {
    public struct Row: Hashable, Sendable {
        public let id: ObjectPath
        public let name: String
        /// `file://…`, or empty.
        public let icon: String

        init(_ playlist: Playlist) {
            id = ObjectPath(trusted: "/org/dogear/Dogear/playlist/\(ObjectPath.encoded(playlist.id))")
            name = shownText(playlist.name)
            icon = playlist.icon.map(fileURL) ?? ""
        }

        /// `(oss)`.
        public var value: Value { .structure([.objectPath(id), .string(name), .string(icon)]) }
    }

    public enum Ordering: String, CaseIterable, Sendable {
        /// As dogear lists them: what was begun first.
        case user = "User"
        case alphabetical = "Alphabetical"
        /// What plays now last; XFCE asks for nothing but this order, reversed.
        case played = "Played"
    }

    public let rows: [Row]
    public let active: Row?

    public init(_ playlists: [Playlist] = [], active: String? = nil) {
        rows = playlists.map(Row.init)
        self.active = playlists.first { $0.id == active }.map(Row.init)
    }

    /// `(b(oss))`.
    var activeValue: Value {
        let none = Value.structure([.objectPath(ObjectPath(trusted: "/")), .string(""), .string("")])
        return .structure([.bool(active != nil), active?.value ?? none])
    }

    func page(from index: UInt32, most count: UInt32, by ordering: Ordering, reversed: Bool) -> [Row] {
        var all = rows
        switch ordering {
        case .user: break
        case .alphabetical: all.sort { ($0.name.lowercased(), $0.id.text) < ($1.name.lowercased(), $1.id.text) }
        case .played: all = rows.reversed().filter { $0 != active } + (active.map { [$0] } ?? [])
        }
        if reversed { all.reverse() }
        return Array(all.dropFirst(Int(index)).prefix(Int(count)))
    }

    /// - Returns: the names of the properties that differ, and the lists that are still there but look different.
    public func changes(since old: PlaylistRows) -> (properties: [String], playlists: [Row]) {
        var names: [String] = []
        if rows.count != old.rows.count { names.append("PlaylistCount") }
        if active != old.active { names.append("ActivePlaylist") }
        let before = Dictionary(old.rows.map { ($0.id, $0) }) { first, _ in first }
        return (names, rows.filter { row in before[row.id].map { $0 != row } ?? false })
    }
}

/// org.mpris.MediaPlayer2.Playlists.
public let playlistsInterface = BusInterface<any PlayerFace>(
    MPRISName.playlists,
    [
        .later("ActivatePlaylist", in: ["PlaylistId": .objectPath]) { face, arguments, reply in
            do throws(BusError) {
                let id = try arguments[0].objectPath()
                guard let index = face.playlists.rows.firstIndex(where: { $0.id == id }) else {
                    throw .invalidArgs("there is no playlist '\(id)'; GetPlaylists tells which there are")
                }
                face.activate(playlist: index, reply)
            } catch {
                reply.fail(error)
            }
        },
        .method(
            "GetPlaylists", in: ["Index": .uint32, "MaxCount": .uint32, "Order": .string, "ReverseOrder": .bool],
            out: ["Playlists": Signature("a(oss)")]
        ) { face, arguments in
            let text = try arguments[2].string()
            guard let ordering = PlaylistRows.Ordering(rawValue: text) else {
                throw BusError.invalidArgs("there is no order '\(text.prefix(40))'; Orderings tells which there are")
            }
            let rows = face.playlists.page(
                from: try arguments[0].uint32(), most: try arguments[1].uint32(), by: ordering,
                reversed: try arguments[3].bool())
            face.playlistsAreShown()
            return [.array(Signature("(oss)"), rows.map(\.value))]
        },
        .signal("PlaylistChanged", ["Playlist": Signature("(oss)")]),
        .property("PlaylistCount", .uint32, get: { .uint32(UInt32($0.playlists.rows.count)) }),
        .property(
            "Orderings", .strings, emits: .constant,
            get: { _ in .strings(PlaylistRows.Ordering.allCases.map(\.rawValue)) }),
        .property("ActivePlaylist", Signature("(b(oss))"), get: { $0.playlists.activeValue }),
    ])
