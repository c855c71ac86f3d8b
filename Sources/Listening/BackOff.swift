/// How long to wait before the next try: doubling from one second to five minutes, each spread by up to a quarter so
/// that many clients of one server do not come back in step.
public struct BackOff: Hashable, Sendable {
    public private(set) var failures = 0

    public init() {}

    /// - Parameters:
    ///   - retryAfter: what the server asked for, in seconds; obeyed up to an hour when it is longer than ours.
    ///   - spread: a random number in 0..<1, given in so that this stays pure.
    /// - Returns: seconds.
    public mutating func fail(retryAfter: Double? = nil, spread: Double) -> Double {
        let own = min(300, Double(1 << min(failures, 9))) * (1 + spread / 4)
        failures += 1
        return max(own, min(retryAfter ?? 0, 3600))
    }

    public mutating func succeed() { failures = 0 }
}
