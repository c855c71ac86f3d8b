import ArgumentParser
import Control
import DBus
import Terminal

/// Commands that move the place of one item, here and on its server.
protocol Marking: DogearCommand {
    static var member: String { get }
    var what: [String] { get }
    var output: OutputOptions { get }
}

extension Marking {
    func perform() throws {
        let link = try Link()
        let chosen = try Finder(link: link).find(what)
        let json = try link.ask(Self.member, .string(chosen))
        try show(json, output, as: ProgressReport.self) { $0.lines(on: $1) }
        if try decode(ProgressReport.self, json).refused != nil { throw ExitCode.failure }
    }
}

struct Finish: Marking {
    static let member = "Finish"
    static let configuration = CommandConfiguration(
        commandName: "finish",
        abstract: "Mark as finished, on the server too.",
        discussion: "Example:\n  dogear finish the hobbit")

    @Argument(help: .whatElsePlays, completion: .what())
    var what: [String] = []
    @OptionGroup var output: OutputOptions
}

struct Unfinish: Marking {
    static let member = "Unfinish"
    static let configuration = CommandConfiguration(
        commandName: "unfinish",
        abstract: "Mark as not finished; the place is kept.",
        discussion: "Example:\n  dogear unfinish the hobbit")

    @Argument(help: .whatElsePlays, completion: .what())
    var what: [String] = []
    @OptionGroup var output: OutputOptions
}

struct Restart: Marking {
    static let member = "Restart"
    static let configuration = CommandConfiguration(
        commandName: "restart",
        abstract: "Put the place back to the beginning.",
        discussion: "Example:\n  dogear restart the hobbit")

    @Argument(help: .whatElsePlays, completion: .what())
    var what: [String] = []
    @OptionGroup var output: OutputOptions
}
