internal import EventLoop
internal import Glibc
internal import Listening

/// Covers: fetched for what plays and for what somebody looks at, and known from then on wherever the item is shown.
extension Service {
    /// The picture that is already here, so that it is announced together with the rest.
    func pictured(_ item: Item) async -> Item {
        guard item.id.source == "abs", let known = await shelves.knownCover(of: item.id) else { return item }
        var item = item
        item.coverPath = known
        return item
    }

    /// Of what is loaded.
    func showCover(of id: ItemID) async {
        guard let path = await fetchCover(of: id), let item = player.item, item.id == id else { return }
        guard item.coverPath != path else { return }
        send(.cover(id, path: path))
        if let item = player.item { store.post(.item(item)) }
    }

    /// For the next time they are looked at: one after the other, so that what plays is not kept waiting.
    func fetchCovers(of ids: [ItemID]) async {
        for id in ids.prefix(10) where pictures.asked.insert(id).inserted { await fetchCover(of: id) }
    }

    /// Somebody looks at the lists. Those without a picture get that of one of their first, and that is told then.
    func playlistsAreShown() {
        let bare = lists.choice.filter { $0.icon == nil }.map { $0.items.prefix(3).map(\.id).filter(mayHavePicture) }
        guard !bare.allSatisfy(\.isEmpty), !pictures.isFetching else { return }
        pictures.isFetching = true
        Task { @LoopActor in
            for ids in bare {
                for id in ids where pictures.asked.insert(id).inserted {
                    if await fetchCover(of: id) != nil { break }
                }
            }
            pictures.isFetching = false
        }
    }

    private func mayHavePicture(_ id: ItemID) -> Bool { id.source == "abs" && !pictures.asked.contains(id) }

    /// - Returns: nil if there is none or it cannot be had now.
    @discardableResult private func fetchCover(of id: ItemID) async -> String? {
        guard let path = await shelves.fetchCover(of: id) else { return nil }
        await librarian?.keep(cover: path, of: id)
        return path
    }
}

/// Which pictures were asked for because somebody looked at what has none.
struct Pictures {
    /// For what has no cover: dogear's own, where it is installed. Plasma writes over it, so that it lets nothing through.
    let own: String?
    /// Not again until the server is reached anew.
    var asked: Set<ItemID> = []
    var isFetching = false

    init(environment: [String: String]) { own = Self.cover(environment) }

    /// As the XDG Base Directory Specification has programs find what is installed.
    private static func cover(_ environment: [String: String]) -> String? {
        let home = environment["XDG_DATA_HOME"] ?? (environment["HOME"] ?? "") + "/.local/share"
        let shared = environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share"
        return ([home] + shared.split(separator: ":").map(String.init)).map { $0 + "/dogear/cover.png" }.first { path in
            // Budgie does not decode what is encoded in a url.
            path.hasPrefix("/") && path.utf8.allSatisfy(isPlain) && access(path, R_OK) == 0
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
