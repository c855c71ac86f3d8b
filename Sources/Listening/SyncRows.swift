/// What `dogear sync` asks and does.
extension Sync {
    /// Something a server has yet to accept.
    public enum Row: Hashable, Sendable, Identifiable {
        case stretch(Stretch)
        case write(ProgressWrite)
        case bookmark(Bookmark)

        /// Of a command the item's: there is one for each at most.
        public var id: String {
            switch self {
            case .stretch(let stretch): stretch.id
            case .write(let write): write.item.description
            case .bookmark(let bookmark): bookmark.id.description
            }
        }
        public var item: ItemID {
            switch self {
            case .stretch(let stretch): stretch.item
            case .write(let write): write.item
            case .bookmark(let bookmark): bookmark.item
            }
        }
        /// Nil while the server has not refused it for good.
        public var refusal: String? {
            switch self {
            case .stretch(let stretch): stretch.delivery == .parked ? stretch.refusal ?? "no reason given" : nil
            case .write(let write): write.refusal
            case .bookmark(let bookmark): bookmark.refusal
            }
        }
    }

    public enum Standing: Hashable, Sendable {
        case accepted
        /// For good: a sentence.
        case refused(String)
        case unsent(Obstacle)
    }

    public enum Obstacle: Hashable, Sendable {
        /// Only a new login helps.
        case signedOut
        /// The server did not answer as it should; it is asked again after so long.
        case putOff(BookTime)
        /// The server takes no local sessions now; it is asked again after so long.
        case takesNoSessions(BookTime)
        /// On its way, or waiting for something that is.
        case underWay
    }

    public var rows: [Row] {
        unsent.map(Row.stretch) + unsentWrites.map(Row.write) + unsentBookmarks.map(Row.bookmark)
    }

    /// What has become of a row as it was.
    public func standing(of row: Row, at now: Moment) -> Standing {
        switch row {
        case .write(let write):
            // Another command for the item took its place: what the listener wants now is that.
            guard let present = writes[write.item] else { return .accepted }
            return present.refusal.map(Standing.refused) ?? .unsent(obstacle(to: row, at: now))
        case .bookmark(let bookmark):
            guard let present = bookmarks[bookmark.id] else { return .accepted }
            return present.refusal.map(Standing.refused) ?? .unsent(obstacle(to: row, at: now))
        case .stretch(let before):
            guard let present = live?.id == before.id ? live : waiting[before.id] else { return .accepted }
            if present.delivery == .parked { return .refused(present.refusal ?? "no reason given") }
            let owedPlace = (before.sentPlace ?? before.startPlace) != before.reportable
            let hasPlace = !owedPlace || present.sentPlace != before.sentPlace
            let isThrough = !present.isUnsent || (present.sentListened >= before.listened && hasPlace)
            return isThrough ? .accepted : .unsent(obstacle(to: .stretch(present), at: now))
        }
    }

    private func obstacle(to row: Row, at now: Moment) -> Obstacle {
        guard let lane = row.item.account.flatMap({ lanes[$0] }) else { return .underWay }
        let wait = { (until: Int64) in BookTime(microseconds: until - now.monotonic) }
        if lane.isSignedOut { return .signedOut }
        if lane.notBefore > now.monotonic { return .putOff(wait(lane.notBefore)) }
        if case .stretch(let stretch) = row, stretch.delivery == .local, lane.localNotBefore > now.monotonic {
            return .takesNoSessions(wait(lane.localNotBefore))
        }
        return .underWay
    }

    /// Sends everything now, the live session too, whatever was being waited for.
    public mutating func hurry(at now: Moment) -> [Effect] {
        if live?.isUnsent == true { isDue = true }
        return kick(at: now, isSign: true)
    }

    /// Refused rows are to be sent once more.
    public mutating func retry(at now: Moment) -> [Effect] {
        var effects: [Effect] = []
        for var stretch in waiting.values.sorted(by: { $0.started < $1.started }) where stretch.delivery == .parked {
            stretch.delivery = .local
            stretch.refusal = nil
            effects.append(keep(stretch))
        }
        for var write in unsentWrites where write.refusal != nil {
            write.refusal = nil
            writes[write.item] = write
            effects.append(.saveWrite(write))
        }
        for var bookmark in unsentBookmarks where bookmark.refusal != nil {
            bookmark.refusal = nil
            bookmarks[bookmark.id] = bookmark
            effects.append(.saveBookmark(bookmark))
        }
        return effects + kick(at: now, isSign: true)
    }

    /// Gives up a refused row. Only those: what a server may yet take is never dropped.
    public mutating func drop(_ row: Row, isOrphan: Bool = false) -> [Effect] {
        switch row {
        case .stretch(let stretch):
            guard let present = waiting[stretch.id], isOrphan || present.delivery == .parked else { return [] }
            waiting[stretch.id] = nil
            return [.remove(stretch: stretch.id)]
        case .write(let write):
            guard let present = writes[write.item], isOrphan || present.refusal != nil else { return [] }
            writes[write.item] = nil
            return [.removeWrite(write.item)]
        case .bookmark(let bookmark):
            guard var present = bookmarks[bookmark.id], isOrphan || present.refusal != nil else { return [] }
            bookmarks[bookmark.id] = nil
            guard present.owed == .removal else { return [.removeBookmark(bookmark.id)] }
            // It was not to be removed: so it stays, as the server has it.
            (present.owed, present.refusal) = (nil, nil)
            return [.saveBookmark(present)]
        }
    }
}
