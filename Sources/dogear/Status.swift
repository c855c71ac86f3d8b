import ArgumentParser
import Control
import Glibc
import Terminal

struct Status: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what plays, where, and what is not sent yet.",
        discussion: """
            Example:
              dogear status
              dogear status --follow --json

            With --follow: one line now and one for each change, until Ctrl-C or until the daemon leaves.
            """)

    @Flag(help: "Go on, with a line for each change.")
    var follow = false

    @OptionGroup var output: OutputOptions

    func perform() throws {
        let link = try Link()
        guard follow else {
            return try show(try link.ask("Status"), output, as: StatusReport.self) { $0.lines(on: $1) }
        }
        try link.watch()
        try line(try link.ask("Status"))
        while true {
            switch try link.next() {
            case .signal("Changed", let values): if let report = values.first { try line(try report.string()) }
            case .left: return hint("The daemon has left.")
            case .signal, .appeared: break
            }
        }
    }

    private func line(_ report: String) throws {
        try show(report, output, as: StatusReport.self) { [$0.line(on: $1)] }
    }
}
