import Foundation

/// An answer as the routes give it, before it becomes bytes on a connection.
struct Answer: Sendable {
    enum Body: Sendable {
        case data(Data)
        /// A part of a file, streamed.
        case file(path: String, range: Range<Int>)
        /// Sent in chunks without a length, as the server sends resized covers.
        case chunked(Data)
        /// Part of files in a row turned into MPEG-TS; start and length in seconds.
        case segment(of: [TranscodedFile], start: Double, length: Double)
        /// Waits until the stand-in has events for this Engine.IO session.
        case poll(sid: String)
        case webSocket
    }

    var status: Int
    var headers: [(name: String, value: String)]
    var body: Body

    init(_ status: Int, type: String?, _ data: Data, tagged: Bool = true) {
        self.status = status
        headers = Self.policy
        if let type { headers.append(("Content-Type", type)) }
        if tagged { headers.append(("ETag", Self.etag(data))) }
        body = .data(data)
    }

    init(_ status: Int, headers: [(name: String, value: String)], body: Body) {
        self.status = status
        self.headers = Self.policy + headers
        self.body = body
    }

    private static let policy = [
        (name: "Content-Security-Policy", value: "frame-ancestors 'self'"),
        (name: "Referrer-Policy", value: "no-referrer"),
    ]

    static func json(_ value: JSON, status: Int = 200) -> Answer {
        Answer(status, type: "application/json; charset=utf-8", value.bytes)
    }

    /// `sendStatus`: the status phrase as plain text.
    static func phrase(_ status: Int) -> Answer {
        Answer(status, type: "text/plain; charset=utf-8", Data(reason(status).utf8))
    }

    static let ok = phrase(200)
    static let notFound = phrase(404)
    static let forbidden = phrase(403)

    /// `send` of a string: one bare sentence that says it is HTML.
    static func sentence(_ status: Int, _ text: String) -> Answer {
        Answer(status, type: "text/html; charset=utf-8", Data(text.utf8))
    }

    /// A refusal by the authentication middleware: no type at all.
    static func bare(_ status: Int) -> Answer {
        Answer(status, type: nil, Data(reason(status).utf8), tagged: false)
    }

    static let unauthorized = bare(401)

    /// The page of express's last handler.
    static func page(_ status: Int, _ text: String) -> Answer {
        let page = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>Error</title>
            </head>
            <body>
            <pre>\(text)</pre>
            </body>
            </html>

            """
        var answer = Answer(status, type: "text/html; charset=utf-8", Data(page.utf8), tagged: false)
        answer.headers[0].value = "default-src 'none'"
        return answer
    }

    static func cannot(_ call: Call) -> Answer { page(404, "Cannot \(call.method) \(call.path)") }

    static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 206: "Partial Content"
        case 302: "Found"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 416: "Range Not Satisfiable"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Status \(status)"
        }
    }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    func adding(_ name: String, _ value: String) -> Answer {
        var copy = self
        copy.headers.append((name, value))
        return copy
    }

    /// A weak tag in the form that express makes: length in hexadecimal and 27 characters of a hash.
    private static func etag(_ data: Data) -> String {
        let words = [data.count, 1, 2].map { DerivedID.fnv(data, basis: UInt64($0) &+ 0xcbf2_9ce4_8422_2325) }
        let hash = words.withUnsafeBytes { Data($0).base64EncodedString().prefix(27) }
        return "W/\"\(String(data.count, radix: 16))-\(hash)\""
    }
}
