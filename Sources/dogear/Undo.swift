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
              dogear undo --list middlemarch
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

    func perform() throws {
        let link = try Link()
        guard list else {
            let chosen = try Finder(link: link).find(what)
            return try show(try link.ask("Undo", .string(chosen)), output, as: UndoReport.self) { $0.lines(on: $1) }
        }
        var report = try decode(MovesReport.self, try link.ask("Moves"))
        if !what.isEmpty {
            let meant = try link.ask("Resolve", .string(try Finder(link: link).find(what)))
            let items = try decode(ListReport.self, meant).items.map(\.item.id)
            report.moves.removeAll { !items.contains($0.item.id) }
        }
        if output.json || !report.moves.isEmpty {
            try show(try encode(report), output, as: MovesReport.self) { $0.lines(on: $1) }
        } else {
            hint("Nothing has moved your place yet\(what.isEmpty ? "" : " in that").")
        }
    }
}
