internal import Terminal

/// A terminal as far as programs of ours use one: what bytes make of its screen, its cursor and its modes. Anything else
/// in them is counted as unknown.
public struct Emulator: Sendable {
    public private(set) var columns: Int
    public private(set) var rows: Int
    /// Characters; nil behind a wide one.
    public private(set) var cells: [[Character?]]
    /// The codes each cell was written with, such as `0;7`.
    public private(set) var styles: [[String]]
    public private(set) var cursor = (x: 0, y: 0)
    /// Numbers of the private modes that are set.
    public private(set) var modes: Set<Int> = [7, 25]
    public private(set) var clipboard: String?
    public private(set) var unknown: [String] = []
    /// How many frames came, each between two marks.
    public private(set) var frames = 0
    /// How often anything of it may have changed.
    public private(set) var changes = 0
    /// The picture over the cells, by the graphics protocol of kitty.
    public private(set) var image: Image?
    /// What a picture is made of, before it is shown.
    private var handedOver: (data: String, isWhole: Bool)?
    private var style = "0"

    public struct Image: Hashable, Sendable {
        public var x: Int
        public var y: Int
        public var keys: [String: String]
        /// All pieces, in base64.
        public var data: String
        public var isWhole: Bool
    }
    private var main: (cells: [[Character?]], cursor: (x: Int, y: Int))?
    private var pending: [UInt8] = []

