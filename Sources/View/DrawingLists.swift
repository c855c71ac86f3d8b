internal import Control
internal import Screen
internal import Terminal

/// Lists of items, the queue and the log.
extension ViewState {
    func drawList(_ drawing: inout Drawing) {
        guard let list = currentList else { return }
        let pane = panes[list] ?? Pane()
        drawHead(list, pane, &drawing)
        let area = listArea
        if pane.rows.isEmpty { return write(emptiness(list, pane), &drawing, area) }
        for y in 0..<area.rows where pane.place.first + y < pane.rows.count {
            let index = pane.place.first + y
            drawRow(pane.rows[index], area.row(y), isChosen: index == pane.place.chosen && !isTyping, &drawing)
            drawing.hits.append(Hit(area: area.row(y), target: .row(index)))
        }
        if let problem = pane.problems.first, notice == nil, area.rows > 3, pane.rows.count < area.rows {
            drawing.frame.write(
                "! " + problem, .warning, at: area.x + 1, area.y + area.rows - 1, columns: area.columns - 2)
        }
    }

    private func drawHead(_ list: List, _ pane: Pane, _ drawing: inout Drawing) {
        let row = content.row(0).inset(left: 1, right: 1)
        if list == .episodes, let opened {
            drawing.frame.write(
                "‹ \(opened.title)", .bold, at: row.x, row.y, columns: row.columns)
            return
        }
        guard tab == .library else { return }
        let count = pane.isKnown && !pane.rows.isEmpty ? Figures.count(pane.rows.count, "item") : ""
        let name =
            list == .found
            ? (found == nil || searching != nil ? "searching…" : count)
            : libraries.indices.contains(library)
                ? [Clean.line(libraries[library].name), "by \(Self.sorts[sort])", count].filter { !$0.isEmpty }
                    .joined(separator: " · ")
                : ""
        let right = Width.cut(name, to: row.columns / 2)
        drawing.frame.writeRight(right, .dim, in: row)
        let x = drawing.frame.draw("/ ", isTyping ? .bold : .dim, at: row.x, row.y, columns: row.columns)
        let room = row.columns - (x - row.x) - Width.of(right) - 1
        let (text, cursor) = field.shown(columns: max(1, room - 1))
        if text.isEmpty, !isTyping {
            drawing.frame.draw("type / to search", .dim, at: x, row.y, columns: room)
        } else {
            drawing.frame.draw(text, isTyping ? .underlined : .plain, at: x, row.y, columns: room)
        }
        if isTyping { drawing.frame.cursor = Frame.Cursor(x: min(x + cursor, size.columns - 1), y: row.y) }
        drawing.hits.append(Hit(area: row, target: .field))
    }

    private func emptiness(_ list: List, _ pane: Pane) -> String {
        if let error = pane.error ?? pane.problems.first { return error }
        if !isConnected { return "" }
        guard pane.isKnown || (list == .found && found != nil) else { return "…" }
        switch list {
        case .continued where libraries.isEmpty:
            return
                "Nothing was begun yet. Leave with q and sign in with 'dogear login ADDRESS', or play something with "
                + "'dogear play FILE'."
        case .continued: return "Nothing is begun that is not finished. 2 and 3 show what there is; Enter plays it."
        case .latest: return "There is nothing new."
        case .library where libraries.isEmpty:
            return "There are no libraries. Leave with q and sign in with 'dogear login ADDRESS'; "
                + "'dogear play FILE' needs no server."
        case .library: return "This library is empty, or it is being read; r reads it again."
        case .found: return searching == nil ? "Nothing found; fewer or other words may find it." : "…"
        case .episodes: return "There are no episodes."
        }
    }

    private func write(_ text: String, _ drawing: inout Drawing, _ area: Area) {
        for (index, line) in Width.wrap(Clean.line(text), to: max(10, area.columns - 4)).prefix(area.rows).enumerated()
        {
            drawing.frame.write(line, .dim, at: area.x + 2, area.y + index, columns: area.columns - 3)
        }
    }

