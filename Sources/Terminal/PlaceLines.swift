public import Control
internal import Listening

extension UndoReport {
    public func lines(on surface: Surface) -> [String] {
        [
            "\(surface.paint(item.byline, .bold))  "
                + (finished == true ? "finished again" : "back at \(Figures.clock(position))"),
            "It was at \(Figures.clock(from)); taken back: \(undone.words) at \(LocalTime(undone.at, on: surface).clock).",
        ]
    }
}

extension MovesReport {
    public func lines(on surface: Surface) -> [String] {
        var table = Table(columns: [
            Table.Column("TIME"), Table.Column("TITLE", least: 12), Table.Column("FROM", right: true),
            Table.Column("TO", right: true), Table.Column("WHAT MOVED IT", least: 8),
        ])
        let today = LocalTime(surface.now, on: surface).date
        table.rows = moves.map { move in
            let time = LocalTime(move.at, on: surface)
            let isToday = surface.columns != nil && time.date == today
            let style: Surface.Style = move.undone || move.cause == "undo" ? .dim : .plain
            return [
                Table.Cell(isToday ? time.clock : "\(time.date) \(time.clock)", .dim),
                Table.Cell(Clean.line(move.item.title), style), Table.Cell(Figures.clock(move.from), style),
                Table.Cell(Figures.clock(move.to), style),
                Table.Cell(move.words + (move.undone ? ", undone" : ""), style),
            ]
        }
        return table.lines(on: surface)
    }
}

extension MovesReport.Row {
    fileprivate var words: String {
        switch cause {
        case "seek": "a jump"
        case "chapter": "a jump by chapter"
        case "undo": "undo"
        case "restart": "back to the beginning"
        case "finish": "marked as finished"
        case "unfinish": "not finished any more"
        case "sleep": "the sleep timer"
        case "device": "another device's newer place"
        case "begin": "playing begun at another place"
        default: Clean.line(cause)
        }
    }
}

extension SyncReport {
    /// A line for each row, and below it why it was not accepted and what can be done.
    public func lines(on surface: Surface) -> [String] {
        let advice =
            rows.contains { $0.outcome == .refused }
            ? ["What was refused is kept: 'dogear sync --retry' sends it again, 'dogear sync --forget ID' gives it up."]
            : []
        return rows.flatMap { $0.lines(on: surface) } + advice
    }
}

extension SyncReport.Row {
    func lines(on surface: Surface) -> [String] {
        let (mark, word, style): (String, String, Surface.Style) =
            switch outcome {
            case .accepted: ("✓", "accepted", .good)
            case .outdone: ("!", "given up: another device went on since", .warning)
            case .refused: ("✗", "refused", .bad)
            case .unreachable: ("!", "not sent yet", .warning)
            case .signedOut: ("!", "not sent: signed out", .warning)
            }
        let first = "\(surface.paint(mark, style)) \(surface.paint(item.byline, .bold))  \(what): \(word)"
        let waits = again.map { "; tried again in \(Figures.length(max(1, $0)))" } ?? ""
        let name = outcome == .refused ? "  (\(Clean.line(id)))" : ""
        guard let reason else { return [first] }
        let text = Clean.line(reason) + waits + name
        let lines = surface.columns.map { Width.wrap(text, to: max(20, min($0, 100) - 4)) } ?? [text]
        return [first] + lines.map { "    \($0)" }
    }

    /// `12 min of listening, to 1:02:03`.
    public var what: String {
        let place = position.map { Figures.clock($0) }
        switch kind {
        case "listening":
            let time = Figures.length(listened ?? 0)
            return "\(time) of listening" + (place.map { ", to \($0)" } ?? "")
        case "finish": return "finished"
        case "unfinish": return "not finished" + (place.map { ", at \($0)" } ?? "")
        case "restart": return "back to the beginning"
        case "bookmark": return "a bookmark" + (place.map { " at \($0)" } ?? "")
        case "unbookmark": return "a bookmark removed" + (place.map { " at \($0)" } ?? "")
        case "place": return "the place" + (place.map { " \($0)" } ?? "")
        default: return Clean.line(kind)
        }
    }
}

extension QueueReport {
    public func lines(on surface: Surface) -> [String] {
        var table = Table(columns: [
            Table.Column("", right: true), Table.Column("TITLE", least: 12), Table.Column("BY", least: 8),
            Table.Column("HEARD"), Table.Column("LEFT", right: true), Table.Column("ID"),
        ])
        table.rows = items.enumerated().map { index, row in
            [Table.Cell("\(index + 1)")] + row.cells(on: surface, bar: false).prefix(4)
                + [Table.Cell(surface.columns == nil ? Clean.line(row.item.id) : "")]
        }
        let sum = "\(Figures.count(items.count, "item")), \(Figures.length(left)) left"
        guard surface.columns != nil, !items.isEmpty else { return table.lines(on: surface) }
        return table.lines(on: surface) + ([sum] + manner).map { surface.paint($0, .dim) }
    }

    /// How it goes on, where that is not simply one after the other.
    public var manner: [String] {
        var lines: [String] = []
        if shuffle == true { lines.append("Shuffled" + (next.map { ": number \($0) is next." } ?? ".")) }
        switch loop {
        case "track": lines.append("The present track begins again and again.")
        case "queue": lines.append("What has ended goes to the end of the queue.")
        default: break
        }
        return lines
    }
}
