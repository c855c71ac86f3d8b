import ArgumentParser
import Control
import DBus
import Glibc
import SDJournal
import Terminal

struct Logs: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Show what the daemon noted.",
        discussion: """
            Example:
              dogear logs --level warning
              dogear logs --follow

            Asks the running daemon; when none runs, reads what earlier ones left in the systemd journal and the log file. \
            It does not start one. Passwords and tokens are never in it.
            """)

    @Option(help: "The least to show: debug, info, notice, warning or error.", completion: .list(LogLevel.names))
    var level: String?

    @Option(help: ArgumentHelp("How many of the newest lines.", valueName: "n"))
    var limit: Int32 = 100

    @Flag(help: "Go on, with each new line as it comes.")
    var follow = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit counts from 1") }
        if let level, LogLevel(rawValue: level) == nil {
            throw ValidationError("--level is one of \(LogLevel.names.joined(separator: ", "))")
        }
    }

    /// The daemon answers this from memory, whatever else it does.
    private static let patience = Duration.seconds(5)

    func perform() throws {
        let link: Link
        do {
            link = try Link()
        } catch {
            if follow { throw error }
            return try past()
        }
        if follow { try link.watch() }
        if try link.isRunning() { try present(link) } else { try past() }
        if follow { try goOn(link) }
    }

    private func present(_ link: Link) throws {
        let json: String
        do {
            json = try link.ask("Logs", .string(level ?? ""), .int32(limit), within: Self.patience)
        } catch let error as ControlError {
            // It hangs, or died just now: what it left is what tells why.
            complain(error.message)
            return try past(isRunning: true)
        }
        try print(json)
    }

    private func goOn(_ link: Link) throws {
        let least = level.flatMap { LogLevel(rawValue: $0) } ?? .debug
        while true {
            switch try link.next() {
            case .signal("Logged", let values):
                guard let json = try values.first?.string() else { continue }
                let row = try decode(LogsReport.Row.self, json)
                guard matters(row, least) else { continue }
                try show(json, output, as: LogsReport.Row.self) { [$0.line(on: $1)] }
            case .left: hint("The daemon has left; waiting for the next.")
            case .signal, .appeared: break
            }
        }
    }

    private func matters(_ row: LogsReport.Row, _ least: LogLevel) -> Bool {
        LogLevel(named: row.level).map { $0 >= least } ?? true
    }

    /// What is left of daemons that ran before.
    private func past(isRunning: Bool = false) throws {
        let least = level.flatMap { LogLevel(rawValue: $0) } ?? .info
        var rows = JournalReader.records(of: try Profile.present, limit: Int(limit), priority: least.priority)
        if let file = DaemonStarter.logFile, let text = tail(of: file) {
            rows += LogText.records(in: text).filter { matters($0, least) }
            // Lines of one moment stay in their order: sorting alone would not promise that.
            rows = rows.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(
                \.element
            )
            .suffix(Int(limit))
        }
        if rows.isEmpty, !follow, !output.json {
            return hint(
                isRunning
                    ? "Neither it nor any before has left a log."
                    : "The daemon does not run, and none has left a log. 'dogear status' starts it.")
        }
        try print(try encode(LogsReport(records: rows)))
    }

    /// With `--follow --json` every record is a line of its own, the old ones too.
    private func print(_ json: String) throws {
        guard follow, output.json else {
            return try show(json, output, as: LogsReport.self) { $0.lines(on: $1) }
        }
        for row in try decode(LogsReport.self, json).records { say(try encode(row)) }
    }

    /// The last megabyte of a file, where it has more.
    private func tail(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = lseek(file, 0, SEEK_END)
        lseek(file, max(0, size - (1 << 20)), SEEK_SET)
        return readAll(file, limit: 2 << 20)
    }
}
