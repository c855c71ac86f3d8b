internal import CCurl
public import HTTP

/// The real ``Transport``: libcurl on a thread of its own, connections kept and shared between all requests.
///
/// Redirects are not followed, cookies and netrc not used. Proxies of the environment (`https_proxy`, `no_proxy`) are,
/// but never for this computer itself. A connection that the server closed while it lay idle is replaced and the
/// request sent again; a POST always gets a fresh connection instead, so that it can never be carried out twice.
public struct CurlTransport: Transport {
    private let userAgent: String

    /// - Parameter version: of dogear, for the User-Agent header.
    public init(version: String) { userAgent = "dogear/\(version)" }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await run(request, file: nil)
    }

    public func download(_ request: HTTPRequest, to path: String) async throws(TransportError) -> HTTPResponse {
        try await run(request, file: path)
    }

    @CurlActor private func run(_ request: HTTPRequest, file path: String?) async throws(TransportError) -> HTTPResponse
    {
        let target = try Target(request.url)
        let lines = try request.headerLines
        let number = CurlActor.multi.nextNumber()
        let answer: Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do throws(TransportError) {
                    if Task.isCancelled { throw .cancelled }
                    let easy = try Easy.prepared(for: request, to: target, headers: lines, userAgent: userAgent)
                    let file: PartialFile? = if let path { try PartialFile(path: path, number: number) } else { nil }
                    let transfer = Transfer(easy, host: target.host, limit: request.bodyLimit, file: file, continuation)
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
