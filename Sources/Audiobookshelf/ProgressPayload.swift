internal import HTTP
public import Listening

/// `GET /api/me/progress/:item[/:episode]`, and each element of `mediaProgress`. Times in decimal seconds, sometimes as
/// text; `lastUpdate` in milliseconds since 1970.
struct ProgressPayload: Hashable, Sendable {
    let item: String
    let episode: String?
    /// Whose it is.
    let user: String?
    let progress: ShelfProgress
    let isHidden: Bool

    /// - Returns: nil without an item.
    init?(_ json: JSON) {
        guard let item = json["libraryItemId"].text else { return nil }
        self.item = item
        episode = json["episodeId"].text
        user = json["userId"].text
        isHidden = json["hideFromContinueListening"].bool ?? false
        let duration = max(0, json["duration"].number ?? 0)
        let share = (json["progress"].number ?? 0).clamped(to: 0...1)
        let isFinished = json["isFinished"].bool ?? false
        let position = json["currentTime"].number.flatMap { $0 < Self.farthest ? $0 : nil }
        // A client that syncs without a place takes it out of the record, with a new date: what is left of it is better
        // than nothing, and newer than nothing.
        progress = ShelfProgress(
            position: max(.zero, .seconds(position ?? share * duration)), duration: .seconds(duration),
            isFinished: isFinished,
            updated: position == nil && !isFinished
                ? 0 : (json["lastUpdate"].integer ?? 0).clamped(to: 0...Self.latest))
    }

    /// Seconds. What nothing is as long as is no place.
    private static let farthest = 1e8

    /// The last millisecond that a server can write down: beyond, what we say after it would never be taken.
    private static let latest: Int64 = 8_640_000_000_000_000 - 86_400_000

    func key(account: String) -> ShelfItemID? { ShelfItemID(account: account, item: item, episode: episode) }
}

/// Where the server has the listener in one item.
public struct ShelfProgress: Hashable, Sendable {
    public let position: BookTime
    /// Zero if the server does not know.
    public let duration: BookTime
    public let isFinished: Bool
    /// Milliseconds since 1970, server's clock.
    public let updated: Int64

    public init(position: BookTime, duration: BookTime, isFinished: Bool, updated: Int64) {
        self.position = position
        self.duration = duration
        self.isFinished = isFinished
        self.updated = updated
    }
}
