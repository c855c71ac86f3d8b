import ArgumentParser
import Control
import DBus
import Terminal

struct Queue: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show or change what plays next.",
        discussion: """
            Example:
              dogear queue
              dogear queue add the hobbit
              dogear queue add ~/Audiobooks/Emma --next
              dogear queue move 3 1
              dogear queue remove 2
              dogear queue --shuffle on
              dogear queue --loop queue

            When an item has come to its end, or 'dogear next' leaves its last chapter, the first of the queue is taken \
            out and played. With nothing in it playing ends, or goes on with the next of the series or podcast that was \
            not finished before, by the setting queue.end. What cannot be opened stays, and 'dogear status' says why; \
            'dogear next' goes on past it.

            Shuffled, what waits keeps its numbers, and which of it is next is told. The order by lot stays the same when \
            something is added or taken out; what was added with --next comes first.
            """,
        subcommands: [Add.self, Remove.self, Move.self, Clear.self])

    @Option(help: "on: what plays next is drawn by lot; off: the first.", completion: .list(["on", "off"]))
    var shuffle: String?

    @Option(
        help: """
            off; track: the chapter, or the item without any, begins again; queue: what has ended, or was left by 'dogear \
            next', goes to its end.
            """,
        completion: .list(["off", "track", "queue"]))
    var loop: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let shuffle, shuffle != "on", shuffle != "off" { throw ValidationError("--shuffle is on or off") }
        if let loop, !["off", "track", "queue"].contains(loop) {
            throw ValidationError("--loop is off, track or queue")
        }
    }

    func perform() throws {
        let link = try Link()
        if let shuffle { _ = try link.ask("QueueShuffle", .bool(shuffle == "on")) }
        if let loop { _ = try link.ask("QueueLoop", .string(loop)) }
        try showQueue(try link.ask("Queue"), output)
    }

    struct Add: DogearCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Put something at the end of the queue.",
            discussion: """
                Example:
                  dogear queue add the hobbit
                  dogear queue add the hobbit --next
                  dogear queue add 1.mp3 2.mp3 3.mp3

                An item is in it once: added again it moves.
                """)

        @Argument(help: .whatToPlay, completion: .what(2))
        var what: [String]

        @Flag(help: "In front of all others.")
        var next = false

        @OptionGroup var output: OutputOptions

        func perform() throws {
            let link = try Link()
            let chosen = try Finder(link: link).findAll(what)
            guard chosen != [""] else { throw ControlError(.usage, "say what to put into the queue") }
            if chosen.count == 1 {
                return try showQueue(try link.ask("QueueAdd", .string(chosen[0]), .bool(next)), output)
            }
            let report = try Queue.add(chosen, next: next, over: link)
            try showQueue(report.json, output)
            if !report.isWhole { throw ExitCode.failure }
        }
    }

    /// In their order. What cannot be played is told of, and the others are added, also when nobody waits any more.
    /// - Returns: the queue, and whether none is missing.
    static func add(_ items: [String], next: Bool, over link: Link) throws -> (json: String, isWhole: Bool) {
        // Each of them may have to be read: thousands take their time.
        let json = try link.ask("QueueAddAll", .strings(items), .bool(next), within: .seconds(3600))
        let problems = try decode(QueueReport.self, json).problems ?? []
        for problem in problems { complain(problem) }
        return (json, problems.isEmpty)
    }

    struct Remove: DogearCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Take something out of the queue.", discussion: "Example:\n  dogear queue remove 2")

        @Argument(help: "Its number in 'dogear queue'.")
        var number: Int32

        @OptionGroup var output: OutputOptions

        func perform() throws { try showQueue(try Link().ask("QueueRemove", .int32(number)), output) }
    }

    struct Move: DogearCommand {
        static let configuration = CommandConfiguration(
            commandName: "move",
            abstract: "Move something within the queue.", discussion: "Example:\n  dogear queue move 3 1")

        @Argument(help: "Its number in 'dogear queue'.")
        var number: Int32

        @Argument(help: "The number it is to have.")
        var to: Int32

        @OptionGroup var output: OutputOptions

        func perform() throws { try showQueue(try Link().ask("QueueMove", .int32(number), .int32(to)), output) }
    }

    struct Clear: DogearCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Empty the queue.", discussion: "Example:\n  dogear queue clear")

        @OptionGroup var output: OutputOptions

        func perform() throws { try showQueue(try Link().ask("QueueClear"), output) }
    }
}

private func showQueue(_ json: String, _ output: OutputOptions) throws {
    let report = try decode(QueueReport.self, json)
    if output.json || !report.items.isEmpty {
        try show(json, output, as: QueueReport.self) { $0.lines(on: $1) }
    } else {
        hint("The queue is empty. 'dogear queue add WHAT' puts something into it.")
        for line in report.manner { hint(line) }
    }
}
