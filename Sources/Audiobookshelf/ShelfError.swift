public import Listening

/// What went wrong with a server, and what to do about it. Never carries a token, a password or a query.
public enum ShelfError: Error, Hashable, Sendable {
    // Nothing arrived there.
    case unreachable(server: String, reason: String)
    case certificate(server: String, reason: String)
    case noEncryption(server: String, reason: String)
    /// Something may have arrived there.
    case timedOut(server: String)
    case lost(server: String, reason: String)

    // Not what we are looking for.
    case badAddress(reason: String)
    case badHeader(name: String)
    case insecureHTTP(server: String)
    case notAudiobookshelf(server: String)
    /// The server sends everyone on to another address.
    case moved(server: String, to: String)
    case notInitialised(server: String)

    // Who is asking.
    /// An item of an account that was logged out of, or never was here.
    case noAccount(item: String)
    case wrongPassword(server: String)
    case passwordsNotAccepted(server: String)
    case keyRefused(server: String)
    case signedOut(server: String)
    /// The vault has nothing for it any more.
    case loginLost(server: String)
    /// 401 to a token the server itself has just made.
    case tokenRefused(server: String)
    case forbidden(server: String)
    /// `retryAfter`: seconds.
    case rateLimited(server: String, retryAfter: Int)
    case vault(VaultError)

    // What was asked for.
    case notFound(what: String)
    case notPlayable(reason: String)
    case refused(server: String, status: Int)

    // The answer.
    case serverFault(server: String, status: Int)
    case missing(field: String, endpoint: String)
    case unreadable(endpoint: String)
    case tooLarge(endpoint: String)

    case cancelled
    case journal(reason: String)
}

extension ShelfError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let server, let reason):
            "cannot reach \(server): \(reason); check the network and the address. Listening time is kept and sent later"
        case .certificate(let server, let reason):
            """
            the certificate of \(server) is not trusted: \(reason); have it mended there or, if the server has an \
            authority of its own, log in with --ca FILE
            """
        case .noEncryption(let server, let reason):
            """
            \(server) does not speak https: \(reason); check the address and the port, or give an http:// address if \
            that is what it speaks
            """
        case .timedOut(let server): "\(server) did not answer in time"
        case .lost(let server, let reason): "the connection to \(server) broke: \(reason)"
        case .badAddress(let reason): "this is not a server's address: \(reason)"
        case .badHeader(let name):
            "the header '\(name)' cannot be sent: it holds a line break or another control character"
        case .insecureHTTP(let server):
            """
            \(server) would send the login and everything else unencrypted across the network; use https, or add \
            --insecure-http if that is what you want
            """
        case .notAudiobookshelf(let server):
            """
            \(server) answered with a web page or something else, not Audiobookshelf's API; check the address and its \
            path. Behind a proxy with a login of its own, give the headers it wants with --header
            """
        case .moved(let server, let address): "\(server) sends us on to \(address); log in with that address instead"
        case .notInitialised(let server):
            "\(server) is not set up yet; open it in a browser, make the first user and try again"
        case .noAccount(let item):
            "'\(item)' is of an account that is not logged in here; log in to its server again with 'dogear login ADDRESS'"
        case .wrongPassword(let server): "\(server) does not know this user with this password; try again"
        case .passwordsNotAccepted(let server):
            "\(server) does not accept passwords; log in with an API key instead (--api-key-stdin)"
        case .keyRefused(let server):
            "\(server) does not accept this API key; check that it is complete, active and not expired"
        case .signedOut(let server): "\(server) no longer accepts this login; run 'dogear login \(server)'"
        case .loginLost(let server): "the keyring has no login for \(server) any more; run 'dogear login \(server)'"
        case .tokenRefused(let server):
            """
            \(server) refuses requests although the login is valid; a proxy in front of it may want headers of its \
            own: run 'dogear login \(server)' with --header
            """
        case .forbidden(let server):
            "\(server) does not let this user do that; ask whoever runs the server for the permission"
        case .rateLimited(let server, let seconds):
            "\(server) wants no more requests for now; try again in \(Self.spoken(seconds: seconds))"
        case .vault(let error): error.description
        case .notFound(let what): "\(what) is not there (any more); 'dogear search' finds what is"
        case .notPlayable(let reason): reason
        case .refused(let server, let status):
            "\(server) refused the request (status \(status)); please report this line"
        case .serverFault(let server, let status):
            "\(server) has a problem of its own (status \(status)); try again later, its log says more"
        case .missing(let field, let endpoint): "\(endpoint) answered without '\(field)'; please report this line"
        case .unreadable(let endpoint):
            "\(endpoint) answered with damaged data; try again, and report this line if it stays"
        case .tooLarge(let endpoint):
            "\(endpoint) answered with more than dogear reads at once; ask for less with --limit"
        case .cancelled: "cancelled"
        case .journal(let reason): "the login could not be kept: \(reason)"
        }
    }

    /// Said to one who logs in: nothing is kept yet, and nothing is tried again by itself.
    public var atLogin: String {
        switch self {
        case .unreachable(let server, let reason):
            "cannot reach \(server): \(reason); check the network and the address"
        case .timedOut(let server): "\(server) did not answer in time; try again"
        case .lost(let server, let reason): "the connection to \(server) broke: \(reason); try again"
        default: description
        }
    }

    private static func spoken(seconds: Int) -> String {
        seconds < 90 ? "\(seconds) seconds" : "\((seconds + 59) / 60) minutes"
    }
}

extension ShelfError {
    /// The program's exit codes in this room's words.
    public enum Category: Hashable, Sendable {
        case failed, notFound, notSignedIn, unreachable, usage
    }

    public var category: Category {
        switch self {
        case .unreachable, .certificate, .noEncryption, .timedOut, .lost, .rateLimited: .unreachable
        case .serverFault(_, let status): (502...504).contains(status) ? .unreachable : .failed
        case .badAddress, .badHeader, .insecureHTTP, .moved: .usage
        case .noAccount, .wrongPassword, .keyRefused, .passwordsNotAccepted, .signedOut, .loginLost, .vault:
            .notSignedIn
        case .notFound: .notFound
        case .notAudiobookshelf, .notInitialised, .tokenRefused, .forbidden, .notPlayable, .refused, .missing,
            .unreadable, .tooLarge, .cancelled, .journal:
            .failed
        }
    }

    /// Nothing of this account will succeed before a new login.
    public var endsLogin: Bool {
        switch self {
        case .signedOut, .loginLost: true
        default: false
        }
    }

    /// No answer at all.
    public var isSilence: Bool {
        switch self {
        case .unreachable, .timedOut, .lost, .noEncryption: true
        default: false
        }
    }

    /// The same request may well succeed later, without anyone doing anything.
    public var isTemporary: Bool {
        switch self {
        case .unreachable, .timedOut, .lost, .rateLimited, .serverFault, .cancelled, .unreadable, .notAudiobookshelf,
            .certificate, .noEncryption, .vault, .tokenRefused:
            true
        case .badAddress, .badHeader, .insecureHTTP, .moved, .notInitialised, .noAccount, .wrongPassword, .keyRefused,
            .passwordsNotAccepted, .signedOut, .loginLost, .forbidden, .notFound, .notPlayable, .refused, .missing,
            .tooLarge, .journal:
            false
        }
    }
}
