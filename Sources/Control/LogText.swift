internal import FoundationEssentials

/// How much a line of the log matters, from least to most.
public enum LogLevel: String, Hashable, Sendable, CaseIterable, Comparable {
    case debug, info, notice, warning, error

    public static let names = allCases.map(\.rawValue)

    /// - Returns: nil for a word that names none. Two more levels that Swift programs have fall to their neighbours.
    public init?(named name: String) {
        switch name {
        case "trace": self = .debug
        case "critical": self = .error
        default: self.init(rawValue: name)
        }
    }

    /// Of syslog.
    public var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        }
    }

    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.priority > b.priority }
}

/// Records as lines of a log file, and back: `2026-11-21T09:05:07.123Z warning Sync: sent later`, then each fact behind
/// a tab, as `name=value`.
public enum LogText {
    public static func line(_ row: LogsReport.Row) -> String {
        let time = Date(timeIntervalSince1970: Double(row.time) / 1000).formatted(style)
        let facts = row.facts.sorted { $0.key < $1.key }.map { "\t\(flat($0.key))=\(flat($0.value))" }.joined()
        return "\(time) \(flat(row.level)) \(flat(row.room)): \(flat(row.message))\(facts)"
    }

    /// Lines in another form, such as the last words of a crash, are warnings with the time of the line before.
    public static func records(in text: String) -> [LogsReport.Row] {
        var time: Int64 = 0
        return text.split(whereSeparator: \.isNewline).map { line in
            let row =
                record(line)
                ?? LogsReport.Row(time: time, level: "warning", room: "stderr", message: String(line), facts: [:])
            time = row.time
            return row
        }
    }

    private static func record(_ line: Substring) -> LogsReport.Row? {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        let head = fields[0].split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard head.count == 4, head[2].last == ":", LogLevel(named: String(head[1])) != nil,
            let date = try? style.parse(String(head[0]))
        else { return nil }
        var facts: [String: String] = [:]
        for fact in fields.dropFirst() {
            guard let equals = fact.firstIndex(of: "=") else { return nil }
            facts[String(fact[..<equals])] = String(fact[fact.index(after: equals)...])
        }
        return LogsReport.Row(
            time: Int64((date.timeIntervalSince1970 * 1000).rounded()), level: String(head[1]),
            room: String(head[2].dropLast()), message: String(head[3]), facts: facts)
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// On one line and without the tab that parts fields.
    private static func flat(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
