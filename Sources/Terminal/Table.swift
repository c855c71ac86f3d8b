internal import Listening

/// Rows in aligned columns on a terminal: empty ones are left out, and the elastic ones give way to its width. In a pipe
/// every line is a row, without titles, and tabs part all columns: that is what `cut` and `awk` take.
struct Table {
    struct Column {
        var title: String
        var isRight: Bool
        /// How far it may shrink; nil: not at all.
        var least: Int?

        init(_ title: String, right: Bool = false, least: Int? = nil) {
            self.title = title
            isRight = right
            self.least = least
        }
    }

    struct Cell {
        var text: String
        var style: Surface.Style
        /// Drawn before the text, on a terminal only.
        var bar: Double?

        init(_ text: String, _ style: Surface.Style = .plain, bar: Double? = nil) {
            self.text = text
            self.style = style
            self.bar = bar
        }
    }

    private static let gap = 2
    private static let barWidth = 10

    var columns: [Column]
    var rows: [[Cell]] = []

    func lines(on surface: Surface) -> [String] {
        guard let room = surface.columns else {
            return rows.map { row in row.map { surface.paint($0.text, $0.style) }.joined(separator: "\t") }
        }
        let used = columns.indices.filter { index in rows.contains { !$0[index].text.isEmpty } }
        var widths: [Int: Int] = [:]
        for index in used {
            let title = Width.of(columns[index].title)
            widths[index] = rows.reduce(title) { max($0, Width.of(text($1[index], surface))) }
        }
        shrink(&widths, to: room - Self.gap * max(0, used.count - 1))
        var lines: [String] = []
        if used.contains(where: { !columns[$0].title.isEmpty }) {
            lines.append(line(used.map { ($0, Cell(columns[$0].title, .dim)) }, widths, surface))
        }
        return lines + rows.map { row in line(used.map { ($0, row[$0]) }, widths, surface) }
    }

    private func line(_ cells: [(Int, Cell)], _ widths: [Int: Int], _ surface: Surface) -> String {
        let drawn = cells.map { index, cell in
            let room = widths[index] ?? 0
            let text = Width.cut(text(cell, surface), to: room)
            let spaces = String(repeating: " ", count: max(0, room - Width.of(text)))
            let painted = surface.paint(text, cell.style)
            return columns[index].isRight ? spaces + painted : painted + spaces
        }
        var line = drawn.joined(separator: String(repeating: " ", count: Self.gap))
        while line.last == " " { line.removeLast() }
        return line
    }

    /// The bar is never dimmed in part here: its two kinds of line are told apart without.
    private func text(_ cell: Cell, _ surface: Surface) -> String {
        guard let share = cell.bar else { return cell.text }
        var plain = surface
        plain.styled = false
        return plain.bar(share, columns: Self.barWidth) + " " + Width.pad(cell.text, to: 4, left: true)
    }

    /// The widest elastic column gives a column at a time.
    private func shrink(_ widths: inout [Int: Int], to room: Int) {
        var total = widths.values.reduce(0, +)
        while total > room {
            let elastic = widths.filter { index, width in columns[index].least.map { width > $0 } ?? false }
            guard let widest = elastic.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return }
            widths[widest.key] = widest.value - 1
            total -= 1
        }
    }
}
