internal import HTTP
internal import Listening

/// What the head of an answer means for a transfer.
enum Answer: Equatable {
    /// Bytes of the file follow.
    case bytes(from: Int64, to: Int64?, RemoteFacts)
    /// The file is not as long as was thought.
    case size(Int64)
    /// Ranges are not for this server.
    case noRanges
    /// Nothing will change by asking again.
    case never(EngineFailure)
    /// Not now.
    /// - Parameters:
    ///   - reason: what the server does, to go behind its name.
    ///   - retryAfter: seconds, as the server asked.
    case later(reason: String, retryAfter: Double?)

    /// - Parameter offset: where bytes were asked from; nil if the whole was asked for.
    init(_ head: HTTPResponse, askedFrom offset: Int64?, known: RemoteFacts) {
        let other = Answer.later(reason: "answers with status \(head.status)", retryAfter: nil)
        switch head.status {
        case 200, 206:
            self =
                head.isText
                ? .later(reason: "answers with a web page instead of audio", retryAfter: nil)
                : Self.body(head, askedFrom: offset)
        case 416:
            let size = ContentRange(head[header: "Content-Range"])?.size
            self = size.map { $0 == known.size || ($0 > offset ?? 0) ? .noRanges : .size($0) } ?? .noRanges
            if offset == nil { self = other }
        case 404, 410: self = .never(.notFound)
        case 401, 403: self = .never(.refused)
        case 429:
            let seconds = head[header: "Retry-After"].flatMap { number($0) }
            self = .later(reason: "has too many requests for now", retryAfter: seconds.map { Double($0) })
        default: self = other
        }
    }

    private static func body(_ head: HTTPResponse, askedFrom offset: Int64?) -> Answer {
        let length = head[header: "Content-Length"].flatMap { number($0) }
        guard head.status == 206 else {
            // A packed body has another length than the file.
            let isPlain = ["", "identity"].contains(head[header: "Content-Encoding"]?.lowercased() ?? "")
            let size = isPlain ? length : nil
            return .bytes(from: 0, to: size, RemoteFacts(head, size: size))
        }
        guard let content = ContentRange(head[header: "Content-Range"]), let range = content.range,
            range.lowerBound == offset ?? 0
        else { return .later(reason: "answers with other bytes than were asked for", retryAfter: nil) }
        guard let size = content.size else { return .noRanges }
        // One that gives no ranges, and not the whole either, would be asked for the same part without end.
        if offset == nil, range.upperBound < size {
            return .later(reason: "sends only a part of the file", retryAfter: nil)
        }
        return .bytes(from: range.lowerBound, to: range.upperBound, RemoteFacts(head, size: size))
    }
}
