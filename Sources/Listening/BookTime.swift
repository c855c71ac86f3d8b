/// A position or a length on an item's one timeline, in whole microseconds. Never a bare number anywhere in dogear:
/// MPRIS, GStreamer and Audiobookshelf each convert at their own edge.
public struct BookTime: Hashable, Comparable, Sendable {
    public var microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    public static let zero = BookTime(microseconds: 0)
    public static let second = BookTime(microseconds: 1_000_000)

    /// Rounds to the nearest microsecond. Not a number and infinities, which servers and tags do send, become zero;
    /// what would not fit stops at about 29,000 years.
    public static func seconds(_ seconds: Double) -> BookTime {
        guard seconds.isFinite else { return .zero }
        let limit = 9.0e17
        return BookTime(microseconds: Int64((seconds * 1_000_000).rounded().clamped(to: -limit...limit)))
    }

    /// Decimal seconds, as Audiobookshelf and people count.
    public var seconds: Double { Double(microseconds) / 1_000_000 }

    public static func < (a: BookTime, b: BookTime) -> Bool { a.microseconds < b.microseconds }
    public static func + (a: BookTime, b: BookTime) -> BookTime {
        BookTime(microseconds: a.microseconds.addingSaturating(b.microseconds))
    }
    public static func - (a: BookTime, b: BookTime) -> BookTime {
        BookTime(microseconds: a.microseconds.subtractingSaturating(b.microseconds))
    }
    public static func += (a: inout BookTime, b: BookTime) { a = a + b }
    public static prefix func - (a: BookTime) -> BookTime { .zero - a }
}

extension Int64 {
    /// A hostile caller may seek by Int64.max: the sum stops at the end instead of trapping.
    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

extension Comparable {
    public func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}

/// When an event happened. Comes in with every event: the machines never read a clock.
public struct Moment: Hashable, Sendable {
    /// Microseconds of CLOCK_MONOTONIC: for how long things lasted.
    public var monotonic: Int64
    /// Milliseconds since 1970 of this computer's clock: for what is stored and sent.
    public var wall: Int64
    /// Microseconds this computer has slept since it was started, which CLOCK_MONOTONIC leaves out.
    public var asleep: Int64

    public init(monotonic: Int64, wall: Int64, asleep: Int64 = 0) {
        self.monotonic = monotonic
        self.wall = wall
        self.asleep = asleep
    }

    /// Microseconds, the time asleep among them: for how long pauses lasted. Sleep is no listening, but it is a pause.
    public var sinceStart: Int64 { monotonic + asleep }
}
