/// How many columns of a terminal a text takes: 2 for wide characters and emoji, 0 for marks that combine.
public enum Width {
    public static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

    public static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.properties.isEmoji, scalars.contains("\u{FE0F}") { return 2 }
        return scalars.lazy.map(of).max() ?? 0
    }

    /// As much as fits, with `…` at the end if something had to go.
    public static func cut(_ text: String, to columns: Int) -> String {
        if of(text) <= columns { return text }
        guard columns > 0 else { return "" }
        var kept = ""
        var used = 0
        for character in text {
            let width = of(character)
            if used + width > columns - 1 { break }
            kept.append(character)
            used += width
        }
        while kept.last == " " { kept.removeLast() }
        return kept + "…"
    }

    /// Filled up with spaces on the right, or on the left.
    public static func pad(_ text: String, to columns: Int, left: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, columns - of(text)))
        return left ? spaces + text : text + spaces
    }

    /// In lines of at most so many columns, broken between words; longer words are broken too.
    public static func wrap(_ text: String, to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            var word = word[...]
            if !line.isEmpty, of(line) + 1 + of(word) <= columns {
                line += " " + word
                continue
            }
            if !line.isEmpty { lines.append(line) }
            while of(word) > columns {
                var taken = 0
                var used = 0
                for character in word {
                    used += of(character)
                    if used > columns, taken > 0 { break }
                    taken += 1
                }
                lines.append(String(word.prefix(taken)))
                word = word.dropFirst(taken)
            }
            line = String(word)
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if 0x1160...0x11FF ~= scalar.value { return 0 }  // Hangul vowels and finals join the letter before
        return isWide(scalar) ? 2 : 1
    }

    /// East Asian Wide and Fullwidth, and what is shown as an emoji without being asked to.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x1100 { return false }
        if scalar.properties.isEmojiPresentation { return true }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
            0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
