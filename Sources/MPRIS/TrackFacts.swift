public import DBus
public import Listening

/// What is told about one MPRIS track: a part of an item, or all of it.
public struct TrackFacts: Sendable {
    public let item: Item
    /// Which of the queue's entries of this item it is.
    public let copy: Int
    /// Nil: the whole item.
    public let part: Chapter?
    /// Of the part, from 0.
    public let index: Int

    public init(item: Item, copy: Int = 0, part: Chapter? = nil, index: Int = 0) {
        self.item = item
        self.copy = copy
        self.part = part
        self.index = index
    }

    /// `/org/dogear/Dogear/item/<encoded id>/<part>`, and `/<copy>` behind it where the queue has the item more than once:
    /// the same for the same place, another for another.
    public var id: ObjectPath {
        let path = "/org/dogear/Dogear/item/\(ObjectPath.encoded(item.id.description))/\(index)"
        return ObjectPath(trusted: copy == 0 ? path : "\(path)/\(copy)")
    }

    public var length: BookTime { part?.duration ?? item.duration }

    /// Whether ``metadata(picture:)`` is the same: comparing this costs little where comparing dictionaries would not.
    func looks(like other: TrackFacts) -> Bool {
        let (a, b) = (item, other.item)
        return (a.id, copy, index, part == nil, part?.title, length) == (
            b.id, other.copy, other.index, other.part == nil, other.part?.title, other.length
        )
            && (a.title, a.podcast, a.album, a.published, a.summary, a.coverPath) == (
                b.title, b.podcast, b.album, b.published, b.summary, b.coverPath
            )
            && (a.authors, a.narrators, a.genres, a.url, a.kind) == (b.authors, b.narrators, b.genres, b.url, b.kind)
            && a.tracks.first?.audio == b.tracks.first?.audio
    }

    /// `a{sv}`; what is not known is left out, never empty.
    /// - Parameter picture: absolute path of one for what has none: Cinnamon keeps showing the one before.
    public func metadata(picture: String? = nil) -> Value {
        var pairs: [(String, Value)] = [("mpris:trackid", .objectPath(id))]
        if length > .zero { pairs.append(("mpris:length", .int64(length.microseconds))) }
        if let path = item.coverPath ?? picture { pairs.append(("mpris:artUrl", .string(fileURL(path)))) }
        func add(_ key: String, _ text: String?) {
            if let text = text.map(shownText), !text.isEmpty { pairs.append((key, .string(text))) }
        }
        func add(_ key: String, all texts: [String]) {
            let texts = texts.map(shownText).filter { !$0.isEmpty }
            if !texts.isEmpty { pairs.append((key, .strings(texts))) }
        }
        add("xesam:title", title)
        add("xesam:album", item.podcast ?? (part == nil ? item.album : nil) ?? item.title)
        // Joined: KDE Connect shows nothing for two artists, XFCE and BlueZ only the first.
        add("xesam:artist", all: [artist])
        add("xesam:albumArtist", all: item.authors)
        // The ontology has no narrator; who performs comes nearest.
        add("xesam:performer", all: item.narrators)
        if part != nil { pairs.append(("xesam:trackNumber", .int32(Int32(clamping: index + 1)))) }
        add("xesam:genre", all: item.genres)
        add("xesam:contentCreated", item.published.flatMap(moment))
        // Applets show a line or two; the whole of a long one would burden every read of the properties.
        add("xesam:comment", all: item.summary.map { [String($0.prefix(500))] } ?? [])
        // Of files only: the address of somebody's server is not everybody's on the bus.
        if item.url?.hasPrefix("file:") == true { add("xesam:url", item.url) }
        return .variants(pairs)
    }

    /// There always is one: without, GNOME writes "Unknown artist", XFCE leaves a line empty, and waybar 0.9.17 crashes.
    private var artist: String {
        let named = [item.authors.joined(separator: ", "), item.podcast ?? "", item.narrators.joined(separator: ", ")]
        return named.first { !shownText($0).isEmpty } ?? folder ?? item.title
    }

    /// In which what has no tags lies: people sort books by their authors.
    private var folder: String? {
        guard case .file(let path)? = item.tracks.first?.audio else { return nil }
        // Of a folder that is a book: where that lies.
        return path.split(separator: "/").dropLast(item.kind == .file ? 1 : 2).last.map(String.init)
    }

    var title: String {
        guard let part else { return item.title }
        return shownText(part.title).isEmpty ? "Chapter \(index + 1)" : part.title
    }
}

/// A date as the guidelines of MPRIS for metadata want it, ISO 8601 with a time: where only the year or the day is known, its
/// beginning. Nil for what is none.
func moment(_ date: String) -> String? {
    // By its shape and not by a Regex, which takes a third of a millisecond: a list has a thousand tracks.
    let zero = UInt8(ascii: "0")
    let shape = String(decoding: date.utf8.map { (zero...zero + 9).contains($0) ? zero : $0 }, as: UTF8.self)
    switch shape {
    case "0000": return "\(date)-01-01T00:00:00Z"
    case "0000-00": return "\(date)-01T00:00:00Z"
    case "0000-00-00": return "\(date)T00:00:00Z"
    default: break
    }
    let minute = "0000-00-00T00:00"
    guard shape.hasPrefix(minute) else { return nil }
    var zone = shape.dropFirst(minute.count)
    if zone.hasPrefix(":00") {
        zone = zone.dropFirst(3)
        if zone.hasPrefix(".0") { zone = zone.dropFirst().drop { $0 == "0" } }
    }
    return ["", "Z", "+00:00", "-00:00", "+0000", "-0000"].contains(zone) ? date : nil
}

/// Without control characters, which some applets draw as boxes and a NUL would end on the bus, and without what turns the
/// direction of all text behind it; the marks that a title in Hebrew or Arabic needs stay.
func shownText(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
    func turns(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
    guard text.unicodeScalars.contains(where: { isControl($0) || turns($0) }) else { return text }
    let scalars = text.unicodeScalars.lazy.filter { !turns($0) }.map { isControl($0) ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
}
