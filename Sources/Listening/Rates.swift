extension Item {
    /// Under what its speed is kept, the nearest first: itself, then its series or podcast. The names of those are ids of
    /// no item: `series:<account>/<name>`, `podcast:<account>/<id>`.
    public var rateKeys: [ItemID] {
        let owner = id.account ?? id.source
        if let podcast {
            // Of a server's the id, which a new title does not change.
            let parts = id.key.split(separator: "/")
            let name = id.isOfShelf && parts.count == 3 ? String(parts[1]) : podcast
            return [id, ItemID(source: "podcast", key: "\(owner)/\(name)")]
        }
        return [id] + series.map { ItemID(source: "series", key: "\(owner)/\($0.name)") }
    }
}
