internal import EventLoop
public import Listening

/// A file in memory that a test lets out bit by bit: what lies beyond the gate is waited for, or fails.
public final class GatedBytes: ByteShelf, ByteReader {
    private struct State {
        var gate: Int64
        /// What was given out once is kept by whoever reads: byte for byte.
        var given: [Bool]
        var failure: EngineFailure?
        var waiting: [Int: (bytes: Range<Int>, CheckedContinuation<Void, any Error>)] = [:]
        var tickets = 0
        var isClosed = false
    }

    private let bytes: [UInt8]
    private let stated: Int64
    private let claims: Bool
    private let keeps: Bool
    private let state: Locked<State>

    /// - Parameters:
    ///   - gate: how much of it is there.
    ///   - size: what it says of its length, if not the truth.
    ///   - claims: it says that all of it is there, wherever the gate is.
    ///   - keeps: what was given out once is so again, also behind the gate.
    public init(_ bytes: [UInt8], gate: Int? = nil, size: Int? = nil, claims: Bool = false, keeps: Bool = true) {
        self.claims = claims
        self.keeps = keeps
        self.bytes = bytes
        stated = Int64(size ?? bytes.count)
        state = Locked(
            State(gate: Int64(gate ?? bytes.count), given: Array(repeating: false, count: bytes.count)))
    }

    public func reader(of stream: AudioStream) -> any ByteReader { self }

    /// Lets out everything before this; what waits for more goes on waiting.
    public func open(to gate: Int = .max) {
        let ready = state.withLock { state in
            state.gate = Int64(gate)
            let ready = state.waiting.filter { $0.value.bytes.upperBound <= gate }
            for key in ready.keys { state.waiting[key] = nil }
            return ready.values.map { $0.1 }
        }
        for continuation in ready { continuation.resume() }
    }

    /// From now on whoever has to wait is thrown this.
    public func fail(_ failure: EngineFailure) {
        let ready = state.withLock { state in
            state.failure = failure
            defer { state.waiting = [:] }
            return state.waiting.values.map { $0.1 }
        }
        for continuation in ready { continuation.resume(throwing: failure) }
    }

    /// How many questions wait at the gate.
    public var waiting: Int { state.withLock { $0.waiting.count } }
    /// The first byte that is waited for: how far somebody has read before the gate came down is for the machine to say.
    public var wanted: Int? { state.withLock { $0.waiting.values.map(\.bytes.lowerBound).min() } }
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    public func size() async throws(EngineFailure) -> Int64 { stated }

    public func read(at offset: Int64, count: Int) async throws(EngineFailure) -> [UInt8] {
        let end = min(offset + Int64(count), Int64(bytes.count))
        guard offset < end else { return [] }
        do {
            try await pass(offset, end)
        } catch let failure as EngineFailure {
            throw failure
        } catch {
            throw .unreachable(reason: "cancelled")
        }
        return Array(bytes[Int(offset)..<Int(end)])
    }

    private func pass(_ offset: Int64, _ end: Int64) async throws {
        let bytes = Int(offset)..<Int(end)
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if end <= state.gate || state.given[bytes].allSatisfy({ $0 }) { return .success(()) }
                    if let failure = state.failure { return .failure(failure) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[ticket] = (bytes, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.1.resume(throwing: CancellationError())
        }
        guard keeps else { return }
        state.withLock { state in
            state.given.replaceSubrange(bytes, with: repeatElement(true, count: bytes.count))
        }
    }

    public func available(from offset: Int64) -> Int64 {
        state.withLock { max(0, min(claims ? .max : $0.gate, Int64(bytes.count)) - offset) }
    }

    public func close() {
        let ready = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return state.waiting.values.map { $0.1 }
        }
        for continuation in ready { continuation.resume(throwing: EngineFailure.unreachable(reason: "closed")) }
    }
}
