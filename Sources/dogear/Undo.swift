import ArgumentParser
import Control
import DBus
import Terminal

struct Undo: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Go back to where you were before your place was moved.",
        discussion: """
            Example:
              dogear undo
              dogear undo --list
              dogear undo the hobbit

            Takes back the last move within an item: a jump, a chapter key, a restart or finish, another device's newer \
            place, or playing begun at another place; again, the one before that. An item that was finished, and moved in \
            since, is finished again. Jumps in quick succession count as one, and the few seconds that playing goes back \
            after a pause as none. The last 50 moves are kept. To another item 'dogear play' goes back, by its name.
            """)

    @Argument(help: .whatElsePlays, completion: .what())
    var what: [String] = []

    @Flag(help: "List what moved your place, the newest first, and change nothing.")
    var list = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if list, !what.isEmpty { throw ValidationError("--list lists all; it takes no item") }
    }

    func perform() throws {
        let link = try Link()
        guard list else {
            let chosen = try Finder(link: link).find(what)
            return try show(try link.ask("Undo", .string(chosen)), output, as: UndoReport.self) { $0.lines(on: $1) }
        }
        let json = try link.ask("Moves")
        if try output.json || !decode(MovesReport.self, json).moves.isEmpty {
            try show(json, output, as: MovesReport.self) { $0.lines(on: $1) }
        } else {
            hint("Nothing has moved your place yet.")
        }
    }
}
