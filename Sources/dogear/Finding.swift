import ArgumentParser
import Control
import DBus
import Terminal

/// What lists of items take.
struct ListOptions: ParsableArguments {
    @Flag(help: "Show ids on a terminal too; they are always shown in a pipe.")
    var ids = false
}

/// Shows a list of items, or what to do about there being none.
private func show(
    _ json: String, _ output: OutputOptions, _ options: ListOptions, whenEmpty advice: String
) throws {
    let report = try decode(ListReport.self, json)
    for problem in report.problems { complain(problem) }
    if output.json || !report.items.isEmpty {
        try show(json, output, as: ListReport.self) { $0.lines(on: $1, ids: options.ids) }
    } else if report.problems.isEmpty {
        hint(advice)
    }
    if report.items.isEmpty, !report.problems.isEmpty { throw ExitCode.failure }
}

struct Continue: DogearCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what was begun and not finished, the latest first.",
        discussion: "Example:\n  dogear continue --limit 5")

    @Option(help: "How many at most.")
    var limit: Int32 = 20

    @OptionGroup var options: ListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try positive(limit, "--limit") }

    func perform() throws {
        try show(
            try Link().ask("Continue", .int32(limit)), output, options,
            whenEmpty: "Nothing was begun yet. 'dogear list' shows what there is, 'dogear play WORDS' plays it.")
    }
}

struct Latest: DogearCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what is new: episodes of your podcasts and books, the newest first.",
        discussion: "Example:\n  dogear latest\n  dogear latest --page 2")

    @Option(help: "How many at most.")
    var limit: Int32 = 20

    @Option(help: "Which page, from 1.")
    var page: Int32 = 1

    @OptionGroup var options: ListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try positive(limit, "--limit")
        try positive(page, "--page")
    }

    func perform() throws {
        try show(
            try Link().ask("Latest", .int32(limit), .int32(page)), output, options,
            whenEmpty: page > 1
                ? "There is no more." : "There is nothing new. 'dogear libraries' shows where it could be.")
    }
}

struct Libraries: DogearCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the libraries of your servers.", discussion: "Example:\n  dogear libraries")

    @OptionGroup var output: OutputOptions

    func perform() throws {
        let json = try Link().ask("Libraries")
        let report = try decode(LibrariesReport.self, json)
        for problem in report.problems { complain(problem) }
        if output.json || !report.libraries.isEmpty {
            try show(json, output, as: LibrariesReport.self) { $0.lines(on: $1) }
        } else if report.problems.isEmpty {
            hint("There are no libraries. Sign in with 'dogear login URL'; 'dogear play FILE' needs no server.")
        }
        if report.libraries.isEmpty, !report.problems.isEmpty { throw ExitCode.failure }
    }
}

struct List: DogearCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what a library holds.",
        discussion: """
            Example:
              dogear list
              dogear list Fiction --sort -added --limit 10
            """)

    static let sorts = ["title", "author", "added", "duration", "published", "progress"]

    @Argument(help: "Name or id of a library; needed when there are several.")
    var library: [String] = []

    @Option(
        parsing: .unconditional,
        help: "title, author, added, duration, published or progress; with - before it the other way around.",
        completion: .list(sorts + sorts.map { "-" + $0 }))
    var sort = "title"

    @Option(help: "How many at most.")
    var limit: Int32 = 50

    @Option(help: "Which page, from 1.")
    var page: Int32 = 1

    @OptionGroup var options: ListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try positive(limit, "--limit")
        try positive(page, "--page")
        guard Self.sorts.contains(sort.hasPrefix("-") ? String(sort.dropFirst()) : sort) else {
            throw ValidationError("--sort is one of \(Self.sorts.joined(separator: ", ")), or - before one of them")
        }
    }

    func perform() throws {
        let name = library.joined(separator: " ")
        try show(
            try Link().ask("List", .string(name), .string(sort), .int32(limit), .int32(page)), output, options,
            whenEmpty: page > 1
                ? "There are no more." : "There is nothing here. 'dogear libraries' shows the other libraries.")
    }
}

struct Search: DogearCommand {
    static let configuration = CommandConfiguration(
        abstract: "Search titles, authors, series and episodes.",
        discussion: "Example:\n  dogear search tolkien\n\nExit code 2 when nothing was found.")

    @Argument(help: "What to look for.")
    var words: [String]

    @Option(help: "How many at most.")
    var limit: Int32 = 20

    @OptionGroup var options: ListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try positive(limit, "--limit")
        if words.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) { throw ValidationError("search for what?") }
    }

    func perform() throws {
        let text = words.joined(separator: " ")
        let json = try Link().ask("Search", .string(text), .int32(limit))
        try show(
            json, output, options,
            whenEmpty: "Nothing found for “\(text)”. Fewer or other words may help; 'dogear list' shows everything.")
        if try decode(ListReport.self, json).items.isEmpty { throw ExitCode(ControlError.Kind.notFound.rawValue) }
    }
}

struct Show: DogearCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show everything about one book, podcast, episode or file.",
        discussion: "Example:\n  dogear show the hobbit")

    @Argument(help: "Words, an id, a file or a folder; nothing for what plays.", completion: .file())
    var what: [String] = []

    @OptionGroup var output: OutputOptions

    func perform() throws {
        let link = try Link()
        let chosen = try Finder(link: link).find(what)
        try dogear.show(try link.ask("Show", .string(chosen)), output, as: ShowReport.self) { $0.lines(on: $1) }
    }
}

private func positive(_ number: Int32, _ name: String) throws {
    if number < 1 { throw ValidationError("\(name) counts from 1") }
}
