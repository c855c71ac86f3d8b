internal import FoundationEssentials
public import HTTP
public import Listening

/// Logging in: finds the server that was meant, proves who is asking, puts what that gave into the vault.
public struct Login: Sendable {
    public enum Method: Sendable {
        case password(user: String, password: String)
        case apiKey(String)
    }

    /// A server that answered as Audiobookshelf.
    public struct Found: Hashable, Sendable {
        public let address: ServerAddress
        public let version: String?
        /// As the server names them: "local", "openid". Empty where it does not say.
        public let methods: [String]
    }

    private let candidates: [ServerAddress]
    private let headers: [HTTPHeader]
    private let caFile: String?
    private let allowInsecureHTTP: Bool
    private let transport: any Transport

    /// - Parameters:
    ///   - address: as typed.
    ///   - headers: sent with every request to this server.
    ///   - caFile: absolute path of a PEM file.
    ///   - allowInsecureHTTP: use http on any network; without it only on this computer and private addresses.
    /// - Throws: ``ShelfError/badAddress(reason:)``, ``ShelfError/insecureHTTP(server:)``.
    public init(
        address: String, headers: [HTTPHeader] = [], caFile: String? = nil, allowInsecureHTTP: Bool = false,
        transport: any Transport
    ) throws(ShelfError) {
        let typed = try ServerAddress.candidates(address)
        candidates = typed.filter { $0.isSecure || $0.isPrivate || allowInsecureHTTP }
        guard !candidates.isEmpty else { throw .insecureHTTP(server: typed[0].description) }
        self.headers = headers
        self.caFile = caFile
        self.allowInsecureHTTP = allowInsecureHTTP
        self.transport = transport
    }

    /// Asks `/status` of each address that may have been meant, https first.
    ///
    /// A certificate that is not trusted ends the search: what follows would be the same server, unencrypted.
    /// - Throws: what the most telling of the failures was: an answer that is not Audiobookshelf's before silence.
    public func find() async throws(ShelfError) -> Found {
        var failure: ShelfError?
        for address in candidates {
            do throws(ShelfError) {
                return try await probe(address)
            } catch {
                switch error {
                case .unreachable, .timedOut, .lost, .noEncryption: failure = failure ?? error
                case .notAudiobookshelf, .serverFault, .refused, .notFound, .forbidden, .signedOut, .unreadable:
                    failure = address.isSecure || failure.map(\.isSilence) ?? true ? error : failure
                default: throw error
                }
            }
        }
        throw failure ?? .badAddress(reason: "nothing to try")
    }

    private func probe(_ address: ServerAddress) async throws(ShelfError) -> Found {
        let call = Call.status
        let response = try await send(call, to: address)
        // Whatever is there and has no such route is something else.
        guard ![401, 403, 404, 405].contains(response.status),
            let status = StatusPayload(try response.accepted(address, call).json(address, call))
        else { throw .notAudiobookshelf(server: address.description) }
        guard status.isInitialised else { throw .notInitialised(server: address.description) }
        return Found(address: address, version: status.version, methods: status.methods)
    }

    /// - Parameters:
    ///   - found: what ``find()`` gave.
    ///   - existing: the accounts there are, and were: the same user on the same server keeps the id, and what hangs on it,
    ///     also where the server is at another address now.
    ///   - client: of the account with this id, if it has one: kept from the vault from when the new secrets get there.
    /// - Returns: the account, with its secrets in the vault.
    /// - Throws: ``ShelfError``; after ``ShelfError/vault(_:)`` the vault is as it was.
    public func run(
        _ method: Method, at found: Found, existing: [Account] = [], vault: any Vault,
        client: @Sendable (String) async -> ShelfClient? = { _ in nil }
    ) async throws(ShelfError) -> Account {
        let given: Granted
        switch method {
        case .password(let user, let password): given = try await logIn(user, password, at: found)
        case .apiKey(let key): given = try await check(key.trimmingBlanks, at: found)
        }
        let name = found.address.description
        let known =
            existing.first { $0.server == name && $0.user.lowercased() == given.user.lowercased() }
            ?? given.userID.flatMap { id in existing.first { $0.userID == id } }
        let account = Account(
            id: known?.id ?? UUID().uuidString.lowercased(), server: name, user: given.user, login: given.login,
            serverVersion: given.version ?? found.version, hasHeaders: !headers.isEmpty, caFile: caFile,
            userID: given.userID)
        let holder = await client(account.id)
        await holder?.leaveVault()
        let former: String?
        do throws(VaultError) {
            former = try await store(given, of: account, inPlaceOf: known ?? account, in: vault)
        } catch {
            await holder?.takeUpVault()
            await logOut(given.refresh, at: found)
            throw .vault(error)
        }
        // Nobody has the key to that any more.
        if former != given.refresh { await logOut(former, at: found) }
        return account
    }

