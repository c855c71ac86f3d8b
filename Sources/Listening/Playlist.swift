/// A list of items to choose from: Continue listening, the queue, what a library got last.
public struct Playlist: Hashable, Sendable {
    /// Stable for as long as it is the same list.
    public let id: String
    public let name: String
    /// As far as they are described here; what is played is asked of their sources.
    public let items: [Item]

    public init(id: String, name: String, items: [Item]) {
        self.id = id
        self.name = name
        self.items = items
    }

    /// A picture on this computer.
    public var icon: String? { items.lazy.compactMap(\.coverPath).first }
}
