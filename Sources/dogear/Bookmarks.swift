import ArgumentParser
import Control
import DBus
import Terminal

struct MakeBookmark: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmark",
        abstract: "Make a bookmark where you are.",
        discussion: """
            Example:
              dogear bookmark
              dogear bookmark the riddle of the sphinx

            It is at the whole second, and without a title named by chapter and time. Where there is one already none is \
            made; a title then takes the place of its title. 'dogear bookmarks' lists them, 'dogear seek bookmark:2' goes \
            to one.

            Those of a server's books are kept there and shared with your other devices. They are made, renamed and removed \
            without a network too, and told to the server later: 'dogear sync' shows what waits and what was refused. Those \
            of episodes, which servers cannot keep, and of files are kept on this computer.
            """)

    @Argument(help: "Its title.")
    var title: [String] = []

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !title.isEmpty, title.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) {
            throw ValidationError("a bookmark's title must not be empty; leave it out to have it named by its place")
        }
    }

    func perform() throws {
        try tell(try Link().ask("Bookmark", .string(title.joined(separator: " "))), output)
    }
}

private func tell(_ json: String, _ output: OutputOptions) throws {
    try show(json, output, as: BookmarkReport.self) { $0.lines(on: $1) }
    let report = try decode(BookmarkReport.self, json)
    if let problem = report.problem { complain(problem) }
    if report.bookmark.refused != nil || report.problem != nil { throw ExitCode.failure }
}

struct Bookmarks: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmarks",
        abstract: "List, rename, remove or export bookmarks.",
        discussion: """
            Example:
              dogear bookmarks
              dogear bookmarks the hobbit
              dogear bookmarks --rename 2 "Out of the frying-pan"
              dogear bookmarks --remove 2
              dogear bookmarks the hobbit --markdown --output hobbit.md
              dogear bookmarks --all --json

            They are numbered in the order of the book. 'dogear seek bookmark:2' goes to one of what is loaded, \
            'dogear play the hobbit --at bookmark:2' to one of something else.
            """)

    @Argument(help: "Words, an id, a file or an address; nothing for what plays.", completion: .what())
    var what: [String] = []

    @Flag(help: "Those of everything.")
    var all = false

    @Flag(help: "The newest first; they keep their numbers.")
    var newest = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Give the one with this number another title.", valueName: "number title"))
    var rename: [String] = []

    @Option(help: ArgumentHelp("Remove the one with this number, on the server too.", valueName: "number"))
    var remove: Int32?

    @Flag(help: "As Markdown: a heading and a list.")
    var markdown = false

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("Write to this file, .md or .json, and not to the terminal.", valueName: "file"),
        completion: .file(extensions: ["md", "json"]))
    var output: String?

    @Flag(help: "Replace the file if it is there.")
    var force = false

    @OptionGroup var options: OutputOptions

    private enum Form { case lines, markdown, json }

    private var form: Form {
        if options.json { return .json }
        if markdown { return .markdown }
        guard let output else { return .lines }
        return Export.kind(of: output) == "json" ? .json : .markdown
    }

    func validate() throws {
        if all, !what.isEmpty { throw ValidationError("--all means everything; it takes no item") }
        if all, !rename.isEmpty || remove != nil { throw ValidationError("--all only lists") }
        if !rename.isEmpty, remove != nil { throw ValidationError("--rename and --remove exclude each other") }
        if !rename.isEmpty {
            guard Int32(rename[0]).map({ $0 > 0 }) ?? false else {
                throw ValidationError("--rename takes a number, as 'dogear bookmarks' lists them, and a title")
            }
            if rename.dropFirst().allSatisfy({ $0.allSatisfy(\.isWhitespace) }) {
                throw ValidationError("--rename \(rename[0]) needs the new title")
            }
        }
        if let remove, remove < 1 { throw ValidationError("bookmarks are numbered from 1") }
        if newest, !rename.isEmpty || remove != nil { throw ValidationError("--newest is for listing") }
        if markdown, options.json { throw ValidationError("--markdown and --json exclude each other") }
        if markdown || output != nil, !rename.isEmpty || remove != nil {
            throw ValidationError("--markdown and --output are for listing")
        }
        if force, output == nil { throw ValidationError("--force goes with --output") }
        if let output, !markdown, !options.json, !["md", "markdown", "json"].contains(Export.kind(of: output)) {
            throw ValidationError("'\(Clean.line(output))' ends neither in .md nor in .json; add --markdown or --json")
        }
    }

    func perform() throws {
        let link = try Link()
        if all { return try list(try link.ask("AllBookmarks")) }
        let chosen = try Finder(link: link).find(what)
        if let number = rename.first.flatMap({ Int32($0) }) {
            let title = rename.dropFirst().joined(separator: " ")
            return try tell(
                try link.ask("RenameBookmark", .string(chosen), .int32(number), .string(title)), options)
        }
        if let remove {
            return try tell(try link.ask("RemoveBookmark", .string(chosen), .int32(remove)), options)
        }
        try list(try link.ask("Bookmarks", .string(chosen)))
    }

    private func list(_ json: String) throws {
        var report = try decode(BookmarksReport.self, json)
        var json = json
        if newest {
            report.bookmarks.sort { ($0.created, $0.time) > ($1.created, $1.time) }
            json = try encode(report)
        }
        if form != .json || output != nil { for problem in report.problems { complain(problem) } }
        if let output {
            let text = form == .json ? json + "\n" : report.markdown
            try Export(path: output, force: force).write(Array(text.utf8))
            return hint("\(report.bookmarks.count) written to \(output).")
        }
        switch form {
        case .json: try show(json, options, as: BookmarksReport.self) { $0.lines(on: $1) }
        case .markdown: put(report.markdown)
        case .lines where report.bookmarks.isEmpty:
            hint("There are no bookmarks. 'dogear bookmark' makes one where you are.")
        case .lines: for line in report.lines(on: .standardOutput) { say(line) }
        }
    }
}
