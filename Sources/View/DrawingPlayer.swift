internal import Control
internal import Screen
internal import Terminal

/// The player, and its short form below other pages.
extension ViewState {
    func drawPlayer(_ drawing: inout Drawing, at now: Int64) {
        let area = infoArea
        guard let item = status.item else { return drawEmpty(&drawing, area) }
        if let cover = coverArea {
            drawCover(&drawing, cover)
            drawing.hits.append(Hit(area: cover, target: .toggle))
        }
        var y = area.y
        func line(_ text: String, _ style: Style = .plain) {
            guard y < area.y + area.rows else { return }
            drawing.frame.write(text, style, at: area.x, y, columns: area.columns)
            y += 1
        }
        let title = Clean.line(item.title)
        line(title.isEmpty ? item.id : title, .bold)
        line(item.podcast ?? item.authors.joined(separator: ", "))
        let subtitle = subtitle(item)
        if !subtitle.isEmpty { line(subtitle, .dim) }
        drawing.hits.append(
            Hit(area: Area(x: area.x, y: y, columns: area.columns, rows: 1), target: .toggle))
        line(stateLine, status.state == .playing ? .good : .warning)
        if !isSmall { y += 1 }
        let position = position(at: now)
        if let chapter = chapter(at: now) {
            line(status.name(of: chapter).capitalizedFirst)
            drawBar(position, chapter.start, chapter.end, &drawing, area.row(y - area.y))
            y += 1
        }
        if y < area.y + area.rows { drawBar(position, 0, status.duration, &drawing, area.row(y - area.y)) }
        y += isSmall ? 1 : 2
        let rest = area.inset(top: y - area.y)
        if rest.rows > 0 { drawChapters(&drawing, rest, current: chapter(at: now)?.index) }
    }

    private func drawCover(_ drawing: inout Drawing, _ area: Area) {
        guard !isDark, cover?.name == coverWanted, let picture = cover?.picture, page == nil, menu == nil else {
            return
        }
        switch picture {
        case .blocks(let pixels): drawing.frame.picture(pixels, in: area)
        case .image(let image): drawing.frame.show(image, in: area)
        }
    }

    private func drawEmpty(_ drawing: inout Drawing, _ area: Area) {
        let lines = [
            "Nothing is loaded.", "",
            "1 lists what you began, 3 and / find something, Enter plays it.",
            "Space goes on with what you listened to last.",
        ].flatMap { $0.isEmpty ? [""] : Width.wrap($0, to: max(10, area.columns)) }
        for (index, text) in lines.prefix(area.rows).enumerated() {
            drawing.frame.write(text, at: area.x, area.y + index, columns: area.columns)
        }
    }

    /// Who reads it, and which part of what series it is.
    func subtitle(_ item: ItemHead) -> String {
        let series = item.series.map { [$0.name, $0.sequence].compactMap(\.self).joined(separator: " ") }
        let readers = item.narrators.isEmpty ? [] : ["read by " + item.narrators.joined(separator: ", ")]
        return (readers + series).map(Clean.line).joined(separator: " · ")
    }

    private var stateLine: String {
        let mark = status.state == .playing ? "▶ " : "‖ "
        let speed = status.rate == 1 ? [Figures.speed(1)] : []
        return mark + ([status.stateWord] + speed + status.extras).joined(separator: " · ")
    }

    /// `12:05 ━━━━──── 58:00`
    private func drawBar(_ position: Double, _ from: Double, _ to: Double, _ drawing: inout Drawing, _ area: Area) {
        let length = max(0, to - from)
        let into = min(max(0, position - from), length > 0 ? length : .infinity)
        guard length > 0 else {
            drawing.frame.draw(Figures.clock(position), at: area.x, area.y, columns: area.columns)
            return
        }
        // As wide as the longest time, so that the line does not jump.
        let end = Figures.clock(length)
        let left = Width.pad(Figures.clock(into), to: end.count, left: true)
        drawing.frame.draw(left, at: area.x, area.y, columns: area.columns)
        drawing.frame.writeRight(end, .dim, in: area)
        let bar = area.inset(left: left.count + 1, right: end.count + 1)
        guard bar.columns > 1 else { return }
        drawing.frame.bar(into / length, in: bar)
        drawing.hits.append(Hit(area: bar, target: .bar(from: from, to: to)))
    }

    private func drawChapters(_ drawing: inout Drawing, _ area: Area, current: Int?) {
        let digits = "\(chapters.count)".count
        for (row, chapter) in chapters.dropFirst(chapterPlace.first).prefix(area.rows).enumerated() {
            let line = area.row(row)
            let isCurrent = chapter.index == current
            let style: Style = isCurrent ? .bold : .plain
            let time = Figures.clock(chapter.start)
            let number = Width.pad("\(chapter.index)", to: digits, left: true)
            let x = drawing.frame.draw(
                "\(isCurrent ? "▶" : " ") \(number)  ", style, at: line.x, line.y, columns: line.columns)
            drawing.frame.write(
                chapter.title, style, at: x, line.y, columns: line.x + line.columns - x - Width.of(time) - 1)
            drawing.frame.writeRight(time, .dim, in: line)
            if chapterPlace.first + row == chapterPlace.chosen { drawing.frame.paint(line, .chosen) }
            drawing.hits.append(Hit(area: line, target: .row(chapterPlace.first + row)))
        }
    }

    func drawMini(_ drawing: inout Drawing, at now: Int64) {
        let bottom = min(2, max(0, size.rows - 2))
        let area = Area(x: 1, y: size.rows - bottom - miniRows, columns: size.columns - 2, rows: miniRows)
        let gap = miniRows == 3 ? 1 : 0
        if gap == 1 {
            drawing.frame.draw(
                String(repeating: "─", count: size.columns), .dim, at: 0, area.y, columns: size.columns)
        }
        let top = area.row(gap)
        guard let item = status.item else {
            drawing.frame.write("Nothing is loaded.", .dim, at: top.x, top.y, columns: top.columns)
            return
        }
        let mark = status.state == .playing ? "▶" : status.state == .buffering ? "…" : "‖"
        let position = position(at: now)
        let time = "\(Figures.clock(position)) / \(Figures.clock(status.duration))"
        let x = drawing.frame.draw(
            mark + " ", status.state == .playing ? .good : .warning, at: top.x, top.y, columns: top.columns)
        let room = top.columns - 2 - (miniRows == 1 ? Width.of(time) + 1 : 0)
        let chapter = chapter(at: now)
        let name = item.byline + (chapter.map { " · " + status.name(of: $0) } ?? "")
        drawing.frame.write(name, .bold, at: x, top.y, columns: room)
        drawing.hits.append(Hit(area: top, target: .toggle))
        if miniRows == 1 {
            drawing.frame.writeRight(time, in: top)
        } else {
            drawBar(position, 0, status.duration, &drawing, area.row(2))
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
