import EventLoop
import HTTP
import Listening
import Testing

@testable import Audiobookshelf

@Suite struct LoginTests {
    private let journal = Journal()

    private func login(
        _ address: String, _ transport: FakeTransport, headers: [HTTPHeader] = [], insecure: Bool = false
    ) throws(ShelfError) -> Login {
        try Login(address: address, headers: headers, allowInsecureHTTP: insecure, transport: transport)
    }

    /// A server as recorded, wherever it is.
    private func recorded(_ status: String, _ login: String) throws -> FakeTransport {
        let (status, login, me) = (
            try Fixture(status).response, try Fixture(login).response, try Fixture("me-01-me-with-progress").response
        )
        return FakeTransport(journal) { request in
            if request.path.hasSuffix("/status") { return status }
            if request.path.hasSuffix("/login") { return login }
            return request.path.hasSuffix("/api/me") && request.bearer == "KEY"
                ? me : .text("Unauthorized", status: 401)
        }
    }

    @Test func passwordOnARecentServer() async throws {
        let transport = try recorded("boot-04-status", "auth-02-login-return-tokens")
        let login = try login("https://books.example.org/abs/", transport, headers: [HTTPHeader("X-A", "1")])
        let vault = FakeVault(journal)
        let account = try await login.run(
            .password(user: "lena", password: "listen-1"), at: try await login.find(), vault: vault)
        #expect(account.server == "https://books.example.org/abs" && account.user == "lena")
        #expect(account.login == .tokens && account.serverVersion == "2.36.0" && account.hasHeaders)
        #expect(
            journal.lines == [
                "GET /abs/status", "POST /abs/login", "store refresh JWT-16f232174dae", "store access JWT-5571e36c1701",
                #"store header {"X-A":"1"}"#,
            ])
    }

    @Test func passwordOnAServerBeforeTokens() async throws {
        let transport = try recorded("old-v2.25.1-02-status", "old-v2.25.1-03-login")
        let login = try login("https://old.example.org", transport)
        let vault = FakeVault()
        let account = try await login.run(
            .password(user: "root", password: "x"), at: try await login.find(), vault: vault)
        #expect(account.login == .legacy && account.serverVersion == "2.25.1")
        #expect(await vault.kept(.access) == "JWT-897fe15df367")
        #expect(await vault.kept(.refresh) == nil)
    }

    @Test func aKeyIsTriedBeforeItIsKept() async throws {
        let transport = try recorded("boot-04-status", "auth-02-login-return-tokens")
        let login = try login("https://books.example.org", transport)
        let vault = FakeVault()
        let found = try await login.find()
        let account = try await login.run(.apiKey(" KEY\n"), at: found, vault: vault)
        #expect(account.login == .apikey && account.user == "lena")
        #expect(await vault.kept(.apikey) == "KEY")
        let error = await failure { () throws(ShelfError) in
            _ = try await login.run(.apiKey("other"), at: found, vault: vault)
        }
        #expect(error == .keyRefused(server: "https://books.example.org"))
    }

    @Test func theSameUserKeepsTheAccount() async throws {
        let transport = try recorded("boot-04-status", "auth-02-login-return-tokens")
        let login = try login("https://books.example.org/abs", transport)
        let known = Account(id: "known", server: "https://books.example.org/abs", user: "Lena", login: .apikey)
        let other = Account(id: "other", server: "https://books.example.org", user: "lena", login: .tokens)
        let account = try await login.run(
            .password(user: "lena", password: "x"), at: try await login.find(), existing: [other, known],
            vault: FakeVault())
        #expect(account.id == "known" && account.login == .tokens)
    }

    /// At home by one address, on the way by another; from http to https; renamed: what hangs on the account stays.
    @Test(arguments: [false, true]) func aServerThatMovedIsTheSame(_ fails: Bool) async throws {
        let transport = try recorded("boot-04-status", "auth-02-login-return-tokens")
        let login = try login("https://books.example.org", transport, headers: [HTTPHeader("X-A", "1")])
        let found = try await login.find()
        func at(_ server: String, _ user: String, _ userID: String?) -> Account {
            Account(id: "\(server)/\(user)", server: server, user: user, login: .tokens, userID: userID)
        }
        let lena = "e25f6560-9b73-4c8c-bc58-5a03bd7ab5fc"
        let others = [
            at("http://192.168.1.5:13378", "lena", nil),
            at("http://192.168.1.6:13378", "lena", "00000000-0000-4000-8000-000000000000"),
        ]
        let known = at("http://192.168.1.7:13378", "helena", lena)
        let before = [SecretKey(known, .access): "A1", SecretKey(known, .refresh): "R1"]
        let vault = FakeVault(journal, before)
        if fails { await vault.fail(with: .refused(reason: "no"), after: 1) }
        let account: Account
        do throws(ShelfError) {
            account = try await login.run(
                .password(user: "lena", password: "x"), at: found, existing: others + [known], vault: vault)
        } catch {
            #expect(fails)
            return #expect(await vault.secrets == before)
        }
        #expect(!fails && account.id == known.id && account.server == "https://books.example.org")
        #expect(account.user == "lena" && account.userID == lena)
        let kept = await vault.secrets.keys
        #expect(kept.count == 3 && kept.allSatisfy { $0.server == account.server })
        #expect(journal.lines.last == "POST /logout", "the login at the old address")
        // One that is known there is that one.
        let here = at("https://books.example.org", "Lena", nil)
        let again = try await login.run(
            .password(user: "lena", password: "x"), at: found, existing: [known, here], vault: FakeVault())
        #expect(again.id == here.id && again.userID == lena)
    }

    @Test func wrongPassword() async throws {
        let transport = try recorded("boot-04-status", "auth-03-login-wrong-password")
        let login = try login("https://books.example.org", transport)
        let found = try await login.find()
        let error = await failure { () throws(ShelfError) in
            _ = try await login.run(.password(user: "lena", password: "wrong"), at: found, vault: FakeVault())
        }
        #expect(error == .wrongPassword(server: "https://books.example.org"))
        #expect(error?.category == .notSignedIn)
    }

    @Test func tooManyLogins() async throws {
        let transport = try recorded("boot-04-status", "expiry-07-rate-limited")
        let login = try login("https://books.example.org", transport)
        let found = try await login.find()
        let error = await failure { () throws(ShelfError) in
            _ = try await login.run(.password(user: "lena", password: "x"), at: found, vault: FakeVault())
        }
        #expect(error == .rateLimited(server: "https://books.example.org", retryAfter: 588))
        #expect(error?.description.contains("10 minutes") == true)
    }

    @Test(arguments: [0, 1, 2]) func aVaultThatFailsIsLeftAsItWas(after: Int) async throws {
        let transport = try recorded("boot-04-status", "auth-02-login-return-tokens")
        let login = try login("https://books.example.org", transport, headers: [HTTPHeader("X-A", "1")])
        let vault = FakeVault()
        await vault.fail(with: .refused(reason: "no"), after: after)
        let found = try await login.find()
        let error = await failure { () throws(ShelfError) in
            _ = try await login.run(.password(user: "lena", password: "x"), at: found, vault: vault)
        }
        #expect(error == .vault(.refused(reason: "no")))
        #expect(await vault.secrets.isEmpty)
        #expect(journal.lines.last == "POST /logout")
    }

    /// A key takes the place of a password: nothing of that stays, here or on the server.
    @Test func whatAnEarlierLoginLeftGoes() async throws {
        let transport = FakeTransport(journal) { [journal] request in
            if request.path.hasSuffix("/logout") {
                journal.note("logout of \(request.header("x-refresh-token") ?? "nothing")")
            }
            return try! Fixture(request.path.hasSuffix("/status") ? "boot-04-status" : "me-01-me-with-progress")
                .response
        }
        let known = account(hasHeaders: true)
        let before: [SecretKey: String] = [key(.access): "A1", key(.refresh): "R1", key(.header): "{}"]
        let vault = FakeVault(journal, before)
        let login = try login(server, transport)
        let found = try await login.find()
        let given = try await login.run(.apiKey("KEY"), at: found, existing: [known], vault: vault) { [journal] id in
            journal.note("will store for \(id)")
            return nil
        }
        #expect(given.id == known.id && given.login == .apikey)
        #expect(await vault.secrets.map(\.value) == ["KEY"])
        #expect(
            journal.lines.suffix(7) == [
                "will store for \(known.id)", "store apikey KEY", "remove refresh", "remove access", "remove header",
                "POST /abs/logout", "logout of R1",
            ])
        // What fails leaves the earlier one as it was.
        let stubborn = FakeVault(journal, before)
        await stubborn.fail(with: .refused(reason: "no"))
        let error = await failure { () throws(ShelfError) in
            _ = try await login.run(.apiKey("KEY"), at: found, existing: [known], vault: stubborn)
        }
        #expect(error == .vault(.refused(reason: "no")))
        #expect(await stubborn.secrets == before)
        #expect(journal.lines.count { $0.hasPrefix("logout") } == 1)
    }

    @Test func httpIsTriedAfterHTTPSOnPrivateAddresses() async throws {
        let status = try Fixture("boot-04-status").response
        let transport = FakeTransport(journal) { request throws(TransportError) in
            if request.url.hasPrefix("https") { throw .tls(host: "192.168.1.5", reason: "wrong version number") }
            return status
        }
        let found = try await login("192.168.1.5:13378", transport).find()
        #expect(found.address.description == "http://192.168.1.5:13378" && found.version == "2.36.0")
    }

    @Test func anUntrustedCertificateIsNotAReasonForHTTP() async throws {
        let transport = FakeTransport(journal) { _ throws(TransportError) in
            throw .certificate(host: "192.168.1.5", reason: "self-signed certificate")
        }
        let login = try login("192.168.1.5", transport)
        let error = await failure { () throws(ShelfError) in _ = try await login.find() }
        #expect(error == .certificate(server: "https://192.168.1.5", reason: "self-signed certificate"))
        #expect(journal.lines.count == 1)
    }

    @Test func httpElsewhereMustBeAllowed() async throws {
        let transport = FakeTransport(journal) { _ throws(TransportError) in
            throw .unreachable(host: "x", reason: "Connection refused")
        }
        #expect(throws: ShelfError.insecureHTTP(server: "http://books.example.org")) {
            try login("http://books.example.org", transport)
        }
        let strict = try login("books.example.org", transport)
        _ = await failure { () throws(ShelfError) in _ = try await strict.find() }
        #expect(journal.lines.count == 1)
        let lax = try login("books.example.org", transport, insecure: true)
        let error = await failure { () throws(ShelfError) in _ = try await lax.find() }
        #expect(error?.category == .unreachable && journal.lines.count == 3)
    }

    @Test func aServerNobodyHasSetUp() async throws {
        let transport = try recorded("boot-01-status-uninitialised", "auth-02-login-return-tokens")
        let login = try login("https://books.example.org", transport)
        #expect(
            await failure { () throws(ShelfError) in _ = try await login.find() }
                == .notInitialised(server: "https://books.example.org"))
    }

    @Test(arguments: [
        HTTPResponse.page, .text("Not Found", status: 404), .json(["app": "jellyfin", "isInit": true]), .json([1, 2]),
        .json("OK"), .text("", status: 401), .text("moved", status: 302), .text("hello"), .text(""),
    ]) func somethingElseIsSaidToBeSomethingElse(response: HTTPResponse) async throws {
        let login = try login("https://books.example.org", FakeTransport { _ in response })
        let error = await failure { () throws(ShelfError) in _ = try await login.find() }
        #expect(error == .notAudiobookshelf(server: "https://books.example.org"))
    }

    @Test func aRedirectNamesTheAddressToType() async throws {
        let headers = [HTTPHeader("Location", "https://books.example.org/abs/status?x=1")]
        let moving = FakeTransport { _ in HTTPResponse(status: 301, headers: headers) }
        let login = try login("http://10.0.0.5", moving)
        let error = await failure { () throws(ShelfError) in _ = try await login.find() }
        #expect(error == .moved(server: "http://10.0.0.5", to: "https://books.example.org/abs"))
    }

    @Test func aWebPageInPlaceOfALogin() async throws {
        let status = try Fixture("boot-04-status").response
        let login = try login(
            "https://books.example.org", FakeTransport { $0.path == "/status" ? status : .page })
        let found = try await login.find()
        let error = await failure { () throws(ShelfError) in
            _ = try await login.run(.password(user: "a", password: "b"), at: found, vault: FakeVault())
        }
        #expect(error == .notAudiobookshelf(server: "https://books.example.org"))
    }

    @Test func aLoginWithoutATokenNamesTheField() async throws {
        let status = try Fixture("boot-04-status").response
        let login = try login(
            "https://books.example.org",
            FakeTransport { $0.path == "/status" ? status : .json(["user": ["username": "lena"]]) })
        let found = try await login.find()
        let error = await failure { () throws(ShelfError) in
            _ = try await login.run(.password(user: "a", password: "b"), at: found, vault: FakeVault())
        }
        #expect(error == .missing(field: "user.accessToken", endpoint: "POST /login"))
    }
}