    /// Title, people, how much was heard, what is left.
    private func drawRow(_ row: ItemRow?, _ area: Area, isChosen: Bool, _ drawing: inout Drawing, number: String = "") {
        defer { if isChosen { drawing.frame.paint(area, .chosen) } }
        guard let row else {
            drawing.frame.draw("…", .dim, at: area.x + 3, area.y, columns: 1)
            return
        }
        let isLoaded = row.item.id == status.item?.id
        let mark = isLoaded ? (status.state == .playing ? "▶" : "‖") : row.finished ? "✓" : " "
        let start = drawing.frame.draw(
            " \(mark) \(number)", isLoaded ? .good : .dim, at: area.x, area.y, columns: area.columns)
        let isWide = area.columns >= 60
        let heard = row.finished ? "done" : row.progress.map { Figures.percent($0) } ?? ""
        var end = area.x + area.columns - 1
        if isWide {
            let length = row.episodes.map { Figures.count($0, "episode") } ?? left(row)
            drawing.frame.writeRight(length, .dim, in: Area(x: end - 12, y: area.y, columns: 12, rows: 1))
            end -= 13
        }
        drawing.frame.writeRight(heard, in: Area(x: end - 4, y: area.y, columns: 4, rows: 1))
        end -= 5
        if isWide, area.columns >= 76 {
            if let progress = row.progress, !row.finished {
                drawing.frame.bar(progress, in: Area(x: end - 8, y: area.y, columns: 8, rows: 1))
            }
            end -= 9
        }
        let title = Clean.line(row.item.title.prefix(500))
        let people = Clean.line((row.item.podcast ?? row.item.authors.joined(separator: ", ")).prefix(500))
        let room = end - start
        let titleRoom = isWide && !people.isEmpty ? max(10, room * 3 / 5) : room
        drawing.frame.write(
            title.isEmpty ? row.item.id : title, isLoaded ? .bold : .plain, at: start, area.y, columns: titleRoom)
        if isWide, !people.isEmpty {
            drawing.frame.write(
                people, .dim, at: start + titleRoom + 1, area.y, columns: room - titleRoom - 2)
        }
    }

    private func left(_ row: ItemRow) -> String {
        guard let duration = row.duration, !row.finished else { return "" }
        return Figures.length(max(0, duration - (row.position ?? 0)))
    }

    func drawQueue(_ drawing: inout Drawing) {
        let head = content.row(0).inset(left: 1, right: 1)
        let area = listArea
        if queue.items.isEmpty {
            return write(
                queueError ?? "The queue is empty. a on any list puts something at its end.", &drawing, content)
        }
        var parts = [Figures.count(queue.items.count, "item"), "\(Figures.length(queue.left)) left"]
        if queue.shuffle == true { parts.append("shuffled") }
        if let loop = queue.loop, loop != "off" { parts.append("loop: \(loop)") }
        drawing.frame.write(parts.joined(separator: " · "), .dim, at: head.x, head.y, columns: head.columns)
        let digits = "\(queue.items.count)".count
        for y in 0..<area.rows where queuePlace.first + y < queue.items.count {
            let index = queuePlace.first + y
            drawRow(
                queue.items[index], area.row(y), isChosen: index == queuePlace.chosen, &drawing,
                number: Width.pad("\(index + 1)", to: digits, left: true) + " ")
            drawing.hits.append(Hit(area: area.row(y), target: .row(index)))
        }
    }

    func drawLogs(_ drawing: inout Drawing) {
        let head = content.row(0).inset(left: 1, right: 1)
        let rows = shownLogs
        let text = "from \(logLevel.rawValue) on · \(Figures.count(rows.count, "line"))"
        drawing.frame.write(text, .dim, at: head.x, head.y, columns: head.columns)
        let area = listArea
        for y in 0..<area.rows where logPlace.first + y < rows.count {
            let index = logPlace.first + y
            let row = rows[index]
            let level = LogLevel(named: row.level)
            let style: Style =
                level == .error ? .bad : level == .warning ? .warning : level == .debug ? .dim : .plain
            drawing.frame.write(row.line(on: surface), style, at: area.x + 1, area.y + y, columns: area.columns - 2)
            if index == logPlace.chosen { drawing.frame.paint(area.row(y), .chosen) }
            drawing.hits.append(Hit(area: area.row(y), target: .row(index)))
        }
    }
}
