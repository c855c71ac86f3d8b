internal import HTTP

typealias Answer = Result<HTTPResponse, TransportError>

/// Collects an answer and resumes whoever waits for the whole of it.
@CurlActor final class Collector: Receiver {
    private let limit: Int
    private var head = HTTPResponse(status: 0)
    private var body: [UInt8] = []
    private var received = 0
    private var continuation: CheckedContinuation<Answer, Never>?

    init(limit: Int, _ continuation: CheckedContinuation<Answer, Never>) {
        self.limit = limit
        self.continuation = continuation
    }

    func begin(_ head: HTTPResponse) { self.head = head }

    func take(_ chunk: UnsafeRawBufferPointer) throws(TransportError) -> Bool {
        received += chunk.count
        guard received <= limit else { throw .tooLarge(limit: limit) }
        body.append(contentsOf: chunk)
        return true
    }

    func end(_ failure: TransportError?) {
        let whole = HTTPResponse(status: head.status, headers: head.headers, body: body)
        continuation?.resume(returning: failure.map { .failure($0) } ?? .success(whole))
        continuation = nil
    }
}
