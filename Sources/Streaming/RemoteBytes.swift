internal import EventLoop
internal import Listening

/// One reader of a file on a server.
///
/// A server that does not say how long a file is has it read to its end before the size is known; reads are answered
/// meanwhile.
final class RemoteBytes: ByteReader {
    private let stream: AudioStream
    private let files: RemoteFiles
    private let state = Locked(State.new)

    private enum State {
        case new
        case open(RemoteFile, reader: Int)
        case closed
    }

    init(_ stream: AudioStream, _ files: RemoteFiles) {
        self.stream = stream
        self.files = files
    }

    deinit { close() }

    func size() async throws(EngineFailure) -> Int64 {
        let (file, reader) = try await opened()
        return try await file.size(for: reader).get()
    }

    func read(at offset: Int64, count: Int) async throws(EngineFailure) -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        let (file, reader) = try await opened()
        let end = offset.addingReportingOverflow(Int64(count))
        return try await file.read(offset..<(end.overflow ? .max : end.partialValue), for: reader).get()
    }

    func available(from offset: Int64) -> Int64 {
        guard case .open(let file, _) = state.withLock({ $0 }) else { return 0 }
        return file.kept.here { $0.run(from: offset) }
    }

    func memory() async -> [UInt8] {
        guard let file = try? await opened().0 else { return [] }
        return await file.kept.memory
    }

    func remember(_ memory: [UInt8]) async {
        guard case .open(let file, _) = state.withLock({ $0 }) else { return }
        await file.kept.remember(memory)
    }

    func close() {
        let last = state.withLock { state in
            defer { state = .closed }
            return state
        }
        guard case .open(let file, let reader) = last else { return }
        let files = files
        Task { @StreamingActor in
            if file.detach(reader) { files.close(file) }
        }
    }

    @StreamingActor private func opened() throws(EngineFailure) -> (RemoteFile, Int) {
        switch state.withLock({ $0 }) {
        case .open(let file, let reader): return (file, reader)
        case .closed: throw EngineFailure.ended
        case .new: break
        }
        let file = files.file(stream)
        let reader = file.attach(stream)
        let isClosed = state.withLock { state in
            if case .closed = state { return true }
            state = .open(file, reader: reader)
            return false
        }
        guard isClosed else { return (file, reader) }
        if file.detach(reader) { files.close(file) }
        throw EngineFailure.ended
    }
}
