internal import CSystemd
public import Control
internal import Glibc

/// What the daemon wrote to the systemd journal, for when it does not run and cannot be asked itself. Its
/// fields are MESSAGE with the facts at the end, PRIORITY, SYSLOG_IDENTIFIER=dogear, DOGEAR_ROOM,
/// and DOGEAR_PROFILE where it is that of a named one.
public enum JournalReader {
    public static let identifier = "dogear"

    /// The newest records of a profile's daemon at or above a priority, oldest of them first.
    /// - Parameter priority: of syslog: 3 error, 4 warning, 5 notice, 6 info, 7 debug.
    /// - Returns: empty when there is no journal, or none that this user may read.
    public static func records(of profile: Profile, limit: Int, priority: Int) -> [LogsReport.Row] {
        var opened: OpaquePointer?
        guard sd_journal_open(&opened, Int32(SD_JOURNAL_LOCAL_ONLY)) >= 0, let journal = opened else {
            return []
        }
        defer { sd_journal_close(journal) }
        match(journal, "SYSLOG_IDENTIFIER=\(identifier)")
        match(journal, "_UID=\(getuid())")
        for level in 0...priority { match(journal, "PRIORITY=\(level)") }
        if let name = profile.name { match(journal, "\(Profile.variable)=\(name)") }
        sd_journal_seek_tail(journal)
        var rows: [LogsReport.Row] = []
        while rows.count < limit, sd_journal_previous(journal) > 0 {
            let fields = fields(journal)
            if fields[Profile.variable] == profile.name { rows.append(row(journal, fields)) }
        }
        return rows.reversed()
    }

    private static func match(_ journal: OpaquePointer, _ text: String) {
        sd_journal_add_match(journal, text, text.utf8.count)
    }

    private static func fields(_ journal: OpaquePointer) -> [String: String] {
        var fields: [String: String] = [:]
        var data: UnsafeRawPointer?
        var length = 0
        sd_journal_restart_data(journal)
        while sd_journal_enumerate_available_data(journal, &data, &length) > 0, let bytes = data {
            let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
            guard let equals = text.firstIndex(of: "=") else { continue }
            fields[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return fields
    }

    private static func row(_ journal: OpaquePointer, _ fields: [String: String]) -> LogsReport.Row {
        var time: UInt64 = 0
        sd_journal_get_realtime_usec(journal, &time)
        return LogsReport.Row(
            time: Int64(time / 1000), level: level(fields["PRIORITY"].flatMap { Int($0) } ?? 6),
            room: fields["DOGEAR_ROOM"] ?? "", message: fields["MESSAGE"] ?? "", facts: [:])
    }

    private static func level(_ priority: Int) -> String {
        switch priority {
        case ...3: "error"
        case 4: "warning"
        case 5: "notice"
        case 6: "info"
        default: "debug"
        }
    }
}
