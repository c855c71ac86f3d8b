/// What plays next, in order, and how it goes on: round and round, or shuffled.
///
/// What waits keeps the listener's order, shuffled or not; ``next`` tells what comes. The present item and what was played
/// on the way to it stand in front of what waits, so that Previous leads back: see ``line``.
public struct Queue: Hashable, Sendable {
    public enum Loop: String, CaseIterable, Hashable, Sendable {
        case off
        /// The present track begins again: the chapter, where chapters are tracks, else the item.
        case track
        /// An item that has come to its end goes to the end of the queue; with nothing else in it, the item begins again.
        case queue
    }

    /// What tells one entry from another of the same item.
    public struct Key: Hashable, Sendable {
        public let item: ItemID
        /// 0 for the first, or only, one of an item.
        public let copy: Int

        public init(item: ItemID, copy: Int = 0) {
            self.item = item
            self.copy = copy
        }
    }

    public struct Entry: Hashable, Sendable {
        public var item: Item
        public let copy: Int
        /// Of the list that brought it here; nil: the listener did.
        public var playlist: String?
        /// Asked to be next, shuffled or not.
        public var isNext: Bool
        /// How often the queue has gone round before its turn comes.
        public var round: Int

        public init(_ item: Item, copy: Int = 0, playlist: String? = nil, isNext: Bool = false, round: Int = 0) {
            self.item = item
            self.copy = copy
            self.playlist = playlist
            self.isNext = isNext
            self.round = round
        }

        public var key: Key { Key(item: item.id, copy: copy) }

        fileprivate func waiting(isNext: Bool = false, round: Int? = nil) -> Entry {
            Entry(item, copy: copy, playlist: playlist, isNext: isNext, round: round ?? self.round)
        }
    }

    /// How something came to play.
    public enum Way: Hashable, Sendable {
        /// The one before came to its end, or Next was pressed.
        case onward
        case back
        /// Chosen from what waits or was played: the rest stays.
        case picked
        /// The present one was taken out, and this is what followed it.
        case instead
        /// Asked for from outside the queue: what was played before, and the rest of a list, are done with.
        case chosen
    }

    public private(set) var entries: [Entry] = []
    /// What plays, or would go on.
    public private(set) var present: Entry?
    /// What led to the present one, the last of it last.
    public private(set) var played: [Entry] = []
    /// The present one was waiting here, or led to by what was.
    public private(set) var isUnderWay = false
    public var loop = Loop.off
    public private(set) var isShuffled = false
    public private(set) var seed: UInt64 = 0

    /// So much of what was played is kept.
    static let memory = 20

    public init(_ items: [Item] = []) { entries = joining(Self.distinct(items)) }

    /// As it was kept.
    public init(
        played: [Entry] = [], present: Entry? = nil, entries: [Entry], isUnderWay: Bool = false, loop: Loop,
        shuffledWith seed: UInt64?
    ) {
        self.present = present
        var keys = Set(present.map { [$0.key] } ?? [])
        self.played = played.suffix(Self.memory).filter { keys.insert($0.key).inserted }
        self.entries = entries.filter { keys.insert($0.key).inserted }
        self.isUnderWay = isUnderWay && present != nil
        self.loop = loop
        isShuffled = seed != nil
        self.seed = seed ?? 0
    }

    public var items: [Item] { entries.map(\.item) }
    public func contains(_ id: ItemID) -> Bool { entries.contains { $0.item.id == id } }

    public func has(_ entry: Entry) -> Bool { line.contains { $0.key == entry.key } }

    /// All of it, as a list that is played from its start to its end.
    public var line: [Entry] { played + (present.map { [$0] } ?? []) + entries }

    // MARK: What comes

    public var next: Entry? { nextIndex.map { entries[$0] } }

    /// Of ``entries``.
    public var nextIndex: Int? {
        guard isShuffled else { return entries.isEmpty ? nil : 0 }
        return entries.indices.min { rank($0) < rank($1) }
    }

    /// What Previous leads to.
    public var previous: Entry? { played.last ?? (loop == .queue ? entries.last : nil) }

    public var lineup: Lineup {
        Lineup(hasNext: !entries.isEmpty, hasPrevious: previous != nil, loop: loop, isShuffled: isShuffled)
    }

