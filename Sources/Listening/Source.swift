/// Where items come from: an Audiobookshelf account, local files, and what comes later (feeds, story packages, read-along
/// books). Sources differ in how they find items, give tracks and take progress back; the Player knows none of it.
public protocol Source: Sendable {
    /// Finds the item and sees that it can be played, without disturbing what plays now.
    func find(_ id: ItemID) async throws(SourceError) -> Found
    /// Opens it: from here on its tracks can be loaded.
    func open(_ found: Found) async throws(SourceError) -> Opened
}

public struct Found: Sendable {
    public let id: ItemID
    public let title: String
    /// What the source wants to find again in ``Source/open(_:)``.
    public let memory: any Sendable

    public init(id: ItemID, title: String, memory: any Sendable) {
        self.id = id
        self.title = title
        self.memory = memory
    }
}

public struct Opened: Sendable {
    public let item: Item
    /// Where the source says the listener is; nil if it keeps no places or knows of none.
    public let place: Place?
    /// The source's name for this time of listening, where it wants to be told of it.
    public let session: String?
    /// What the listener should know of it: a sentence.
    public let remark: String?

    public init(item: Item, place: Place? = nil, session: String? = nil, remark: String? = nil) {
        self.item = item
        self.place = place
        self.session = session
        self.remark = remark
    }
}

/// Why a source could not: a sentence with the next step.
public struct SourceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable { case failed, notFound, notSignedIn, unreachable, usage }

    public let kind: Kind
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
