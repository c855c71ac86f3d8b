/// A summary of a ``ShelfRow`` as people read it.
public func readable(_ summary: String) -> String? { plainText(summary) }

/// The readable part of a description that may hold HTML: tags taken out, paragraphs and list entries on lines of their
/// own, entities as the characters they stand for. Text that only looks like a tag ("a < b") stays.
///
/// - Returns: nil if nothing is left.
func plainText(_ html: String) -> String? {
    var out = ""
    var rest = html.prefix(100_000)
    var ends = Ends()
    while let character = rest.first {
        if character == "<", let tag = Tag(rest, &ends) {
            rest = rest[tag.end...]
            if tag.breaksLine { out += "\n" }
            if tag.startsDots { out += "- " }
            if tag.hidesContent, let close = ends.closing(tag.name, in: rest) { rest = rest[close...] }
        } else if character == "&", let (text, end) = entity(rest) {
            out += text
            rest = rest[end...]
        } else {
            out.append(character == "\u{0}" ? " " : character)
            rest = rest.dropFirst()
        }
    }
    let lines = out.split(whereSeparator: \.isNewline).map { line in
        line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    let text = lines.filter { !$0.isEmpty && $0 != "-" }.joined(separator: "\n")
    return text.isEmpty ? nil : text
}

private struct Tag {
    let name: String
    let end: Substring.Index

    /// - Returns: nil if what begins with this "<" is no tag or comment.
    init?(_ text: Substring, _ ends: inout Ends) {
        let inside = text.dropFirst()
        if inside.hasPrefix("!--") {
            guard let close = ends.next("-->", in: inside, within: 10_000) else { return nil }
            name = "!--"
            end = close
            return
        }
        let body = inside.hasPrefix("/") ? inside.dropFirst() : inside
        guard let first = body.first, first.isASCII, first.isLetter || first == "!",
            let close = ends.next(">", in: inside, within: 2000)
        else { return nil }
        name = body.prefix { $0.isLetter || $0.isNumber }.lowercased()
        end = close
    }

    var breaksLine: Bool {
        ["br", "p", "div", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "hr"].contains(
            name)
    }
    var startsDots: Bool { name == "li" }
    var hidesContent: Bool { name == "script" || name == "style" }
}

/// Where what ends a tag is found next: each is looked for once over the whole text, however many begin before it.
private struct Ends {
    private var known: [String: Range<Substring.Index>?] = [:]

    /// - Parameter reach: bytes within which it has to begin.
    /// - Returns: what follows it.
    mutating func next(_ end: String, in text: Substring, within reach: Int) -> Substring.Index? {
        let found: Range<Substring.Index>?
        if let before = known[end], before.map({ $0.lowerBound >= text.startIndex }) ?? true {
            found = before
        } else {
            found = text.utf8.firstRange(of: end.utf8)
            known[end] = .some(found)
        }
        guard let found, text.utf8.distance(from: text.startIndex, to: found.lowerBound) <= reach else { return nil }
        return found.upperBound
    }

    mutating func closing(_ name: String, in text: Substring) -> Substring.Index? {
        [name, name.uppercased()].compactMap { next("</\($0)>", in: text, within: 20_000) }.min()
    }
}

/// The character an entity at the start of this text stands for, and where it ends.
private func entity(_ text: Substring) -> (String, Substring.Index)? {
    guard let semicolon = text.prefix(12).firstIndex(of: ";") else { return nil }
    let name = text[text.index(after: text.startIndex)..<semicolon]
    let end = text.index(after: semicolon)
    if let text = entities[String(name)] { return (text, end) }
    guard name.hasPrefix("#") else { return nil }
    let digits = name.dropFirst()
    let code = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let code, let scalar = Unicode.Scalar(code), code >= 32 || code == 10 else { return nil }
    return (String(Character(scalar)), end)
}

private let entities = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "hellip": "…", "mdash": "—",
    "ndash": "–", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "bull": "•", "copy": "©",
    "eacute": "é", "egrave": "è", "agrave": "à", "auml": "ä", "ouml": "ö", "uuml": "ü", "szlig": "ß",
]
