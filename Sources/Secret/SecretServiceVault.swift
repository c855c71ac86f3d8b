internal import EventLoop
public import Listening

/// The vault on the desktop's Secret Service (gnome-keyring, KWallet, KeePassXC) through libsecret.
///
/// libsecret's calls block, so they have a thread of their own. No window is asked for: where the keyring would have to
/// be unlocked first, the error is ``VaultError/locked``; and nothing waits longer than half a minute, should a service
/// ask the listener by itself. Each call makes a connection of its own and closes it: it sees the keyring as it is then,
/// and nothing of it stays in memory.
public struct SecretServiceVault: Vault {
    private let keyring: Keyring

    /// - Parameter address: of the session bus, as `DBUS_SESSION_BUS_ADDRESS` has it; nil if there is none, and every
    ///   call says ``VaultError/absent``.
    public init(address: String?) { self.init(address: address, milliseconds: 30_000) }

    init(address: String?, milliseconds: Int) { keyring = Keyring(address: address, milliseconds: milliseconds) }

    /// The session bus of this environment: what `DBUS_SESSION_BUS_ADDRESS` says, else the systemd user bus. Unlike
    /// libsecret itself it never starts one.
    public init(environment: [String: String]) {
        self.init(address: Self.address(environment))
    }

    static func address(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
        // As the D-Bus specification escapes values of addresses.
        return "unix:path=\(folder.percentEncoded(keeping: "-_/."))/bus"
    }

    /// Stores in the default keyring, in place of what is there under the same key.
    public func store(_ secret: String, for key: SecretKey, label: String) async throws(VaultError) {
        try await keyring.store(secret, key, label)
    }

    public func secret(for key: SecretKey) async throws(VaultError) -> String? { try await keyring.secret(key) }

    public func remove(_ key: SecretKey) async throws(VaultError) { try await keyring.remove(key.attributes) }

    public func removeAll(account: String) async throws(VaultError) { try await keyring.remove(["account": account]) }

    public func check() async throws(VaultError) { try await keyring.check() }
}

/// Lives on the thread "secret", where the blocking calls are made, one after another.
private actor Keyring {
    private static let executor = ThreadExecutor(name: "secret", wait: Sleep())
    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    private let address: String?
    private let milliseconds: Int
    /// It said nothing when it was greeted last: one that is back says something at once.
    private var wasSilent = false

    init(address: String?, milliseconds: Int) {
        self.address = address
        self.milliseconds = milliseconds
    }

    private func open() throws(VaultError) -> Session {
        let greeting = wasSilent ? Session.shortGreeting : Session.longestGreeting
        do throws(VaultError) {
            let session = try Session(address: address, milliseconds: milliseconds, greeting: greeting)
            wasSilent = false
            return session
        } catch {
            wasSilent = error == Failure.silence
            throw error
        }
    }

    func store(_ secret: String, _ key: SecretKey, _ label: String) throws(VaultError) {
        let session = try open()
        try session.store(secret, attributes: key.attributes, label: label)
    }

    func secret(_ key: SecretKey) throws(VaultError) -> String? {
        try open().secret(attributes: key.attributes)
    }

    func remove(_ attributes: [String: String]) throws(VaultError) {
        try open().remove(attributes: attributes)
    }

    func check() throws(VaultError) { try open().check() }
}

extension SecretKey {
    fileprivate var attributes: [String: String] {
        ["account": account, "kind": kind.rawValue, "server": server, "user": user]
    }
}
