internal import Listening

/// Words that were mistyped, and what may have been meant.
enum Typos {
    /// Names and words of people; numbers and single letters are meant as they are.
    static func isWord(_ word: String) -> Bool {
        let scalars = word.unicodeScalars
        return (4...24).contains(scalars.count) && scalars.allSatisfy { $0.properties.isAlphabetic }
    }

    /// How many letters may be wrong.
    static func limit(_ word: String) -> Int {
        switch word.unicodeScalars.count {
        case ..<4: 0
        case ..<7: 1
        default: 2
        }
    }

    /// The word itself and the word without each of its letters: two words that are one mistake apart have one of these
    /// in common.
    static func variants(_ word: String) -> Set<String> {
        let scalars = Array(word.unicodeScalars)
        var variants: Set<String> = [word]
        for index in scalars.indices {
            var view = String.UnicodeScalarView()
            for (other, scalar) in scalars.enumerated() where other != index { view.append(scalar) }
            variants.insert(String(view))
        }
        return variants
    }

    /// What a short word is with two neighbours swapped, and then with one letter changed. Short words are typed as
    /// beginnings, so that these are too: no list of whole words would have them.
    static func slips(_ word: String) -> (swapped: [String], changed: [String]) {
        let scalars = Array(word.unicodeScalars)
        guard (3...4).contains(scalars.count), let alphabet = alphabet(of: scalars) else { return ([], []) }
        func text(_ body: (inout [Unicode.Scalar]) -> Void) -> String {
            var copy = scalars
            body(&copy)
            return String(String.UnicodeScalarView(copy))
        }
        let swapped = scalars.indices.dropLast().map { index in text { $0.swapAt(index, index + 1) } }
        let changed = scalars.indices.flatMap { index in alphabet.map { letter in text { $0[index] = letter } } }
        return (swapped.filter { $0 != word }, changed.filter { $0 != word })
    }

    /// The letters of the script that all of these are in; nil for one of another size.
    private static func alphabet(of scalars: [Unicode.Scalar]) -> [Unicode.Scalar]? {
        let scripts: [ClosedRange<UInt32>] = [0x61...0x7A, 0x3B1...0x3C9, 0x430...0x44F]
        let script = scripts.first { script in scalars.allSatisfy { script.contains($0.value) } }
        return script?.compactMap(Unicode.Scalar.init)
    }
}

extension Words {
    /// What mistyped words may have meant: each that no known one begins with becomes the nearest of those.
    /// - Returns: nil if one of them is like none, or if none is mistyped.
    public static func meant(by words: [String], among known: Set<String>) -> [String]? {
        var meant: [String] = []
        for word in words {
            if known.contains(where: { $0.hasPrefix(word) }) {
                meant.append(word)
                continue
            }
            let limit = Typos.limit(word)
            guard limit > 0, Typos.isWord(word) else { return nil }
            let near = known.compactMap { known in Spelling.distance(word, known, limit: limit).map { ($0, known) } }
            guard let nearest = near.min(by: <) else { return nil }
            meant.append(nearest.1)
        }
        return meant == words ? nil : meant
    }
}
