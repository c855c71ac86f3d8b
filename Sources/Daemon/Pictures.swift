internal import EventLoop
internal import Folders
internal import Glibc
internal import Listening

/// Covers: fetched for what plays and for what somebody looks at, and known from then on wherever the item is shown.
extension Service {
    /// The picture that is already here, so that it is announced together with the rest.
    func pictured(_ item: Item) async -> Item {
        guard item.id.isOfShelf, let known = await shelves.knownCover(of: item.id) else { return item }
        var item = item
        item.coverPath = known
        return item
    }

    /// A picture, unless that has gone from the cache.
    func remaining(_ cover: String?) -> String? { cover.flatMap { shelves.covers.holds($0) ? $0 : nil } }

    /// What waits is shown without a picture that has gone.
    func forgetLostCovers() { line { queue in queue.setCovers { remaining($0.coverPath) } } }

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

    private func mayHavePicture(_ id: ItemID) -> Bool { id.isOfShelf && !pictures.asked.contains(id) }

    /// - Returns: nil if there is none or it cannot be had now.
    @discardableResult private func fetchCover(of id: ItemID) async -> String? {
        guard let path = await shelves.fetchCover(of: id) else { return nil }
        await librarian?.keep(cover: path, of: id)
        line { queue in queue.setCovers { $0.id == id ? path : $0.coverPath } }
        return path
    }
}

/// What is shown of what has no picture, and which were asked for because somebody looked at it.
struct Pictures {
    /// For what has no cover: dogear's own, where it is installed. Plasma writes over it, so that it lets nothing through.
    let own: String?
    /// Not again until the server is reached anew.
    var asked: Set<ItemID> = []
    var isFetching = false

    init(environment: [String: String]) { own = Self.cover(environment) }

    private static func cover(_ environment: [String: String]) -> String? {
        Paths.shared(environment).map { Paths.join($0, "dogear/cover.png") }.first { path in
            // Budgie does not decode what is encoded in a url.
            path.percentEncoded(keeping: "-./_") == path && access(path, R_OK) == 0
        }
    }
}
