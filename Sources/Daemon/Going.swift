internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Store
internal import Terminal

/// Where the queue is on its way to.
struct Heading {
    struct Step {
        let entry: Queue.Entry
        let way: Queue.Way
    }
    /// From the present item; the last is what is to be heard.
    let steps: [Step]
    var plays: Bool
    /// Microseconds, monotonic.
    let since: Int64
    /// The listener was told that it takes long.
    var isToldOf = false
    /// It is the present one already, and not heard yet.
    var isPresent = false

    /// Those that the queue has yet to go.
    var pending: [Step] { isPresent ? [] : steps }
    private var last: Step { steps[steps.count - 1] }
    var entry: Queue.Entry { last.entry }
    var way: Queue.Way { last.way }
}

/// Along the queue, from the present item to another.
extension Service {
    /// Goes to the neighbour of the present item. One that cannot be opened stays where it is and is told; nothing else
    /// plays in its place, until the listener goes on past it.
    func follow(_ direction: Player.Direction) {
        switch direction {
        case .onward:
            guard let next = queue.next else { return }
            let step = Heading.Step(entry: next, way: .onward)
            guard next.key == stuck, let beyond = line(along: [step]).next, beyond.key != next.key else {
                return go([step], plays: false)
            }
            go([step, Heading.Step(entry: beyond, way: .onward)], plays: false)
        case .back: if let previous = queue.previous { go(to: previous, .back) }
        }
    }

    /// Nobody waits for the answer: what goes wrong is told in the status.
    func go(to entry: Queue.Entry, _ way: Queue.Way, plays: Bool = false) {
        go([Heading.Step(entry: entry, way: way)], plays: plays)
    }

    func go(_ steps: [Heading.Step], plays: Bool) {
        (queueTrouble, displaced) = (nil, nil)
        goings += 1
        let number = goings
        let heading = Heading(steps: steps, plays: plays, since: time.now.monotonic)
        self.heading = heading
        let (entry, way) = (heading.entry, heading.way)
        var wish = Wish(way, entry.key, plays: plays)
        wish.passing = steps.dropLast()
        going = Task { @LoopActor [wish] in
            defer { self.arrived(number) }
            if self.player.phase == .stopped, !plays { return await self.stand(at: entry, wish, number) }
            guard number == self.goings else { return }
            let ticket = self.opening + 1
            do throws(ControlError) { try await self.open(entry.item.id, at: nil, as: wish) } catch {
                // Something else was asked for meanwhile: not the queue's affair any more.
                guard ticket == self.opening else { return }
                let isPresent = self.queue.present?.key == entry.key
                let beyond = isPresent ? self.queue.next : self.line(along: steps).next
                let waits = way == .onward && (!isPresent || beyond != nil)
                let role = waits ? "is next in the queue but " : ""
                let advice = way == .onward && beyond.map { $0.key != entry.key } ?? false ? Self.advice : ""
                self.queueTrouble =
                    "'\(Clean.short(entry.item.title))' \(role)cannot be played: \(error.message)\(advice)"
                self.stuck = entry.key
                self.log.notice("the queue does not go on", metadata: ["why": "\(error.message)"])
                self.recallPlace()
                self.emitStatus()
            }
        }
    }

    /// Nil: something is, or nothing is loaded.
    var whyNothingIsNext: String? {
        guard !isOnItsWay, !player.canGoNext, let item = player.item else { return nil }
        let title = "'\(Clean.short(item.title))'"
        if player.options.next == .skip { return "\(title) ends before where Next skips to" }
        return queue.next == nil ? "\(title) has no further part, and nothing is queued behind it" : nil
    }

    /// Next leads on from what is on its way, once it is known that it takes long.
    var canPassOver: Bool {
        guard let heading, player.options.next != .skip else { return false }
        return line(along: heading.pending).next != nil
    }

    private static let advice = "; 'dogear next' passes over it"

    private func arrived(_ number: Int) {
        guard number == goings else { return }
        (heading, going) = (nil, nil)
        letGo()
        notices?.lookAtTrouble()
    }

    /// Whoever asked for another item and then for the next, for the one before or to play means that from there; a move
    /// within what can still be heard is not meant, unless the other keeps the listener waiting.
    /// - Returns: whether the Player need not know.
    func heedWhileGoing(_ event: Player.Event) -> Bool {
        guard let heading, !heading.isPresent || player.isUnderWay else { return passesOverWhatIsStuck(event) }
        let before = goings
        let isHeeded = heed(event, on: heading)
        // Plasma has moved its bar already, whatever comes of that.
        if isHeeded, event.isWithinItem, goings == before || self.heading == nil { recallPlace() }
        return isHeeded
    }

    /// Behind an end nothing of what was heard can be moved in, nor is what a bar was dragged over: who tried sees where it
    /// stands.
    func recallPlace(after event: Player.Event) {
        if event.isWithinItem, player.turning != nil || player.isDraggedOver(time.now) { recallPlace() }
    }

    private func heed(_ event: Player.Event, on heading: Heading) -> Bool {
        let steps = heading.pending
        switch event {
        case .next:
            // Of what has chapters only the first is left out, and that is not there yet; what does not come, all of it.
            guard player.options.next != .skip else { return true }
            guard
                player.options.next == .queue || !heading.entry.item.mayHaveParts || heading.isToldOf
                    || time.now.monotonic - heading.since > longWait.microseconds
            else {
                // Whoever asks twice is told why, and the third time means it.
                if finding?.title != nil { notices?.tellOfWait() }
                return true
            }
            guard let next = line(along: steps).next else { return true }
            go(steps + [Heading.Step(entry: next, way: .onward)], plays: plays(heading))
        case .previous:
            guard player.options.previous != .skip, let last = line(along: steps).previous else { return true }
            guard last.key == queue.present?.key else {
                go(steps + [Heading.Step(entry: last, way: .back)], plays: plays(heading))
                return true
            }
            leaving = nil
            turnBack()
        case .play, .toggle:
            // Not the one that was stopped.
            guard player.phase == .stopped, finding == nil else { return false }
            if !heading.plays { go(heading.steps, plays: true) }
        case .stop where !isStanding(heading):
            abandonHeading()
            stopFinding()
            return false
        case .seekPart, .setPartPosition, .goTo: return finding?.title == nil
        default: return false
        }
        return true
    }

