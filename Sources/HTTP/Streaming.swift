/// A ``Transport`` that hands bodies over while they arrive. The room Curl has the real one.
public protocol StreamingTransport: Transport {
    /// Sends a request and returns as soon as the status and the headers are in.
    ///
    /// The request's `bodyLimit` does not hold: a body is never here as a whole. Its `timeout` does; leave it nil for
    /// bodies that take as long as somebody listens.
    /// - Throws: ``TransportError``; any answer of the server, whatever its status, is a response.
    func stream(_ request: HTTPRequest) async throws(TransportError) -> StreamedResponse
}

/// An answer whose body is still on its way.
public struct StreamedResponse: Sendable {
    /// With an empty body.
    public let head: HTTPResponse
    public let body: any HTTPBody

    public init(head: HTTPResponse, body: any HTTPBody) {
        self.head = head
        self.body = body
    }
}

/// A body that arrives in pieces. Letting go of the last reference ends the transfer.
///
/// While some 256 KiB wait to be taken nothing more is read from the connection, so that the server waits too.
public protocol HTTPBody: AnyObject, Sendable {
    /// Waits for the next piece. One caller at a time.
    /// - Returns: nil at the end of the body.
    /// - Throws: ``TransportError``, after every byte that arrived before it was taken; ``TransportError/cancelled``
    ///   after ``cancel()`` and when the task is cancelled.
    func next() async throws(TransportError) -> [UInt8]?
    /// Ends the transfer; bytes that wait are dropped.
    func cancel()
}
