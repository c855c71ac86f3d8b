import ArgumentParser
import Control
import DBus
import Glibc
import Terminal

struct Sync: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Send what the servers have not got yet, now, and say what became of it.",
        discussion: """
            Example:
              dogear sync
              dogear sync --retry

            It happens by itself as well. Of each row it says whether it was accepted, refused, or why it waits. What a \
            server refuses for good is kept and shown each time, until --retry sends it once more, a later command for the \
            same item takes its place, or --forget gives it up. Exit codes: 0 all is accepted, 1 something was refused, 3 \
            signed out, 4 not reachable.
            """)

    @Flag(help: "Send what was refused once more.")
    var retry = false

    @Option(help: ArgumentHelp("Give up one row that was refused, by its id. It is lost for good.", valueName: "id"))
    var forget: String?

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if retry, forget != nil { throw ValidationError("--retry and --forget exclude each other") }
        if yes, forget == nil { throw ValidationError("--yes goes with --forget") }
    }

    func perform() throws {
        let link = try Link()
        if let forget { return try drop(forget, link) }
        let json = try link.ask("Sync", .bool(retry))
        let report = try decode(SyncReport.self, json)
        if output.json || !report.rows.isEmpty {
            try show(json, output, as: SyncReport.self) { $0.lines(on: $1) }
        } else {
            hint("Everything is sent.")
        }
        if let problem = report.problem { throw ExitCode(problem.rawValue) }
    }

    private func drop(_ id: String, _ link: Link) throws {
        if !yes {
            guard isatty(STDIN_FILENO) != 0, isatty(STDERR_FILENO) != 0 else {
                throw ControlError(.usage, "--forget loses listening for good; add --yes if that is what you want")
            }
            let rows = try decode(SyncReport.self, try link.ask("Unsent")).rows
            if let row = rows.first(where: { $0.id == id && $0.outcome == .refused }) {
                hint("\(row.item.byline): \(row.what)")
                write("Give it up for good? [y/N] ", to: STDERR_FILENO)
                guard ["y", "yes"].contains((readLine() ?? "").lowercased()) else {
                    throw ControlError(.failed, "nothing given up")
                }
            }
        }
        try show(try link.ask("Forget", .string(id)), output, as: SyncReport.self) { report, _ in
            report.rows.map { "Given up: \($0.item.byline), \($0.what)" }
        }
    }
}
