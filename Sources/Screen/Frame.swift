internal import Terminal

public struct Size: Hashable, Sendable {
    public var columns: Int
    public var rows: Int

    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// A part of the screen; its left upper corner is at 0, 0.
public struct Area: Hashable, Sendable {
    public var x: Int
    public var y: Int
    public var columns: Int
    public var rows: Int

    public init(x: Int, y: Int, columns: Int, rows: Int) {
        self.x = x
        self.y = y
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    public func contains(_ x: Int, _ y: Int) -> Bool {
        x >= self.x && x < self.x + columns && y >= self.y && y < self.y + rows
    }

    public func row(_ index: Int) -> Area { Area(x: x, y: y + index, columns: columns, rows: 1) }

    /// Without so much at each side.
    public func inset(left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0) -> Area {
        Area(x: x + left, y: y + top, columns: columns - left - right, rows: rows - top - bottom)
    }
}

/// One place on the screen. A wide character's second place has no text of its own.
public struct Cell: Hashable, Sendable {
    public var text: Character?
    public var style: Style

    public static let empty = Cell(text: " ", style: .plain)

    public init(text: Character?, style: Style) {
        self.text = text
        self.style = style
    }
}

/// Everything on the screen at one moment.
public struct Frame: Hashable, Sendable {
    public let size: Size
    public private(set) var cells: [Cell]
    /// Where typing happens; nil hides the cursor.
    public var cursor: Cursor?
    /// Over the cells.
    public internal(set) var image: Image?

    public struct Cursor: Hashable, Sendable {
        public var x: Int
        public var y: Int

        public init(x: Int, y: Int) {
            self.x = x
            self.y = y
        }
    }

    public init(_ size: Size) {
        self.size = Size(columns: max(1, min(size.columns, 2000)), rows: max(1, min(size.rows, 1000)))
        cells = Array(repeating: .empty, count: self.size.columns * self.size.rows)
    }

    public var area: Area { Area(x: 0, y: 0, columns: size.columns, rows: size.rows) }

    public subscript(x: Int, y: Int) -> Cell { cells[y * size.columns + x] }

    /// The text of a row as people see it.
    public func line(_ y: Int) -> String {
        var line = ""
        for x in 0..<size.columns { if let text = self[x, y].text { line.append(text) } }
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Writes text from strangers harmlessly: what is too long is cut with `…`.
    /// - Returns: the column behind it.
    @discardableResult
    public mutating func write(_ text: String, _ style: Style = .plain, at x: Int, _ y: Int, columns: Int) -> Int {
        let room = min(columns, size.columns - x)
        guard room > 0, x >= 0, y >= 0, y < size.rows else { return x }
        var column = x
        // What is far too long for any screen is not looked at whole.
        for character in Width.cut(Clean.line(text.prefix(room * 4 + 8)), to: room) {
            let width = Width.of(character)
            guard width > 0, column + width <= x + room else { continue }
            put(Cell(text: Self.tame(character), style: style), width, column, y)
            column += width
        }
        return column
    }

    /// Spaces are kept as they are: for drawings of our own.
    @discardableResult
    public mutating func draw(_ text: String, _ style: Style = .plain, at x: Int, _ y: Int, columns: Int) -> Int {
        let room = min(columns, size.columns - x)
        guard room > 0, x >= 0, y >= 0, y < size.rows else { return x }
        var column = x
        for character in text {
            let width = Width.of(character)
            guard width > 0 else { continue }
            guard column + width <= x + room else { break }
            put(Cell(text: character, style: style), width, column, y)
            column += width
        }
        return column
    }

    /// Text at the right end of an area of one row.
    public mutating func writeRight(_ text: String, _ style: Style = .plain, in area: Area) {
        let clean = Width.cut(Clean.line(text), to: area.columns)
        write(clean, style, at: area.x + area.columns - Width.of(clean), area.y, columns: Width.of(clean))
    }

    /// Changes how an area looks, keeping what is written there.
    public mutating func paint(_ area: Area, _ style: Style) {
        for y in max(0, area.y)..<max(0, min(area.y + area.rows, size.rows)) {
            for x in max(0, area.x)..<max(0, min(area.x + area.columns, size.columns)) {
                cells[y * size.columns + x].style = cells[y * size.columns + x].style.with(style)
            }
        }
    }

    /// Everything as it is in a dark room.
    public mutating func darken() {
        for index in cells.indices { cells[index].style = cells[index].style.inTheDark }
    }

    public mutating func clear(_ area: Area) {
        for y in max(0, area.y)..<max(0, min(area.y + area.rows, size.rows)) {
            for x in max(0, area.x)..<max(0, min(area.x + area.columns, size.columns)) { put(.empty, 1, x, y) }
        }
    }

    /// One cell as it is, such as a half block of a picture.
    public mutating func set(_ cell: Cell, at x: Int, _ y: Int) {
        guard x >= 0, y >= 0, x < size.columns, y < size.rows else { return }
        put(cell, 1, x, y)
    }

    /// Half of a wide character is never left behind.
    private mutating func put(_ cell: Cell, _ width: Int, _ x: Int, _ y: Int) {
        let start = y * size.columns
        if cells[start + x].text == nil, x > 0 { cells[start + x - 1].text = " " }
        let end = x + width
        if end < size.columns, cells[start + end].text == nil { cells[start + end].text = " " }
        cells[start + x] = cell
        if width == 2 { cells[start + x + 1] = Cell(text: nil, style: cell.style) }
    }

    /// Marks may be piled on a letter without end; a few are enough.
    private static func tame(_ character: Character) -> Character {
        guard character.unicodeScalars.count > 10 else { return character }
        var kept = String.UnicodeScalarView()
        kept.append(contentsOf: character.unicodeScalars.prefix(10))
        return String(kept).first ?? " "
    }
}