    public init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        styles = Array(repeating: Array(repeating: "0", count: columns), count: rows)
    }

    public var isAlternate: Bool { main != nil }

    public var lines: [String] {
        cells.map { row in
            var line = String(row.compactMap(\.self))
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    public var text: String { lines.joined(separator: "\n") }

    /// What was on it is cut or filled up, as terminals do.
    public mutating func resize(columns: Int, rows: Int) {
        changes += 1
        (self.columns, self.rows) = (columns, rows)
        func fitted<Element>(_ old: [[Element]], _ blank: Element) -> [[Element]] {
            (0..<rows).map { y in
                (0..<columns).map { x in y < old.count && x < old[y].count ? old[y][x] : blank }
            }
        }
        cells = fitted(cells, " ")
        styles = fitted(styles, "0")
        if let (cells, cursor) = main {
            main = (fitted(cells, " "), (min(cursor.x, columns - 1), min(cursor.y, rows - 1)))
        }
        cursor = (min(cursor.x, columns - 1), min(cursor.y, rows - 1))
    }

    public mutating func feed(_ more: some Sequence<UInt8>) {
        changes += 1
        pending += more
        var start = 0
        while start < pending.count, let length = step(at: start) {
            start += length
        }
        pending.removeFirst(start)
    }

    private mutating func step(at start: Int) -> Int? {
        let first = pending[start]
        if first == 0x1B { return escape(at: start) }
        if first < 0x20 || first == 0x7F {
            switch first {
            case 0x0D: cursor.x = 0
            case 0x0A: lineFeed()
            case 0x08: cursor.x = max(0, cursor.x - 1)
            case 0x07, 0x18: break
            default: unknown.append("control \(first)")
            }
            return 1
        }
        // Everything up to the next control character that is whole.
        var end = start
        while end < pending.count, pending[end] >= 0x20, pending[end] != 0x7F { end += 1 }
        if end == pending.count {
            var tail = end - 1
            while tail > start, pending[tail] & 0xC0 == 0x80 { tail -= 1 }
            let length = pending[tail] >= 0xF0 ? 4 : pending[tail] >= 0xE0 ? 3 : pending[tail] >= 0xC0 ? 2 : 1
            if end - tail < length { end = tail }
        }
        guard end > start else { return nil }
        for character in String(decoding: pending[start..<end], as: UTF8.self) { put(character) }
        return end - start
    }

    private mutating func put(_ character: Character) {
        let width = Width.of(character)
        guard width > 0 else { return }
        if cursor.x + width > columns {
            guard modes.contains(7) else { return }
            cursor.x = 0
            lineFeed()
        }
        cells[cursor.y][cursor.x] = character
        styles[cursor.y][cursor.x] = style
        if width == 2 {
            cells[cursor.y][cursor.x + 1] = nil
            styles[cursor.y][cursor.x + 1] = style
        }
        cursor.x += width
        if cursor.x >= columns, !modes.contains(7) { cursor.x = columns - 1 }
    }

    private mutating func lineFeed() {
        if cursor.y < rows - 1 {
            cursor.y += 1
        } else {
            cells.removeFirst()
            cells.append(Array(repeating: " ", count: columns))
            styles.removeFirst()
            styles.append(Array(repeating: "0", count: columns))
        }
    }

    private mutating func escape(at start: Int) -> Int? {
        guard start + 1 < pending.count else { return nil }
        switch pending[start + 1] {
        case UInt8(ascii: "["):
            var end = start + 2
            while end < pending.count, 0x20...0x3F ~= pending[end] { end += 1 }
            guard end < pending.count else { return nil }
            sequence(
                String(decoding: pending[(start + 2)..<end], as: UTF8.self), Character(Unicode.Scalar(pending[end])))
            return end - start + 1
        case UInt8(ascii: "]"), UInt8(ascii: "_"):
            var end = start + 2
            while end < pending.count, pending[end] != 0x07, pending[end] != 0x1B { end += 1 }
            guard end < pending.count, pending[end] == 0x07 || end + 1 < pending.count else { return nil }
            let text = String(decoding: pending[(start + 2)..<end], as: UTF8.self)
            if text.hasPrefix("52;c;") {
                clipboard = String(text.dropFirst(5))
            } else if pending[start + 1] == UInt8(ascii: "_"), text.hasPrefix("G") {
                graphics(text.dropFirst())
            } else {
                unknown.append("string")
            }
            return end - start + (pending[end] == 0x07 ? 1 : 2)
        default:
            unknown.append("escape \(pending[start + 1])")
            return 2
        }
    }

    private mutating func graphics(_ text: Substring) {
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let pairs = parts[0].split(separator: ",").map { $0.split(separator: "=").map(String.init) }
        let keys = Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
        let data = parts.count > 1 ? String(parts[1]) : ""
        switch keys["a"] {
        case "d": (image, handedOver) = (nil, nil)
        case "t": (image, handedOver) = (nil, (data, isWhole: keys["m"] != "1"))
        case "p":
            image = handedOver.map { Image(x: cursor.x, y: cursor.y, keys: keys, data: $0, isWhole: $1) }
        default:
            handedOver?.data += data
            handedOver?.isWhole = keys["m"] != "1"
        }
    }

    private mutating func sequence(_ text: String, _ last: Character) {
        if text.hasPrefix("?"), last == "h" || last == "l" {
            for number in text.dropFirst().split(separator: ";").compactMap({ Int($0) }) { mode(number, last == "h") }
            return
        }
        let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        switch last {
        case "H":
            let (y, x) = ((numbers.first ?? nil) ?? 1, (numbers.count > 1 ? numbers[1] : nil) ?? 1)
            cursor = (max(0, min(x - 1, columns - 1)), max(0, min(y - 1, rows - 1)))
        case "m": style = text.isEmpty ? "0" : text
        case "J" where text == "2":
            cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
            styles = Array(repeating: Array(repeating: "0", count: columns), count: rows)
            image = nil
        case "K" where text.isEmpty:
            for x in cursor.x..<columns { (cells[cursor.y][x], styles[cursor.y][x]) = (" ", "0") }
        default: unknown.append("sequence \(text)\(last)")
        }
    }

    private mutating func mode(_ number: Int, _ isSet: Bool) {
        if number == 1049 {
            if isSet {
                if main == nil { main = (cells, cursor) }
                cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
            } else if let main {
                (cells, cursor) = (main.cells, main.cursor)
                self.main = nil
            }
        }
        if number == 2026, !isSet, modes.contains(2026) { frames += 1 }
        if isSet { modes.insert(number) } else { modes.remove(number) }
    }
}
