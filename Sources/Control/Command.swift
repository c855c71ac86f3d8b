/// What the command line asks of the daemon, and any script may. One case for each method of `org.dogear.Dogear1`.
public enum Command: Hashable, Sendable {
    case status
    /// `what` empty: go on with what was listened to last. `at` empty: at the listener's place; else a ``Jump``.
    case play(what: String, at: String)
    /// As play, for who sees no answer: what keeps it waiting is told in a notification.
    case choose(what: String, at: String)
    /// Why it came to nothing, for who asked where nobody sees what a command writes.
    case tell(why: String)
    case pause, toggle, stop, next, previous
    case seek(String)
    /// 0.5 to 3.0.
    case speed(Double)
    /// Faster by so much, as far as that goes.
    case changeSpeed(by: Double)
    /// Forgets the speed chosen for what is loaded and for its series or podcast.
    case forgetSpeed
    /// 0 to 1.
    case volume(Double)
    /// Louder by so much, as far as that goes.
    case changeVolume(by: Double)
    /// As a ``SleepWish`` is written; empty: tells.
    case sleep(String)
    case chapters(what: String)
    /// What `what` could mean: one row, or several equally good ones.
    case resolve(what: String)
    case continueListening(limit: Int)
    case latest(limit: Int, page: Int)
    case libraries
    /// Reads all libraries again.
    case refresh
    /// `library`: a name or id, empty when there is only one. `sort`: `title`, `author`, `added`, `duration`,
    /// `published`, `progress`, or `-` before one of them for the other direction. Pages count from 1.
    case list(library: String, sort: String, limit: Int, page: Int)
    case browse(BrowseRequest)
    case search(words: String, limit: Int)
    case show(what: String)
    case finish(what: String)
    case unfinish(what: String)
    case restart(what: String)
    /// Takes back the last move of an item; `what` empty: of what plays or would go on.
    case undo(what: String)
    case moves
    /// Makes one at the present place; `title` empty: named by chapter and time.
    case bookmark(title: String)
    /// Of one item, in the order of its timeline; `what` empty: of what plays or would go on.
    case bookmarks(what: String)
    /// Of all items.
    case allBookmarks
    /// Numbers count from 1, as `bookmarks` lists them.
    case renameBookmark(what: String, Int, title: String)
    case removeBookmark(what: String, Int)
    /// What was listened to when, the latest first; `what` empty: of all items.
    case history(what: String, limit: Int)
    /// How long was listened, over so many days up to today.
    case stats(days: Int)
    /// Delivers now. `retry`: what was refused, too.
    case sync(retry: Bool)
    /// What waits, without sending it.
    case unsent
    /// Gives up a refused row, by its id.
    case forget(id: String)
    case queue
    /// `next`: in front of all others.
    case queueAdd(what: String, next: Bool)
    /// In their order; what cannot be added is told of in the report.
    case queueAddAll([String], next: Bool)
    /// Numbers count from 1.
    case queueRemove(Int)
    case queueMove(Int, to: Int)
    case queueClear
    case queueShuffle(Bool)
    /// `off`, `track` or `queue`.
    case queueLoop(String)
    /// Both empty: list all. `value` nil: tell one.
    case settings(key: String, value: String?)
    case resetSetting(key: String)
    case doctor
    case accounts
    case login(LoginRequest)
    /// `account`: id, user@host or host; empty when there is only one. Without `force` an account with listening the
    /// server has not got yet is kept.
    case logout(account: String, force: Bool)
    /// `level` empty: from the level that is logged.
    case logs(level: String, limit: Int)
}

/// Everything `login` needs. Its secrets came through a pipe, never as text on the bus; its description has none.
public struct LoginRequest: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public var address: String
    public var user: String?
    /// Absolute.
    public var caFile: String?
    public var allowInsecureHTTP: Bool
    public var secrets: LoginSecrets

    public init(
        address: String, user: String? = nil, caFile: String? = nil, allowInsecureHTTP: Bool = false,
        secrets: LoginSecrets = LoginSecrets()
    ) {
        self.address = address
        self.user = user
        self.caFile = caFile
        self.allowInsecureHTTP = allowInsecureHTTP
        self.secrets = secrets
    }

    public var description: String { "login" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What goes through the pipe, as JSON.
public struct LoginSecrets: Hashable, Sendable, Codable, CustomStringConvertible, CustomReflectable {
    public var password: String?
    public var apiKey: String?
    /// Custom headers: name to value.
    public var headers: [String: String]

    public init(password: String? = nil, apiKey: String? = nil, headers: [String: String] = [:]) {
        self.password = password
        self.apiKey = apiKey
        self.headers = headers
    }

    public var description: String { "secrets" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
