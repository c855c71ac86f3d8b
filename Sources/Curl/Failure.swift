internal import CCurl
internal import Glibc
internal import HTTP

/// Turns libcurl's codes into what the caller must know: was anything sent, and is it the certificate.
struct Failure {
    let code: CURLcode
    let host: String
    /// Some of the request went out on a connection.
    let hasSent: Bool
    let systemError: Int32
    /// libcurl's own words; for TLS the only useful ones.
    let text: String

    var error: TransportError {
        switch code {
        case CURLE_URL_MALFORMAT: .badURL
        case CURLE_UNSUPPORTED_PROTOCOL where !hasSent: .badURL
        case CURLE_COULDNT_RESOLVE_HOST: .unreachable(host: host, reason: "no such name")
        case CURLE_COULDNT_RESOLVE_PROXY: .unreachable(host: host, reason: "the proxy's name is not known")
        case CURLE_COULDNT_CONNECT: .unreachable(host: host, reason: systemReason ?? "no connection")
        case CURLE_OPERATION_TIMEDOUT:
            hasSent ? .timedOut(host: host) : .unreachable(host: host, reason: "no answer to the connection")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_CACERT_BADFILE:
            .certificate(host: host, reason: ownText)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE, CURLE_USE_SSL_FAILED:
            .tls(host: host, reason: ownText)
        case CURLE_PARTIAL_FILE: broken("the answer ended early")
        case CURLE_GOT_NOTHING: broken("no answer")
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_UNSUPPORTED_PROTOCOL:
            broken("the answer is not HTTP")
        case CURLE_BAD_CONTENT_ENCODING: broken("the answer cannot be unpacked")
        default: broken(systemReason ?? plain)
        }
    }

    private func broken(_ reason: String) -> TransportError {
        hasSent ? .lost(host: host, reason: reason) : .unreachable(host: host, reason: reason)
    }

    private var systemReason: String? { systemError == 0 ? nil : String(cString: strerror(systemError)) }
    private var plain: String { CurlError(code: code).text }
    private var ownText: String { text.isEmpty ? plain : text }
}
