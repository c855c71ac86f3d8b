import Audiobookshelf
import EventLoop
import FoundationEssentials
import HTTP
import Listening
import Testing

/// What happened, in order, on every fake that shares it.
typealias Journal = Locked<[String]>

extension Locked<[String]> {
    convenience init() { self.init([]) }
    func note(_ line: String) { withLock { $0.append(line) } }
    var lines: [String] { withLock { $0 } }
    func count(_ line: String) -> Int { lines.count { $0 == line } }
}

/// A server that answers as the test says, and notes method and path of every request.
struct FakeTransport: Transport {
    typealias Answer = @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse

    let journal: Journal
    private let answer: Answer

    init(_ journal: Journal = Journal(), _ answer: @escaping Answer) {
        self.journal = journal
        self.answer = answer
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        journal.note(request.description)
        return try await answer(request)
    }
}

extension HTTPRequest {
    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
    var bearer: String? { header("Authorization")?.split(separator: " ").last.map(String.init) }
    var json: JSON { body.flatMap { JSON($0) } ?? .null }
    var query: String { url.split(separator: "?").dropFirst().joined() }
}

extension HTTPResponse {
    static func json(_ json: JSON, status: Int = 200, headers: [HTTPHeader] = []) -> HTTPResponse {
        let type = HTTPHeader("Content-Type", "application/json; charset=utf-8")
        return HTTPResponse(status: status, headers: [type] + headers, body: json.bytes)
    }

    static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8") -> HTTPResponse {
        HTTPResponse(status: status, headers: [HTTPHeader("Content-Type", type)], body: Array(text.utf8))
    }

    static let page = HTTPResponse.text("<!DOCTYPE html><html></html>", type: "text/html; charset=utf-8")
}

/// A keyring that can refuse, and notes what is stored.
actor FakeVault: Vault {
    private let journal: Journal
    private(set) var secrets: [SecretKey: String] = [:]
    private var failure: VaultError?
    /// Stores that still succeed before `failure` counts.
    private var patience = 0
    private var gate: AsyncStream<Void>?
    private(set) var isWaiting = false

    init(_ journal: Journal = Journal(), _ secrets: [SecretKey: String] = [:]) {
        self.journal = journal
        self.secrets = secrets
    }

    func fail(with failure: VaultError?, after stores: Int = 0) {
        self.failure = failure
        patience = stores
    }

    /// The next store takes until something comes.
    func wait(for gate: AsyncStream<Void>) { self.gate = gate }

    func kept(_ kind: SecretKey.Kind) -> String? { secrets.first { $0.key.kind == kind }?.value }

    func store(_ secret: String, for key: SecretKey, label: String) async throws(VaultError) {
        if let failure, patience == 0 { throw failure }
        patience = max(0, patience - 1)
        if let gate {
            (self.gate, isWaiting) = (nil, true)
            for await _ in gate { break }
        }
        journal.note("store \(key.kind.rawValue) \(secret)")
        secrets[key] = secret
    }

    func secret(for key: SecretKey) async throws(VaultError) -> String? {
        if let failure, failure == .locked { throw failure }
        return secrets[key]
    }

    func remove(_ key: SecretKey) async throws(VaultError) {
        journal.note("remove \(key.kind.rawValue)")
        secrets[key] = nil
    }

    func removeAll(account: String) async throws(VaultError) {
        journal.note("remove all")
        secrets = secrets.filter { $0.key.account != account }
    }

    func check() async throws(VaultError) { if let failure { throw failure } }
}

/// A recording of the real server.
struct Fixture {
    let json: JSON

    init(_ name: String, file: String = #filePath) throws {
        let folder = file.split(separator: "/").dropLast().joined(separator: "/")
        let data = try Data(contentsOf: URL(filePath: "/\(folder)/Fixtures/\(name).json"))
        json = try #require(JSON(Array(data)))
    }

    var body: JSON { json["response"]["body"] }
    var response: HTTPResponse {
        let status = Int(json["response"]["status"].integer ?? 0)
        let bytes = json["response"]["bodyText"].string.map { Array($0.utf8) } ?? body.bytes
        var headers: [HTTPHeader] = []
        if case .object(let fields) = json["response"]["headers"] {
            headers = fields.compactMap { name, value in value.string.map { HTTPHeader(name, $0) } }
        }
        return HTTPResponse(status: status, headers: headers, body: bytes)
    }
}

/// Answers the requests of these recordings as recorded, whatever the query, and 404 to all others.
func replay(_ names: String..., journal: Journal = Journal()) throws -> FakeTransport {
    let fixtures = try names.map { try Fixture($0) }
    let answers = Dictionary(
        fixtures.map { fixture in
            let path = fixture.json["request"]["path"].string?.prefix { $0 != "?" } ?? ""
            return ("\(fixture.json["request"]["method"].string ?? "") \(path)", fixture.response)
        }
    ) { first, _ in first }
    return FakeTransport(journal) { request in
        answers[request.description.replacing(" /abs/", with: " /")] ?? .text("Not Found", status: 404)
    }
}

let server = "https://books.example.org/abs"
let accountID = "11111111-2222-4333-8444-555555555555"

func account(_ login: Account.Login = .tokens, hasHeaders: Bool = false) -> Account {
    Account(id: accountID, server: server, user: "lena", login: login, hasHeaders: hasHeaders)
}

func key(_ kind: SecretKey.Kind) -> SecretKey {
    SecretKey(account: accountID, kind: kind, server: server, user: "lena")
}

/// A client whose tokens are good.
func client(
    _ transport: FakeTransport, _ login: Account.Login = .apikey, hasHeaders: Bool = false
) throws -> ShelfClient {
    let secrets: [SecretKey: String] = [
        key(.apikey): "KEY", key(.access): "A1", key(.refresh): "R1", key(.header): #"{"X-Proxy":"open"}"#,
    ]
    return try ShelfClient(
        account: account(login, hasHeaders: hasHeaders), transport: transport,
        vault: FakeVault(Journal(), secrets), now: { at(1_795_223_600_000) })
}

/// - Parameter wall: milliseconds since 1970; the computer was started an hour after that.
func at(_ wall: Int64) -> Moment { Moment(monotonic: (wall - 3_600_000) * 1000, wall: wall) }

func failure(_ body: () async throws(ShelfError) -> Void) async -> ShelfError? {
    do throws(ShelfError) {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// A token as the server makes them, good for `seconds` from `issued`.
func token(_ name: String, issued: Int64, seconds: Int64) -> String {
    let payload: JSON = [
        "jti": .string(name), "iat": .number(Double(issued)), "exp": .number(Double(issued + seconds)),
    ]
    let text = Data(payload.bytes).base64EncodedString().map { character in
        character == "+" ? "-" : character == "/" ? "_" : String(character)
    }
    return "h.\(text.joined().filter { $0 != "=" }).\(name)"
}

extension ShelfClient {
    /// As the daemon does it: look at the item, then open a session.
    func play(_ id: ShelfItemID, device: ShelfDevice, mimeTypes: [String]) async throws(ShelfError) -> OpenSession {
        try await play(find(id), device: device, mimeTypes: mimeTypes)
    }
}
