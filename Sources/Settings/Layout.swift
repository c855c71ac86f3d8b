/// Where the keys of a TOML text stand, so that one value can be changed and the rest left as the listener wrote it.
///
/// Only for text that a TOML parser has accepted: it is lenient, and what it would do is checked by parsing again.
struct Layout {
    private struct Entry {
        /// With the section's in front.
        let path: [String]
        let section: [String]
        /// From 0.
        let line: Int
        /// Of bytes: from the first letter of the key; the value; to behind the end of the last line.
        let start: Int
        let value: Range<Int>
        let end: Int
    }

    private struct Section {
        let path: [String]
        let line: Int
        /// Behind its head or its last entry.
        var end: Int
    }

    /// A line such as `#rate = 1.0`.
    private struct Mention {
        let path: [String]
        /// Behind its line.
        let end: Int
    }

    private let bytes: [UInt8]
    private var mentions: [Mention] = []
    private var entries: [Entry] = []
    private var sections: [Section] = []

    init(_ text: String) {
        bytes = Array(text.utf8)
        read()
    }

    /// - Returns: the line, from 1, of this key or of the table it is written in.
    func line(of key: String) -> Int {
        let path = key.split(separator: ".").map(String.init)
        let found = entries.last { path.starts(with: $0.path) || $0.path.joined(separator: ".") == key }
        let section = sections.first { $0.path.filter { !$0.isEmpty } == path }
        return (found?.line ?? section?.line ?? 0) + 1
    }

    func replacing(_ key: (section: String, name: String), with literal: String) -> String {
        if let entry = entry(key) { return spliced(entry.value, literal) }
        if let mention = mentions.last(where: { $0.path == [key.section, key.name] }) {
            return inserted("\(key.name) = \(literal)\n", at: mention.end)
        }
        if let section = sections.last(where: { $0.path == [key.section] }) {
            return inserted("\(key.name) = \(literal)\n", at: section.end)
        }
        if let dotted = entries.last(where: { $0.section.isEmpty && $0.path.count > 1 && $0.path[0] == key.section }) {
            return inserted("\(key.section).\(key.name) = \(literal)\n", at: dotted.end)
        }
        return inserted("\(bytes.isEmpty ? "" : "\n")[\(key.section)]\n\(key.name) = \(literal)\n", at: bytes.count)
    }

    func removing(_ key: (section: String, name: String)) -> String {
        guard let entry = entry(key) else { return spliced(0..<0, "") }
        return spliced(entry.start..<entry.end, "")
    }

    private func entry(_ key: (section: String, name: String)) -> Entry? {
        entries.first { $0.path == [key.section, key.name] }
    }

    /// Whole lines, on a line of their own.
    private func inserted(_ lines: String, at place: Int) -> String {
        spliced(place..<place, place > 0 && bytes[place - 1] != newline ? "\n" + lines : lines)
    }

    private func spliced(_ range: Range<Int>, _ text: String) -> String {
        String(decoding: bytes[..<range.lowerBound] + Array(text.utf8) + bytes[range.upperBound...], as: UTF8.self)
    }

    private mutating func read() {
        var place = 0
        var line = 0
        var section: [String] = []
        while place < bytes.count {
            let start = place
            skip(&place) { $0 == space || $0 == tab }
            if at(place) == UInt8(ascii: "[") {
                let isList = at(place + 1) == UInt8(ascii: "[")
                place += isList ? 2 : 1
                // A list of tables is no section of ours: its name is made one that no key has.
                section = keys(&place) + (isList ? [""] : [])
                endLine(&place)
                sections.append(Section(path: section, line: line, end: place))
            } else if let byte = at(place), byte != UInt8(ascii: "#"), byte != newline, byte != carriageReturn {
                let path = keys(&place)
                place += 1  // the equals sign
                skip(&place) { $0 == space || $0 == tab }
                let first = place
                skipValue(&place)
                var last = place
                while last > first, [space, tab, carriageReturn].contains(bytes[last - 1]) { last -= 1 }
                endLine(&place)
                entries.append(
                    Entry(
                        path: section + path, section: section, line: line, start: start, value: first..<last,
                        end: place))
                if !sections.isEmpty { sections[sections.count - 1].end = place }
            } else {
                let first = place + 1
                let isComment = at(place) == UInt8(ascii: "#")
                endLine(&place)
                if isComment, let name = mentioned(first..<place) {
                    mentions.append(Mention(path: section + [name], end: place))
                }
            }
            line += bytes[start..<place].count { $0 == newline }
        }
    }

    /// The key of a setting that is commented out; sentences have a space behind the `#`.
    private func mentioned(_ range: Range<Int>) -> String? {
        let name = bytes[range].prefix {
            $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
        }
        guard !name.isEmpty, bytes[name.endIndex..<range.upperBound].starts(with: " = ".utf8) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// A dotted key, to the equals sign or bracket behind it.
    private func keys(_ place: inout Int) -> [String] {
        var keys: [String] = []
        while let byte = at(place), byte != UInt8(ascii: "="), byte != UInt8(ascii: "]"), byte != newline {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                let start = place
                skipString(&place)
                keys.append(String(decoding: bytes[start..<place].dropFirst().dropLast(), as: UTF8.self))
            } else if [space, tab, UInt8(ascii: ".")].contains(byte) {
                place += 1
            } else {
                let start = place
                skip(&place) { ![space, tab, newline].contains($0) && !Array(".=]\"'".utf8).contains($0) }
                keys.append(String(decoding: bytes[start..<place], as: UTF8.self))
            }
        }
        return keys
    }

    /// To the comment or the end of the line behind it.
    private func skipValue(_ place: inout Int) {
        var depth = 0
        while let byte = at(place) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                skipString(&place)
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "#"):
                if depth == 0 { return }
                skip(&place) { $0 != newline }
                continue
            case newline: if depth == 0 { return }
            default: break
            }
            place += 1
        }
    }

    /// From the quote to behind the one that ends it; three of them may hold lines.
    private func skipString(_ place: inout Int) {
        let quote = bytes[place]
        let isLong = at(place + 1) == quote && at(place + 2) == quote
        place += isLong ? 3 : 1
        while let byte = at(place) {
            if byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") {
                place = min(place + 2, bytes.count)
                continue
            }
            place += 1
            if byte != quote { continue }
            if !isLong { return }
            guard at(place) == quote, at(place + 1) == quote else { continue }
            place += 2
            skip(&place) { $0 == quote }  // up to two more belong to the text
            return
        }
    }

    private func endLine(_ place: inout Int) {
        skip(&place) { $0 != newline }
        place = min(place + 1, bytes.count)
    }

    private func skip(_ place: inout Int, while isSkipped: (UInt8) -> Bool) {
        while let byte = at(place), isSkipped(byte) { place += 1 }
    }

    private func at(_ place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }
}

private let newline = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
private let space = UInt8(ascii: " ")
private let tab = UInt8(ascii: "\t")
