public import Control
internal import Listening

/// Statistics as a picture, written by hand: there is little in it, and every text is escaped.
extension StatsReport {
    private static let width = 720.0
    private static let left = 70.0
    private static let top = 84.0
    private static let height = 220.0
    private static let blue = "#2f6db5"
    private static let orange = "#d08a2e"

    /// A whole SVG document. It follows the viewer's light or dark colours; who knows none sees the light ones.
    public var svg: String {
        let highest = days.map(\.seconds).max() ?? 0
        let step = Self.step(for: highest)
        let ceiling = max(step, (highest / step).rounded(.up) * step)
        let bottom = Self.top + Self.height
        let whole = bottom + 44 + (items.isEmpty ? 0 : Double(items.count) * 22 + 30) + (note == nil ? 0 : 26)
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.n(Self.width))" height="\(Self.n(whole))" \
            viewBox="0 0 \(Self.n(Self.width)) \(Self.n(whole))" role="img">
            """,
            "<title>\(Self.escaped(heading))</title>", Self.style,
            "<rect class=\"page\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
            Self.text(heading, 24, 34, "big", 20),
            Self.text(
                "In all \(Figures.length(total.seconds))"
                    + (streak > 0 ? ", \(Figures.count(streak, "day")) in a row" : ""),
                24, 58, "soft", 13),
        ]
        for line in stride(from: 0, through: ceiling, by: step) {
            let y = bottom - line / ceiling * Self.height
            parts.append(
                Self.element(
                    "line",
                    [
                        "class": "grid", "x1": Self.n(Self.left), "x2": Self.n(Self.width - 24), "y1": Self.n(y),
                        "y2": Self.n(y), "stroke": "#d0d0d0",
                    ]))
            parts.append(Self.text(line == 0 ? "0" : Figures.length(line), Self.left - 8, y + 4, "soft", 11, "end"))
        }
        let slot = (Self.width - 24 - Self.left) / Double(max(1, days.count))
        let gap = min(4, slot * 0.2)
        for (index, day) in days.enumerated() {
            let x = Self.left + Double(index) * slot + gap / 2
            let tooltip = "<title>\(Self.escaped("\(day.date): \(Figures.length(day.seconds))"))</title>"
            var y = bottom
            for (seconds, kind, colour) in [(day.server, "server", Self.blue), (day.local, "local", Self.orange)]
            where seconds > 0 {
                let tall = seconds / ceiling * Self.height
                y -= tall
                parts.append(
                    Self.bar(kind, x: x, y: y, width: max(0.5, slot - gap), height: tall, colour, tooltip))
            }
        }
        // Which colour is which.
        if period.server > 0, period.local > 0 {
            for (index, (name, kind, colour)) in [
                ("servers", "server", Self.blue), ("only here", "local", Self.orange),
            ].enumerated() {
                let y = 30 + Double(index) * 20
                parts.append(Self.bar(kind, x: Self.width - 36, y: y - 10, width: 12, height: 12, colour))
                parts.append(Self.text(name, Self.width - 44, y, "soft", 11, "end"))
            }
        }
        if let first = days.first { parts.append(Self.text(first.date, Self.left, bottom + 18, "soft", 11)) }
        if days.count > 1, let last = days.last {
            parts.append(Self.text(last.date, Self.width - 24, bottom + 18, "soft", 11, "end"))
        }
        var y = bottom + 48
        for item in items {
            parts.append(Self.text(Figures.length(item.seconds), 120, y, "soft", 13, "end"))
            parts.append(Self.text(Width.cut(item.item.byline, to: 80), 132, y, "plain", 13))
            y += 22
        }
        if let note { parts.append(Self.text(note, 24, whole - 16, "soft", 11)) }
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private var heading: String {
        "Listened \(days.count == 1 ? "today" : "in the last \(days.count) days"): \(Figures.length(period.seconds))"
    }

    private static let style = """
        <style>
        text { font-family: sans-serif }
        @media (prefers-color-scheme: dark) {
          .page { fill: #1e1e1e }
          .big, .plain { fill: #f0f0f0 }
          .soft { fill: #b0b0b0 }
          .grid { stroke: #4a4a4a }
          .server { fill: #6ea8e6 }
          .local { fill: #e6b36a }
        }
        </style>
        """

    /// Between the lines of the grid, so that there are four to six of them.
    private static func step(for seconds: Double) -> Double {
        let steps = [60, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200.0, 86_400]
        return steps.first { seconds <= $0 * 5 } ?? (seconds / 5 / 86_400).rounded(.up) * 86_400
    }

    private static func text(
        _ text: String, _ x: Double, _ y: Double, _ kind: String, _ size: Int, _ anchor: String = "start"
    ) -> String {
        let colour = kind == "soft" ? "#606060" : "#202020"
        return element(
            "text",
            [
                "class": kind, "x": n(x), "y": n(y), "font-size": "\(size)", "text-anchor": anchor, "fill": colour,
            ], escaped(text))
    }

    private static func bar(
        _ kind: String, x: Double, y: Double, width: Double, height: Double, _ colour: String, _ content: String = ""
    ) -> String {
        element(
            "rect",
            ["class": kind, "x": n(x), "y": n(y), "width": n(width), "height": n(height), "fill": colour], content)
    }

    /// - Parameters:
    ///   - attributes: our own words and numbers, in which nothing needs escaping.
    ///   - content: escaped.
    private static func element(
        _ name: String, _ attributes: KeyValuePairs<String, String>, _ content: String = ""
    ) -> String {
        let head = "<\(name)" + attributes.map { " \($0)=\"\($1)\"" }.joined()
        return content.isEmpty ? head + "/>" : head + ">\(content)</\(name)>"
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for character in Clean.line(text) {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            default: out.append(character)
            }
        }
        return out
    }

    private static func n(_ number: Double) -> String { Figures.decimal(number) }
}
