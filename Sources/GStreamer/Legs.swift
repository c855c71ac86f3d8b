internal import Listening

/// What has come to the sink's door, in order: the first is heard, the others lie in the sink's buffer.
///
/// A sink counts in the newest segment it was given. With seconds of sound in its buffer that one is heard much later; until
/// then the place is told from here. Times in nanoseconds.
struct Legs {
    struct Leg: Equatable {
        /// The number of the file.
        let track: Int
        /// The running time at which it is heard, and the file position then.
        let base: UInt64
        let start: Int64
        /// File time for each moment of running time.
        let rate: Double

        func filePosition(at now: UInt64) -> Int64 {
            start + Int64((Double(now > base ? now - base : 0) * rate).rounded())
        }
    }

    private struct Coming {
        let leg: Leg
        /// It goes on elsewhere than the one before ends.
        let isCut: Bool
        /// Its first buffer is in the sink: elements within may hold a segment back until they have a buffer for it.
        var isThrough = false
    }

    private(set) var heard: Leg?
    private var coming: [Coming] = []
    /// The jumps that were heard and not yet told.
    private var cuts = 0

    /// A tenth of a second and more is left out, or nothing.
    private static let leastCut: Int64 = 50_000_000

    /// There is more in the sink than is heard.
    var isBetween: Bool { !coming.isEmpty }
    /// The file that comes to the sink now.
    var atDoor: Int? { coming.last?.leg.track ?? heard?.track }

    /// - Returns: false if it says nothing new: demuxers and parsers repeat their segments as they like.
    mutating func arrive(_ leg: Leg) -> Bool {
        guard let last = coming.last?.leg ?? heard else {
            heard = leg
            return false
        }
        guard leg != last else { return false }
        let jump = leg.start - last.filePosition(at: leg.base)
        coming.append(Coming(leg: leg, isCut: leg.track == last.track && abs(jump) > Self.leastCut))
        return true
    }

    mutating func letThrough() {
        for index in coming.indices { coming[index].isThrough = true }
    }

    /// - Parameter now: the running time.
    /// - Returns: whether another one is heard than before.
    mutating func follow(_ now: UInt64) -> Bool {
        let count = coming.prefix { $0.isThrough && $0.leg.base <= now }.count
        guard count > 0 else { return false }
        cuts += coming[..<count].count(where: \.isCut)
        heard = coming[count - 1].leg
        coming.removeFirst(count)
        return true
    }

    /// The file position in what is heard; it ends where the next begins.
    func filePosition(at now: UInt64) -> Int64? {
        heard?.filePosition(at: min(now, coming.first?.leg.base ?? now))
    }

    /// The end of everything has been heard.
    mutating func finish() {
        letThrough()
        _ = follow(.max)
    }

    /// - Returns: whether a jump was heard since this was last asked, and the running time of the next.
    mutating func takeCuts() -> (isPast: Bool, next: UInt64?) {
        defer { cuts = 0 }
        return (cuts > 0, coming.first(where: \.isCut)?.leg.base)
    }
}
