public import Listening

/// Where a client that only follows signals, as Plasma does, takes the position to be.
public struct Followed: Sendable {
    /// How far it may be off.
    public static let tolerance = BookTime.seconds(0.05)

    private var place = BookTime.zero
    /// Microseconds of the monotonic clock.
    private var since: Int64 = 0
    /// When it was told the place; microseconds of the monotonic clock.
    public private(set) var told: Int64 = 0
    /// Seconds of the track in one of the clock.
    private var speed = 0.0

    public init() {}

    /// - Parameter now: as of `Moment`, in microseconds.
    public func place(at now: Int64) -> BookTime {
        place + .seconds(BookTime(microseconds: now - since).seconds * speed)
    }

    /// By a PropertiesChanged.
    public mutating func heard(_ properties: PlayerProperties, at now: Int64) {
        (place, since) = (place(at: now), now)
        speed = properties.status == .playing ? properties.rate : 0
    }

    /// By a Seeked, or by asking.
    public mutating func heard(_ place: BookTime, at now: Int64) {
        (self.place, since, told) = (place, now, now)
    }

    /// - Parameter place: the true one.
    public func isAstray(from place: BookTime, at now: Int64) -> Bool {
        (place - self.place(at: now)).microseconds.magnitude > Self.tolerance.microseconds.magnitude
    }
}
