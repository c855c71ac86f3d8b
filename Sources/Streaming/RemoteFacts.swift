internal import HTTP

/// What a server says of a file, by which a changed one is known.
struct RemoteFacts: Hashable, Sendable {
    var size: Int64?
    var etag: String?
    var modified: String?

    /// - Parameter size: from Content-Range or Content-Length.
    init(size: Int64?, etag: String? = nil, modified: String? = nil) {
        self.size = size
        self.etag = etag
        self.modified = modified
    }

    init(_ head: HTTPResponse, size: Int64?) {
        self.init(size: size, etag: head[header: "ETag"], modified: head[header: "Last-Modified"])
    }

    /// Whether bytes under these facts and under the others cannot be of one file. What one side does not know says
    /// nothing.
    func contradicts(_ other: RemoteFacts) -> Bool {
        func differ<Fact: Equatable>(_ a: Fact?, _ b: Fact?) -> Bool {
            if let a, let b { a != b } else { false }
        }
        return differ(size, other.size) || differ(etag, other.etag) || differ(modified, other.modified)
    }

    mutating func learn(_ other: RemoteFacts) {
        size = size ?? other.size
        etag = etag ?? other.etag
        modified = modified ?? other.modified
    }

    /// For If-Range, which knows no weak tags (RFC 9110, 13.1.5).
    var validator: String? {
        if let etag, !etag.hasPrefix("W/") { return etag }
        return modified
    }
}

/// `bytes 5-9/20`, `bytes */20` or `bytes 5-9/*` (RFC 9110, 14.4).
struct ContentRange: Hashable {
    /// nil: none could be served.
    let range: Range<Int64>?
    let size: Int64?

    init?(_ text: String?) {
        let words = (text ?? "").split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        size = parts[1] == "*" ? nil : number(parts[1])
        if parts[1] != "*" && size == nil { return nil }
        if parts[0] == "*" {
            range = nil
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), first <= last,
            size.map({ last < $0 }) ?? true
        else { return nil }
        range = first..<last + 1
    }
}

/// Digits only, and no more than a file can have.
func number(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.count <= 16, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text)
}
