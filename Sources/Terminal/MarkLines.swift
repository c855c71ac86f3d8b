public import Control
internal import Listening

extension BookmarksReport {
    /// Numbered as other commands name them; those of all items under their titles.
    public func lines(on surface: Surface) -> [String] {
        groups.flatMap { head, rows in
            (item == nil ? [surface.paint(head.byline, .bold)] : []) + table(of: rows).lines(on: surface)
        }
    }

    private func table(of rows: [Row]) -> Table {
        var table = Table(columns: [
            Table.Column("", right: true), Table.Column("TIME", right: true), Table.Column("TITLE", least: 12),
            Table.Column("CHAPTER", least: 8), Table.Column("KEPT", least: 8),
        ])
        table.rows = rows.map { row in
            [
                Table.Cell("\(row.number)"), Table.Cell(Figures.clock(row.time)),
                Table.Cell(Clean.line(row.title), .bold),
                Table.Cell(row.chapter.map { Clean.line($0) } ?? "", .dim), row.standing,
            ]
        }
        return table
    }

    /// In their order, by item.
    private var groups: [(ItemHead, [Row])] {
        var groups: [(ItemHead, [Row])] = []
        for row in bookmarks {
            if groups.last?.0.id == row.item.id {
                groups[groups.count - 1].1.append(row)
            } else {
                groups.append((row.item, [row]))
            }
        }
        return groups
    }

    /// As a text with one heading for each item and one list entry for each bookmark.
    public var markdown: String {
        var lines: [String] = []
        for (head, rows) in groups {
            if !lines.isEmpty { lines.append("") }
            lines.append("# \(Markdown.escaped(head.title))")
            let authors = head.podcast.map { [$0] } ?? head.authors
            if !authors.isEmpty { lines += ["", Markdown.escaped(authors.joined(separator: ", "))] }
            lines.append("")
            for row in rows {
                let chapter = row.chapter.map { $0.isEmpty ? "" : " (\(Markdown.escaped($0)))" } ?? ""
                lines.append("- **\(Figures.clock(row.time))** \(Markdown.escaped(row.title))\(chapter)")
            }
        }
        return lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
    }
}

extension BookmarksReport.Row {
    fileprivate var standing: Table.Cell {
        if let refused { return Table.Cell("refused: \(Clean.line(refused))", .bad) }
        if unsent { return Table.Cell("not sent yet", .warning) }
        return Table.Cell(kept == "here" ? "here only" : "", .dim)
    }
}

extension BookmarkReport {
    public func lines(on surface: Surface) -> [String] {
        let clock = Figures.clock(bookmark.time)
        let title = "“\(Clean.line(bookmark.title))”"
        let first =
            switch outcome {
            case .made: "Bookmark \(bookmark.number) at \(clock): \(title)"
            case .renamed: "Bookmark \(bookmark.number) at \(clock) is now called \(title)"
            case .removed: "Removed: the bookmark at \(clock), \(title)"
            case .unchanged: "There is a bookmark at \(clock): \(bookmark.number), \(title)"
            }
        var lines = ["\(surface.paint(bookmark.item.byline, .bold))", first]
        if let refused = bookmark.refused {
            lines.append("The server refused it: \(Clean.line(refused)). It is kept; see 'dogear sync'.")
        } else if bookmark.unsent {
            lines.append("The server has not got that yet; it is kept, and sent when it answers.")
        }
        return lines
    }
}

enum Markdown {
    /// Nothing of it makes a heading, a list, a link or a tag, wherever in a line it stands.
    static func escaped(_ text: String) -> String {
        let line = Clean.line(text)
        let digits = line.prefix { $0.isASCII && $0.isNumber }.count
        return line.enumerated().map { index, character in
            let isMark =
                "\\`*_[]<>&|~".contains(character) || index == 0 && "#-+=".contains(character)
                || index == line.count - 1 && character == "#"
                || digits > 0 && index == digits && ".)".contains(character)
            return isMark ? "\\\(character)" : "\(character)"
        }.joined()
    }
}

extension HistoryReport {
    public func lines(on surface: Surface) -> [String] {
        var table = Table(columns: [
            Table.Column("TIME"), Table.Column("TITLE", least: 12), Table.Column("FROM", right: true),
            Table.Column("TO", right: true), Table.Column("LISTENED", right: true), Table.Column("WITH", least: 8),
        ])
        table.rows = rows.map { row in
            let time = LocalTime(row.started, on: surface)
            let clock = "\(Figures.two(time.hour)):\(Figures.two(time.minute))"
            return [
                Table.Cell("\(time.date) \(clock)", .dim), Table.Cell(Clean.line(row.item.title)),
                Table.Cell(Figures.clock(row.from)), Table.Cell(Figures.clock(row.to)),
                Table.Cell(Figures.length(row.listened)),
                Table.Cell(row.source == "here" ? "" : row.device.map { Clean.line($0) } ?? "another device", .dim),
            ]
        }
        return table.lines(on: surface)
    }
}
