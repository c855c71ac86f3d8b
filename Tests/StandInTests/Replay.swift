import Foundation
import StandIn
import Testing

/// Plays recorded requests against a stand-in and compares the answers.
///
/// Ids, tokens, tags and cookies that the server makes are learned from the answers: what stands at one place in the
/// recorded answer and at the same place in ours is the same thing, and is replaced in the requests that follow.
final class Replay {
    let server: StandInServer
    let http: RawHTTP
    private let clock: StandInClock
    private let shape: Shape
    /// Recorded text to ours.
    private var known: [String: String] = [:]
    /// Ids that are the same on both sides.
    private let fixed: Set<String>
    private var cookie = ""

    init(server: StandInServer, address: String, clock: StandInClock, shape: Shape, fixed: Set<String>) {
        self.fixed = fixed
        self.server = server
        http = RawHTTP(address: address)
        self.clock = clock
        self.shape = shape
    }

    /// Names something of the recordings that no recorded answer tells, such as the token of an unrecorded login.
    func learn(_ recorded: String, as ours: String) { known[recorded] = ours }

    func play(_ recording: Recording) async throws {
        clock.set(milliseconds: recording.recordedAt)
        let request = recording.request
        var headers: [String: String] = [:]
        for name in request["headers"]?.keys ?? [] {
            headers[name] = mapped(request["headers"]?[name]?.text ?? "")
                .replacing("refresh_token=COOKIE", with: "refresh_token=\(cookie)")
        }
        let body: Data? =
            switch request["body"] {
            case .string(let text)?: Data(text.utf8)
            case .some(let json): Data(mapped(String(decoding: json.bytes, as: UTF8.self)).utf8)
            case nil: nil
            }
        let answer = try await http.send(
            request["method"]?.text ?? "GET", mapped(request["path"]?.text ?? ""), headers: headers, body: body)
        compare(recording, answer)
    }

    private func mapped(_ text: String) -> String {
        var text = text
        for (recorded, ours) in known where text.contains(recorded) { text = text.replacing(recorded, with: ours) }
        return text
    }

    // MARK: Comparing

    private func compare(_ recording: Recording, _ answer: RawResponse) {
        let name = recording.name
        #expect(answer.status == recording.status, "\(name): \(answer.text.prefix(300))")
        compareHeaders(recording, answer)
        if let recorded = recording.response["body"] {
            guard let ours = try? JSON(parsing: answer.body) else {
                Issue.record("\(name): no JSON but \(answer.text.prefix(200))")
                return
            }
            learn(recorded, ours)
            let expected = (try? JSON(parsing: mapped(String(decoding: recorded.bytes, as: UTF8.self)).utf8)) ?? nil
            let found = shape(of: recording).differences(
                expected: expected, actual: ours, trimmed: recording.trimmed)
            #expect(found.isEmpty, "\(name): \(found.prefix(8).joined(separator: "\n"))")
        } else if let text = recording.response["bodyText"]?.text {
            #expect(similar(answer.text, mapped(text)), "\(name): \(answer.text.prefix(200))")
        } else if let bytes = recording.response["bodyBytes"] {
            #expect(!answer.body.isEmpty, "\(name)")
            if recording.header("content-range") != nil {
                #expect(answer.body.count == bytes["length"]?.integer, "\(name)")
            }
        }
    }