    /// A stopped player goes there and does not play.
    private func isStanding(_ heading: Heading) -> Bool { player.phase == .stopped && !heading.plays }

    /// Play and pause may have been pressed on the way.
    func plays(_ heading: Heading) -> Bool { finding?.byHand ?? heading.plays }

    /// What is left of a way, in the queue as it is now: where the last of it was to come behind the others, what is next
    /// there does. Empty: nothing.
    func steps(of heading: Heading) -> [Heading.Step] {
        let steps = heading.steps.filter { queue.has($0.entry) }
        guard !queue.has(heading.entry), heading.way == .onward || heading.way == .instead,
            let next = line(along: steps).next
        else { return steps }
        return steps + [Heading.Step(entry: next, way: heading.way)]
    }

    private func line(along steps: [Heading.Step]) -> Queue {
        var line = queue
        for step in steps { line.begin(step.entry.item, step.entry.key, step.way) }
        return line
    }

    /// What is there stays, and goes on as it did.
    func turnBack() {
        if player.isUnderWay, let present = queue.present { return go(to: present, .back) }
        abandonHeading()
        stopFinding()
    }

    /// What was taken out of the queue on its way is not wanted: what is next there is, or what is there already.
    func turnAwayFromWhatIsGone() {
        guard let heading, !heading.isPresent, !queue.has(heading.entry) else { return }
        let steps = steps(of: heading)
        guard steps.isEmpty else { return go(steps, plays: plays(heading)) }
        guard player.turning == .rolled, let last = player.item?.id else {
            turnBack()
            return letGo()
        }
        let effect = putOff
        abandonHeading()
        stopFinding()
        if goesOnBehindAnEnd(effect) { return }
        let played = player.wantsPlay
        send(.openFailed(nil, mayReturn: false))
        if played { goOn(after: last) }
    }

    /// Behind the end of an item, where what was on its way will not be played: what the end leads to as the queue is now.
    /// - Parameter putOff: what it led to then, if that was put off.
    /// - Returns: false if nothing follows.
    func goesOnBehindAnEnd(_ putOff: Player.Effect?) -> Bool {
        if case .reopen? = putOff, let putOff {
            goOn(putOff)
        } else if queue.next != nil {
            follow(.onward)
        } else if queue.loop == .queue, let item = player.item?.id {
            goOn(.reopen(item, at: .zero, play: player.wantsPlay, after: .zero))
        } else {
            return false
        }
        return true
    }

    /// What is there is meant, and not what is on its way.
    func stay() {
        leaving = nil
        if isOnItsWay { turnBack() }
    }

    /// Something else is wanted now.
    func abandonHeading() {
        goings += 1
        (heading, going) = (nil, nil)
    }

    /// What cannot be played is left as a whole, though it have chapters.
    private func passesOverWhatIsStuck(_ event: Player.Event) -> Bool {
        guard event == .next, player.phase == .stopped, stuck != nil, stuck == queue.present?.key, queue.next != nil
        else { return false }
        follow(.onward)
        return true
    }

    /// A stopped player goes to another item and stays stopped: play opens it.
    private func stand(at entry: Queue.Entry, _ wish: Wish, _ number: Int) async {
        await stand(at: entry, wish, paused: player.isSetDown) { player.phase == .stopped && number == goings }
    }

    /// What is next and cannot be played: play asks for it again.
    func standBehindAnEnd(at entry: Queue.Entry, _ wish: Wish) async {
        let ticket = opening
        await stand(at: entry, wish, paused: true) { player.turning == .rolled && ticket == opening }
    }

    /// - Parameters:
    ///   - left: where the listener is in it; nil: where the journal says.
    ///   - isWanted: asked once more before it is shown.
    func stand(
        at entry: Queue.Entry, _ wish: Wish, left: BookTime? = nil, paused: Bool, if isWanted: @LoopActor () -> Bool
    ) async {
        let place = (try? await store.place(of: entry.item.id)) ?? nil
        let rate = await rate(of: entry.item)
        guard isWanted() else { return }
        told =
            place
            ?? left.map {
                let now = serverNow(of: entry.item.id, at: time.now)
                return Place(item: entry.item.id, position: $0, duration: entry.item.duration, updated: now)
            }
        let copy = present(entry.item, as: wish)
        rateKey = rate.key
        send(
            .restore(
                entry.item, at: left ?? place?.position, rate: rate.rate,
                finished: left == nil && place?.isFinished ?? false, paused: paused, copy: copy))
        if told == nil { look(at: entry.item.id) }
    }

    /// Returns when the queue is where it is on its way to, also where that changes meanwhile.
    func arrival() async {
        while let going { await going.value }
    }

    /// - Throws: why the queue is not where it was on its way to.
    func arrives(_ number: Int) async throws(ControlError) {
        await arrival()
        if overtaken > number { throw ControlError(Self.overtaken) }
        if let queueTrouble { throw ControlError(.failed, queueTrouble) }
    }
}

extension Item {
    /// As far as is known of one that waits.
    fileprivate var mayHaveParts: Bool {
        chapters.count > 1 || tracks.count > 1 || kind == .book && tracks.isEmpty
    }
}
