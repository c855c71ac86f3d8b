import EventLoop
import HTTP
import Listening
import TestSupport
import Testing

@testable import Audiobookshelf

/// A server with tokens, as far as logins go.
private final class TokenServer: Sendable {
    let journal = Journal()
    /// What is good now; the refresh token may be followed by the answer to it.
    let access = Locked("A2")
    let refreshAnswer = Locked<[Result<HTTPResponse, TransportError>]>([])
    /// To any other token.
    let refusal = Locked(HTTPResponse(status: 401, body: Array("Unauthorized".utf8)))

    static func tokens(_ access: String, _ refresh: String) -> HTTPResponse {
        .json(["user": ["username": "lena", "accessToken": .string(access), "refreshToken": .string(refresh)]])
    }

    var transport: FakeTransport {
        FakeTransport(journal) { request throws(TransportError) in
            if request.path == "/abs/auth/refresh" {
                self.journal.note("refresh with \(request.header("x-refresh-token") ?? "nothing")")
                let answer = self.refreshAnswer.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
                return try answer?.get() ?? Self.tokens("A2", "R2")
            }
            guard request.bearer == self.access.withLock({ $0 }) else { return self.refusal.withLock { $0 } }
            return .json(["libraries": []])
        }
    }
}

@Suite struct TokenTests {
    private let server = TokenServer()
    private let clock = Locked<Int64>(1_795_223_600_000)
    private let reports = Locked<[ShelfReport]>([])

    private func client(
        _ vault: FakeVault, _ login: Account.Login = .tokens, transport: FakeTransport? = nil
    ) throws -> ShelfClient {
        try ShelfClient(
            account: account(login), transport: transport ?? server.transport, vault: vault,
            now: { at(clock.withLock { $0 }) }, report: { report in reports.withLock { $0.append(report) } })
    }

    private func vault(_ access: String = "A1", _ refresh: String? = "R1") -> FakeVault {
        FakeVault(
            server.journal,
            [key(.access): access, key(.apikey): access].merging(refresh.map { [key(.refresh): $0] } ?? [:]) { $1 })
    }

