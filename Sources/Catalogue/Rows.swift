internal import GRDB
internal import Listening

/// Reading rows.
extension Database {
    /// Whole rows of these items, in this order.
    func rows(_ numbers: [Int64]) throws -> [CatalogueRow] {
        try numbers.compactMap { number in
            try first(
                """
                SELECT items.*, libraries.id AS libraryID, covers.path AS cover, progress.item AS begun,
                    progress.position, progress.duration AS whole, progress.isFinished, progress.updated AS told
                FROM items JOIN libraries ON libraries.number = items.library
                LEFT JOIN progress ON progress.item = items.id LEFT JOIN covers ON covers.item = items.id
                WHERE items.number = ?
                """, [number]
            ).flatMap(CatalogueRow.init)
        }
    }
}

extension CatalogueRow {
    fileprivate init?(_ row: Row) throws {
        guard let id = ItemID(try row.get("id")), let kind = CatalogueItem.Kind(rawValue: try row.get("kind")) else {
            return nil
        }
        let item = CatalogueItem(
            id: id, kind: kind, title: try row.get("title"), subtitle: try row.get("subtitle"),
            authors: Texts.split(try row.get("authors")), narrators: Texts.split(try row.get("narrators")),
            series: Texts.split(try row.get("series")).map(SeriesPlace.init(text:)),
            genres: Texts.split(try row.get("genres")), podcast: try row.get("podcast"),
            duration: BookTime(microseconds: try row.get("duration")), added: try row.get("added"),
            published: try row.get("published"), released: try row.get("released"),
            episodes: try row.get("episodes"), isPlayable: try row.get("isPlayable"))
        var place: Place?
        if (try row.get("begun") as String?) != nil {
            place = Place(
                item: id, position: BookTime(microseconds: try row.get("position")),
                duration: BookTime(microseconds: try row.get("whole")), isFinished: try row.get("isFinished"),
                updated: try row.get("told"))
        }
        self.init(item: item, library: try row.get("libraryID"), place: place, cover: try row.get("cover"))
    }
}

extension Row {
    /// GRDB's own subscripts stop the program when a damaged index holds something else than is asked for.
    func get<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: String) throws -> Value {
        try decode(forColumn: column)
    }
}
