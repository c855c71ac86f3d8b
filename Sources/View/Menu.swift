internal import DBus
internal import Screen

/// A few things to choose from, each by its key, over everything else.
struct Menu: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var key: Character
        var text: String
        var act: Act
    }
    var title: String
    var entries: [Entry]

    /// When listening ends by itself.
    static let sleep = Menu(
        title: "Sleep",
        entries: [
            ("1", "in 15 minutes", "15m"), ("2", "in 30 minutes", "30m"), ("3", "in 45 minutes", "45m"),
            ("4", "in an hour", "1h"), ("c", "at the end of the chapter", "chapter"),
            ("i", "at the end of the item", "item"), ("+", "15 minutes later than set", "+15m"),
            ("0", "not at all", "off"),
        ].map { key, text, wish in
            Entry(key: key, text: text, act: Act("Sleep", [.string(wish)], done: "Sleep: \(text)."))
        })
}

extension ViewState {
    /// Any key but those of the menu leaves it.
    mutating func choose(_ key: Key, from menu: Menu) {
        self.menu = nil
        guard case .text(let character) = key, let entry = menu.entries.first(where: { $0.key == character }) else {
            return
        }
        act(entry.act)
    }

    func drawMenu(_ menu: Menu, _ drawing: inout Drawing) {
        let rows = min(menu.entries.count, max(1, content.rows - 1))
        let area = Area(x: 0, y: max(0, size.rows - 2 - rows - 1), columns: size.columns, rows: rows + 1)
        drawing.frame.clear(area)
        drawing.hits.removeAll { $0.area.y >= area.y && $0.area.y < area.y + area.rows }
        drawing.frame.paint(area.row(0), .chosen)
        drawing.frame.write(menu.title, Style.chosen.with(.bold), at: 1, area.y, columns: size.columns - 2)
        for (index, entry) in menu.entries.prefix(rows).enumerated() {
            let row = area.row(index + 1)
            let x = drawing.frame.draw(" \(entry.key)  ", .bold, at: 0, row.y, columns: row.columns)
            drawing.frame.write(entry.text, at: x, row.y, columns: row.columns - x)
            drawing.hits.append(Hit(area: row, target: .entry(entry.key)))
        }
    }
}