    private func logOut(_ refresh: String?, at found: Found) async {
        if let refresh { _ = try? await send(.logout(refresh), to: found.address) }
    }

    private struct Granted {
        let user: String
        let login: Account.Login
        let bearer: String
        let refresh: String?
        let version: String?
        let userID: String?
    }

    private func logIn(_ user: String, _ password: String, at found: Found) async throws(ShelfError) -> Granted {
        let server = found.address
        guard found.methods.isEmpty || found.methods.contains("local") else {
            throw .passwordsNotAccepted(server: server.description)
        }
        let call = Call.login(user: user, password: password)
        let response = try await send(call, to: server)
        if [400, 401].contains(response.status) { throw .wrongPassword(server: server.description) }
        let answer = try LoginPayload(response.accepted(server, call).json(server, call), call.endpoint)
        if !answer.isLegacy && answer.refreshToken == nil {
            throw .missing(field: "user.refreshToken", endpoint: call.endpoint)
        }
        return Granted(
            user: answer.user, login: answer.isLegacy ? .legacy : .tokens, bearer: answer.accessToken,
            refresh: answer.isLegacy ? nil : answer.refreshToken, version: answer.version, userID: answer.userID)
    }

    private func check(_ key: String, at found: Found) async throws(ShelfError) -> Granted {
        let server = found.address
        guard !key.isEmpty else { throw .keyRefused(server: server.description) }
        let response = try await send(
            .me, to: server, login: [HTTPHeader("Authorization", "Bearer \(key)")])
        if response.status == 401 { throw .keyRefused(server: server.description) }
        let user = try UserPayload(response.accepted(server, .me).json(server, .me), Call.me.endpoint)
        return Granted(
            user: user.name, login: .apikey, bearer: key, refresh: nil, version: nil, userID: user.id)
    }

    private func send(
        _ call: Call, to server: ServerAddress, login: [HTTPHeader] = []
    ) async throws(ShelfError) -> HTTPResponse {
        do throws(TransportError) {
            return try await transport.send(call.request(server, headers: login + headers, caFile: caFile))
        } catch {
            throw ShelfError(error, server: server, endpoint: call.endpoint)
        }
    }

    /// All or nothing: on a failure the vault is as it was. What an earlier login to the account left goes.
    /// - Returns: the refresh token of the earlier login.
    private func store(
        _ given: Granted, of account: Account, inPlaceOf former: Account, in vault: any Vault
    ) async throws(VaultError) -> String? {
        var wanted: [SecretKey.Kind: String] = [given.login == .apikey ? .apikey : .access: given.bearer]
        wanted[.refresh] = given.refresh
        if !headers.isEmpty { wanted[.header] = HeaderSecret.text(headers) }
        var before: [SecretKey.Kind: String] = [:]
        for kind in Self.kinds { before[kind] = try await vault.secret(for: SecretKey(former, kind)) }
        // At another address, or under another name, they are other secrets: the old ones go once the new ones are there.
        let isMoved = SecretKey(former, .access) != SecretKey(account, .access)
        do throws(VaultError) {
            try await put(wanted, isMoved ? [:] : before, account, vault)
        } catch {
            if isMoved {
                for kind in wanted.keys { try? await vault.remove(SecretKey(account, kind)) }
            } else if before.isEmpty {
                try? await vault.removeAll(account: account.id)
            } else {
                try? await put(before, wanted, account, vault)
            }
            throw error
        }
        if isMoved { for kind in before.keys { try? await vault.remove(SecretKey(former, kind)) } }
        return before[.refresh]
    }

    /// In this order: what makes the others anew is never missing.
    private static let kinds: [SecretKey.Kind] = [.refresh, .access, .apikey, .header]

    /// Stores what is wanted and removes the rest of what there was.
    private func put(
        _ wanted: [SecretKey.Kind: String], _ before: [SecretKey.Kind: String], _ account: Account, _ vault: any Vault
    ) async throws(VaultError) {
        for kind in Self.kinds {
            guard let secret = wanted[kind] else { continue }
            try await vault.store(secret, for: SecretKey(account, kind), label: account.secretLabel)
        }
        for kind in Self.kinds where wanted[kind] == nil && before[kind] != nil {
            try await vault.remove(SecretKey(account, kind))
        }
    }
}
