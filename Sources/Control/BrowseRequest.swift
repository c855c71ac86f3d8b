public import DBus

/// What `list` is asked for. Empty texts name nothing; everything that is named has to fit.
public struct BrowseRequest: Hashable, Sendable {
    /// Name or id; empty where there is only one, or where a filter is named.
    public var library = ""
    public var author = ""
    public var narrator = ""
    public var series = ""
    public var collection = ""
    public var playlist = ""
    public var genre = ""
    /// `title`, `author`, `added`, `duration`, `published` or `progress`; empty: the natural order of what is listed.
    public var sort = ""
    public var isReversed = false
    public var unfinished = false
    public var limit = 50
    /// From 1.
    public var page = 1

    public init() {}

    public static let sorts = ["title", "author", "added", "duration", "published", "progress"]

    /// Something narrows the list down.
    public var hasFilter: Bool {
        unfinished || ![author, narrator, series, collection, playlist, genre].allSatisfy(\.isEmpty)
    }

    /// - Throws: a ``ControlError`` of kind usage for what excludes each other or makes no sense.
    public func check() throws(ControlError) {
        if !collection.isEmpty, !playlist.isEmpty {
            throw ControlError(.usage, "a collection and a playlist exclude each other; name one of them")
        }
        if !sort.isEmpty, !Self.sorts.contains(sort) {
            throw ControlError(
                .usage, "'\(sort)' is no order; lists are sorted by \(Self.sorts.joined(separator: ", "))")
        }
        if limit < 1 || page < 1 { throw ControlError(.usage, "pages and rows count from 1") }
    }

    /// - Throws: if something is named that only books have.
    public func checkPodcasts(_ name: String) throws(ControlError) {
        for (value, what) in [(narrator, "narrators"), (series, "series"), (collection, "collections")]
        where !value.isEmpty {
            throw ControlError(.usage, "'\(name)' holds podcasts, which have no \(what)")
        }
    }

    /// As it goes over the bus: only what is named.
    public var options: Value {
        let texts = [
            ("library", library), ("author", author), ("narrator", narrator), ("series", series),
            ("collection", collection), ("playlist", playlist), ("genre", genre), ("sort", sort),
        ].filter { !$0.1.isEmpty }.map { ($0.0, Value.string($0.1)) }
        let flags = [("reverse", isReversed), ("unfinished", unfinished)].filter(\.1).map { ($0.0, Value.bool(true)) }
        return .variants(
            texts + flags + [("limit", .int32(Int32(clamping: limit))), ("page", .int32(Int32(clamping: page)))])
    }

    init(_ options: Value) throws(BusError) {
        for (key, value) in try options.dictionary() {
            switch key {
            case "library": library = try value.string()
            case "author": author = try value.string()
            case "narrator": narrator = try value.string()
            case "series": series = try value.string()
            case "collection": collection = try value.string()
            case "playlist": playlist = try value.string()
            case "genre": genre = try value.string()
            case "sort": sort = try value.string()
            case "reverse": isReversed = try value.bool()
            case "unfinished": unfinished = try value.bool()
            case "limit": limit = Int(try value.int32())
            case "page": page = Int(try value.int32())
            default: throw .invalidArgs("Browse has no option '\(key)'")
            }
        }
    }
}
