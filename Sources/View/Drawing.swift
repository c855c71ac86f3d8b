internal import Control
public import Screen
internal import Terminal

/// One picture of the view, and what the mouse can meet in it.
public struct Drawing: Sendable {
    public internal(set) var frame: Frame
    var hits: [Hit] = []
}

/// Something that can be clicked.
struct Hit: Hashable, Sendable {
    enum Target: Hashable, Sendable {
        case tab(ViewState.Tab)
        case row(Int)
        case field
        case toggle
        /// Of a menu, by its key.
        case entry(Character)
        /// A line from one place to another, in seconds.
        case bar(from: Double, to: Double)

        var isEntry: Bool { if case .entry = self { true } else { false } }
    }
    var area: Area
    var target: Target
}

extension ViewState {
    /// What the screen shows at a moment.
    public func draw(at now: Int64) -> Drawing {
        var drawing = Drawing(frame: Frame(size))
        drawTabs(&drawing)
        switch tab {
        case .player: drawPlayer(&drawing, at: now)
        case .queue: drawQueue(&drawing)
        case .logs: drawLogs(&drawing)
        case .continued, .latest, .library: drawList(&drawing)
        }
        if miniRows > 0 { drawMini(&drawing, at: now) }
        drawBottom(&drawing)
        if let page { drawPage(page, &drawing) }
        if let menu { drawMenu(menu, &drawing) }
        if isDark { drawing.frame.darken() }
        return drawing
    }

    private func drawTabs(_ drawing: inout Drawing) {
        let all = Tab.allCases
        let names = all.map { " \($0.rawValue + 1) \($0.title)\(badge($0)) " }
        let fits = names.reduce(0) { $0 + Width.of($1) } <= size.columns
        var x = 0
        for (tab, name) in zip(all, names) {
            let text = fits || tab == self.tab ? name : " \(tab.rawValue + 1) "
            let end = drawing.frame.draw(
                text, tab == self.tab ? Style.chosen.with(.bold) : .plain, at: x, 0, columns: size.columns - x)
            drawing.hits.append(Hit(area: Area(x: x, y: 0, columns: end - x, rows: 1), target: .tab(tab)))
            x = end
        }
    }

    private func badge(_ tab: Tab) -> String {
        if tab == .queue, let queued = status.queued, queued > 0 { return " (\(queued))" }
        return ""
    }

    /// The notice, else what is wrong; below it the keys.
    private func drawBottom(_ drawing: inout Drawing) {
        guard size.rows >= 4 else { return }
        let row = drawing.frame.area.row(size.rows - 2).inset(left: 1, right: 1)
        let keys = drawing.frame.area.row(size.rows - 1).inset(left: 1, right: 1)
        if !isConnected {
            let text = notice.map(\.text) ?? "The daemon does not run. It is waited for; space starts it."
            drawing.frame.write(text, .warning, at: row.x, row.y, columns: row.columns)
        } else if let notice {
            drawing.frame.write(notice.text, notice.isBad ? .bad : .accent, at: row.x, row.y, columns: row.columns)
        } else if let error = status.error {
            drawing.frame.write("! " + error, .warning, at: row.x, row.y, columns: row.columns)
        }
        var x = keys.x
        for (key, meaning) in Help.keys(of: self) {
            guard x + Width.of(key) + Width.of(meaning) + 1 <= keys.x + keys.columns else { break }
            x = drawing.frame.draw(key, .bold, at: x, keys.y, columns: keys.columns)
            x = drawing.frame.draw(" " + meaning + "  ", .dim, at: x, keys.y, columns: keys.x + keys.columns - x)
        }
    }

    private func drawPage(_ page: Page, _ drawing: inout Drawing) {
        drawing.frame.clear(drawing.frame.area)
        drawing.hits = []
        drawing.frame.cursor = nil
        let top = drawing.frame.area.row(0)
        drawing.frame.paint(top, .chosen)
        drawing.frame.write(" " + page.title, Style.chosen.with(.bold), at: 1, 0, columns: size.columns - 2)
        for (index, line) in page.lines.dropFirst(page.first).prefix(pageRows).enumerated() {
            drawing.frame.draw(line, at: 2, 2 + index, columns: size.columns - 3)
        }
        let more = page.lines.count > pageRows ? "↑ ↓ more  " : ""
        drawing.frame.draw(more + "Esc back", .dim, at: 1, size.rows - 1, columns: size.columns - 2)
    }
}
