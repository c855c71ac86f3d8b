/// One request, as a value. Its description shows method and path only: headers, query and body may hold secrets.
public struct HTTPRequest: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public var method: String
    /// Absolute, http or https, already percent-encoded.
    public var url: String
    /// In order; names as written, matched without case.
    public var headers: [HTTPHeader]
    public var body: [UInt8]?
    /// A PEM file of certificates to trust besides the system's.
    public var caFile: String?
    /// Whole seconds until the answer must be complete; nil: only the idle limit holds.
    public var timeout: Double?
    /// Seconds until there must be a connection; nil: the transport's own limit, some ten.
    public var connectTimeout: Double?
    /// Seconds without a byte after which the connection counts as lost, at least 1; nil: the transport's own, thirty.
    public var idleTimeout: Double?
    /// The answer is there but once: the transport must not send the request again by itself. No POST is.
    public var isOnce = false
    /// Answers with a larger body fail with ``TransportError/tooLarge(limit:)``.
    public var bodyLimit: Int

    public init(
        _ method: String, _ url: String, headers: [HTTPHeader] = [], body: [UInt8]? = nil, caFile: String? = nil,
        timeout: Double? = 30, bodyLimit: Int = 64 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.caFile = caFile
        self.timeout = timeout
        self.bodyLimit = bodyLimit
    }

    public var description: String { "\(method) \(path)" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The url's path, without host and query.
    public var path: String {
        guard let scheme = url.firstRange(of: "://") else { return "/" }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" }) else { return "/" }
        let path = rest[slash...].prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? "/" : String(path)
    }
}

public struct HTTPHeader: Hashable, Sendable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: [HTTPHeader]
    public let body: [UInt8]

    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of this name, whatever its case.
    public subscript(header name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }

    /// Something to read, where audio or a picture was asked for: what stands between us and the server says it, a portal
    /// that wants a login, a proxy with bad news, or the address is wrong.
    public var isText: Bool {
        let type = self[header: "Content-Type"]?.lowercased() ?? ""
        return type.hasPrefix("text/")
            || ["html", "json", "xml"].contains { type.hasPrefix("application/") && type.contains($0) }
    }
}

/// Carries requests to servers. The room Curl has the real one. Redirects are not followed.
public protocol Transport: Sendable {
    /// - Throws: ``TransportError``; any answer of the server, whatever its status, is a response.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}

/// Why no answer came. None of the cases carries more of the url than its host.
public enum TransportError: Error, Hashable, Sendable {
    /// Nothing was sent: name not found, connection refused, no route.
    case unreachable(host: String, reason: String)
    /// Something may have been sent, and the server may have acted on it.
    case lost(host: String, reason: String)
    case timedOut(host: String)
    /// The server showed a certificate that is not trusted. Nothing was sent.
    case certificate(host: String, reason: String)
    /// TLS failed otherwise; most often the server does not speak it on this port. Nothing was sent.
    case tls(host: String, reason: String)
    case tooLarge(limit: Int)
    /// Not an http or https url, or one that cannot be read.
    case badURL
    /// A header whose name or value cannot be sent: it holds a line break or another control character.
    case badHeader(name: String)
    case cancelled
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let host, let reason): "cannot reach \(host): \(reason)"
        case .lost(let host, let reason): "the connection to \(host) broke: \(reason)"
        case .timedOut(let host): "\(host) did not answer in time"
        case .certificate(let host, let reason): "the certificate of \(host) is not trusted: \(reason)"
        case .tls(let host, let reason): "no encrypted connection to \(host): \(reason)"
        case .tooLarge(let limit): "the answer is larger than \(limit >> 20) MiB"
        case .badURL: "not an http or https address"
        case .badHeader(let name): "the header '\(name)' holds a line break or another character that cannot be sent"
        case .cancelled: "cancelled"
        }
    }
}
