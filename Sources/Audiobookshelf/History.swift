internal import HTTP
public import Listening

/// A row of a server's listening history: one session, of any device.
public struct ShelfSession: Hashable, Sendable {
    public let id: String
    public let item: ItemID
    public let title: String
    /// Of an episode.
    public let podcast: String?
    public let author: String?
    /// For people; nil where it told nothing of itself.
    public let device: String?
    /// By the server's calendar; nil if it makes no sense.
    public let day: Day?
    /// Milliseconds since 1970.
    public let started: Int64
    public let updated: Int64
    public let from: BookTime
    public let to: BookTime
    public let listened: BookTime
}

/// `GET /api/me/listening-stats`: what all devices of this user listened to.
public struct ShelfStatistics: Hashable, Sendable {
    public let total: BookTime
    /// By the server's calendar.
    public let days: [Day: BookTime]
}

extension ShelfClient {
    /// One page of the listening history, the one that was changed last first.
    /// - Parameters:
    ///   - item: nil: of all items.
    ///   - page: from 0.
    /// - Returns: rows that make no sense are left out; `isLast` says that there is no page behind this one.
    public func sessions(
        of item: ShelfItemID? = nil, limit: Int, page: Int = 0
    ) async throws(ShelfError) -> (rows: [ShelfSession], isLast: Bool) {
        let json = try await json(.sessions(of: item, limit: limit, page: page))
        let elements = json["sessions"].elements
        let isLast = elements.count < limit || (json["numPages"].integer.map { Int64(page) + 1 >= $0 } ?? false)
        return (elements.compactMap { ShelfSession($0, account: account.id) }, isLast)
    }

    public func statistics() async throws(ShelfError) -> ShelfStatistics {
        let json = try await json(.statistics)
        guard let total = json["totalTime"].number else {
            throw .missing(field: "totalTime", endpoint: Call.statistics.endpoint)
        }
        var days: [Day: BookTime] = [:]
        if case .object(let fields) = json["days"] {
            for (name, seconds) in fields {
                if let day = Day(name), let seconds = seconds.number { days[day] = max(.zero, .seconds(seconds)) }
            }
        }
        return ShelfStatistics(total: max(.zero, .seconds(total)), days: days)
    }
}

extension ShelfSession {
    /// - Returns: nil without an id or an item.
    fileprivate init?(_ json: JSON, account: String) {
        guard let id = json["id"].text, let item = json["libraryItemId"].text,
            let shelf = ShelfItemID(account: account, item: item, episode: json["episodeId"].text)
        else { return nil }
        self.id = id
        self.item = shelf.id
        let name = json["mediaMetadata"]["title"].text
        title = json["displayTitle"].text ?? name ?? item
        podcast = shelf.episode == nil ? nil : name
        author = json["displayAuthor"].text
        let device = json["deviceInfo"]
        let parts = [device["clientName"].text, device["deviceName"].text ?? device["browserName"].text]
        let told = parts.compactMap(\.self).joined(separator: ", ")
        self.device = told.isEmpty ? nil : told
        day = json["date"].text.flatMap { Day($0) }
        started = max(0, json["startedAt"].integer ?? 0)
        updated = max(0, json["updatedAt"].integer ?? 0)
        from = max(.zero, .seconds(json["startTime"].number ?? 0))
        to = max(.zero, .seconds(json["currentTime"].number ?? 0))
        listened = max(.zero, .seconds(json["timeListening"].number ?? 0))
    }
}
