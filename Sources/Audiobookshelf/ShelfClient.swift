public import HTTP
public import Listening

/// What a client says unasked, for the account's record and the log.
public enum ShelfReport: Hashable, Sendable {
    /// The server has ended the login.
    case signedOut
    /// The vault has nothing for it: that may be another than the one it was put into.
    case loginLost
    /// New tokens could not be stored; they are used all the same, and stored as soon as the vault takes them. Until
    /// then leaving the program may cost the login.
    case notStored(VaultError)
    case stored
    /// A command is about to put another place over the one that the server has, which it was not told from here in this
    /// run.
    case overwriting(Place, with: BookTime)
    /// A command was not carried out: another device went on after it.
    case outdone(ProgressWrite)
    /// By the server's own uuid.
    case user(String)
}

/// A place as a server was told it. Times in milliseconds since 1970 of the server's clock.
struct Told: Hashable, Sendable {
    let place: BookTime
    /// When it was true.
    let at: Int64
    let sent: Int64
    var isFinished = false
    /// What the server notes later than this is somebody else's word, be it the same place; nil while that is not known.
    var latest: Int64?

    func says(as other: Told) -> Bool { (place, at, isFinished) == (other.place, other.at, other.isFinished) }

    /// Whether the server may have this place from here, having noted it at that time.
    func isNear(_ position: BookTime, noted: Int64) -> Bool {
        (position - place).microseconds.magnitude < 100_000
            && latest.map { noted <= $0 + Place.clockTolerance } ?? true
    }
}

