import Curl
import EventLoop
import HTTP
import Listening

/// Counts the requests under way, so that nothing need be slept for.
final class Net: Sendable {
    private struct State {
        var started = 0
        var finished = 0
        /// Under way, but nothing happens to them before time passes.
        var held = 0
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }
    private let state = Locked(State())

    var started: Int { state.withLock { $0.started } }
    var held: Int { state.withLock { $0.held } }
    var isIdle: Bool { state.withLock { $0.started - $0.finished <= $0.held } }

    func begin() { change { $0.started += 1 } }
    func end() { change { $0.finished += 1 } }
    func hold() { change { $0.held += 1 } }
    func release() { change { $0.held -= 1 } }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }

    /// Returns when every request that is under way waits for time to pass.
    func idle() async {
        while true {
            let isIdle = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let isIdle = state.withLock { state in
                    if state.started - state.finished <= state.held { return true }
                    state.waiting.append(continuation)
                    return false
                }
                if isIdle { continuation.resume(returning: true) }
            }
            if isIdle { return }
        }
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

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard pulse.isBeating else { throw .cancelled }
        net.begin()
        defer { net.end() }
        if request.url.contains("/socket.io/") { return noLiveConnection(request) }
        let response = try await real.send(request)
        guard pulse.isBeating else { throw .cancelled }
        return response
    }

    /// As servers answer API keys: it is asked before playing goes on. A poll that waits has no end in time that is turned
    /// by hand.
    private func noLiveConnection(_ request: HTTPRequest) -> HTTPResponse {
        let isFirst = request.method == "GET" && !request.url.contains("sid=")
        let body = isFirst ? "0{\"sid\":\"s\"}" : request.method == "GET" ? "44{\"message\":\"no\"}" : "ok"
        return HTTPResponse(status: 200, body: Array(body.utf8))
    }

    func download(_ request: HTTPRequest, to path: String) async throws(TransportError) -> HTTPResponse {
        throw .file(reason: "not in this test")
    }
}

/// A keyring that outlives the daemon.
actor MemoryVault {
    private var secrets: [SecretKey: String] = [:]

    func store(_ secret: String, for key: SecretKey) { secrets[key] = secret }
    func secret(for key: SecretKey) -> String? { secrets[key] }
    func removeAll(account: String) { secrets = secrets.filter { $0.key.account != account } }
}

/// The keyring as one life of the daemon reaches it.
struct LifeVault: Vault {
    let vault: MemoryVault
    let pulse: Pulse

    func store(_ secret: String, for key: SecretKey, label: String) async throws(VaultError) {
        if pulse.isBeating { await vault.store(secret, for: key) }
    }
    func secret(for key: SecretKey) async throws(VaultError) -> String? { await vault.secret(for: key) }
    func removeAll(account: String) async throws(VaultError) {
        if pulse.isBeating { await vault.removeAll(account: account) }
    }
}
