import Curl
import EventLoop
import HTTP
import Listening
import TestSupport

/// Lets requests go one at a time, in the order in which they were made, each when all else is quiet: what an answer
/// meets is no chance.
@LoopActor final class Net {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// On their way, but for those that are held.
    private var going = 0
    /// Nothing happens to these before time passes.
    private(set) var held = 0

    /// Of the present life; nil where the server offers none.
    var live: LiveLine?

    var isGoing: Bool { going > 0 }
    /// Something happens before time passes.
    var isBusy: Bool { going > 0 || !waiting.isEmpty }

    /// Returns when it is this request's turn.
    func begin() async {
        Stillness.shared.look()
        await withCheckedContinuation { waiting.append($0) }
    }

    func end() {
        going -= 1
        Stillness.shared.look()
    }

    func hold() {
        held += 1
        going -= 1
        Stillness.shared.look()
    }

    func release() {
        held -= 1
        going += 1
    }

    func letNextGo() -> Bool {
        guard !waiting.isEmpty else { return live?.letNextGo() ?? false }
        going += 1
        waiting.removeFirst().resume()
        return true
    }
}

/// Whether one life of the daemon is still going on.
final class Pulse: Sendable {
    private let isOver = Locked(false)
    var isBeating: Bool { isOver.withLock { !$0 } }
    func stop() { isOver.withLock { $0 = true } }
}

/// The real transport of one life: the dead send nothing and hear nothing.
struct LifeTransport: Transport {
    let real = CurlTransport(version: "0")
    let net: Net
    let pulse: Pulse
    let live: LiveLine?

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard pulse.isBeating else { throw .cancelled }
        await net.begin()
        let result = await answer(to: request)
        await net.end()
        guard pulse.isBeating else { throw .cancelled }
        return try result.get()
    }

    private func answer(to request: HTTPRequest) async -> Result<HTTPResponse, TransportError> {
        guard pulse.isBeating else { return .failure(.cancelled) }
        if request.url.contains("/socket.io/") {
            guard let live else { return .success(noLiveConnection(request)) }
            return await live.answer(to: request)
        }
        // How long it really takes is no part of this.
        var patient = request
        patient.timeout = nil
        patient.connectTimeout = 3600
        patient.idleTimeout = 3600
        do throws(TransportError) { return .success(try await real.send(patient)) } catch { return .failure(error) }
    }

    /// As servers answer API keys: it is asked before playing goes on.
    private func noLiveConnection(_ request: HTTPRequest) -> HTTPResponse {
        let isFirst = request.method == "GET" && !request.url.contains("sid=")
        let body = isFirst ? "0{\"sid\":\"s\"}" : request.method == "GET" ? "44{\"message\":\"no\"}" : "ok"
        return HTTPResponse(status: 200, body: Array(body.utf8))
    }
}

/// A keyring that outlives the daemon.
actor MemoryVault {
    private var secrets: [SecretKey: String] = [:]
    /// Gives, and takes nothing away.
    private(set) var isStubborn = false
    private(set) var isLocked = false

    func lock(_ isLocked: Bool) { self.isLocked = isLocked }
    func beStubborn(_ isStubborn: Bool) { self.isStubborn = isStubborn }
    func store(_ secret: String, for key: SecretKey) { secrets[key] = secret }
    func secret(for key: SecretKey) -> String? { secrets[key] }
    func remove(_ key: SecretKey) { secrets[key] = nil }
    func removeAll(account: String) { secrets = secrets.filter { $0.key.account != account } }
}

/// The keyring as one life of the daemon reaches it.
struct LifeVault: Vault {
    let vault: MemoryVault
    let pulse: Pulse

    func store(_ secret: String, for key: SecretKey, label: String) async throws(VaultError) {
        if pulse.isBeating { await vault.store(secret, for: key) }
    }
    func secret(for key: SecretKey) async throws(VaultError) -> String? {
        if await vault.isLocked { throw .locked }
        return await vault.secret(for: key)
    }
    func remove(_ key: SecretKey) async throws(VaultError) { if pulse.isBeating { await vault.remove(key) } }
    func removeAll(account: String) async throws(VaultError) {
        if await vault.isStubborn { throw .locked }
        if pulse.isBeating { await vault.removeAll(account: account) }
    }
    func check() async throws(VaultError) {}
}