    /// Texts are the same, but for the random name in an Engine.IO greeting.
    private func similar(_ ours: String, _ recorded: String) -> Bool {
        func bare(_ text: String) -> String { text.replacing(#/"sid":"[^"]*"/#, with: "") }
        return bare(ours) == bare(recorded)
    }

    /// These must have the recorded value; other recorded headers must be there.
    private static let exact: Set<String> = [
        "content-type", "content-range", "content-security-policy", "referrer-policy", "cache-control", "accept-ranges",
        "content-disposition", "vary", "ratelimit-policy", "access-control-allow-origin",
    ]

    private func compareHeaders(_ recording: Recording, _ answer: RawResponse) {
        #expect(answer.header("content-type") == recording.header("content-type"), "\(recording.name)")
        for name in recording.response["headers"]?.keys ?? [] {
            let recorded = recording.header(name)
            let ours = answer.header(name)
            #expect(ours != nil, "\(recording.name): no header \(name)")
            if Self.exact.contains(name) {
                #expect(ours == recorded, "\(recording.name): header \(name)")
            } else if name == "location" {
                #expect(ours == mapped(recorded ?? ""), "\(recording.name): header \(name)")
            } else if name == "etag", let recorded, let ours {
                known[recorded] = ours
            }
        }
        let cookies = recording.response["headers"]?["set-cookie"]?.elements.compactMap(\.text) ?? []
        func names(_ cookies: [String]) -> [String] { cookies.map { String($0.prefix { $0 != "=" }) } }
        #expect(names(answer.headers("set-cookie")) == names(cookies), "\(recording.name)")
        takeCookie(answer)
    }

    private func takeCookie(_ answer: RawResponse) {
        for text in answer.headers("set-cookie") where text.hasPrefix("refresh_token=") {
            let value = text.dropFirst("refresh_token=".count).prefix { $0 != ";" }
            if !value.isEmpty { cookie = String(value) }
        }
    }

    /// Lists whose order the server leaves to its database or to chance.
    private static let unordered: Set<String> = [
        "lib-13-items-sort-progress", "lib-16-personalized", "lib-18-search-book",
    ]

    private func shape(of recording: Recording) -> Shape {
        var shape = shape
        shape.keepsOrder = !Self.unordered.contains(recording.name)
        return shape
    }

    // MARK: Learning

    private func learn(_ recorded: JSON, _ ours: JSON) {
        switch (recorded, ours) {
        case (.object, .object):
            for key in recorded.keys { learn(recorded[key] ?? nil, ours[key] ?? nil) }
        case (.array(let recorded), .array(let ours)):
            for (one, other) in zip(recorded, ours) { learn(one, other) }
        case (.string(let recorded), .string(let ours)):
            let isName = recorded.hasPrefix("JWT-") || UUID(uuidString: recorded) != nil
            if isName, recorded != ours, known[recorded] == nil, !fixed.contains(recorded) { known[recorded] = ours }
        default: break
        }
    }

    // MARK: What happened between the recordings

    /// Asks something that was not recorded, as the same user at the same time.
    @discardableResult
    func ask(_ method: String, _ path: String, token: String, _ body: JSON = [:]) async throws -> JSON {
        let headers = ["Authorization": "Bearer \(mapped(token))", "Content-Type": "application/json"]
        let text = mapped(String(decoding: body.bytes, as: UTF8.self))
        let answer = try await http.send(method, mapped(path), headers: headers, body: Data(text.utf8))
        #expect(answer.status == 200, "\(method) \(path)")
        return (try? JSON(parsing: answer.body)) ?? nil
    }

    /// Opens a session that the recordings only mention.
    func open(_ session: String, item: String, device: JSON, token: String, direct: Bool = true) async throws {
        let answer = try await ask(
            "POST", "/api/items/\(item)/play", token: token,
            ["deviceInfo": device, "forceDirectPlay": .bool(direct), "mediaPlayer": "gstreamer"])
        known[session] = answer["id"]?.text
    }

    func sync(_ session: String, token: String, _ body: JSON) async throws {
        try await ask("POST", "/api/session/\(session)/sync", token: token, body)
    }

    /// Logs in as a browser does; the next recorded cookie stands for this one.
    func logInForCookie(user: String, password: String) async throws {
        let body: JSON = ["username": .string(user), "password": .string(password)]
        let answer = try await http.send(
            "POST", "/login", headers: ["Content-Type": "application/json"], body: body.bytes)
        takeCookie(answer)
    }

    func setTime(_ milliseconds: Int) { clock.set(milliseconds: milliseconds) }
}