    @Test func fiftyRequestsWithAnExpiredTokenMakeOneExchange() async throws {
        let client = try client(vault())
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { (try? await client.libraries()) != nil } }
            for await isDone in group { #expect(isDone) }
        }
        #expect(server.journal.count("POST /abs/auth/refresh") == 1)
    }

    @Test func newTokensAreStoredBeforeTheyAreUsed() async throws {
        _ = try await client(vault()).libraries()
        #expect(
            server.journal.lines == [
                "GET /abs/api/libraries", "POST /abs/auth/refresh", "refresh with R1", "store refresh R2",
                "store access A2", "GET /abs/api/libraries",
            ])
    }

    @Test func aTokenAboutToExpireIsExchangedBeforehand() async throws {
        let now = clock.withLock { $0 } / 1000
        let client = try client(vault(token("old", issued: now - 3550, seconds: 3600)))
        _ = try await client.libraries()
        #expect(server.journal.lines.first == "POST /abs/auth/refresh")
    }

    @Test func aClockFarAheadDoesNotExchangeWithoutEnd() async throws {
        let long = token("new", issued: 1000, seconds: 3600)
        server.access.withLock { $0 = long }
        server.refreshAnswer.withLock { $0 = [.success(TokenServer.tokens(long, "R2"))] }
        let client = try client(vault())
        for _ in 0..<5 { _ = try await client.libraries() }
        #expect(server.journal.count("POST /abs/auth/refresh") == 1)
        clock.withLock { $0 += 3_550_000 }
        _ = try await client.libraries()
        #expect(server.journal.count("POST /abs/auth/refresh") == 2)
    }

    @Test func onlyA401ToTheExchangeSignsOut() async throws {
        server.refreshAnswer.withLock { $0 = [.success(.json(["error": "Refresh token expired"], status: 401))] }
        let vault = vault()
        let client = try client(vault)
        for _ in 0..<3 {
            #expect(
                await failure { () throws(ShelfError) in _ = try await client.libraries() }
                    == .signedOut(server: account().server))
        }
        #expect(server.journal.count("POST /abs/auth/refresh") == 1)
        #expect(reports.withLock { $0 } == [.signedOut])
        #expect(await vault.kept(.refresh) == "R1")
    }

    @Test(arguments: [500, 502, 503, 403, 302]) func otherFailuresKeepTheLogin(status: Int) async throws {
        server.refreshAnswer.withLock {
            $0 = [.success(HTTPResponse(status: status)), .success(TokenServer.tokens("A2", "R2"))]
        }
        let client = try client(vault())
        let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
        #expect(error != nil && error != .signedOut(server: account().server))
        _ = try await client.libraries()
        #expect(reports.withLock { $0 }.isEmpty)
    }

    /// What proxies with a login of their own say.
    private static let foreign: [HTTPResponse] = [
        .text("<html>sign in</html>", status: 401, type: "text/html"), .text("Unauthorized", status: 401),
        HTTPResponse(status: 401, headers: [HTTPHeader("WWW-Authenticate", "Basic realm=\"home\"")]),
        .text("<html>denied</html>", status: 403, type: "text/html"), HTTPResponse(status: 407),
    ]

    @Test(arguments: foreign) func aProxysRefusalOfTheExchangeEndsNoLogin(answer: HTTPResponse) async throws {
        server.refreshAnswer.withLock { $0 = [.success(answer), .success(TokenServer.tokens("A2", "R2"))] }
        let client = try client(vault())
        let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
        #expect(error != nil && error != .signedOut(server: account().server))
        _ = try await client.libraries()
        #expect(reports.withLock { $0 }.isEmpty)
    }

    @Test(arguments: foreign.prefix(3)) func aProxysRefusalEndsNoAPIKey(answer: HTTPResponse) async throws {
        server.refusal.withLock { $0 = answer }
        let client = try client(vault("K", nil), .apikey)
        let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
        #expect(error == .tokenRefused(server: account().server) && error?.isTemporary == true)
        server.access.withLock { $0 = "K" }
        _ = try await client.libraries()
        #expect(reports.withLock { $0 }.isEmpty)
    }

    @Test func aProxysForbiddenPageIsNotTheServersWord() async throws {
        server.refusal.withLock { $0 = .text("<!doctype html><p>no", status: 403, type: "text/html") }
        let client = try client(vault())
        let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
        #expect(error == .notAudiobookshelf(server: account().server) && error?.isTemporary == true)
    }

    @Test func aLostAnswerIsAskedForAgainWithTheOldToken() async throws {
        server.refreshAnswer.withLock {
            $0 = [.failure(.lost(host: "x", reason: "reset")), .success(TokenServer.tokens("A2", "R2"))]
        }
        let vault = vault()
        let client = try client(vault)
        let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
        #expect(error == .lost(server: account().server, reason: "reset"))
        _ = try await client.libraries()
        #expect(server.journal.count("refresh with R1") == 2)
        #expect(await vault.kept(.refresh) == "R2")
    }

    @Test func a429StopsAllExchangesForAsLongAsItSays() async throws {
        let limit = HTTPResponse.json(["error": "Too many"], status: 429, headers: [HTTPHeader("Retry-After", "588")])
        server.refreshAnswer.withLock { $0 = [.success(limit), .success(TokenServer.tokens("A2", "R2"))] }
        let client = try client(vault())
        for _ in 0..<4 {
            let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
            #expect(error == .rateLimited(server: account().server, retryAfter: 588))
        }
        #expect(server.journal.count("POST /abs/auth/refresh") == 1)
        clock.withLock { $0 += 588_000 }
        _ = try await client.libraries()
    }

    @Test func aSecond401IsNotTheLoginsFault() async throws {
        server.access.withLock { $0 = "never" }
        let client = try client(vault())
        for _ in 0..<5 {
            let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
            #expect(error == .tokenRefused(server: account().server))
        }
        #expect(server.journal.count("POST /abs/auth/refresh") == 1)
        #expect(reports.withLock { $0 }.isEmpty)
    }

    @Test func tokensTheVaultWillNotTakeAreUsedAndStoredLater() async throws {
        let vault = vault()
        await vault.fail(with: .refused(reason: "no"))
        let client = try client(vault)
        _ = try await client.libraries()
        #expect(reports.withLock { $0 } == [.notStored(.refused(reason: "no"))])
        await vault.fail(with: nil)
        _ = try await client.libraries()
        #expect(await vault.kept(.refresh) == "R1")
        clock.withLock { $0 += 30_000 }
        _ = try await client.libraries()
        // Which waited for nothing.
        try await until("they are stored") { reports.withLock { $0 }.last == .stored }
        #expect(await vault.kept(.refresh) == "R2")
        #expect(await vault.kept(.access) == "A2")
    }

    @Test func anExchangeSurvivesTheCancellationOfItsRequest() async throws {
        let (reached, reach) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let inner = server.transport
        let slow = FakeTransport { request throws(TransportError) in
            if request.path == "/abs/auth/refresh" {
                reach.finish()
                for await _ in released {}
                if Task.isCancelled { throw .cancelled }
            }
            return try await inner.send(request)
        }
        let vault = vault()
        let client = try client(vault, transport: slow)
        let task = Task { try? await client.libraries() }
        for await _ in reached {}
        task.cancel()
        release.finish()
        _ = await task.value
        #expect(await vault.kept(.refresh) == "R2")
    }

    @Test(arguments: [Account.Login.legacy, .apikey]) func tokensWithoutEndAreNeverExchanged(login: Account.Login)
        async throws
    {
        let client = try client(vault(), login)
        let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
        #expect(error == .signedOut(server: account().server))
        #expect(server.journal.lines == ["GET /abs/api/libraries"])
    }

    @Test func anExchangeThatIsNotFoundEndsNoLogin() async throws {
        server.refreshAnswer.withLock { $0 = [.success(.text("Cannot POST", status: 404, type: "text/html"))] }
        let client = try client(vault())
        let error = await failure { () throws(ShelfError) in _ = try await client.libraries() }
        #expect(error == .serverFault(server: account().server, status: 404))
        server.refreshAnswer.withLock { $0 = [] }
        _ = try await client.libraries()
        #expect(server.journal.count("POST /abs/auth/refresh") == 2)
    }

    @Test func aLockedVaultIsSaidAndAskedAgain() async throws {
        let vault = vault("A2")
        await vault.fail(with: .locked)
        let client = try client(vault)
        #expect(await failure { () throws(ShelfError) in _ = try await client.libraries() } == .vault(.locked))
        await vault.fail(with: nil)
        _ = try await client.libraries()
    }

    /// What the vault refused is tried again while newer ones are on their slow way there.
    @Test func theNewestTokensStay() async throws {
        let vault = vault()
        await vault.fail(with: .refused(reason: "no"))
        let client = try client(vault)
        _ = try await client.libraries()
        server.access.withLock { $0 = "A3" }
        server.refreshAnswer.withLock { $0 = [.success(TokenServer.tokens("A3", "R3"))] }
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        await vault.fail(with: nil)
        await vault.wait(for: gate)
        clock.withLock { $0 += 10_000 }
        let first = Task { try await client.libraries() }
        while await !vault.isWaiting { await Task.yield() }
        clock.withLock { $0 += 31_000 }
        let second = Task { try await client.libraries() }
        for _ in 0..<1000 { await Task.yield() }
        open.yield()
        _ = try await first.value
        _ = try await second.value
        #expect(await vault.kept(.refresh) == "R3")
        #expect(await vault.kept(.access) == "A3")
    }

    @Test func anExchangeUnderWayIsWaitedForAtTheLogout() async throws {
        let vault = vault()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let journal = server.journal
        let transport = FakeTransport(journal) { request throws(TransportError) in
            if request.path == "/abs/logout" {
                journal.note("logout of \(request.header("x-refresh-token") ?? "nothing")")
            }
            guard request.path == "/abs/auth/refresh" else { return HTTPResponse(status: 401) }
            ask.yield()
            for await _ in gate { break }
            return TokenServer.tokens("A2", "R2")
        }
        let client = try client(vault, transport: transport)
        let request = Task { try? await client.libraries() }
        for await _ in asked { break }
        let logout = Task { try await client.logOut() }
        while await !client.isLeavingVault { await Task.yield() }
        open.yield()
        _ = try await logout.value
        _ = await request.value
        #expect(await vault.secrets.isEmpty)
        #expect(!journal.lines.contains { $0.hasPrefix("store") })
        #expect(journal.lines.contains("logout of R2"))
    }

    @Test func anotherLoginKeepsTheFormerFromTheVaultUnlessItFails() async throws {
        let vault = vault()
        let client = try client(vault)
        await client.leaveVault()
        _ = try await client.libraries()
        #expect(await vault.kept(.refresh) == "R1")
        await client.takeUpVault()
        _ = try await client.libraries()
        #expect(await vault.kept(.refresh) == "R2")
        #expect(await vault.kept(.access) == "A2")
    }

    @Test func loggingOutEmptiesTheVaultAndTellsTheServer() async throws {
        let vault = vault("A2")
        let client = try client(vault)
        _ = try await client.libraries()
        _ = try await client.logOut()
        #expect(server.journal.lines.suffix(2) == ["remove all", "POST /abs/logout"])
        #expect(await vault.secrets.isEmpty)
    }
}
