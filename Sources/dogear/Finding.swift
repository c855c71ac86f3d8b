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
        commandName: "continue",
        abstract: "List what was begun and not finished, the latest first.",
        discussion: """
            Example:
              dogear continue --limit 5

            The servers get a moment to say what is new; then what is known here is told.
            """)

    @Option(help: .limit)
    var limit: Int32 = 20

    @OptionGroup var options: ListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try positive(limit, "--limit") }

    func perform() throws {
        try show(
            try Link().ask("Continue", .int32(limit)), output, options,
            whenEmpty: "Nothing is begun that is not finished. 'dogear list' shows what there is, 'dogear play WORDS' "
                + "plays it; 'dogear login ADDRESS' signs in to a server, and 'dogear play FILE' needs none.")
    }
}

struct Latest: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "latest",
        abstract: "List what is new: episodes of your podcasts and books, the newest first.",
        discussion: """
            Example:
              dogear latest
              dogear latest --page 2

            The servers get a moment to say what is new; then what is known here is told. What is finished is left out.
            """)

    @Option(help: .limit)
    var limit: Int32 = 20

    @Option(help: .page)
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
        commandName: "libraries",
        abstract: "List the libraries of your servers.",
        discussion: """
            Example:
              dogear libraries
              dogear libraries --refresh

            What they hold is kept in an index on this computer, so that it is found at once and without a network. It is \
            kept up to date by itself; --refresh reads everything again and tells how far that is.
            """)

    @Flag(help: "Read all libraries again, and wait until that is done.")
    var refresh = false

    @OptionGroup var output: OutputOptions

    func perform() throws {
        let link = try Link()
        let json = refresh ? try refreshed(link) : try link.ask("Libraries")
        let report = try decode(LibrariesReport.self, json)
        for problem in report.problems { complain(problem) }
        if output.json || !report.libraries.isEmpty {
            try show(json, output, as: LibrariesReport.self) { $0.lines(on: $1) }
        } else if report.problems.isEmpty {
            hint("There are no libraries. Sign in with 'dogear login URL'; 'dogear play FILE' needs no server.")
        }
        if report.libraries.isEmpty || refresh, !report.problems.isEmpty {
            throw report.code.map { ExitCode($0) } ?? .failure
        }
    }

    /// - Returns: the report of the end.
    private func refreshed(_ link: Link) throws -> String {
        try link.watch()
        var json = try link.ask("Refresh")
        let meter = Meter()
        while true {
            let report = try decode(LibrariesReport.self, json)
            guard report.refreshing == true else {
                meter.end()
                return json
            }
            meter.show(report.progressLine)
            let quiet = link.waiting()
            defer { quiet?.end() }
            waiting: while true {
                switch try link.next() {
                case .signal("Refreshed", let values):
                    if let value = values.first {
                        json = try value.string()
                        break waiting
                    }
                case .left:
                    meter.end()
                    throw ControlError(.failed, "the daemon has left before the libraries were read")
                case .signal, .appeared: break
                }
            }
        }
    }
}

struct List: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what your libraries hold.",
        discussion: """
            Example:
              dogear list
              dogear list Fiction --sort added --reverse --limit 10
              dogear list --author tolkien --unfinished
              dogear list --series "The Expanse"

            Everything that is named has to fit; names but the library's need not be whole. Without a library all of them \
            are listed. A series is listed in its order, a collection or playlist in \
            its own, everything else by title. Exit code 2 when nothing fits, or the page is past the end.

            While the libraries of an account have not been read once, its server is asked instead; what is named then \
            has to wait.
            """)

    @Argument(
        help: "Name or id of a library, ACCOUNT/NAME where accounts share it; all of them if none is named.",
        completion: .libraries)
    var library: [String] = []

    @Option(
        help: ArgumentHelp("Only books or podcasts by this author.", valueName: "name"), completion: .names("author"))
    var author = ""

    @Option(help: ArgumentHelp("Only books read by this narrator.", valueName: "name"), completion: .names("narrator"))
    var narrator = ""

    @Option(
        help: ArgumentHelp("Only the books of this series, in order.", valueName: "name"), completion: .names("series"))
    var series = ""

    @Option(help: ArgumentHelp("Only what is in this collection.", valueName: "name"), completion: .names("collection"))
    var collection = ""

    @Option(help: ArgumentHelp("Only what is in this playlist.", valueName: "name"), completion: .names("playlist"))
    var playlist = ""

    @Option(help: ArgumentHelp("Only this genre.", valueName: "name"), completion: .names("genre"))
    var genre = ""

    @Flag(help: "Only what was not finished.")
    var unfinished = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "title, author, added, duration, published or progress; with - before it the other way around.",
            valueName: "key"),
        completion: .list(BrowseRequest.sorts + BrowseRequest.sorts.map { "-" + $0 }))
    var sort: String?

    @Flag(help: "The other way around.")
    var reverse = false

    @Option(help: .limit)
    var limit: Int32 = 50

    @Option(help: .page)
    var page: Int32 = 1

    @OptionGroup var options: ListOptions
    @OptionGroup var output: OutputOptions

    private var request: BrowseRequest {
        var request = BrowseRequest()
        request.library = library.joined(separator: " ")
        (request.author, request.narrator, request.series) = (author, narrator, series)
        (request.collection, request.playlist, request.genre) = (collection, playlist, genre)
        let isMinus = sort?.hasPrefix("-") ?? false
        request.sort = isMinus ? String(sort?.dropFirst() ?? "") : sort ?? ""
        request.isReversed = isMinus != reverse
        request.unfinished = unfinished
        (request.limit, request.page) = (Int(limit), Int(page))
        return request
    }

    func validate() throws {
        try positive(limit, "--limit")
        try positive(page, "--page")
        for (name, value) in [
            ("author", author), ("narrator", narrator), ("series", series), ("collection", collection),
            ("playlist", playlist), ("genre", genre),
        ] where !value.isEmpty && value.allSatisfy(\.isWhitespace) {
            throw ValidationError("--\(name) needs a name")
        }
        do throws(ControlError) { try request.check() } catch { throw ValidationError(error.message) }
    }

    func perform() throws {
        try show(
            try Link().ask("Browse", request.options), output, options,
            whenEmpty: page > 1
                ? "There are no more." : "There is nothing here. 'dogear libraries' shows the other libraries.")
    }
}

struct Search: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Search titles, authors, narrators, series and episodes.",
        discussion: """
            Example:
              dogear search tolkien
              dogear search hobit

            Beginnings of words are enough, accents need not be typed, and a mistyped word is found too. Exit code 2 when \
            nothing was found.
            """)

    @Argument(help: "What to look for.", completion: .titles)
    var words: [String]

    @Option(help: .limit)
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
        commandName: "show",
        abstract: "Show everything about one book, podcast, episode or file.",
        discussion:
            "Example:\n  dogear show the hobbit\n\nThat is also the place in it, and what comes next in its series or podcast."
    )

    @Argument(help: .whatElsePlays, completion: .what())
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
