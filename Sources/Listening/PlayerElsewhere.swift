/// The same item on other devices. A paused or stopped player takes the newer place; one that plays keeps its own, and the
/// other place goes where undo finds it.
extension Player {
    /// One look at the server before playing goes on.
    public struct Question: Hashable, Sendable {
        public let item: ItemID
        /// Tells a late answer from the one that is waited for.
        public let number: UInt64

        public init(item: ItemID, number: UInt64) {
            self.item = item
            self.number = number
        }
    }

    /// A pause this short is no time to go on elsewhere, were it only in the browser's next tab.
    static let unseenLimit = BookTime.seconds(5)

    /// Whether another device may have gone on during this pause without our knowing.
    /// What the computer slept counts: the live connection slept with it.
    func mayHaveMoved(_ now: Moment) -> Bool {
        guard let item, item.id.account != nil, let since = unseenSince else { return false }
        if isWatched, now.asleep - since.asleep < 1_000_000 { return false }
        return now.sinceStart - since.sinceStart > Self.unseenLimit.microseconds
    }

    public func isAsking(_ question: Question) -> Bool { self.question == question }

    mutating func ask() -> [Effect] {
        guard let item else { return [] }
        questions += 1
        let question = Question(item: item.id, number: questions)
        self.question = question
        phase = .playing
        error = nil
        return [.ask(question)]
    }

    mutating func answered(_ answer: Question, _ newer: Place?, _ now: Moment) -> [Effect] {
        // Nothing comes of one in what is not known well enough.
        let taken = newer.map { elsewhere($0, now) } ?? []
        guard taken.isEmpty else { return taken }
        guard answer == question else { return [] }
        question = nil
        // Clients have counted on since Play was pressed.
        return resume(now).filter { $0 != .seeked } + [.seeked]
    }

    mutating func elsewhere(_ newer: Place, _ now: Moment) -> [Effect] {
        guard let item, item.id == newer.item, item.duration > .zero else { return [] }
        let from = target ?? place
        // Finished there: as after its end here, playing begins at the beginning.
        let goal = newer.isFinished ? .zero : newer.position.clamped(to: .zero...item.lastPlace)
        var effects: [Effect] = [.took(newer)]
        switch phase {
        // The source is about to say where the listener is.
        case .empty, .opening: return []
        case .playing where !isAsking: return from == goal ? [] : [.jumped(item.id, from: goal, to: from, .device)]
        // What is open tells its place as the listener's; what begins anew is finished until something of it is heard.
        case .playing where newer.isFinished, .loading where newer.isFinished:
            let play = wantsPlay
            unloaded()
            (place, phase) = (goal, .opening(play: play))
            partIndex = index(of: goal)
            effects += [.unload, .close(item.id), .reopen(item.id, at: goal, play: play, after: .zero)]
        case .playing:
            (question, resumedAt) = (nil, now.monotonic)
            moved(to: goal, now)
            count(now)
            effects += [.seek(load, to: goal), .start(load)]
        case .paused where newer.isFinished:
            unloaded()
            moved(to: goal, now)
            effects += [.unload, .close(item.id)]
        case .paused:
            moved(to: goal, now)
            effects.append(.seek(load, to: goal))
        case .loading, .stopped: moved(to: goal, now)
        }
        isFinished = newer.isFinished && phase == .stopped
        // A device that plays for an hour tells a hundred places: only ours is worth keeping.
        if from != goal, !isBorrowed, !isUnheard { effects.append(.jumped(item.id, from: from, to: goal, .device)) }
        (isBorrowed, isUnheard) = (true, false)
        return effects + [.seeked]
    }

    private mutating func moved(to goal: BookTime, _ now: Moment) {
        if phase == .stopped { place = goal } else { target = goal }
        partIndex = index(of: goal)
        pausedSince = nil
        unseenSince = now
    }
}
