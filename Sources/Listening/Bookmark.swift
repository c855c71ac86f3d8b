/// A place in an item that the listener put a name to. An item has one at each time at most: that is what it is known by,
/// here and on a server.
public struct Bookmark: Hashable, Sendable, Identifiable {
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        public let item: ItemID
        public let time: BookTime

        public init(item: ItemID, time: BookTime) {
            self.item = item
            self.time = time
        }

        /// `abs:<account>/<item>#312`.
        public var description: String {
            let whole = time.microseconds % 1_000_000 == 0
            return "\(item)#" + (whole ? "\(time.microseconds / 1_000_000)" : "\(time.seconds)")
        }
    }

    /// What a server has yet to be told.
    public enum Owed: String, Hashable, Sendable {
        /// That it is there, under this title.
        case put
        case removal
    }

    public let id: ID
    public var title: String
    /// Milliseconds since 1970.
    public let created: Int64
    /// The time in seconds as the server has it, which knows it by this very number and no rounder one.
    public let number: Double
    public var owed: Owed?
    /// When the listener last changed it here, in milliseconds since 1970.
    public var made: Int64
    /// What the server said when it refused for good; kept and shown, not sent again by itself.
    public var refusal: String?

    /// - Parameter number: nil: the time.
    public init(
        item: ItemID, time: BookTime, title: String, created: Int64, number: Double? = nil, owed: Owed? = nil,
        made: Int64 = 0, refusal: String? = nil
    ) {
        id = ID(item: item, time: time)
        self.title = title
        self.created = created
        self.number = number ?? time.seconds
        self.owed = owed
        self.made = made
        self.refusal = refusal
    }

    public var item: ItemID { id.item }
    public var time: BookTime { id.time }

    /// The listener wants it; one whose removal was refused is there still.
    public var isThere: Bool { owed != .removal || refusal != nil }

    /// In characters.
    public static let longestTitle = 500

    /// Servers keep the bookmarks of books. Those of episodes they could not tell apart, and files have no server.
    public static func isKeptByServer(_ item: ItemID) -> Bool {
        item.isOfShelf && item.key.count { $0 == "/" } == 1
    }

    /// Where one is made: whole seconds, as other clients of the servers count.
    public static func time(at place: BookTime) -> BookTime {
        BookTime(microseconds: max(0, place.microseconds) / 1_000_000 * 1_000_000)
    }

    /// What a bookmark is called that was given no title: `The Whale, 1:02:03`.
    public static func title(of item: Item, at time: BookTime) -> String {
        let clock = TimeText.clock(time)
        guard let index = item.chapterIndex(at: item.meant(by: time)) else { return clock }
        let chapter = item.chapters[index].title
        return chapter.allSatisfy(\.isWhitespace) ? clock : "\(chapter.prefix(longestTitle - 20)), \(clock)"
    }
}

extension Bookmark {
    /// What changes here when a server says which bookmarks it has. What it has yet to be told stays as the listener wants
    /// it; all else is as it is there.
    /// - Parameters:
    ///   - own: those of the same account here.
    ///   - server: all that it has.
    public static func changes(
        from own: [Bookmark], to server: [Bookmark]
    ) -> (saved: [Bookmark], removed: [ID]) {
        let known = Dictionary(own.map { ($0.id, $0) }) { first, _ in first }
        let told = Dictionary(server.map { ($0.id, $0) }) { first, _ in first }
        let saved = told.values.filter { there in
            guard let here = known[there.id] else { return true }
            return here.owed == nil
                && (here.title, here.created, here.number) != (there.title, there.created, there.number)
        }
        let removed = known.values.filter {
            $0.owed == nil && isKeptByServer($0.item) && told[$0.id] == nil
        }
        return (
            saved.sorted { ($0.item.key, $0.time) < ($1.item.key, $1.time) },
            removed.map(\.id).sorted { ($0.item.key, $0.time) < ($1.item.key, $1.time) }
        )
    }
}
