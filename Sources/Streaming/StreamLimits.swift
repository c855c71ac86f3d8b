/// How far ahead audio is read and how patiently, in bytes and seconds.
public struct StreamLimits: Hashable, Sendable {
    /// How far behind the place of reading is fetched: ten minutes at 64 kbit/s.
    public var ahead: Int64 = 4_800_000
    /// How much a first request at a new place asks for. The next ones there ask for more and more, up to `ahead`, so
    /// that a look at some place costs little.
    public var first: Int64 = 256 << 10
    /// A transfer this far before a wanted byte is read on instead of asking again.
    public var gap: Int64 = 256 << 10
    /// Until there must be a connection.
    public var connect = 3.0
    /// Without a byte, until the connection counts as lost: of one that reads ahead, and
    public var idle = 15.0
    /// of one whose bytes are being waited for. Each time that happens the next is given twice as long, up to `idle`:
    /// some servers need their time.
    public var silence = 3.0
    /// From the begin of one failed try to the next; the last for all that follow. The first is also the least time
    /// between the end of one and the next.
    public var delays = [0.25, 0.5, 1, 1.5]
    /// The most that a server's Retry-After is obeyed.
    public var longestRetryAfter = 30.0
    /// How long to try until the size of a file that was never seen must be known.
    public var patience = 10.0
    /// How long, and how many bytes, to wait for the end of what does not say how long it is: it may have none. A command
    /// that asks for it is waited for no longer than two minutes.
    public var measuring = 100.0
    public var largestUnsized: Int64 = 4 << 30
    /// Bytes in a second: what comes no faster is sent as it is heard, or would take as long.
    public var broadcast = 48_000.0
    /// What is kept on disk is recorded each time so many bytes were added.
    public var recorded: Int64 = 4 << 20

    public init() {}

    func delay(afterFailures count: Int) -> Double { delays[min(max(count, 1), delays.count) - 1] }
}
