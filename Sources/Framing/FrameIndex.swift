/// Where frames are whose number is known.
struct FrameIndex: Sendable {
    struct Mark: Hashable, Sendable {
        let byte: Int64
        let frame: Int64
    }

    /// Ascending in both; the first is the first frame of the audio.
    private(set) var marks: [Mark]

    init(first: Mark) { marks = [first] }

    /// Takes a mark in unless it contradicts its neighbours.
    mutating func insert(_ mark: Mark) {
        let place = firstPlace(after: mark.frame)
        guard place > 0, marks[place - 1].frame < mark.frame, marks[place - 1].byte < mark.byte,
            place == marks.count || mark.byte < marks[place].byte
        else { return }
        marks.insert(mark, at: place)
    }

    mutating func insert(_ marks: [Mark]) {
        for mark in marks { insert(mark) }
    }

    /// The last known frame that is not behind `frame`.
    func last(upTo frame: Int64) -> Mark { marks[max(firstPlace(after: frame) - 1, 0)] }

    func first(after frame: Int64) -> Mark? {
        let place = firstPlace(after: frame)
        return place < marks.count ? marks[place] : nil
    }

    private func firstPlace(after frame: Int64) -> Int {
        var (low, high) = (0, marks.count)
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].frame <= frame { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
