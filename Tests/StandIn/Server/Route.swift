/// One line of the routing table.
struct Route: Sendable {
    enum Access: Sendable {
        /// Nobody is asked who they are.
        case open
        /// Open, and counted against the login rate limit.
        case limited
        case user
        /// A signed-in user, counted against the login rate limit.
        case limitedUser
        case admin
    }
    typealias Handler = @Sendable (inout World, Call) -> Answer

    let method: String
    let pattern: [Substring]
    let access: Access
    let handler: Handler

    init(_ method: String, _ pattern: String, _ access: Access = .user, _ handler: @escaping Handler) {
        self.method = method
        self.pattern = pattern.split(separator: "/")
        self.access = access
        self.handler = handler
    }

    /// The values of the pattern's `:name` parts, or `nil` when the path is another one.
    func match(_ segments: [String]) -> [String: String]? {
        guard segments.count == pattern.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(pattern, segments) {
            if part.hasPrefix(":") {
                parameters[String(part.dropFirst())] = segment
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}

extension World {
    /// Answers one request, in the order of the real server's middleware: body, limit, login, route.
    mutating func answer(_ request: Call) -> Answer {
        var call = request
        if let required = configuration.requiredHeader, call.headers[required.name.lowercased()] != required.value {
            return .page(403, "Forbidden")
        }
        guard call.parseBody() else { return .page(400, "Bad Request") }
        // express answers HEAD from the route for GET and drops the body; the connection does the dropping.
        let method = call.method == "HEAD" ? "GET" : call.method
        let routes = configuration.version.routes
        for route in routes where route.method == method {
            guard let parameters = route.match(call.segments) else { continue }
            call.parameters = parameters
            return withCookie(run(route, call), call)
        }
        if call.segments.first == "api", authenticate(&call) == false { return .unauthorized }
        return withCookie(.cannot(call), call)
    }

    /// Before 2.26.0 the server set its cookie on every answer to a signed-in user.
    private func withCookie(_ answer: Answer, _ call: Call) -> Answer {
        guard version == .v225, call.token != nil, answer.status != 401 else { return answer }
        return answer.adding("Set-Cookie", AuthAnswers.serverCookie)
    }

    private mutating func run(_ route: Route, _ request: Call) -> Answer {
        var call = request
        var limits: [(name: String, value: String)] = []
        if route.access == .limited || route.access == .limitedUser, configuration.version.hasRefreshTokens {
            let state = countAuthRequest()
            limits = state.headers
            if state.isOver {
                var answer = Answer.json(["error": "Too many authentication requests"], status: 429)
                answer.headers += limits
                return answer
            }
        }
        switch route.access {
        case .open, .limited: break
        case .user, .limitedUser, .admin:
            guard authenticate(&call) else { return .unauthorized }
            if route.access == .admin, !user(call).account.isAdmin { return .forbidden }
        }
        var answer = route.handler(&self, call)
        answer.headers += limits
        return answer
    }
}

extension StandInUser {
    var isAdmin: Bool { kind == .root || kind == .admin }
}
