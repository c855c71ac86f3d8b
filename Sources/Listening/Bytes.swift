/// The bytes of one audio file, wherever they are: read at any place, in any order, from any thread.
public protocol ByteReader: AnyObject, Sendable {
    /// How many bytes there are in all. The first call asks the server and gives up after a few seconds of trying.
    func size() async throws(EngineFailure) -> Int64
    /// `count` bytes from `offset` on, fewer only at the end of the file, and reads ahead behind them.
    ///
    /// Waits for as long as it takes: a server that is away is asked again until it answers or the task is cancelled.
    /// - Throws: ``EngineFailure/notFound`` and ``EngineFailure/refused`` where the server says so,
    ///   ``EngineFailure/unreachable(reason:)`` only when nothing more can be expected of it.
    func read(at offset: Int64, count: Int) async throws(EngineFailure) -> [UInt8]
    /// How many bytes are here, without a gap, from `offset` on.
    func available(from offset: Int64) -> Int64
    /// What ``remember(_:)`` was given for the same bytes, in this run or an earlier one; empty when nothing is kept.
    func memory() async -> [UInt8]
    /// Keeps what was found out by reading them beside the bytes, for as long as these are kept.
    func remember(_ memory: [UInt8]) async
    /// Ends all reading: what waits is thrown ``EngineFailure/unreachable(reason:)``.
    func close()
}

extension ByteReader {
    public func memory() async -> [UInt8] { [] }
    public func remember(_ memory: [UInt8]) async {}
}

/// Gives out readers; the room Streaming has the real one. Several readers of one file share what they fetched.
public protocol ByteShelf: Sendable {
    func reader(of stream: AudioStream) -> any ByteReader
}
