extension Item {
    /// Where a place in what was at this path before is now: tags or names were changed, a download has come further, or a
    /// folder got another file. Items of this computer are named after their content, so that this is another one.
    /// - Returns: nil where it is something else. Where what was heard is gone, the start of what came behind it; nil if that is
    ///   gone as well. Beyond the end where that is nearer than it was.
    public func place(from old: Item, _ place: BookTime) -> BookTime? {
        guard isSuccessor(of: old) else { return nil }
        let heirs = heirs(of: old)
        if heirs.isEmpty { return place < old.duration ? place : nil }
        guard let index = old.tracks.lastIndex(where: { $0.start <= place }) else { return nil }
        for (number, before) in old.tracks.enumerated().dropFirst(index) {
            let offset = max(.zero, place - before.start)
            guard let now = heirs[number].map({ tracks[$0] }) else { continue }
            if offset < now.duration { return now.start + offset }
            if offset < before.duration, now.start == tracks.last?.start { return now.start + offset }
        }
        // Heard to the end that it had then.
        guard let last = heirs[old.tracks.count - 1], last + 1 < tracks.count else { return nil }
        return tracks[last + 1].start
    }

    /// Where what is heard at a place in what was there before is heard now; nil where it is not.
    public func same(_ place: BookTime, in old: Item) -> BookTime? {
        let heirs = heirs(of: old)
        if heirs.isEmpty { return isRecoded(old) && place < duration ? place : nil }
        guard let index = old.tracks.lastIndex(where: { $0.start <= place }),
            case let offset = place - old.tracks[index].start, offset < old.tracks[index].duration,
            let now = heirs[index].map({ tracks[$0] }), offset < now.duration
        else { return nil }
        return now.start + offset
    }

    /// This is what became of it, wherever the listener was.
    public func isSuccessor(of old: Item) -> Bool { kind == old.kind && (isLike(old) || isRecoded(old)) }

    /// Most of what there was is there as it was; under its old title any of it will do, also longer or shorter: who has heard
    /// a file may delete it.
    private func isLike(_ old: Item) -> Bool {
        let heirs = heirs(of: old)
        if title == old.title { return !heirs.isEmpty }
        return heirs.count { isAsLong(old.tracks[$0], tracks[$1]) } * 2 > old.tracks.count
    }

    /// Other files with the same title, and all in all as long: encoders add some hundredths of a second to each.
    private func isRecoded(_ old: Item) -> Bool {
        let room = 1 + 0.1 * Double(max(tracks.count, old.tracks.count))
        return title == old.title && duration > .zero && abs((duration - old.duration).seconds) < room
    }

    private func isAsLong(_ before: Track, _ now: Track) -> Bool { abs((now.duration - before.duration).seconds) < 1 }

    /// Which track here each of the old ones is by now, by their numbers: the one with its name, else one of another name that is
    /// as long under its title, or exactly as long and in its place between the others.
    private func heirs(of old: Item) -> [Int: Int] {
        let named = Dictionary(tracks.enumerated().map { ($1.audio, $0) }) { first, _ in first }
        var heirs: [Int: Int] = [:]
        for (number, before) in old.tracks.enumerated() { heirs[number] = named[before.audio] }
        let taken = Set(heirs.values)
        var free = tracks.indices.filter { !taken.contains($0) }
        // Of those that have their names: the first behind each.
        var highs = Array(repeating: Int.max, count: old.tracks.count + 1)
        for number in old.tracks.indices.reversed() { highs[number] = min(highs[number + 1], heirs[number] ?? .max) }
        var low = -1
        for (number, before) in old.tracks.enumerated() {
            if heirs[number] == nil {
                let high = highs[number + 1]
                let heir = free.firstIndex { index in
                    let now = tracks[index]
                    if before.title != nil, before.title == now.title { return isAsLong(before, now) }
                    return low < index && index < high && abs((now.duration - before.duration).seconds) < 0.002
                }
                heirs[number] = heir.map { free.remove(at: $0) }
            }
            low = max(low, heirs[number] ?? -1)
        }
        return heirs
    }
}
