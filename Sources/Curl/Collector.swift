internal import HTTP

typealias Answer = Result<HTTPResponse, TransportError>

/// Collects an answer, in memory or in a file, and resumes whoever waits for the whole of it.
@CurlActor final class Collector: Receiver {
    private let limit: Int
    private let file: PartialFile?
    private var head = HTTPResponse(status: 0)
    private var body: [UInt8] = []
    private var received = 0
    private var continuation: CheckedContinuation<Answer, Never>?

    init(limit: Int, file: PartialFile?, _ continuation: CheckedContinuation<Answer, Never>) {
        self.limit = limit
        self.file = file
        self.continuation = continuation
    }

    func begin(_ head: HTTPResponse) { self.head = head }

    func take(_ chunk: UnsafeRawBufferPointer) throws(TransportError) -> Bool {
        received += chunk.count
        guard received <= limit else { throw .tooLarge(limit: limit) }
        if let file {
            if head.status == 200 { try file.write(chunk) }
        } else {
            body.append(contentsOf: chunk)
        }
        return true
    }

    func end(_ failure: TransportError?) {
        let answer = failure.map { .failure($0) } ?? delivered()
        if case .success(let response) = answer, response.status == 200 {} else { file?.discard() }
        continuation?.resume(returning: answer)
        continuation = nil
    }

    private func delivered() -> Answer {
        let response = HTTPResponse(status: head.status, headers: head.headers, body: body)
        guard let file, head.status == 200 else { return .success(response) }
        do throws(TransportError) {
            try file.keep()
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}
