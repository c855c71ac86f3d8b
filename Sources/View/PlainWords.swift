internal import Control
internal import DBus
internal import Listening
internal import Terminal

/// What is typed into the plain view.
extension PlainState {
    static let help = [
        "play, pause, back, forward, next, previous, undo: as they say. seek 12:30, seek +60, chapter 3: to a place.",
        "faster, slower, speed 1.25; louder, softer, volume 40%.",
        "sleep 30m, sleep chapter, sleep +15m, sleep off: when listening ends by itself.",
        "continue, latest, libraries, queue, chapters, search WORDS: lists. more: their next rows.",
        "A number: plays that row, or opens it. add 3: into the queue; add 3 next: plays next; remove 3: out of the queue.",
        "about 3, finish 3; finish: what plays. where: what plays and where. logs: the last lines. menu: the start.",
        "quit, or Ctrl-D: leaves; what plays goes on.",
    ]

    mutating func typed(_ line: String) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.first?.lowercased() else { return }
        let rest = words.dropFirst().joined(separator: " ")
        if let number = UInt16(first).map(Int.init) { return words.count == 1 ? choose(number) : unclear(line) }
        if perform(first, rest) || performOnRow(first, words) { return }
        unclear(line)
    }

    private mutating func unclear(_ line: String) {
        say("“\(String(line.prefix(60)))” means nothing here. help lists the words.")
    }

    private mutating func perform(_ word: String, _ rest: String) -> Bool {
        switch word {
        case "help", "?": for line in Self.help { say(line) }
        case "menu", "m": showMenu()
        case "quit", "q", "exit", "leave": requests.append(.leave)
        case "toggle", "t": act("Toggle")
        case "play" where rest.isEmpty: act("Play", [.string(""), .string("")])
        case "pause": act("Pause")
        case "stop": act("Stop")
        case "next", "n": act("Next")
        case "previous", "p": act("Previous")
        case "back", "b": act("Seek", [.string("-\(rest.isEmpty ? skip.back : rest)")])
        case "forward", "f": act("Seek", [.string("+\(rest.isEmpty ? skip.forward : rest)")])
        case "seek" where !rest.isEmpty:
            guard Jump(rest) != nil else { return sayTrue(Jump.explanation(of: rest)) }
            act("Seek", [.string(rest)])
        case "chapter" where Int(rest) != nil: act("Seek", [.string("chapter:\(rest)")])
        case "undo", "u": act("Undo", [.string("")], done: "Back where you were before the last jump.")
        case "faster": speed("+0.1")
        case "slower": speed("-0.1")
        case "speed": speed(rest)
        case "louder": volume("+10%")
        case "softer": volume("-10%")
        case "volume": volume(rest)
        case "sleep" where !rest.isEmpty: act("Sleep", [.string(rest)], done: "Sleep: \(rest).")
        case "sleep": return sayTrue("Say when: sleep 30m, sleep chapter, sleep item or sleep off")
        case "seek": return sayTrue("Say where to: seek +30, seek 1:02:03, seek chapter:7 or seek 50%")
        case "continue", "c": ask(.continued)
        case "latest", "l": ask(.latest(page: 1))
        case "libraries", "library": ask(.libraries)
        case "queue": ask(.queue)
        case "chapters": ask(.chapters)
        case "search", "s", "/":
            guard !rest.isEmpty else { return sayTrue("Say what to search for: search the hobbit") }
            ask(.search(rest))
        case "more": tellMore()
        case "where", "w", "status": ask(.status)
        case "logs": ask(.logs)
        default: return false
        }
        return true
    }

    private mutating func sayTrue(_ line: String) -> Bool {
        say(line)
        return true
    }

    /// `add 3`, `add 3 next`, `remove 3`, `about 3`, `finish 3`, `finish`.
    private mutating func performOnRow(_ word: String, _ words: [String]) -> Bool {
        guard ["add", "remove", "about", "finish"].contains(word) else { return false }
        if word == "finish", words.count == 1 {
            act("Finish", [.string("")], done: "Finished.")
            return true
        }
        guard case .items(let rows, let isQueue) = listing, words.count >= 2,
            let number = UInt16(words[1]).map(Int.init),
            rows.indices.contains(number - 1)
        else { return sayTrue("Say a number of the list above: \(word) 1") }
        let row = rows[number - 1]
        switch word {
        case "add":
            let next = words.count > 2 && words[2].lowercased() == "next"
            act("QueueAdd", [.string(row.item.id), .bool(next)], done: "\(row.item.title) is in the queue.")
        case "remove":
            guard isQueue else { return sayTrue("That list is not the queue; type queue first.") }
            act("QueueRemove", [.int32(Int32(clamping: number))], done: "Removed. queue lists the rest.")
            // Its numbers are not true any more.
            listing = .menu
        case "about": ask(.show(row.item.id))
        default: act("Finish", [.string(row.item.id)], done: "\(row.item.title) is finished.")
        }
        return true
    }

    private mutating func choose(_ number: Int) {
        if number == 0 { return showMenu() }
        let index = number - 1
        switch listing {
        case .menu where Self.menu.indices.contains(index): _ = perform(Self.menu[index].word, "")
        case .items(let rows, _) where rows.indices.contains(index):
            let item = rows[index].item
            if item.kind == "podcast" { return ask(.show(item.id)) }
            act("Play", [.string(item.id), .string("")])
        case .chapters(let rows) where rows.indices.contains(index): act("Seek", [.string("chapter:\(number)")])
        case .libraries(let rows) where rows.indices.contains(index):
            var request = BrowseRequest()
            request.library = rows[index].address
            request.limit = 200
            ask(.browse(request))
        case .menu, .items, .chapters, .libraries: say("There is no \(number) in the list above.")
        }
    }

    private mutating func act(_ member: String, _ arguments: [Value] = [], done: String? = nil) {
        ask(.act(Act(member, arguments, done: done)))
    }

    private mutating func speed(_ text: String) {
        guard let amount = Amount(speed: text) else { return say("A speed goes from 0.5 to 3: speed 1.25") }
        let rate = amount.applied(to: status?.rate ?? 1, within: Amount.speeds)
        act("Speed", [.double(rate)], done: "Speed \(Figures.speed(rate)).")
    }

    private mutating func volume(_ text: String) {
        guard let amount = Amount(volume: text) else { return say("A volume goes from 0% to 100%: volume 40%") }
        let volume = amount.applied(to: status?.volume ?? 1, within: Amount.volumes)
        act("Volume", [.double(volume)], done: "Volume \(Figures.percent(volume)).")
    }
}
