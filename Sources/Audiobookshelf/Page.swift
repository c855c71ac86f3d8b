internal import FoundationEssentials

/// Which part of a library to list, and in which order.
public struct PageRequest: Hashable, Sendable {
    /// From 0.
    public var page: Int
    /// At least 1: the server takes 0 for "everything".
    public var limit: Int
    /// One of the server's sort keys, such as `addedAt`, `media.metadata.title`, `progress`; nil: its own order.
    public var sort: String?
    public var isDescending: Bool
    public var filter: Filter?

    /// A group of the server's (`progress`, `authors`, `series`, `narrators`) and a value in it.
    public struct Filter: Hashable, Sendable {
        public let group: String
        public let value: String

        public init(group: String, value: String) {
            self.group = group
            self.value = value
        }

        var parameter: String { "\(group).\(Data(value.utf8).base64EncodedString())" }
    }

    public init(
        page: Int = 0, limit: Int = 50, sort: String? = nil, isDescending: Bool = false, filter: Filter? = nil
    ) {
        self.page = max(0, page)
        self.limit = max(1, limit)
        self.sort = sort
        self.isDescending = isDescending
        self.filter = filter
    }

    var dependsOnProgress: Bool { filter?.group == "progress" || sort?.hasPrefix("progress") == true }
}
