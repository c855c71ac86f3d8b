extension Item {
    /// Where a place in what was at this path before is now: tags were changed, a download has come further, or a folder got
    /// another file. Items of this computer are named after their content, so that this is another one.
    /// - Returns: nil where it is something else. Where what was heard is gone, the start of what came behind it; nil if that is
    ///   gone as well.
    public func place(from old: Item, _ place: BookTime) -> BookTime? {
        guard isSuccessor(of: old), let index = old.tracks.lastIndex(where: { $0.start <= place }) else {
            return nil
        }
        for before in old.tracks[index...] {
            let offset = max(.zero, place - before.start)
            guard let now = tracks.first(where: { $0.audio == before.audio }), offset < now.duration else { continue }
            return now.start + offset
        }
        // Heard to the end that it had then.
        guard let last = tracks.firstIndex(where: { $0.audio == old.tracks.last?.audio }), last + 1 < tracks.count
        else {
            return nil
        }
        return tracks[last + 1].start
    }

    /// Where what is heard at a place in what was there before is heard now; nil where it is not.
    public func same(_ place: BookTime, in old: Item) -> BookTime? {
        guard let before = old.tracks.last(where: { $0.start <= place }), place - before.start < before.duration,
            let now = tracks.first(where: { $0.audio == before.audio }), place - before.start < now.duration
        else { return nil }
        return now.start + (place - before.start)
    }

    /// This is what became of it, wherever the listener was.
    public func isSuccessor(of old: Item) -> Bool { kind == old.kind && isLike(old) }

    /// Most of what there was is there as it was, or has grown under its old title; under that title any of it will do: who
    /// has heard a file may delete it.
    private func isLike(_ old: Item) -> Bool {
        let same = old.tracks.count { before in
            tracks.contains { now in
                let growth = now.duration - before.duration
                guard now.audio == before.audio else { return false }
                return abs(growth.seconds) < 1 || growth > .zero && title == old.title
            }
        }
        return title == old.title ? same > 0 : same * 2 > old.tracks.count
    }
}
