internal import Terminal

/// Which of many rows is chosen and which are in sight.
public struct ListPlace: Hashable, Sendable {
    public var chosen = 0
    /// The first row in sight.
    public private(set) var first = 0

    public init() {}

    /// Keeps the chosen row among the rows there are, and in sight.
    public mutating func fit(count: Int, rows: Int) {
        chosen = max(0, min(chosen, count - 1))
        if chosen < first { first = chosen }
        if chosen >= first + max(1, rows) { first = chosen - max(1, rows) + 1 }
        first = max(0, min(first, count - max(1, rows)))
    }

    /// Moves what is in sight, as a wheel does; the chosen row comes along at the edge.
    public mutating func scroll(by amount: Int, count: Int, rows: Int) {
        first = max(0, min(first + amount, count - max(1, rows)))
        chosen = max(first, min(chosen, first + max(1, rows) - 1))
        fit(count: count, rows: rows)
    }
}

/// A line that is typed into.
public struct TextField: Hashable, Sendable {
    public private(set) var text: [Character] = []
    public private(set) var cursor = 0
    private static let longest = 200

    public init() {}

    public var string: String { String(text) }

    /// Typed or pasted; on one line, whatever it is.
    public mutating func insert(_ more: String) {
        let characters = more == " " ? [" "] : Array(Clean.line(more))
        let fitting = characters.prefix(max(0, Self.longest - text.count))
        text.insert(contentsOf: fitting, at: cursor)
        cursor += fitting.count
    }

    public mutating func clear() { self = TextField() }

    /// - Returns: false for keys that do not edit.
    public mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .text(let character): insert(String(character))
        case .backspace:
            guard cursor > 0 else { return true }
            cursor -= 1
            text.remove(at: cursor)
        case .delete: if cursor < text.count { text.remove(at: cursor) }
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        case .control("u"):
            text.removeFirst(cursor)
            cursor = 0
        case .control("w"):
            while cursor > 0, text[cursor - 1] == " " { _ = handle(.backspace) }
            while cursor > 0, text[cursor - 1] != " " { _ = handle(.backspace) }
        default: return false
        }
        return true
    }

    /// The part around the cursor that fits, and the cursor's column in it.
    public func shown(columns: Int) -> (text: String, cursor: Int) {
        var start = 0
        while Width.of(String(text[start..<cursor])) >= max(1, columns) { start += 1 }
        var shown = ""
        for character in text[start...] {
            if Width.of(shown) + Width.of(character) > columns { break }
            shown.append(character)
        }
        return (shown, Width.of(String(text[start..<cursor])))
    }
}

extension Frame {
    /// A share from 0 to 1 as a line that fills up.
    public mutating func bar(_ share: Double, in area: Area, _ style: Style = .accent) {
        let share = share.isFinite ? max(0, min(1, share)) : 0
        let filled =
            share >= 1
            ? area.columns : share <= 0 ? 0 : max(1, min(area.columns - 1, Int(share * Double(area.columns))))
        draw(String(repeating: "━", count: max(0, filled)), style, at: area.x, area.y, columns: area.columns)
        draw(
            String(repeating: "─", count: max(0, area.columns - filled)), .dim, at: area.x + filled, area.y,
            columns: area.columns - filled)
    }

    /// A picture as half blocks: two of its rows in each row of the screen.
    public mutating func picture(_ picture: Pixels, in area: Area) {
        for y in 0..<min(area.rows, (picture.height + 1) / 2) {
            for x in 0..<min(area.columns, picture.width) {
                var style = Style.plain
                style.foreground = picture.color(x, y * 2)
                style.background = picture.color(x, y * 2 + 1)
                set(Cell(text: "▀", style: style), at: area.x + x, area.y + y)
            }
        }
    }
}

/// A picture of three bytes for each point: red, green, blue.
public struct Pixels: Hashable, Sendable {
    public let width: Int
    public let height: Int
    private let bytes: [UInt8]

    /// - Returns: nil if the bytes are not as many as the size wants.
    public init?(width: Int, height: Int, bytes: [UInt8]) {
        guard width > 0, height > 0, bytes.count == width * height * 3 else { return nil }
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    func color(_ x: Int, _ y: Int) -> Style.Color? {
        guard x < width, y < height else { return nil }
        let start = (y * width + x) * 3
        return .rgb(bytes[start], bytes[start + 1], bytes[start + 2])
    }
}
