/// Titles and names come from strangers: nothing of them may move the cursor, change colours or turn lines around.
public enum Clean {
    /// On one line: control characters, escapes and line ends become spaces, direction marks and invisible
    /// characters go.
    public static func line(_ text: some StringProtocol) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch kind(of: scalar) {
            case .plain: scalars.append(scalar)
            case .control: if scalars.last != " " { scalars.append(" ") }
            case .hidden: break
            }
        }
        return String(scalars.trimmingSpaces())
    }

    /// A message, which begins small and ends open, for where it stands by itself. An address stays as it is.
    public static func sentence(_ message: String) -> String {
        let text = line(message)
        let ends = text.last.map { $0.isLetter || $0.isNumber || "'\")".contains($0) } ?? false
        // An address, or an item's id.
        let isName = text.prefix { $0 != " " }.dropLast().contains(":")
        let sentence = isName ? text : text.prefix(1).uppercased() + text.dropFirst()
        return sentence + (ends ? "." : "")
    }

    /// A sentence of ours, which some title in it may begin that is written from right to left.
    public static func leftToRight(_ sentence: String) -> String {
        turns(sentence) ? "\u{200E}" + sentence : sentence
    }

    /// A title in a sentence of ours: behind a long one nobody sees the rest.
    public static func short(_ title: String, limit: Int = 60) -> String {
        title.count > limit ? "\(title.prefix(limit - 1))…" : title
    }

    /// Some words of others among ours, which turn nothing around that stands behind them.
    public static func isolated(_ words: String) -> String { turns(words) ? "\u{2068}\(words)\u{2069}" : words }

    /// Some of it is written from right to left.
    private static func turns(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            [0x590...0x8FF, 0xFB1D...0xFEFC, 0x1E800...0x1EFFF].contains { $0.contains(scalar.value) }
        }
    }

    /// In paragraphs: as ``line(_:)``, each on its own. Several empty lines become one.
    public static func paragraphs(_ text: String) -> [String] {
        var lines: [String] = []
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            let line = line(part)
            if !line.isEmpty || lines.last?.isEmpty == false { lines.append(line) }
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// The same JSON with what a terminal would obey written as `\u….`: such characters are only ever inside strings.
    public static func json(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if kind(of: scalar) == .plain || scalar == "\n" || scalar.value > 0xFFFF {
                out.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16)
                out.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
            }
        }
        return String(out)
    }

    private enum Kind { case plain, control, hidden }

    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029: .control
        case 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB:
            .hidden
        case 0xE0000...0xE001F, 0xE0080...0xE00FF: .hidden
        default: .plain
        }
    }
}

extension String.UnicodeScalarView {
    fileprivate func trimmingSpaces() -> Self {
        var rest = self[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return Self(rest)
    }
}
