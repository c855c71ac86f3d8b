public import Control
internal import Listening

extension StatsReport {
    /// Sums, a small chart, and what was listened to most. In a pipe a line for each day.
    public func lines(on surface: Surface) -> [String] {
        guard let columns = surface.columns else {
            return days.map { "\($0.date)\t\(Figures.decimal($0.seconds))" }
        }
        let span = days.count == 1 ? "Today" : "The last \(days.count) days"
        let run = streak > 0 ? ", \(Figures.count(streak, "day")) in a row" : ""
        var lines = [
            "\(surface.paint(span, .bold))  \(Figures.length(period.seconds))\(run)",
            surface.paint("In all: \(Figures.length(total.seconds))", .dim),
        ]
        if period.seconds > 0 {
            let chart = Chart(values: days.map(\.seconds), labels: days.map(\.label))
            lines += [""] + chart.lines(on: surface, columns: columns)
        }
        var table = Table(columns: [Table.Column("LISTENED", right: true), Table.Column("TITLE", least: 12)])
        table.rows = items.map { [Table.Cell(Figures.length($0.seconds)), Table.Cell($0.item.byline)] }
        if !items.isEmpty { lines += [""] + table.lines(on: surface) }
        if let note { lines += ["", surface.paint(note, .dim)] }
        return lines
    }

    /// Who counted what.
    var note: String? {
        guard !servers.isEmpty else { return nil }
        let names = servers.map { Clean.line($0) }.joined(separator: ", ")
        guard period.local >= 1 else { return "Counted by \(names)." }
        return "Counted by \(names); \(Figures.length(period.local)) only here."
    }
}

extension StatsReport.DayRow {
    /// `21.11.` would be read differently elsewhere: `11-21`.
    var label: String { String(date.suffix(5)) }
}

/// Columns that stand for values, over time.
struct Chart {
    static let height = 6
    private static let eighths = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// Seconds, the oldest first.
    let values: [Double]
    let labels: [String]

    func lines(on surface: Surface, columns: Int) -> [String] {
        let axis = 10
        let room = max(5, columns - axis - 1)
        let size = max(1, (values.count + room - 1) / room)
        let sums = stride(from: values.count % size == 0 ? 0 : values.count % size - size, to: values.count, by: size)
            .map {
                start in values[max(0, start)..<start + size].reduce(0, +)
            }
        let width = max(1, min(3, room / max(1, sums.count)))
        let top = sums.max() ?? 0
        var lines: [String] = []
        for row in (0..<Self.height).reversed() {
            let label = row == Self.height - 1 ? Self.height(of: top) : row == 0 ? "0" : ""
            let drawn = sums.map { cell($0, top, row, width, surface.isASCII) }.joined()
            var line = Width.pad(label, to: axis, left: true) + " " + drawn
            while line.last == " " { line.removeLast() }
            lines.append(line)
        }
        let first = labels.first ?? ""
        let last = labels.last ?? ""
        let gap = sums.count * width - Width.of(first) - Width.of(last)
        let spaces = String(repeating: " ", count: axis + 1)
        lines.append(
            surface.paint(spaces + (gap > 0 ? first + String(repeating: " ", count: gap) + last : last), .dim))
        if size > 1 {
            lines.append(surface.paint(Width.cut("\(spaces)each column is \(size) days", to: columns), .dim))
        }
        return lines
    }

    /// Short enough to stand beside the chart.
    private static func height(of seconds: Double) -> String {
        seconds < 36_000 ? Figures.length(seconds) : "\(Int((seconds / 3600).rounded())) h"
    }

    /// One row's part of a column, with room to its neighbour where there is any. What is not nothing shows.
    private func cell(_ value: Double, _ top: Double, _ row: Int, _ width: Int, _ isASCII: Bool) -> String {
        let all = Double(Self.height * 8)
        let level = top > 0 && value > 0 ? max(1, Int((value / top * all).rounded())) : 0
        let part = min(max(level - row * 8, 0), 8)
        let mark = part == 0 ? " " : isASCII ? (part >= 4 || row == 0 ? "#" : " ") : Self.eighths[part - 1]
        return String(repeating: mark, count: max(1, width - 1)) + (width > 1 ? " " : "")
    }
}
