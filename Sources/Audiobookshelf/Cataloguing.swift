internal import HTTP
public import Listening

/// A collection or a playlist of a library.
public struct ShelfList: Hashable, Sendable {
    public let id: String
    public let name: String
    public let items: [ItemID]
}

/// A listener's place in one item, and whether it is to be shown among what is listened to.
public struct ShelfProgressEntry: Hashable, Sendable {
    public let item: ItemID
    public let progress: ShelfProgress
    public let isHidden: Bool
}

/// What an index of the libraries is made from.
extension ShelfClient {
    /// `GET /api/libraries/:id/items`, one page, without the listener's progress.
    public func page(library: String, _ page: PageRequest) async throws(ShelfError) -> ShelfPage {
        try await self.page(library: library, page, [:])
    }

    /// `GET /api/items/:id?expanded=1`: one item, a podcast with all its episodes.
    /// - Returns: nil if it is not there any more, or not for this listener.
    public func whole(_ id: ShelfItemID) async throws(ShelfError) -> (row: ShelfRow, episodes: [ShelfRow])? {
        do throws(ShelfError) {
            let item = try await expanded(id)
            guard let row = ShelfRow(item, account: account.id, progress: [:]) else { return nil }
            let episodes = item.episodes.compactMap { episode in
                ShelfRow(episode, item: item.id, podcast: item.metadata, account: account.id, progress: [:])
            }
            return (row, episodes)
        } catch {
            switch error {
            case .notFound, .forbidden: return nil
            default: throw error
            }
        }
    }

    /// All collections of a library, a few with each request: they come with all their books.
    public func collections(library: String) async throws(ShelfError) -> [ShelfList] {
        var lists: [ShelfList] = []
        let limit = 5
        for page in 0..<10_000 {
            let results = try await json(.collections(library: library, limit: limit, page: page))["results"].elements
            let found = results.compactMap { list in
                self.list(list, list["books"].elements.map { ($0["id"].text, nil) })
            }
            let known = Set(lists.map(\.id))
            let news = found.filter { !known.contains($0.id) }
            lists += news
            // A server that knows no pages gives all of them each time.
            if results.count != limit || news.isEmpty { break }
        }
        return lists
    }

    /// All playlists of this listener in a library.
    public func playlists(library: String) async throws(ShelfError) -> [ShelfList] {
        try await json(.playlists(library: library))["results"].elements.compactMap { list in
            self.list(list, list["items"].elements.map { ($0["libraryItemId"].text, $0["episodeId"].text) })
        }
    }

    private func list(_ json: JSON, _ items: [(item: String?, episode: String?)]) -> ShelfList? {
        guard let id = json["id"].text else { return nil }
        let ids = items.compactMap { item, episode in
            item.flatMap { ShelfItemID(account: account.id, item: $0, episode: episode) }?.id
        }
        return ShelfList(id: id, name: json["name"].text ?? id, items: ids)
    }

    /// All of this listener's progress, out of `GET /api/me`.
    public func progressEntries() async throws(ShelfError) -> [ShelfProgressEntry] {
        try await user().progress.compactMap { payload in
            payload.key(account: account.id).map {
                ShelfProgressEntry(item: $0.id, progress: payload.progress, isHidden: payload.isHidden)
            }
        }
    }
}
