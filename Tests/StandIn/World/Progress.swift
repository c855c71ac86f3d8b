/// Where one user is in one book or episode, with the server's own rules for changing it.
///
/// Positions are kept as the JSON a client sent: the real server stores a string or a null too and gives it to others.
struct Progress: Sendable {
    var id = DerivedID.random()
    var userID: String
    var itemID: String
    var episodeID: String?
    /// Id of the book, or of the episode.
    var mediaID: String
    /// Seconds.
    var duration: JSON
    /// 0…1, stored beside the position and not computed from it.
    var fraction: Double
    /// Seconds; `nil` after a session sync without one, until the server restarts.
    var currentTime: JSON?
    /// The position in the database, which such a sync leaves alone.
    private var storedTime: JSON?
    var isFinished: Bool
    var isHidden: Bool
    var ebookLocation: JSON
    var ebookProgress: JSON
    /// Milliseconds since 1970.
    var lastUpdate: Int
    var startedAt: Int
    var finishedAt: Int?

    /// A record made by a first write.
    ///
    /// Creation knows no finish rule and takes the server's time whatever `lastUpdate` says.
    init(user: String, item: String, episode: String?, media: String, change: JSON, now: Int) {
        userID = user
        itemID = item
        episodeID = episode
        mediaID = media
        duration = Self.numberOrZero(change["duration"])
        currentTime = Self.numberOrZero(change["currentTime"])
        storedTime = currentTime
        fraction = Self.numberOrZero(change["progress"]).number ?? 0
        isFinished = change["isFinished"]?.isTruthy ?? false
        isHidden = change["hideFromContinueListening"]?.isTruthy ?? false
        ebookLocation = change["ebookLocation"] ?? nil
        ebookProgress = Self.numberOrZero(change["ebookProgress"])
        lastUpdate = now
        startedAt = now
        if isFinished {
            finishedAt = change["finishedAt"]?.integer ?? now
            fraction = 1
        }
    }

    /// Applies a change as `MediaProgress.applyProgressUpdate` does: no check of which is newer.
    /// - Parameters:
    ///   - change: any of the record's keys, `lastUpdate`, and the two `markAsFinished…` settings.
    ///   - losesPosition: the change sets the position to JavaScript's `undefined`.
    ///   - now: milliseconds since 1970.
    mutating func apply(_ change: JSON, losesPosition: Bool, now: Int) {
        var change = change
        if let flag = change["isFinished"] {
            if flag.isTruthy, !isFinished {
                finishedAt = change["finishedAt"]?.integer ?? now
                fraction = 1
                change = change.removing("finishedAt")
            } else if !flag.isTruthy, isFinished {
                finishedAt = nil
                fraction = 0
                currentTime = 0
                change = change.removing("finishedAt", "currentTime")
            }
            isFinished = flag.isTruthy
        } else if let value = change["progress"]?.coerced, !value.isNaN {
            fraction = min(1, max(0, value))
        }
        let moved = set(change, losesPosition: losesPosition)
        if moved, change["hideFromContinueListening"]?.isTruthy != true { isHidden = false }
        finishOrReopen(change, moved: moved, now: now)
        lastUpdate = change["lastUpdate"]?.integer.flatMap { $0 == 0 ? nil : $0 } ?? now
    }

    /// Copies the plain fields. A key that is absent stays, one that is there wins whatever its type.
    private mutating func set(_ change: JSON, losesPosition: Bool) -> Bool {
        let before = currentTime
        if let value = change["currentTime"] { currentTime = value }
        storedTime = currentTime ?? storedTime
        if losesPosition { currentTime = nil }
        if let value = change["duration"] { duration = value }
        if let value = change["hideFromContinueListening"] { isHidden = value.isTruthy }
        if let value = change["ebookLocation"] { ebookLocation = value }
        if let value = change["ebookProgress"] { ebookProgress = value }
        if let value = change["finishedAt"] { finishedAt = value.integer }
        return currentTime != before
    }

    /// Reads the record back from the database.
    mutating func reload() { currentTime = storedTime }

