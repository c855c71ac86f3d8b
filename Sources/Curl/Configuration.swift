internal import CCurl
internal import HTTP

extension Easy {
    /// A handle made ready for one request.
    static func prepared(
        for request: HTTPRequest, to target: Target, headers lines: [String], userAgent: String
    ) throws(TransportError) -> Easy {
        do throws(CurlError) {
            var easy = try Easy()
            try easy.configure(target, userAgent)
            try easy.set(headers: lines)
            try easy.configure(request)
            if let path = request.caFile, target.isSecure { try easy.set(trusting: Trust.certificates(with: path)) }
            return easy
        } catch {
            throw error.code == CURLE_SSL_CACERT_BADFILE
                ? .certificate(host: target.host, reason: error.text)
                : .unreachable(host: target.host, reason: error.text)
        }
    }

    private func configure(_ target: Target, _ userAgent: String) throws(CurlError) {
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_USERAGENT, userAgent)
        try set(CURLOPT_ACCEPT_ENCODING, "identity")  // what is packed all the same gets unpacked, within the limit
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        if target.isLoopback { try set(CURLOPT_NOPROXY, "*") }
    }

    private func configure(_ request: HTTPRequest) throws(CurlError) {
        try set(CURLOPT_URL, request.url)
        if let timeout = request.timeout {
            try set(CURLOPT_TIMEOUT_MS, Int((timeout * 1000).clamped(to: 1...86_400_000)))
        }
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(((request.connectTimeout ?? 10) * 1000).clamped(to: 1...86_400_000)))
        // libcurl wakes every second to look: only where this limit can be the first.
        let idle = request.idleTimeout ?? 30
        if request.timeout.map({ idle < $0 }) ?? true {
            try set(CURLOPT_LOW_SPEED_LIMIT, 1)
            try set(CURLOPT_LOW_SPEED_TIME, Int(idle.clamped(to: 1...86_400)))
        }
        // libcurl repeats any request whose idle connection turns out to be dead; the server may have acted on it.
        if request.isOnce || request.method == "POST" { try set(CURLOPT_FRESH_CONNECT, 1) }
        switch request.method {
        case "GET" where request.body == nil: try set(CURLOPT_HTTPGET, 1)
        case "HEAD": try set(CURLOPT_NOBODY, 1)
        case "POST":
            try set(CURLOPT_POST, 1)
            try set(body: request.body ?? [])
        default:
            if let body = request.body { try set(body: body) }
            try set(CURLOPT_CUSTOMREQUEST, request.method)
        }
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.upperBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
