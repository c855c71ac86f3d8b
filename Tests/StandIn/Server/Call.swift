import Foundation

/// A request as the routes see it.
struct Call: Sendable {
    var method: String
    /// Path as sent, percent-encoded, without the query.
    var path: String
    /// The path without the base path, decoded, split at slashes; doubled and trailing slashes vanish.
    var segments: [String]
    /// The query as sent.
    var rawQuery: String
    var query: [String: String]
    /// Header names in lower case.
    var headers: [String: String]
    var bodyBytes: Data
    /// The parsed body; an empty object when there is none or it has another type.
    var body: JSON = .object([])
    /// Values of the `:name` parts of the route.
    var parameters: [String: String] = [:]
    /// Id of the user who asks; empty on open routes.
    var userID = ""
    /// Whether the old token without expiry was used.
    var usedLegacyToken = false

    subscript(parameter: String) -> String { parameters[parameter] ?? "" }

    init(method: String, target: String, headers: [String: String], body: Data, basePath: String) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts.first ?? "")
        rawQuery = parts.count > 1 ? String(parts[1]) : ""
        query = Self.form(rawQuery)
        self.headers = headers
        bodyBytes = body
        var inner = Substring(path)
        if !basePath.isEmpty, inner == basePath || inner.hasPrefix(basePath + "/") {
            inner = inner.dropFirst(basePath.count)
        }
        segments = inner.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    }

    /// The credential: the bearer header first, then `?token=`.
    var token: String? {
        if let header = headers["authorization"] {
            let parts = header.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
            return String(parts[1])
        }
        return query["token"]
    }

    func cookie(_ name: String) -> String? {
        for cookie in (headers["cookie"] ?? "").split(separator: ";") {
            let parts: [String] = cookie.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            if parts.count == 2, parts[0] == name { return parts[1] }
        }
        return nil
    }

    /// Parses the body as the server's middleware does.
    /// - Returns: `false` for what is not JSON although it says so; the server then answers 400 before anything else.
    mutating func parseBody() -> Bool {
        let type = headers["content-type"] ?? ""
        guard !bodyBytes.isEmpty else { return true }
        if type.hasPrefix("application/json") {
            guard let json = try? JSON(parsing: bodyBytes) else { return false }
            switch json {
            case .object, .array: body = json
            case .null, .bool, .int, .double, .string: return false
            }
        } else if type.hasPrefix("application/x-www-form-urlencoded") {
            let fields = Self.form(String(decoding: bodyBytes, as: UTF8.self))
            body = .object(fields.map { JSON.Member($0.key, .string($0.value)) })
        }
        return true
    }

    static func form(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { part -> String in
                let text = String(part).replacing("+", with: " ")
                return text.removingPercentEncoding ?? text
            }
            fields[decoded[0]] = decoded.count > 1 ? decoded[1] : ""
        }
        return fields
    }
}