    /// Marks the end of a book, or takes the mark away when the position moved back before it.
    private mutating func finishOrReopen(_ change: JSON, moved: Bool, now: Int) {
        var isNearEnd = false
        if let length = duration.coerced, length > 0 {
            if let percent = change["markAsFinishedPercentComplete"]?.number {
                isNearEnd = percent / 100 < fraction
            } else if let position = currentTime?.coerced {
                let margin = change["markAsFinishedTimeRemaining"]?.number ?? 10
                isNearEnd = length - position < margin
            }
        }
        if !isFinished, isNearEnd {
            isFinished = true
            finishedAt = finishedAt ?? now
            fraction = 1
        } else if isFinished, moved, !isNearEnd {
            isFinished = false
            finishedAt = nil
        }
    }

    private static func numberOrZero(_ value: JSON?) -> JSON {
        guard let value, !value.isNull, let number = value.coerced else { return 0 }
        return .double(number)
    }

    var json: JSON {
        let head: JSON = [
            "id": .string(id), "userId": .string(userID), "libraryItemId": .string(itemID),
            "episodeId": .optional(episodeID), "mediaItemId": .string(mediaID),
            "mediaItemType": episodeID == nil ? "book" : "podcastEpisode", "duration": duration,
            "progress": .double(fraction),
        ]
        return head.adding(currentTime.map { ["currentTime": $0] } ?? [:]).adding([
            "isFinished": .bool(isFinished), "hideFromContinueListening": .bool(isHidden),
            "ebookLocation": ebookLocation, "ebookProgress": ebookProgress, "lastUpdate": .int(lastUpdate),
            "startedAt": .int(startedAt), "finishedAt": .optional(finishedAt),
        ])
    }
}

/// Why a progress write is refused.
struct ProgressRefusal: Error {
    var status: Int
    var text: String
}

extension World {
    /// Writes the progress of a book or episode, creating the record when there is none.
    /// - Throws: what the server's `createUpdateMediaProgressFromPayload` refuses.
    mutating func write(
        _ change: JSON, losesPosition: Bool = false, user: String, item: String, episode: String?
    ) throws(ProgressRefusal) -> Progress {
        guard let found = find(item) else { throw ProgressRefusal(status: 404, text: "Library item not found") }
        let media: String
        if let episode {
            guard found.item.episode(episode) != nil else {
                throw ProgressRefusal(status: 404, text: "Episode not found")
            }
            media = episode
        } else {
            guard found.item.podcast == nil else {
                throw ProgressRefusal(status: 400, text: "Library item is not a book")
            }
            media = found.item.mediaID
        }
        let now = now
        let record = replace(user, media: media) { existing in
            if var record = existing {
                record.apply(change, losesPosition: losesPosition, now: now)
                return record
            }
            return Progress(user: user, item: item, episode: episode, media: media, change: change, now: now)
        }
        progressChanged()
        return record
    }

    private mutating func replace(_ user: String, media: String, _ body: (Progress?) -> Progress) -> Progress {
        guard let owner = users.firstIndex(where: { $0.account.id == user }) else { return body(nil) }
        guard let index = users[owner].progress.firstIndex(where: { $0.mediaID == media }) else {
            let record = body(nil)
            users[owner].progress.append(record)
            return record
        }
        let record = body(users[owner].progress[index])
        users[owner].progress[index] = record
        return record
    }

    /// The stored record; without an episode a podcast gives the first record of any of its episodes.
    func progress(_ user: String, item: String, episode: String?) -> Progress? {
        users.first { $0.account.id == user }?.progress
            .first { $0.itemID == item && (episode == nil || $0.episodeID == episode) }
    }

    /// Since 2.33.0 only two kinds of cached library answers are dropped, so filters by progress go stale.
    private mutating func progressChanged() {
        guard version.keepsLibraryCache else {
            libraryCache = [:]
            return
        }
        libraryCache = libraryCache.filter { !$0.key.contains("/personalized") && !$0.key.contains("/recent-episodes") }
    }
}
