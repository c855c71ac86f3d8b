/// Text as it is compared: words in lower case without accents, so that nobody needs to type those of `Élodie Grünwald`.
public enum Words {
    /// The words of a text, folded. Marks between letters part words, apostrophes do not; writing without spaces between
    /// words (Chinese, Japanese) is parted into its characters. Nothing but letters and digits is left.
    public static func split(_ text: some StringProtocol) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        func end() {
            if !word.isEmpty { words.append(String(word)) }
            word.removeAll(keepingCapacity: true)
        }
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x30...0x39, 0x61...0x7A: word.append(scalar)
            case 0x41...0x5A: word.append(Unicode.Scalar(UInt8(scalar.value + 32)))
            case 0x27, 0x2019, 0x2BC: break
            case 0..<0x80: end()
            case 0x2E80...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
                end()
                if scalar.properties.isAlphabetic {
                    word.append(scalar)
                    end()
                }
            default:
                let folded = fold(scalar)
                if folded == nil { end() } else { word.append(contentsOf: folded!.unicodeScalars) }
            }
        }
        end()
        return words
    }

    /// The words with one space between them: two texts that read alike become the same.
    public static func fold(_ text: some StringProtocol) -> String { split(text).joined(separator: " ") }

    /// What is looked for in a text: its words, and initials also as one: `J. R. R. Tolkien` is found by `jrr`.
    static func indexed(_ texts: [String]) -> String {
        var out: [String] = []
        for text in texts {
            let words = split(text)
            out += words
            for initials in words.split(whereSeparator: { $0.utf8.count != 1 }) where initials.count > 1 {
                out.append(initials.joined())
            }
        }
        return out.joined(separator: " ")
    }

    /// What somebody looks for: so much of it as can be meant.
    public static func asked(_ text: String) -> [String] { Array(split(String(text.prefix(500))).prefix(12)) }

    /// How well a title and the names around it fit words that were folded: 4 the whole title, 3 its beginning, 2 all in
    /// the title, 1 all somewhere, 0 not. A word fits that another begins with.
    public static func fit(title: [String], others: [String], _ wanted: [String]) -> Int {
        if wanted.isEmpty { return 0 }
        if title == wanted { return 4 }
        if begins(title, wanted) { return 3 }
        if contains(title, wanted) { return 2 }
        return contains(title + others, wanted) ? 1 : 0
    }

    /// How many of the words are there whole, and one more where all of them stand together: of what fits alike, `king` means
    /// rather King than Kingsley, and `stephen king` no Stephen read by a King.
    public static func whole(_ pool: [String], _ wanted: [String]) -> Int {
        let isRun = pool.indices.contains { pool[$0...].starts(with: wanted) }
        return wanted.count { pool.contains($0) } + (isRun ? 1 : 0)
    }

    private static func begins(_ title: [String], _ wanted: [String]) -> Bool {
        guard title.count >= wanted.count, let last = wanted.last else { return false }
        return title.starts(with: wanted.dropLast()) && title[wanted.count - 1].hasPrefix(last)
    }

    private static func contains(_ pool: [String], _ wanted: [String]) -> Bool {
        wanted.allSatisfy { word in pool.contains { $0.hasPrefix(word) } }
    }

    /// - Returns: nil for what parts words; empty for marks over letters.
    private static func fold(_ scalar: Unicode.Scalar) -> String? {
        let properties = scalar.properties
        if properties.generalCategory == .nonspacingMark { return "" }
        guard properties.isAlphabetic || properties.numericType != nil else { return nil }
        let lower = properties.lowercaseMapping
        guard let first = lower.unicodeScalars.first else { return lower }
        if let plain = others[first] { return plain }
        switch first.value {
        // "LATIN SMALL LETTER E WITH ACUTE": the letter is in the name.
        case 0xC0...0x24F, 0x1E00...0x1EFF:
            guard let name = first.properties.name, name.hasPrefix(latin) else { return lower }
            let rest = name.dropFirst(latin.count)
            return rest.prefix { $0 != " " }.count == 1 ? rest.prefix(1).lowercased() : lower
        default: return lower
        }
    }

    private static let latin = "LATIN SMALL LETTER "
    private static let others: [Unicode.Scalar: String] = [
        "ß": "ss", "æ": "ae", "ǽ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i", "ĸ": "k", "ŋ": "n",
        "ά": "α", "έ": "ε", "ή": "η", "ί": "ι", "ΐ": "ι", "ϊ": "ι", "ό": "ο", "ύ": "υ", "ΰ": "υ", "ϋ": "υ", "ώ": "ω",
        "ς": "σ", "ё": "е",
    ]
}
