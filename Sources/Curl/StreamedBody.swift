internal import HTTP

typealias Opening = Result<StreamedResponse, TransportError>

/// Keeps what has arrived until it is taken, and the transfer waiting while that is much.
@CurlActor final class StreamReceiver: Receiver {
    /// Bytes that may wait before libcurl is told to wait too.
    static let most = 256 << 10

    private let number: UInt64
    private var opening: CheckedContinuation<Opening, Never>?
    private var waiting: CheckedContinuation<Piece, Never>?
    private var bytes: [UInt8] = []
    private var isPaused = false
    private var end: Piece?

    typealias Piece = Result<[UInt8]?, TransportError>

    init(number: UInt64, _ opening: CheckedContinuation<Opening, Never>) {
        self.number = number
        self.opening = opening
    }

    func begin(_ head: HTTPResponse) {
        opening?.resume(returning: .success(StreamedResponse(head: head, body: StreamedBody(self, number: number))))
        opening = nil
    }

    func take(_ chunk: UnsafeRawBufferPointer) -> Bool {
        isPaused = !bytes.isEmpty && bytes.count + chunk.count > Self.most
        if isPaused { return false }
        bytes.append(contentsOf: chunk)
        deliver()
        return true
    }

    func end(_ failure: TransportError?) {
        end = failure.map { .failure($0) } ?? .success(nil)
        if failure == .cancelled { bytes = [] }
        if let failure { opening?.resume(returning: .failure(failure)) }
        opening = nil
        deliver()
    }

    func next() async -> Piece {
        if let piece = piece() { return piece }
        return await withCheckedContinuation { waiting = $0 }
    }

    private func deliver() {
        guard let waiting, let piece = piece() else { return }
        self.waiting = nil
        waiting.resume(returning: piece)
    }

    private func piece() -> Piece? {
        guard !bytes.isEmpty else { return end }
        let piece = bytes
        bytes = []
        if isPaused {
            isPaused = false
            // Later: libcurl hands over bytes from within the call, and these must be out of the way by then.
            Task { @CurlActor [number] in CurlActor.multi.resume(number) }
        }
        return .success(piece)
    }
}

/// What the consumer holds. The transfer does not, so that it ends with the consumer.
final class StreamedBody: HTTPBody {
    private let receiver: StreamReceiver
    private let number: UInt64

    init(_ receiver: StreamReceiver, number: UInt64) {
        self.receiver = receiver
        self.number = number
    }

    deinit { cancel() }

    func next() async throws(TransportError) -> [UInt8]? {
        let receiver = receiver
        let piece = await withTaskCancellationHandler {
            await receiver.next()
        } onCancel: {
            cancel()
        }
        return try piece.get()
    }

    func cancel() {
        let number = number
        Task { @CurlActor in CurlActor.multi.cancel(number) }
    }
}
