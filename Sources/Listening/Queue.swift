/// What plays next, in order. An item is in it once at most.
public struct Queue: Hashable, Sendable {
    public private(set) var items: [Item]

    public init(_ items: [Item] = []) {
        self.items = []
        for item in items where !contains(item.id) { self.items.append(item) }
    }

    public func contains(_ id: ItemID) -> Bool { items.contains { $0.id == id } }
    public var head: Item? { items.first }

    /// To the end, or in front of all others. An item that is there already moves.
    /// - Returns: its number, from 1.
    @discardableResult
    public mutating func add(_ item: Item, next: Bool) -> Int {
        items.removeAll { $0.id == item.id }
        items.insert(item, at: next ? 0 : items.count)
        return next ? 1 : items.count
    }

    /// - Parameter number: from 1.
    /// - Returns: what was there; nil if there is no such number.
    @discardableResult
    public mutating func remove(_ number: Int) -> Item? {
        items.indices.contains(number - 1) ? items.remove(at: number - 1) : nil
    }

    /// - Returns: false if it was not there.
    @discardableResult
    public mutating func remove(_ id: ItemID) -> Bool {
        let count = items.count
        items.removeAll { $0.id == id }
        return items.count < count
    }

    /// Both from 1, and the second as counted when it is done.
    /// - Returns: false, and nothing is changed, if one of the numbers does not exist.
    @discardableResult
    public mutating func move(_ number: Int, to other: Int) -> Bool {
        guard items.indices.contains(number - 1), items.indices.contains(other - 1) else { return false }
        items.insert(items.remove(at: number - 1), at: other - 1)
        return true
    }

    public mutating func clear() { items = [] }
}
