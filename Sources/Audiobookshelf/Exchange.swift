internal import HTTP
internal import Listening

/// Turns what a transport says into what this room says.
extension ShelfError {
    init(_ error: TransportError, server: ServerAddress, endpoint: String) {
        let name = server.description
        self =
            switch error {
            case .unreachable(_, let reason): .unreachable(server: name, reason: reason)
            case .lost(_, let reason): .lost(server: name, reason: reason)
            case .timedOut: .timedOut(server: name)
            case .certificate(_, let reason): .certificate(server: name, reason: reason)
            case .tls(_, let reason): .noEncryption(server: name, reason: reason)
            case .tooLarge: .tooLarge(endpoint: endpoint)
            case .badURL: .badAddress(reason: "\(name) cannot be used")
            case .badHeader(let header): .badHeader(name: header)
            case .cancelled: .cancelled
            }
    }
}

extension HTTPResponse {
    /// Decides on the status alone: the bodies of errors come in five kinds and are never needed.
    ///
    /// - Throws: for everything but 2xx, and for web pages whatever their status: the API never answers with one, but
    ///   a hotel's network or a proxy's login does. 401 is the caller's affair; it comes out as
    ///   ``ShelfError/signedOut(server:)``.
    func accepted(_ server: ServerAddress, _ call: Call) throws(ShelfError) -> HTTPResponse {
        switch status {
        case 200..<300 where self[header: "Content-Type"]?.lowercased().contains("html") != true: return self
        case 200..<300: throw .notAudiobookshelf(server: server.description)
        case 300..<400: throw moved(server, call)
        case 401: throw .signedOut(server: server.description)
        case 403 where isPage: throw .notAudiobookshelf(server: server.description)
        case 403: throw .forbidden(server: server.description)
        // A server on the move: what is before it knows no such route.
        case 404 where call.isOfEveryServer && !isOwnAbsence:
            throw .serverFault(server: server.description, status: 404)
        case 404: throw .notFound(what: call.what)
        case 429: throw .rateLimited(server: server.description, retryAfter: retryAfter)
        case 500...: throw .serverFault(server: server.description, status: status)
        default: throw .refused(server: server.description, status: status)
        }
    }

    /// The server's own 401 to a token: a bare word, without a type. What a proxy wants of us comes as a page or a text,
    /// and with a challenge.
    var isOwnRefusal: Bool {
        status == 401 && self[header: "Content-Type"] == nil && self[header: "WWW-Authenticate"] == nil
    }

    /// The server's own 401 to a token exchange, `{"error": "Refresh token expired"}`.
    var isOwnRefusalOfExchange: Bool { status == 401 && JSON(body)?["error"].string != nil }

    /// The server's own 404, "Not Found" or "Library item not found". Proxies send a page, nothing, or "404 page not found".
    private var isOwnAbsence: Bool { !body.isEmpty && !isPage && !body.starts(with: Array("404".utf8)) }

    /// The server says 403 in a word; a page is from something before it.
    private var isPage: Bool { body.first { ![9, 10, 13, 32].contains($0) } == UInt8(ascii: "<") }

    /// Redirects are not followed: they may lead a password or a token elsewhere. Where one leads to the same route
    /// under another address, that address is what should have been typed.
    private func moved(_ server: ServerAddress, _ call: Call) -> ShelfError {
        let route = "/" + call.path.joined(separator: "/")
        guard let bare = self[header: "Location"]?.prefix(while: { $0 != "?" && $0 != "#" }), bare.hasSuffix(route),
            let address = try? ServerAddress(String(bare.dropLast(route.count))), bare.contains("://"),
            address != server
        else { return .notAudiobookshelf(server: server.description) }
        return .moved(server: server.description, to: address.description)
    }

    /// - Throws: ``ShelfError/notAudiobookshelf(server:)`` for a web page, ``ShelfError/unreadable(endpoint:)`` for
    ///   JSON that is cut off.
    func json(_ server: ServerAddress, _ call: Call) throws(ShelfError) -> JSON {
        if let json = JSON(body) { return json }
        let first = body.first { ![9, 10, 13, 32].contains($0) }
        let isJSON = self[header: "Content-Type"]?.lowercased().contains("json") ?? false
        let looksLikeJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        throw isJSON || looksLikeJSON
            ? .unreadable(endpoint: call.endpoint) : .notAudiobookshelf(server: server.description)
    }

    /// Seconds; a minute where the server does not say, an hour at most.
    var retryAfter: Int { (self[header: "Retry-After"].flatMap { Int($0) } ?? 60).clamped(to: 1...3600) }
}
