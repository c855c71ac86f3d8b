public import Control
internal import Listening

extension ListReport {
    /// A table. In a pipe with the ids, which every command takes.
    public func lines(on surface: Surface, ids: Bool = false) -> [String] {
        let width = surface.columns ?? .max
        var table = Table(columns: [
            Table.Column("TITLE", least: 12),
            Table.Column(items.allSatisfy { $0.item.podcast != nil } ? "PODCAST" : "BY", least: 8),
            Table.Column("HEARD"),
            Table.Column("LEFT", right: true),
            Table.Column("DATE"),
            Table.Column("ACCOUNT", least: 6),
            Table.Column("ID"),
        ])
        table.rows = items.map { row in
            var cells = row.cells(on: surface, bar: width >= 60)
            if width < 76 { cells[4].text = "" }
            cells.append(Table.Cell(manyAccounts ? Clean.line(row.account ?? "") : ""))
            cells.append(Table.Cell(ids || surface.columns == nil ? Clean.line(row.item.id) : "", .dim))
            return cells
        }
        return table.lines(on: surface) + more(on: surface)
    }

    private var manyAccounts: Bool { Set(items.map(\.account)).count > 1 }

    /// One of several to choose from, told apart by account where there are more.
    public func choice(_ row: ItemRow) -> String {
        manyAccounts ? "\(row.item.byline)  (\(Clean.line(row.account ?? "files")))" : row.item.byline
    }

    /// How to see the next page, on a terminal.
    private func more(on surface: Surface) -> [String] {
        guard surface.columns != nil, let total, total > items.count, !items.isEmpty else { return [] }
        return [surface.paint("page \(page), \(total) in all; more with --page \(page + 1) or --limit", .dim)]
    }
}

extension ItemRow {
    /// Title, people, heard, left, date.
    func cells(on surface: Surface, bar: Bool) -> [Table.Cell] {
        let people = item.podcast.map(Clean.line) ?? Clean.line(item.authors.joined(separator: ", "))
        let title = Clean.line(item.title)
        return [
            Table.Cell(title.isEmpty ? Clean.line(item.id) : title, .bold),
            Table.Cell(people),
            heard(bar: bar),
            Table.Cell(left),
            Table.Cell(date.map { LocalTime($0, on: surface).date } ?? "", .dim),
        ]
    }

    private func heard(bar: Bool) -> Table.Cell {
        if finished { return Table.Cell("finished", .dim) }
        guard let progress else { return Table.Cell("") }
        return Table.Cell(Figures.percent(progress), bar: bar ? progress : nil)
    }

    private var left: String {
        if let episodes { return Figures.count(episodes, "episode") }
        guard let duration, !finished else { return "" }
        return Figures.length(duration - (position ?? 0))
    }
}

extension ChaptersReport {
    public func lines(on surface: Surface) -> [String] {
        if chapters.isEmpty { return ["\(item.byline) has no chapters."] }
        return [surface.paint(surface.cut(item.byline, after: 0), .bold)]
            + chapterLines(chapters, current: current, on: surface)
    }
}

/// One line each: number, title, start, length; `▶` before the one that goes on.
private func chapterLines(_ chapters: [ChapterRow], current: Int?, on surface: Surface) -> [String] {
    var table = Table(columns: [
        Table.Column(""), Table.Column("", right: true), Table.Column("", least: 8), Table.Column("", right: true),
        Table.Column("", right: true),
    ])
    table.rows = chapters.map { chapter in
        let style: Surface.Style = chapter.index == current ? .bold : .plain
        return [
            Table.Cell(chapter.index == current ? "▶" : "", style),
            Table.Cell("\(chapter.index)", style), Table.Cell(Clean.line(chapter.title), style),
            Table.Cell(Figures.clock(chapter.start), .dim),
            Table.Cell(Figures.length(chapter.end - chapter.start), .dim),
        ]
    }
    return table.lines(on: surface)
}

extension ShowReport {
    public func lines(on surface: Surface) -> [String] {
        let width = surface.columns.map { min($0, 100) }
        let item = row.item
        let title = Clean.line(item.title) + (subtitle.map { ": " + Clean.line($0) } ?? "")
        var lines = [surface.paint(title, .bold)]
        var people = item.podcast.map(Clean.line) ?? Clean.line(item.authors.joined(separator: ", "))
        if !item.narrators.isEmpty {
            people += (people.isEmpty ? "read by " : ", read by ") + Clean.line(item.narrators.joined(separator: ", "))
        }
        lines.append(people)
        let series = item.series.map { [$0.name, $0.sequence].compactMap(\.self).joined(separator: " ") }
        lines.append(line(series + [published, language].compactMap(\.self) + genres))
        lines.append(line(sizes))
        lines.append(place(on: surface))
        lines.append(surface.paint(Clean.line(item.id), .dim))
        lines.removeAll(where: \.isEmpty)
        if let summary {
            let paragraphs = Clean.paragraphs(summary)
            lines +=
                [""]
                + paragraphs.flatMap { text in
                    text.isEmpty ? [""] : width.map { Width.wrap(text, to: $0) } ?? [text]
                }
        }
        if let next {
            lines += ["", surface.paint("Next: ", .dim) + Clean.line(next.item.byline)]
        }
        if !chapters.isEmpty { lines += [""] + chapterLines(chapters, current: nil, on: surface) }
        if !episodes.isEmpty { lines += [""] + ListReport(items: episodes).lines(on: surface) }
        return lines
    }

    private var sizes: [String] {
        var sizes: [String] = []
        if let duration = row.duration { sizes.append(Figures.length(duration)) }
        if !chapters.isEmpty { sizes.append(Figures.count(chapters.count, "chapter")) }
        if tracks > 0 { sizes.append(Figures.count(tracks, "file")) }
        if let episodes = row.episodes { sizes.append(Figures.count(episodes, "episode")) }
        return sizes
    }

    private func place(on surface: Surface) -> String {
        if row.finished { return "finished" }
        guard let progress = row.progress else { return "" }
        let left = row.duration.map { ", \(Figures.length($0 - (row.position ?? 0))) left" } ?? ""
        let bar = surface.columns == nil ? "" : surface.bar(progress, columns: 20) + " "
        return "\(bar)\(Figures.percent(progress))\(left)"
    }

    private func line(_ parts: [String]) -> String { parts.map(Clean.line).joined(separator: " · ") }
}

extension ProgressReport {
    public func lines(on surface: Surface) -> [String] {
        let place = finished ? "finished" : position > 0 ? "at \(Figures.clock(position))" : "at the beginning"
        return ["\(surface.paint(item.byline, .bold))  \(place)"]
            + (refused.map { ["The server refused: \(Clean.line($0))", "It is kept; see 'dogear sync'."] }
                ?? (sent ? [] : ["It will be sent when the server answers."]))
    }
}
