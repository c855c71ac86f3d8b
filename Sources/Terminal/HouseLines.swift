public import Control
internal import Listening

extension LibrariesReport {
    public func lines(on surface: Surface) -> [String] {
        var table = Table(columns: [
            Table.Column("LIBRARY", least: 10), Table.Column("HOLDS"), Table.Column("ITEMS", right: true),
            Table.Column("ACCOUNT", least: 8), Table.Column("ID"),
        ])
        table.rows = libraries.map { row in
            [
                Table.Cell(Clean.line(row.name), .bold),
                Table.Cell(
                    row.mediaType == "podcast"
                        ? "podcasts" : row.mediaType == "book" ? "books" : Clean.line(row.mediaType)),
                Table.Cell(row.count),
                Table.Cell(Clean.line(row.account)), Table.Cell(Clean.line(row.id), .dim),
            ]
        }
        return table.lines(on: surface)
    }

    /// How far reading them is: `Books 1200 of 5000, Podcasts 12`.
    public var progressLine: String {
        let parts = libraries.map { "\(Clean.line($0.name)) \($0.count)".trimmingEnd }
        return parts.isEmpty ? "Asking the servers…" : "Reading: " + parts.joined(separator: ", ")
    }
}

extension LibrariesReport.Row {
    fileprivate var count: String {
        guard let items else { return known.map { $0 > 0 ? "\($0)" : "" } ?? "" }
        guard let known, known < items else { return "\(items)" }
        return "\(known) of \(items)"
    }
}

extension String {
    fileprivate var trimmingEnd: String { hasSuffix(" ") ? String(dropLast()) : self }
}

extension AccountsReport {
    public func lines(on surface: Surface) -> [String] {
        var table = Table(columns: [
            Table.Column("USER", least: 6), Table.Column("SERVER", least: 10), Table.Column("VERSION"),
            Table.Column("STATE"), Table.Column("NOT SENT", right: true), Table.Column("ID"),
        ])
        table.rows = accounts.map { row in
            [
                Table.Cell(Clean.line(row.user), .bold), Table.Cell(Clean.line(row.server)),
                Table.Cell(Clean.line(row.serverVersion ?? "")),
                row.signedIn ? Table.Cell("signed in", .good) : Table.Cell("signed out", .warning),
                Table.Cell(row.unsent > 0 ? "\(row.unsent)" : ""),
                Table.Cell(surface.columns == nil ? Clean.line(row.id) : ""),
            ]
        }
        return table.lines(on: surface)
    }
}

extension SettingsReport.Row {
    var usual: String { `default`.isEmpty ? "empty" : Clean.line(`default`) }
}

extension SettingsReport {
    /// One setting with everything about it, or all: a table where there is room for what they mean.
    public func lines(on surface: Surface) -> [String] {
        if settings.count == 1, let row = settings.first {
            let standard = row.value == row.default ? "" : "; normally \(row.usual)"
            return [
                "\(surface.paint(Clean.line(row.key), .bold)) = \(Clean.line(row.value))",
                "\(Clean.line(row.meaning)) (\(Clean.line(row.allowed))\(standard))",
            ]
        }
        if let columns = surface.columns, columns < Self.tableWidth {
            return settings.flatMap { row in
                let isUsual = row.value == row.default
                let name = "\(Clean.line(row.key)) = \(Clean.line(row.value))"
                let usual = isUsual ? "" : "; normally \(row.usual)"
                let meaning = "\(Clean.line(row.meaning)) (\(Clean.line(row.allowed))\(usual))"
                return [isUsual ? name : surface.paint(name, .bold)]
                    + Width.wrap(meaning, to: max(20, columns - 4)).map { "    \($0)" }
            }
        }
        var table = Table(columns: [
            Table.Column("SETTING"), Table.Column("VALUE", least: 8), Table.Column("USUALLY"),
            Table.Column("MEANING", least: 16), Table.Column("ALLOWED", least: 8),
        ])
        table.rows = settings.map { row in
            [
                Table.Cell(Clean.line(row.key)),
                Table.Cell(Clean.line(row.value), row.value == row.default ? .plain : .bold),
                Table.Cell(Clean.line(row.default), .dim), Table.Cell(Clean.line(row.meaning)),
                Table.Cell(Clean.line(row.allowed), .dim),
            ]
        }
        return table.lines(on: surface)
    }
}

extension SettingsReport {
    /// With less of it, a table would cut what settings mean.
    private static let tableWidth = 160
}

extension DoctorReport {
    /// `✓`, `!` or `✗` before each finding; below it what to do.
    public func lines(on surface: Surface) -> [String] {
        checks.flatMap { check in
            let (mark, style): (String, Surface.Style) =
                switch check.outcome {
                case .good: ("✓", .good)
                case .warning: ("!", .warning)
                case .bad: ("✗", .bad)
                }
            let first =
                "\(surface.paint(mark, style)) \(surface.paint(Clean.line(check.name), .bold)): "
                + Clean.line(check.finding)
            guard let advice = check.advice.map(Clean.line) else { return [first] }
            let lines = surface.columns.map { Width.wrap(advice, to: max(20, min($0, 100) - 4)) } ?? [advice]
            return [first] + lines.map { "    \($0)" }
        }
    }
}

extension LogsReport {
    public func lines(on surface: Surface) -> [String] { records.map { $0.line(on: surface) } }
}

extension LogsReport.Row {
    /// `2026-11-21 09:05:07.123  warning  Sync  sent later  account=ada`
    public func line(on surface: Surface) -> String {
        let moment = LocalTime(time, on: surface)
        let thousandths = String(String(moment.millisecond + 1000).dropFirst())
        let style: Surface.Style =
            switch LogLevel(named: level) {
            case .debug: .dim
            case .info, .notice, nil: .plain
            case .warning: .warning
            case .error: .bad
            }
        let facts = facts.sorted { $0.key < $1.key }.map { "\(Clean.line($0.key))=\(quoted(Clean.line($0.value)))" }
        let parts = [
            surface.paint("\(moment.date) \(moment.clock).\(thousandths)", .dim),
            surface.paint(Width.pad(Clean.line(level), to: 7), style), Width.pad(Clean.line(room), to: 10),
            surface.paint(Clean.line(message), style), surface.paint(facts.joined(separator: " "), .dim),
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private func quoted(_ text: String) -> String { text.contains(" ") || text.isEmpty ? "\"\(text)\"" : text }
}