    /// The same for the same entry as long as the seed stays: who joins or leaves changes nothing for the others.
    private func rank(_ index: Int) -> (Int, Int, UInt64, Int) {
        let entry = entries[index]
        var bits = seed &+ UInt64(truncatingIfNeeded: entry.round &* 1_000_003 &+ entry.copy)
        for byte in entry.item.id.description.utf8 { bits = (bits ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        // FNV leaves neighbours near each other; this spreads them.
        bits = (bits ^ (bits >> 31)) &* 0x94d0_49bb_1331_11eb
        return (entry.round, entry.isNext ? 0 : 1, entry.isNext ? 0 : bits ^ (bits >> 29), index)
    }

    /// - Parameter seed: any number; another one gives another order. Nil: as they wait.
    public mutating func shuffle(with seed: UInt64?) {
        isShuffled = seed != nil
        self.seed = seed ?? 0
    }

    // MARK: What waits

    /// To the end, in front of what a list brought, or in front of all. An item that is there already moves.
    /// - Returns: its number, from 1.
    @discardableResult
    public mutating func add(_ item: Item, next: Bool) -> Int {
        add([item], next: next)
        return 1 + (entries.lastIndex { $0.item.id == item.id } ?? 0)
    }

    /// The same of several, in their order; of one that is named twice the first place counts.
    ///
    /// - Parameter key: of the entry the first of them comes behind; nil, or not there any more: as if alone.
    /// - Returns: the entry the next of them would come behind; nil if there is none.
    @discardableResult
    public mutating func add(_ items: [Item], next: Bool, behind key: Key? = nil) -> Key? {
        let items = Self.distinct(items)
        let new = Set(items.map(\.id))
        entries.removeAll { new.contains($0.item.id) }
        let first = next ? 0 : entries.firstIndex { $0.playlist != nil } ?? entries.count
        let place = entries.firstIndex { $0.key == key }.map { $0 + 1 } ?? first
        entries.insert(contentsOf: joining(items, isNext: next), at: place)
        let end = place + items.count
        return end > 0 ? entries[end - 1].key : nil
    }

    /// Into the line behind another, at its start if that is nil; of one that is there already it makes one more.
    /// - Returns: nil, and nothing is changed, if there is no such entry.
    @discardableResult
    public mutating func insert(_ item: Item, after key: Key?) -> Entry? {
        let index = key.map { key in line.firstIndex { $0.key == key } } ?? -1
        guard let index else { return nil }
        let new = entry(item)
        let place = index + 1
        let front = played.count + (present == nil ? 0 : 1)
        if place < front { played.insert(new, at: place) } else { entries.insert(new, at: place - front) }
        return new
    }

    /// - Parameter number: from 1.
    /// - Returns: what was there; nil if there is no such number.
    @discardableResult
    public mutating func remove(_ number: Int) -> Item? {
        entries.indices.contains(number - 1) ? entries.remove(at: number - 1).item : nil
    }

    /// Of what waits or was played; the present one stays.
    /// - Returns: false if it was not there.
    @discardableResult
    public mutating func remove(_ key: Key) -> Bool {
        let count = entries.count + played.count
        entries.removeAll { $0.key == key }
        played.removeAll { $0.key == key }
        return entries.count + played.count < count
    }

    /// Both from 1, and the second as counted when it is done.
    /// - Returns: false, and nothing is changed, if one of the numbers does not exist.
    @discardableResult
    public mutating func move(_ number: Int, to other: Int) -> Bool {
        guard entries.indices.contains(number - 1), entries.indices.contains(other - 1) else { return false }
        var moved = entries.remove(at: number - 1)
        moved.isNext = other == 1
        entries.insert(moved, at: other - 1)
        return true
    }

    public mutating func clear() { entries = [] }

    /// Puts a list behind what the listener lined up, in place of what another list left there. What waits already stays
    /// where it is.
    public mutating func follow(_ items: [Item], of playlist: String) {
        entries.removeAll { $0.playlist != nil }
        let there = Set((entries + (present.map { [$0] } ?? [])).map(\.item.id))
        entries += joining(Self.distinct(items).filter { !there.contains($0.id) }, playlist)
    }

    /// What is shown of an item has come, or is not there any more.
    public mutating func setCovers(_ cover: (Item) -> String?) {
        func covered(_ entry: Entry) -> Entry {
            var entry = entry
            entry.item.coverPath = cover(entry.item)
            return entry
        }
        (played, present, entries) = (played.map(covered), present.map(covered), entries.map(covered))
    }

    // MARK: What plays

    /// Something begins to play: it is no longer waiting, and what played before goes where its way leads.
    /// - Parameters:
    ///   - key: of the entry; nil: the first of this item, if it is there at all.
    ///   - playlist: the list it was chosen from.
    public mutating func begin(_ item: Item, _ key: Key? = nil, _ way: Way, playlist: String? = nil) {
        if let present, present.item.id == item.id, key == nil || key == present.key {
            self.present?.item = item
            if let playlist { self.present?.playlist = playlist }
            return
        }
        let index = entries.firstIndex { entry in key.map { $0 == entry.key } ?? (entry.item.id == item.id) }
        let waiting = index.map { entries.remove(at: $0) }
        let last = present
        present = nil
        var earlier: Entry?
        if let place = key.flatMap({ key in played.firstIndex { $0.key == key } }) {
            // Back along the line: what lay between waits again, and comes first.
            earlier = played[place]
            let between = played[(place + 1)...] + (way == .instead ? [] : last.map { [$0] } ?? [])
            entries.insert(contentsOf: between.map { $0.waiting(isNext: true) }, at: 0)
            played.removeSubrange(place...)
        } else if let last {
            switch way {
            case .onward where loop == .queue: entries.append(last.waiting(round: last.round + 1))
            case .onward, .picked: played = (played + [last]).suffix(Self.memory)
            case .back: entries.insert(last.waiting(isNext: true), at: 0)
            case .instead, .chosen: break
            }
        }
        if way == .chosen {
            played = []
            if waiting?.playlist == nil { entries.removeAll { $0.playlist != nil } }
        }
        isUnderWay = way != .chosen || waiting != nil
        var new = waiting ?? earlier ?? entry(item)
        new.item = item
        new.isNext = false
        // It went to the end as the queue went round; that is taken back.
        if way == .back, waiting != nil { new.round -= 1 }
        if let playlist { new.playlist = playlist }
        present = new
    }

    /// The present one was never heard: what was present before it is so again, and the rest stays as it is now.
    public mutating func undo(to before: Queue) {
        guard let last = before.present, let present, present.key != last.key else { return }
        // One that was waiting waits again.
        let waited = before.entries.contains { $0.key == present.key }
        begin(last.item, last.key, waited ? .back : .instead)
        isUnderWay = before.isUnderWay
    }

    /// Known from an earlier run: can be gone on with. What waits keeps waiting, and what led to it stays behind it.
    public mutating func restore(_ item: Item) {
        if present?.item.id == item.id {
            present?.item = item
        } else if let earlier = played.last(where: { $0.item.id == item.id }) {
            begin(item, earlier.key, .back)
        } else {
            (played, present, isUnderWay) = ([], nil, false)
            present = entry(item)
        }
    }

    private func entry(_ item: Item) -> Entry { joining([item])[0] }

    /// Of one that is named twice the first place counts.
    private static func distinct(_ items: [Item]) -> [Item] {
        var known: Set<ItemID> = []
        return items.filter { known.insert($0.id).inserted }
    }

    /// Entries of items that differ from each other.
    private func joining(_ items: [Item], _ playlist: String? = nil, isNext: Bool = false) -> [Entry] {
        let taken = Set(line.map(\.key))
        let round = present?.round ?? entries.map(\.round).min() ?? 0
        return items.map { item in
            let copy = (0...).first { !taken.contains(Key(item: item.id, copy: $0)) } ?? 0
            return Entry(item, copy: copy, playlist: playlist, isNext: isNext, round: round)
        }
    }
}

/// What of the queue matters to what Next, Previous and the end of an item do.
public struct Lineup: Hashable, Sendable {
    public var hasNext: Bool
    public var hasPrevious: Bool
    public var loop: Queue.Loop
    public var isShuffled: Bool

    public init(
        hasNext: Bool = false, hasPrevious: Bool = false, loop: Queue.Loop = .off, isShuffled: Bool = false
    ) {
        self.hasNext = hasNext
        self.hasPrevious = hasPrevious
        self.loop = loop
        self.isShuffled = isShuffled
    }
}
