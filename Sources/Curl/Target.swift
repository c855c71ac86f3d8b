internal import CCurl
internal import HTTP

/// Where a request goes, as libcurl itself reads the url.
struct Target {
    /// Without brackets when it is an IPv6 address.
    let host: String
    let isSecure: Bool
    /// Host and port.
    let authority: String

    /// - Throws: ``TransportError/badURL`` for other schemes, control characters, spaces and user names in the url.
    init(_ url: String) throws(TransportError) {
        guard !url.utf8.contains(0), let parts = curl_url() else { throw .badURL }
        defer { curl_url_cleanup(parts) }
        let flags = UInt32(CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(parts, CURLUPART_URL, url, flags) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, of: parts)?.lowercased(), ["http", "https"].contains(scheme),
            let host = Self.part(CURLUPART_HOST, of: parts), !host.isEmpty
        else { throw .badURL }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" && $0 != "%" }) : host
        isSecure = scheme == "https"
        authority = "\(host):\(Self.part(CURLUPART_PORT, of: parts, UInt32(CURLU_DEFAULT_PORT)) ?? "")"
    }

    /// This computer itself: no proxy can reach what is meant.
    var isLoopback: Bool {
        let name = host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") || name == "::1"
            || (name.hasPrefix("127.") && name.allSatisfy { $0.isNumber || $0 == "." })
    }

    private static func part(_ part: CURLUPart, of parts: OpaquePointer, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard dogear_url_get(parts, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

extension HTTPRequest {
    /// As libcurl wants them, with what it would otherwise add of its own switched off.
    ///
    /// - Throws: ``TransportError/badHeader(name:)`` where a name or value could smuggle in another line.
    var headerLines: [String] {
        get throws(TransportError) {
            var lines = ["Expect:"]
            if !headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
            for header in headers {
                guard !header.name.isEmpty, header.name.utf8.allSatisfy(isToken),
                    header.value.utf8.allSatisfy({ $0 == 9 || ($0 >= 32 && $0 != 127) })
                else { throw .badHeader(name: String(header.name.filter { $0.isLetter || $0 == "-" })) }
                let isBlank = header.value.utf8.allSatisfy { $0 == 9 || $0 == 32 }
                lines.append(isBlank ? "\(header.name);" : "\(header.name): \(header.value)")
            }
            return lines
        }
    }
}

/// RFC 9110, 5.6.2.
private func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
