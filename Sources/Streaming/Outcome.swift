internal import HTTP
internal import Listening

/// How one request for bytes ended.
enum Outcome {
    /// It brought what was asked for.
    case done
    /// What it told of the server asks for another request.
    case again
    case later(reason: String, retryAfter: Double?)
    case never(EngineFailure)

    init(_ error: TransportError, isTLSTriedOften: Bool) {
        switch error {
        case .certificate, .badURL, .badHeader: self = .never(.unreachable(reason: "\(error)"))
        // A connection that breaks while it is made looks the same as a server without TLS.
        case .tls where isTLSTriedOften: self = .never(.unreachable(reason: "\(error)"))
        case .tls, .unreachable, .lost, .timedOut, .tooLarge, .cancelled:
            self = .later(reason: "\(error)", retryAfter: nil)
        }
    }
}

/// Without user, port and path: fit for people and logs.
func host(of url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return "the server" }
    let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
    let place = authority.split(separator: "@").last ?? ""
    return String(place.first == "[" ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" })
}
