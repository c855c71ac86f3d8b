internal import HTTP
public import Listening

extension ShelfClient {
    /// All bookmarks of this user: `GET /api/me/bookmarks`, and out of `GET /api/me` where a server before 2.36 has none.
    public func bookmarks() async throws(ShelfError) -> [Bookmark] {
        let payloads: [BookmarkPayload]?
        do throws(ShelfError) {
            payloads = BookmarkPayload.list(try await json(.bookmarks)["bookmarks"])
        } catch {
            guard case .notFound = error else { throw error }
            payloads = try await user().bookmarks
        }
        // What is not told must not pass for removed.
        guard let payloads else { throw .missing(field: "bookmarks", endpoint: Call.bookmarks.endpoint) }
        return payloads.compactMap { $0.bookmark(account: account.id) }
    }

    /// Tells the server what the listener wants of a bookmark. Safe to repeat: one at the same time takes the new title,
    /// and one that is to go and is not there is gone.
    public func write(_ bookmark: Bookmark) async throws(ShelfError) {
        guard let id = ShelfItemID(bookmark.item), id.episode == nil else {
            throw .notFound(what: bookmark.item.description)
        }
        switch bookmark.owed {
        case .removal: _ = try await answer(.removeBookmark(id, at: bookmark.number))
        case .put, nil: _ = try await answer(.putBookmark(id, at: bookmark.number, title: bookmark.title))
        }
    }
}

/// An element of `bookmarks`: `time` in seconds, sometimes as text, `createdAt` in milliseconds since 1970.
struct BookmarkPayload: Hashable, Sendable {
    let item: String
    let time: Double
    let title: String
    let created: Int64

    /// - Returns: nil without an item or a time.
    init?(_ json: JSON) {
        guard let item = json["libraryItemId"].text, let time = json["time"].number, time >= 0, time < 1e9 else {
            return nil
        }
        self.item = item
        self.time = time
        title = String((json["title"].string ?? "").prefix(Bookmark.longestTitle))
        created = max(0, json["createdAt"].integer ?? 0)
    }

    /// - Returns: nil if it is no list.
    static func list(_ json: JSON) -> [BookmarkPayload]? {
        if case .array(let elements) = json { elements.compactMap(BookmarkPayload.init) } else { nil }
    }

    func bookmark(account: String) -> Bookmark? {
        ShelfItemID(account: account, item: item).map {
            Bookmark(item: $0.id, time: .seconds(time), title: title, created: created, number: time, made: created)
        }
    }
}
