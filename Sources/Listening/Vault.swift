/// Where secrets are kept: the Secret Service behind libsecret, in the room Secret.
public protocol Vault: Sendable {
    /// Stores or replaces. Returns only once it is kept.
    func store(_ secret: String, for key: SecretKey, label: String) async throws(VaultError)
    /// - Returns: nil if there is none; a locked keyring is an error, never nil.
    func secret(for key: SecretKey) async throws(VaultError) -> String?
    /// Removes one, if it is there.
    func remove(_ key: SecretKey) async throws(VaultError)
    /// Removes every secret of one account.
    func removeAll(account: String) async throws(VaultError)
    /// Throws what keeps a secret from being stored now, if anything does.
    func check() async throws(VaultError)
}

/// The attributes of one secret: schema `org.dogear.Account`.
public struct SecretKey: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case access, refresh, apikey
        /// All custom headers of an account, as one JSON object of strings.
        case header
    }

    /// The account's uuid.
    public let account: String
    public let kind: Kind
    /// Address of the server as typed, without user or query.
    public let server: String
    public let user: String

    public init(account: String, kind: Kind, server: String, user: String) {
        self.account = account
        self.kind = kind
        self.server = server
        self.user = user
    }
}

/// Each with its own next step for the listener.
public enum VaultError: Error, Hashable, Sendable, CustomStringConvertible {
    case absent
    case locked
    case refused(reason: String)
    /// What would ask it cannot be loaded.
    case unusable(reason: String)

    public var description: String {
        switch self {
        case .absent:
            """
            no Secret Service answers on the session bus, so dogear has nowhere safe for the login; install and start \
            one (gnome-keyring, KWallet or KeePassXC) and try again. Local files play without it
            """
        case .locked:
            "the keyring is locked; unlock it (logging in to the desktop usually does) and try again"
        case .refused(let reason):
            "the Secret Service refused: \(reason); unlock the keyring, or allow dogear there, and try again"
        case .unusable(let reason):
            "the keyring cannot be asked (\(reason)); install libsecret and try again. Local files play without it"
        }
    }
}
