/// When listening is to end by itself.
public struct SleepTimer: Hashable, Sendable {
    public enum Goal: Hashable, Sendable {
        /// After so long; only time in which sound comes counts.
        case time(BookTime)
        /// At the end of a chapter: 1 is the present one, 2 the one after it.
        case chapters(Int)
        /// At the end of the item.
        case item
    }

    /// As the listener asked for it: what begins anew where the setting wants that.
    public let asked: Goal
    /// What of it is still to come, as of the last event.
    public internal(set) var left: Goal
    /// How many of its chapters are there only because the player went back by itself.
    var regained = 0

    init(_ goal: Goal) {
        asked = goal
        left = goal
    }
}

/// What is asked of the sleep timer.
public enum SleepWish: Hashable, Sendable {
    case set(SleepTimer.Goal)
    /// Later by so much; of the end of a chapter or item, so long after it. Without a timer: one of so long.
    case extend(BookTime)
    /// By what the settings say; of chapters by one more.
    case prolong
    case off

    /// The longest that can be asked for.
    public static let limit = BookTime.seconds(86_400)
    public static let chapterLimit = 99

    /// `30m`, `chapter`, `chapter:3`, `item`, `+10m`, `off`.
    /// - Returns: nil if it is none of these, or not between a second and ``limit``.
    public init?(_ text: String) {
        if text == "off" {
            self = .off
        } else if text == "item" {
            self = .set(.item)
        } else if text == "chapter" {
            self = .set(.chapters(1))
        } else if text.hasPrefix("chapter:") {
            guard let count = Int(text.dropFirst(8)), (1...Self.chapterLimit).contains(count) else { return nil }
            self = .set(.chapters(count))
        } else {
            let isMore = text.hasPrefix("+")
            guard let time = TimeText.parse(isMore ? text.dropFirst() : text[...]),
                (BookTime.second...Self.limit).contains(time)
            else { return nil }
            self = isMore ? .extend(time) : .set(.time(time))
        }
    }
}
