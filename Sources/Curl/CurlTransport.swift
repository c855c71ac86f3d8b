internal import CCurl
public import HTTP

/// The real ``Transport``: libcurl on a thread of its own, connections kept and shared between all requests.
///
/// Redirects are not followed, cookies and netrc not used. Proxies of the environment (`https_proxy`, `no_proxy`) are,
/// but never for this computer itself. A connection that the server closed while it lay idle is replaced and the
/// request sent again; a POST, and what is to be sent once, gets a fresh connection instead, so that it can never be
/// carried out twice.
public struct CurlTransport: StreamingTransport {
    private let userAgent: String

    /// - Parameter version: of dogear, for the User-Agent header.
    public init(version: String) { userAgent = "dogear/\(version)" }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try Self.load()
        return try await run(request)
    }

    public func stream(_ request: HTTPRequest) async throws(TransportError) -> StreamedResponse {
        try Self.load()
        return try await open(request)
    }

    /// Opens libcurl with the first request, which takes some milliseconds: on the pool, as everything that is not
    /// bound to an actor.
    private static func load() throws(TransportError) {
        if let trouble = dogear_curl_trouble() {
            throw .unreachable(host: "the server", reason: String(cString: trouble))
        }
    }

    @CurlActor private func run(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await begin(request) { _, continuation in Collector(limit: request.bodyLimit, continuation) }
    }

    @CurlActor private func open(_ request: HTTPRequest) async throws(TransportError) -> StreamedResponse {
        try await begin(request, isStream: true) { number, continuation in
            StreamReceiver(number: number, continuation)
        }
    }

    /// - Parameter receiver: makes what takes the answer and resumes the continuation.
    @CurlActor private func begin<Whole: Sendable>(
        _ request: HTTPRequest, isStream: Bool = false,
        receiver:
            @CurlActor (UInt64, CheckedContinuation<Result<Whole, TransportError>, Never>) -> any Receiver
    ) async throws(TransportError) -> Whole {
        let target = try Target(request.url)
        let lines = try request.headerLines
        let number = CurlActor.multi.nextNumber()
        let answer: Result<Whole, TransportError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do throws(TransportError) {
                    if Task.isCancelled { throw .cancelled }
                    let easy = try Easy.prepared(for: request, to: target, headers: lines, userAgent: userAgent)
                    let transfer = Transfer(
                        easy, to: target, receiver: receiver(number, continuation), isStream: isStream,
                        idleTimeout: request.idleTimeout)
                    CurlActor.multi.add(transfer, number: number)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            Task { @CurlActor in CurlActor.multi.cancel(number) }
        }
        return try answer.get()
    }
}
