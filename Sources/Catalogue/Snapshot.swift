public import Listening

/// The lists that are shown without waiting for anything: of a size that a menu can show.
public struct CatalogueSnapshot: Hashable, Sendable {
    public struct Row: Hashable, Sendable {
        public let id: ItemID
        public let title: String
        /// A picture that was once fetched; it may be gone.
        public let cover: String?

        public init(id: ItemID, title: String, cover: String?) {
            self.id = id
            self.title = title
            self.cover = cover
        }
    }

    public struct Library: Hashable, Sendable {
        public let account: String
        public let id: String
        public let name: String
        /// What was added or published last, not finished, the newest first.
        public let newest: [Row]
    }

    public var continueListening: [Row] = []
    public var latest: [Row] = []
    public var libraries: [Library] = []

    public init() {}
}

extension Catalogue {
    /// - Parameter limit: rows in each list.
    public func snapshot(limit: Int = 50) async throws(CatalogueError) -> CatalogueSnapshot {
        try await read { db in
            func shown(_ rows: [CatalogueRow]) -> [CatalogueSnapshot.Row] {
                rows.map { CatalogueSnapshot.Row(id: $0.item.id, title: $0.item.title, cover: $0.cover) }
            }
            var snapshot = CatalogueSnapshot()
            snapshot.continueListening = shown(try db.continued(limit))
            snapshot.latest = shown(try db.latest(limit, 0, library: nil))
            snapshot.libraries = try db.all("SELECT * FROM libraries ORDER BY account, rank").map { row in
                CatalogueSnapshot.Library(
                    account: try row.get("account"), id: try row.get("id"), name: try row.get("name"),
                    newest: shown(try db.latest(limit, 0, library: try row.get("number"))))
            }
            return snapshot
        }
    }
}