/// One account on one Audiobookshelf server: adds the login to every request and keeps it alive.
///
/// Of any number of requests that find the token expired one exchanges it, the others wait for that. New tokens are in
/// the vault before they are used. Only the server's own 401 to the exchange ends a login: no lost connection, no busy
/// server, no forbidden request does.
public actor ShelfClient {
    public nonisolated let account: Account
    nonisolated let server: ServerAddress
    let transport: any Transport
    let vault: any Vault
    let now: @Sendable () -> Moment
    /// What was under way before that is not known here.
    private(set) var began: Moment
    let report: @Sendable (ShelfReport) -> Void

    public private(set) var clock: ServerClock
    /// The last places of each item that the server has been told from here.
    var told: [ShelfItemID: [Told]] = [:]
    /// Whether `/public/session/...` answers here; nil until tried.
    var hasPublicTracks: Bool?
    private var secrets: Secrets?
    private var renewal: Task<Result<Void, ShelfError>, Never>?
    private var isSignedOut = false
    /// The login has no token exchange: it is an API key, or from a server before 2.26.
    private let isLegacy: Bool
    /// Milliseconds since the start of this computer, as all that is waited for: no exchange of tokens before.
    private var noExchangeBefore: Int64 = 0
    private var rateLimitedUntil: Int64 = 0
    /// How far in the future, at most, something was dated that is told only now; milliseconds.
    private var ahead: Int64 = 0
    /// Tokens that are not in the vault yet, and when to try it again.
    private var unstored: (tokens: Secrets, again: Int64)?
    /// It would not take them, and that was reported.
    private var isRefused = false
    /// Another login is about to take the vault over, or this one ends: nothing more is put there.
    private(set) var isLeavingVault = false
    /// What is being put into the vault.
    private var storage: Task<Void, Never>?

    /// - Parameters:
    ///   - report: called on no particular thread.
    /// - Throws: ``ShelfError/badAddress(reason:)`` if the account's server is none.
    public init(
        account: Account, transport: any Transport, vault: any Vault, now: @escaping @Sendable () -> Moment,
        report: @escaping @Sendable (ShelfReport) -> Void = { _ in }
    ) throws(ShelfError) {
        self.account = account
        clock = ServerClock(of: account)
        server = try ServerAddress(account.server)
        self.transport = transport
        self.vault = vault
        self.now = now
        began = now()
        self.report = report
        isLegacy = account.login != .tokens
    }

    /// - Parameter stamp: what the server noted since then, in milliseconds since 1970 by its own clock.
    func observe(stamp: Int64, sent: Moment) { clock.observe(stamp: stamp, sent: sent, received: now()) }

    /// Milliseconds since 1970 by the server's clock.
    var serverNow: Int64 { clock.now(at: now()) }

    /// What was dated by a clock that was ahead, in the server's future, would outdo whatever other devices say until then.
    /// - Returns: a time that has come; what was dated later still is.
    func credible(_ time: Int64) -> Int64 {
        guard clock.isAhead(time, at: now()) else { return time }
        ahead = max(ahead, time - serverNow)
        return time - ahead
    }

    private var sinceStart: Int64 { now().sinceStart / 1000 }

    /// Takes the place of the one before another login to the same account: what that has told is known here.
    public func goOn(from former: ShelfClient) async {
        let (words, since) = (await former.told, await former.began)
        told.merge(words) { own, former in former + own }
        if since.sinceStart < began.sinceStart { began = since }
    }

    /// Returns once nothing is on its way into the vault; until ``takeUpVault()`` nothing more will be.
    public func leaveVault() async {
        isLeavingVault = true
        _ = await renewal?.value
        await storage?.value
    }

    /// After ``leaveVault()``, when this login goes on after all.
    public func takeUpVault() async {
        isLeavingVault = false
        await store()
    }

    /// Removes the login from the vault, and ends it on the server, if that can be reached.
    ///
    /// - Parameter farewell: done while the server still takes requests, once the vault cannot refuse any more.
    /// - Returns: false if the server could not be told; its side of the login ends by itself after some weeks.
    public func logOut(after farewell: @Sendable () async -> Void = {}) async throws(ShelfError) -> Bool {
        await leaveVault()
        _ = try? await loaded()
        do throws(VaultError) {
            try await vault.removeAll(account: account.id)
        } catch {
            await takeUpVault()
            throw .vault(error)
        }
        await farewell()
        isSignedOut = true
        var isTold = account.login != .tokens
        if let secrets, let refresh = secrets.refresh {
            let response = try? await send(.logout(refresh), secrets)
            isTold = response.map { (200..<300).contains($0.status) } ?? false
        }
        secrets = nil
        unstored = nil
        return isTold
    }

    // MARK: Requests

    func json(_ call: Call) async throws(ShelfError) -> JSON { try await answer(call).json(server, call) }

    /// - Throws: for every answer but 2xx.
    func answer(_ call: Call) async throws(ShelfError) -> HTTPResponse {
        let secrets = try await current()
        let response = try await send(call, secrets)
        guard response.status == 401 else { return try response.accepted(server, call) }
        try await renew(after: secrets.bearer, isOwnWord: response.isOwnRefusal)
        let fresh = try await loaded()
        let second = try await send(call, fresh)
        if second.status == 401 {
            noExchangeBefore = sinceStart + 60_000  // what refuses us is not the token: do not wear out the exchange
            throw .tokenRefused(server: server.description)
        }
        return try second.accepted(server, call)
    }

    private func send(_ call: Call, _ secrets: Secrets) async throws(ShelfError) -> HTTPResponse {
        let login = call.path.first == "api" ? [HTTPHeader("Authorization", "Bearer \(secrets.bearer)")] : []
        return try await send(call, headers: login + secrets.headers)
    }

    private func send(_ call: Call, headers: [HTTPHeader]) async throws(ShelfError) -> HTTPResponse {
        let sent = now()
        do throws(TransportError) {
            let response = try await transport.send(call.request(server, headers: headers, caFile: account.caFile))
            clock.observe(response, sent: sent, received: now())
            return response
        } catch {
            throw ShelfError(error, server: server, endpoint: call.endpoint)
        }
    }

    // MARK: The live connection

    /// Sends a request of the live connection: with the custom headers, without a login, which goes in a packet.
    func sendBare(_ call: Call) async throws(ShelfError) -> HTTPResponse {
        try await send(call, headers: loaded().headers)
    }

    /// What opens the live connection now.
    func bearer() async throws(ShelfError) -> String { try await current().bearer }

    /// What opens it after this one was refused.
    func bearer(after refused: String) async throws(ShelfError) -> String {
        try await renew(after: refused, isOwnWord: true)
        return try await loaded().bearer
    }

    /// The present one, if it is in memory; asks and exchanges nothing.
    var presentBearer: String? { secrets?.bearer }

    // MARK: Tokens

    /// The secrets to send now, exchanged beforehand when they are about to expire.
    func current() async throws(ShelfError) -> Secrets {
        let secrets = try await loaded()
        storeAgain()
        guard !isLegacy, !isSignedOut, secrets.refresh != nil,
            secrets.isDue(sinceStart: sinceStart, serverNow: serverNow)
        else {
            if isSignedOut { throw .signedOut(server: server.description) }
            return secrets
        }
        do throws(ShelfError) {
            try await renew(after: secrets.bearer, isOwnWord: true)
        } catch {
            if case .signedOut = error { throw error }
            return secrets  // it may still do; if not, the 401 asks for another exchange
        }
        return try await loaded()
    }

    /// Reads the vault the first time.
    private func loaded() async throws(ShelfError) -> Secrets {
        if let secrets { return secrets }
        let bearer = try await secret(account.login == .apikey ? .apikey : .access)
        let refresh = account.login == .tokens ? try await secret(.refresh) : nil
        let headers = account.hasHeaders ? try await secret(.header) : nil
        if let secrets { return secrets }  // another request was faster while this one waited
        guard bearer != nil || refresh != nil else {
            report(.loginLost)
            throw .loginLost(server: server.description)
        }
        let found = Secrets(bearer: bearer ?? "", refresh: refresh, headers: headers.map(HeaderSecret.headers) ?? [])
        secrets = found
        return found
    }

    private func secret(_ kind: SecretKey.Kind) async throws(ShelfError) -> String? {
        do throws(VaultError) {
            return try await vault.secret(for: SecretKey(account, kind))
        } catch {
            throw .vault(error)
        }
    }

    /// Makes sure that the secrets are others than `bearer`, which the server refused or soon will.
    /// - Parameter isOwnWord: the server itself refused it, not something before it.
    private func renew(after bearer: String, isOwnWord: Bool) async throws(ShelfError) {
        if isSignedOut { throw .signedOut(server: server.description) }
        if let secrets, secrets.bearer != bearer { return }
        guard !isLegacy, let refresh = secrets?.refresh else {
            guard isOwnWord else { throw .tokenRefused(server: server.description) }
            report(.signedOut)
            throw .signedOut(server: server.description)
        }
        if rateLimitedUntil > sinceStart {
            let seconds = Int((rateLimitedUntil - sinceStart + 999) / 1000)
            throw .rateLimited(server: server.description, retryAfter: seconds)
        }
        if noExchangeBefore > sinceStart { throw .tokenRefused(server: server.description) }
        // A task of its own: the request that began the exchange may be cancelled, the exchange may not.
        let task = renewal ?? Task { await self.exchangeTokens(refresh) }
        renewal = task
        try await task.value.get()
    }

    private func exchangeTokens(_ refresh: String) async -> Result<Void, ShelfError> {
        defer { renewal = nil }
        do throws(ShelfError) {
            try await exchangeTokensOnce(refresh)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func exchangeTokensOnce(_ refresh: String) async throws(ShelfError) {
        let call = Call.refresh(refresh)
        let response = try await send(call, headers: secrets?.headers ?? [])
        switch response.status {
        case 401 where !response.isOwnRefusalOfExchange:
            throw .tokenRefused(server: server.description)
        case 401:
            isSignedOut = true
            report(.signedOut)
            throw .signedOut(server: server.description)
        case 404:
            // The login came from a server that has this route: this is a proxy, or a server on the move.
            throw .serverFault(server: server.description, status: 404)
        case 429:
            rateLimitedUntil = sinceStart + Int64(response.retryAfter) * 1000
        default: break
        }
        let answer = try LoginPayload(response.accepted(server, call).json(server, call), call.endpoint)
        let fresh = Secrets(
            bearer: answer.accessToken, refresh: answer.refreshToken ?? refresh, headers: secrets?.headers ?? [],
            received: sinceStart)
        unstored = (fresh, sinceStart)
        await store()
        secrets = fresh
    }

    /// One after another, and each puts there what is newest by then.
    private func store() async {
        let earlier = storage
        let task = Task {
            await earlier?.value
            await self.storeNow()
        }
        storage = task
        await task.value
    }

    private func storeNow() async {
        guard !isLeavingVault, let tokens = unstored?.tokens else { return }
        do throws(VaultError) {
            if let refresh = tokens.refresh {
                try await vault.store(refresh, for: SecretKey(account, .refresh), label: account.secretLabel)
            }
            try await vault.store(tokens.bearer, for: SecretKey(account, .access), label: account.secretLabel)
            if unstored?.tokens.bearer == tokens.bearer { unstored = nil }
            if isRefused { report(.stored) }
            isRefused = false
        } catch {
            unstored?.again = sinceStart + 30_000
            if !isRefused { report(.notStored(error)) }
            isRefused = true
        }
    }

    /// Nothing waits for it: a keyring may take as long as its window is open.
    private func storeAgain() {
        guard let waiting = unstored, waiting.again <= sinceStart else { return }
        unstored?.again = sinceStart + 30_000
        Task { await store() }
    }
}
