internal import CSystemd
internal import Control
internal import EventLoop
internal import Glibc
internal import Logging

/// Where records go: the journal under systemd, stderr otherwise, and always a ring that `dogear logs` reads.
final class Log: Sendable {
    static let shared = Log()
    private static let ringSize = 2000

    private struct State {
        var ring: [LogsReport.Row] = []
        var level = Logger.Level.info
        var isJSON = false
        var listener: (@Sendable (LogsReport.Row) -> Void)?
    }
    private let state = Locked(State())
    private let profile = getenv(Profile.variable).map { String(cString: $0) }
    /// systemd gives a service whose stderr is the journal this variable.
    private let isUnderSystemd = getenv("JOURNAL_STREAM") != nil && getenv("INVOCATION_ID") != nil

    /// Call once, before the first logger is made.
    static func start(json: Bool) {
        shared.state.withLock { $0.isJSON = json }
        LoggingSystem.bootstrap { LogHandlerToRing(room: $0) }
    }

    var level: Logger.Level {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// Called with each record that is logged, on the thread that logged it.
    func listen(_ listener: @escaping @Sendable (LogsReport.Row) -> Void) { state.withLock { $0.listener = listener } }

    func records(from level: Logger.Level, limit: Int) -> [LogsReport.Row] {
        state.withLock { state in
            Array(
                state.ring.filter { Logger.Level(rawValue: $0.level).map { $0 >= level } ?? true }.suffix(max(0, limit))
            )
        }
    }

    func add(_ row: LogsReport.Row, _ level: Logger.Level) {
        let listener = state.withLock { state in
            if state.ring.count >= Self.ringSize { state.ring.removeFirst(Self.ringSize / 10) }
            state.ring.append(row)
            return state.listener
        }
        if isUnderSystemd { toJournal(row, level) } else { toStderr(row) }
        listener?(row)
    }

    private func toJournal(_ row: LogsReport.Row, _ level: Logger.Level) {
        let facts = row.facts.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        var fields = [
            "MESSAGE=\(row.message)\(facts)", "PRIORITY=\(level.syslogPriority)", "SYSLOG_IDENTIFIER=dogear",
            "DOGEAR_ROOM=\(row.room)",
        ]
        if let profile, !profile.isEmpty { fields.append("\(Profile.variable)=\(profile)") }
        let copies = fields.map { strdup($0)! }
        defer { for copy in copies { free(copy) } }
        var vectors = copies.map { iovec(iov_base: $0, iov_len: strlen($0)) }
        _ = dogear_journal_sendv(&vectors, Int32(vectors.count))
    }

    private func toStderr(_ row: LogsReport.Row) {
        let line = (state.withLock { $0.isJSON } ? json(row) : LogText.line(row)) + "\n"
        _ = line.withCString { write(2, $0, strlen($0)) }
    }
}

private struct LogHandlerToRing: LogHandler {
    let room: String
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level {
        get { Log.shared.level }
        set { Log.shared.level = newValue }
    }

    init(room: String) { self.room = room }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var facts: [String: String] = [:]
        for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }) {
            facts[key] = Redaction.clean("\(value)")
        }
        let row = LogsReport.Row(
            time: Clock.now.wall, level: event.level.rawValue, room: room, message: Redaction.clean("\(event.message)"),
            facts: facts)
        Log.shared.add(row, event.level)
    }
}

extension Logger.Level {
    fileprivate var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// The last line of defence: nothing that looks like a token leaves through the log, whoever wrote the message.
enum Redaction {
    /// How every token of the servers' begins, wherever in a word that is.
    private static let token = "eyJ"
    /// What is behind one of these, in its word or as the next, is secret.
    private static let names = ["bearer", "token=", "token:", "token\":", "password=", "password:", "password\":"]

    /// Control characters become spaces, so that a title cannot forge a line. A word with a secret in it is removed, and
    /// the word behind the name of one; of an address, the user and the password in it.
    static func clean(_ text: String) -> String {
        var text = text
        if text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
            text = String(
                String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
        }
        let low = text.lowercased()
        guard text.contains(token) || low.contains("@") || names.contains(where: low.contains) else { return text }
        var isNext = false
        return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            if word.isEmpty { return "" }
            let low = word.lowercased()
            defer { isNext = names.contains(where: low.hasSuffix) }
            if isNext || word.contains(token) { return "[removed]" }
            if names.contains(where: { low.contains($0) && !low.hasSuffix($0) }) { return "[removed]" }
            return withoutUser(word)
        }.joined(separator: " ")
    }

    private static func withoutUser(_ word: Substring) -> String {
        guard let scheme = word.firstRange(of: "://") else { return String(word) }
        let host = word[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = host.lastIndex(of: "@") else { return String(word) }
        return word[..<scheme.upperBound] + "[removed]" + word[at...]
    }
}
