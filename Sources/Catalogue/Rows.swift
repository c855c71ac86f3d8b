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
    fileprivate init?(_ row: Row) {
        guard let id = ItemID(row["id"] as String), let kind = CatalogueItem.Kind(rawValue: row["kind"]) else {
            return nil
        }
        let item = CatalogueItem(
            id: id, kind: kind, title: row["title"], subtitle: row["subtitle"], authors: Texts.split(row["authors"]),
            narrators: Texts.split(row["narrators"]), series: Texts.split(row["series"]).map(SeriesPlace.init(text:)),
            genres: Texts.split(row["genres"]), podcast: row["podcast"],
            duration: BookTime(microseconds: row["duration"]), added: row["added"], published: row["published"],
            released: row["released"], episodes: row["episodes"], isPlayable: row["isPlayable"])
        var place: Place?
        if (row["begun"] as String?) != nil {
            place = Place(
                item: id, position: BookTime(microseconds: row["position"]),
                duration: BookTime(microseconds: row["whole"]), isFinished: row["isFinished"], updated: row["told"])
        }
        self.init(item: item, library: row["libraryID"], place: place, cover: row["cover"])
    }
}
