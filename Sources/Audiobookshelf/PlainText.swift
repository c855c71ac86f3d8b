/// A summary of a ``ShelfRow`` as people read it.
public func readable(_ summary: String) -> String? { plainText(summary) }

/// The readable part of a description that may hold HTML: tags taken out, paragraphs and list entries on lines of their
/// own, entities as the characters they stand for. Text that only looks like a tag ("a < b") stays.
///
/// - Returns: nil if nothing is left.
func plainText(_ html: String) -> String? {
    var out = ""
    var rest = html.prefix(100_000)
    while let character = rest.first {
        if character == "<", let tag = Tag(rest) {
            rest = rest[tag.end...]
            if tag.breaksLine { out += "\n" }
            if tag.startsDots { out += "- " }
            if tag.hidesContent, let close = rest.range(ofClosing: tag.name) { rest = rest[close.upperBound...] }
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
    init?(_ text: Substring) {
        let inside = text.dropFirst()
        if inside.hasPrefix("!--") {
            guard let close = inside.prefix(10_000).firstRange(of: "-->") else { return nil }
            name = "!--"
            end = close.upperBound
            return
        }
        let body = inside.hasPrefix("/") ? inside.dropFirst() : inside
        guard let first = body.first, first.isASCII, first.isLetter || first == "!",
            let close = inside.prefix(2000).firstIndex(of: ">")
        else { return nil }
        name = body.prefix { $0.isLetter || $0.isNumber }.lowercased()
        end = text.index(after: close)
    }

    var breaksLine: Bool {
        ["br", "p", "div", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "hr"].contains(
            name)
    }
    var startsDots: Bool { name == "li" }
    var hidesContent: Bool { name == "script" || name == "style" }
}

extension Substring {
    fileprivate func range(ofClosing name: String) -> Range<Substring.Index>? {
        let near = prefix(20_000)
        return near.firstRange(of: "</\(name)>") ?? near.firstRange(of: "</\(name.uppercased())>")
    }
}

/// The character an entity at the start of this text stands for, and where it ends.
private func entity(_ text: Substring) -> (String, Substring.Index)? {
    guard let semicolon = text.prefix(12).firstIndex(of: ";") else { return nil }
    let name = text[text.index(after: text.startIndex)..<semicolon]
    let end = text.index(after: semicolon)
    let known = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "hellip": "…", "mdash": "—",
        "ndash": "–", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "bull": "•", "copy": "©",
        "eacute": "é", "egrave": "è", "agrave": "à", "auml": "ä", "ouml": "ö", "uuml": "ü", "szlig": "ß",
    ]
    if let text = known[String(name)] { return (text, end) }
    guard name.hasPrefix("#") else { return nil }
    let digits = name.dropFirst()
    let code = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let code, let scalar = Unicode.Scalar(code), code >= 32 || code == 10 else { return nil }
    return (String(Character(scalar)), end)
}
