/// What a terminal must be told so that it shows a frame.
public enum Changes {
    /// - Parameter old: what it shows now; nil when that is not known: everything is drawn.
    /// - Returns: nothing where nothing changed.
    public static func from(_ old: Frame?, to new: Frame, colors: Colors) -> String {
        guard let old, old.size == new.size else { return everything(new, colors) }
        if old == new { return "" }
        var pen = Pen(colors: colors)
        for y in 0..<new.size.rows { row(y, old, new, &pen) }
        if old.image != new.image { pen.leap(new.image?.place ?? Image.remove) }
        return pen.finished(cursor: new.cursor)
    }

    /// The picture that a frame shows and the terminal does not have: goes before the frame, for what is drawn in one
    /// piece is bounded, in kitty to less than a cover.
    public static func picture(from old: Frame?, to new: Frame) -> String {
        guard let image = new.image, image.name != old?.image?.name else { return "" }
        return image.transfer
    }

    private static func everything(_ frame: Frame, _ colors: Colors) -> String {
        var pen = Pen(colors: colors)
        pen.out = "\u{1B}[0m\u{1B}[2J"
        pen.style = .plain
        let blank = Frame(frame.size)
        for y in 0..<frame.size.rows { row(y, blank, frame, &pen) }
        if let image = frame.image { pen.leap(image.place) }
        return pen.finished(cursor: frame.cursor)
    }

    private static func row(_ y: Int, _ old: Frame, _ new: Frame, _ pen: inout Pen) {
        let columns = new.size.columns
        var x = 0
        while x < columns {
            let cell = new[x, y]
            let isWide = x + 1 < columns && new[x + 1, y].text == nil
            let isSame = cell == old[x, y] && (!isWide || new[x + 1, y] == old[x + 1, y])
            if !isSame, let text = cell.text { pen.write(text, cell.style, at: x, y, columns: isWide ? 2 : 1) }
            x += isWide ? 2 : 1
        }
    }
}

/// Where the terminal's cursor is and how it writes.
private struct Pen {
    let colors: Colors
    var out = ""
    var style: Style?
    var place: (x: Int, y: Int)?

    init(colors: Colors) { self.colors = colors }

    mutating func write(_ text: Character, _ style: Style, at x: Int, _ y: Int, columns: Int) {
        if place?.x != x || place?.y != y { out += "\u{1B}[\(y + 1);\(x + 1)H" }
        if self.style != style {
            out += colors.select(style)
            self.style = style
        }
        out.append(text)
        // Terminals differ in how wide they draw some characters: behind those the cursor is placed anew.
        place = text.isASCII || isSimple(text) ? (x + columns, y) : nil
    }

    /// Something that may leave the cursor elsewhere.
    mutating func leap(_ text: String) {
        out += text
        place = nil
    }

    /// The lines, arrows and letters that every terminal draws in one column.
    private func isSimple(_ text: Character) -> Bool {
        guard text.unicodeScalars.count == 1, let scalar = text.unicodeScalars.first else { return false }
        return scalar.value < 0x300 || 0x2500...0x259F ~= scalar.value || scalar == "…" || scalar == "—"
    }

    func finished(cursor: Frame.Cursor?) -> String {
        var text = out + (style == nil || style == .plain ? "" : "\u{1B}[0m")
        if let cursor { text += "\u{1B}[\(cursor.y + 1);\(cursor.x + 1)H\u{1B}[?25h" } else { text += "\u{1B}[?25l" }
        return text
    }
}
