import ArgumentParser
import Control
import DBus
import GStreamer
import Glibc
import Terminal

struct History: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what you listened to, and when.",
        discussion: """
            Example:
              dogear history
              dogear history the hobbit --limit 5

            What was heard on this computer, and what your other devices told the servers. Without a network it is what \
            is known here: the last 5,000 times of listening. A rest of half an hour, another day or another \
            item begins a new row.
            """)

    @Argument(help: "Words, an id, a file or an address; nothing for everything.", completion: .what())
    var what: [String] = []

    @Option(help: .limit)
    var limit: Int32 = 20

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !(1...5000).contains(limit) { throw ValidationError("--limit is 1 to 5000") }
    }

    func perform() throws {
        let link = try Link()
        let chosen = try Finder(link: link).find(what)
        let json = try link.ask("History", .string(chosen), .int32(limit))
        let report = try decode(HistoryReport.self, json)
        if !output.json { for problem in report.problems { complain(problem) } }
        if output.json || !report.rows.isEmpty {
            try show(json, output, as: HistoryReport.self) { $0.lines(on: $1) }
        } else {
            hint("Nothing was listened to yet.")
        }
    }
}

struct Stats: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show how long you listened, day by day.",
        discussion: """
            Example:
              dogear stats
              dogear stats --days 365 --output year.svg

            The servers count what all your devices told them, by days of their own clock; what only this computer knows \
            (files, addresses, what is not sent yet) is added and told apart. Nothing is counted twice. A server that does \
            not answer within three seconds is left out, and what was heard of it here counts instead. A picture is .svg, \
            or .png where GStreamer has rsvgdec and pngenc.
            """)

    @Option(help: ArgumentHelp("Of how many days, up to today.", valueName: "n"))
    var days: Int32 = 30

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("Draw a picture into this file, .svg or .png.", valueName: "file"),
        completion: .file(extensions: ["svg", "png"]))
    var output: String?

    @Flag(help: "Replace the file if it is there.")
    var force = false

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if !(1...3660).contains(days) { throw ValidationError("--days is 1 to 3660") }
        if force, output == nil { throw ValidationError("--force goes with --output") }
        if let output, !["svg", "png"].contains(Export.kind(of: output)) {
            throw ValidationError("'\(Clean.line(output))' ends neither in .svg nor in .png")
        }
    }

    func perform() throws {
        let json = try Link().ask("Stats", .int32(days))
        let report = try decode(StatsReport.self, json)
        if !options.json || output != nil { for problem in report.problems { complain(problem) } }
        if let output {
            try Export(path: output, force: force).write(try picture(report, Export.kind(of: output)))
            if !options.json { return hint("Written to \(output).") }
        }
        try show(json, options, as: StatsReport.self) { $0.lines(on: $1) }
    }

    private func picture(_ report: StatsReport, _ kind: String) throws(ControlError) -> [UInt8] {
        let svg = Array(report.svg.utf8)
        guard kind == "png" else { return svg }
        do throws(DrawingError) { return try Drawing.png(svg: svg) } catch {
            throw ControlError(.failed, error.description)
        }
    }
}
