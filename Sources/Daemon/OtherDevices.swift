internal import Audiobookshelf
internal import EventLoop
internal import Listening
internal import Logging
internal import Store

/// What other devices do to what is loaded here: asked for before playing goes on after a pause, and told by the server
/// while it is connected.
extension Service {
    /// What a server answers in time; nil if it does not. What it says later is not heard.
    func inTime<Answer: Sendable>(
        within limit: BookTime? = nil, _ work: @escaping @LoopActor () async -> Answer
    ) async -> Answer? {
        let (answers, answering) = AsyncStream.makeStream(of: Answer?.self)
        let timer = time.timer(after: limit ?? patience) { answering.yield(nil) }
        Task { @LoopActor in answering.yield(await work()) }
        for await answer in answers {
            timer.cancel()
            return answer
        }
        return nil
    }

    /// The time by the clock of the item's server, in milliseconds since 1970; ours where there is none.
    func serverNow(of id: ItemID, at now: Moment) -> Int64 { shelves.serverNow(of: id, at: now) }

    func ask(_ question: Player.Question) {
        let own = told
        let knewOurs = sync.hasTold(question.item)
        let asked = serverNow(of: question.item, at: time.now)
        let timer = time.timer(after: patience) { self.send(.answered(question, newer: nil)) }
        Task { @LoopActor in
            let server = await self.shelves.place(of: question.item)
            timer.cancel()
            let newer = server.flatMap { self.isNews($0, to: own, knowsOurs: knewOurs) ? $0 : nil }
            if self.player.isAsking(question) {
                self.send(.answered(question, newer: newer))
            } else if let newer, !self.player.wantsPlay || newer.updated <= asked {
                // Too late. Meanwhile the server may have heard of our own listening.
                self.consider(newer, own: self.player.wantsPlay ? own : self.told)
            }
        }
    }

    /// Keeps another device's place under its own time, and nothing older is told to the server.
    func took(_ place: Place) {
        told = place
        borrow(place)
        log.info("another device went on", metadata: ["item": "\(place.item)", "to": "\(place.position.seconds)"])
        sync { $0.outdone(by: place, time.now) }
    }

    // MARK: The live connection

    func heard(live report: LiveReport) {
        switch report {
        case .connected:
            pictures.asked = []
            catchUp(live.number)
            if let account = live.account?.id { Task { @LoopActor in await self.refreshBookmarks(account) } }
            if let account = live.account { answered(by: account.id) }
        case .disconnected, .refused: send(.watched(false))
        case .items, .libraries: break
        case .bookmarks(let bookmarks): if let account = live.account { look(at: bookmarks, of: account.id) }
        case .progress(let session, let place):
            if let session, sync.isOurs(session: session) { return }
            guard place.item == player.item?.id else { return refresh([place]) }
            if isOthers(place, than: told) { send(.elsewhere(place)) } else { lookCloser(at: place) }
        case .places(let places):
            refresh(places.filter { $0.item != player.item?.id })
            // All of a user comes for any change, and for the first half of ours too: it is a reason to ask.
            guard let place = places.first(where: { $0.item == player.item?.id }) else { return }
            if isOthers(place, than: told) { look(at: place.item) } else { lookCloser(at: place) }
        }
    }

    /// Another device plays while this one does: whose place is the later one, no clock tells, and ours goes on. The server
    /// will be told ours, so that the other is known nowhere else then.
    private func isBeside(_ place: Place) -> Bool {
        isPlaying(place.item) && !sync.owes(place.item) && sync.isBeside(place, here: position)
    }

    private func isPlaying(_ id: ItemID) -> Bool {
        player.item?.id == id && player.phase == .playing && !player.isAsking
    }

    /// A server that was away, or that nothing watches, may have heard of another device meanwhile, and forgets it with the
    /// next word of ours.
    func lookBeside(before request: Sync.Request, to account: String) async -> Sight {
        let isWatched = player.isWatched && live.account?.id == account
        for item in sync.itemsInDoubt(of: request, to: account, isWatched: isWatched) {
            // What stands goes on where the other was, if that is the later place, as soon as the server has all of ours.
            if item == player.item?.id, !player.wantsPlay { doubted = item }
            do throws(ShelfError) {
                guard let place = try await shelves.serverPlace(of: item) else { continue }
                guard let goal = sync.overwrites(place, with: request) else { continue }
                // Of who plays the word is the later one. Of who stands, the server is to find out which is.
                if case .sync = request, !isPlaying(item) { return .another }
                await isOverwritten(place, with: goal)
            } catch {
                // In a moment it may be back, with another's word that nobody here has seen.
                if error.isSilence { return .nothing(error) }
            }
        }
        return .clear
    }

    /// What is seen before a request is sent.
    enum Sight {
        /// Nothing that speaks against it.
        case clear
        /// Another device's place, which it would go over whichever is the later one.
        case another
        /// The server gives no answer.
        case nothing(ShelfError)
    }

    /// The listener's word goes over what the server has of an item. Where it does not lead there, nor any move led there or
    /// away since the server noted it, that is another device's place, and known nowhere else then.
    func isOverwritten(_ lost: Place, with goal: BookTime) async {
        let ahead = serverNow(of: lost.item, at: time.now) - time.now.wall
        let moves = ((try? await store.moves()) ?? []).filter {
            $0.item == lost.item && $0.at + ahead >= lost.updated - Place.clockTolerance
        }
        let known = [goal] + moves.flatMap { [$0.from, $0.to] }
        guard known.allSatisfy({ abs(($0 - lost.position).seconds) > Sync.besideDistance.seconds }) else { return }
        keep(.device, of: lost.item, from: lost.position, to: goal)
    }

    /// Two devices that paused within a moment: the clocks do not tell whose place is the later one, but a server that
    /// has all of ours does.
    private func lookCloser(at place: Place) {
        if !player.wantsPlay, isNews(place, to: told, knowsOurs: true) { look(at: place.item) }
    }

    func look(at id: ItemID) {
        let (own, knewOurs, sent) = (told, sync.hasTold(id), sync.sentPlace(of: id))
        doubted = knewOurs ? nil : id
        Task { @LoopActor in
            guard let place = await self.shelves.place(of: id) else { return }
            // From before the last that it was told: our own word would pass for another's.
            guard sent == self.sync.sentPlace(of: id) else { return self.look(at: id) }
            let knowsOurs = knewOurs && self.stands(id, at: own)
            self.consider(place, own: self.told, knowsOurs: knowsOurs)
        }
    }

    /// Nothing has happened to it here since, and the server has all that did before.
    private func stands(_ id: ItemID, at own: Place?) -> Bool {
        told == own && sync.hasTold(id) && !player.wantsPlay
    }

    /// What could not be told apart while something of ours was on its way.
    func lookAgain() {
        guard let id = doubted, sync.hasTold(id) else { return }
        doubted = nil
        if id == player.item?.id { look(at: id) }
    }

    /// What happened before the connection was up.
    private func catchUp(_ number: Int) {
        guard let id = player.item?.id, id.isOfShelf else { return }
        Task { @LoopActor in
            let (own, knewOurs, sent) = (self.told, self.sync.hasTold(id), self.sync.sentPlace(of: id))
            do throws(ShelfError) {
                let place = try await self.shelves.serverPlace(of: id)
                guard number == self.live.number, self.live.state == .connected else { return }
                guard sent == self.sync.sentPlace(of: id) else { return self.catchUp(number) }
                let knowsOurs = knewOurs && self.stands(id, at: own)
                if !knowsOurs { self.doubted = id }
                if let place { self.consider(place, own: self.told, knowsOurs: knowsOurs) }
                self.send(.watched(true))
            } catch {
                self.log.debug("a server could not be asked for a place", metadata: ["why": "\(error)"])
            }
        }
    }

    private func consider(_ place: Place, own: Place?, knowsOurs: Bool = false) {
        if isOthers(place, than: own, knowsOurs: knowsOurs) { send(.elsewhere(place)) }
    }

    private func isOthers(_ place: Place, than own: Place?, knowsOurs: Bool = false) -> Bool {
        isNews(place, to: own, knowsOurs: knowsOurs) || isBeside(place)
    }

    private func isNews(_ place: Place, to own: Place?, knowsOurs: Bool = false) -> Bool {
        guard !sync.owes(place.item) else { return false }
        // Nothing of it was ever heard here.
        guard let own else { return place.item == player.item?.id && (place.position > .zero || place.isFinished) }
        guard own.item == place.item else { return false }
        let isNews = isOutdone(own, by: place, knowsOurs: knowsOurs)
        if isNews {
            log.debug(
                "another place",
                metadata: [
                    "seconds": "\(place.position.seconds)", "own": "\(own.position.seconds)",
                    "later": "\(place.updated - own.updated) ms", "all of ours told": "\(knowsOurs)",
                ])
        }
        return isNews
    }

    /// Items that were played here and are not loaded go on where another device left them.
    private func refresh(_ places: [Place]) {
        guard !places.isEmpty else { return }
        Task { @LoopActor in
            let taken = self.borrowed
            guard let known = try? await self.store.places(of: places.map(\.item)) else { return }
            for place in await self.shelves.dated(places) where place.item != self.player.item?.id {
                guard var own = known[place.item] else { continue }
                // Another word may have been taken over since the journal was read.
                if let later = self.borrowed[place.item], later != taken[place.item] { own = later }
                if self.isNews(place, to: own) { self.take(place, over: own) }
            }
        }
    }

    /// Of what is not loaded. What another device has moved already is not where the listener left it here.
    func take(_ place: Place, over own: Place) {
        if !isServers(own), own.duration <= .zero || own.position < own.duration {
            keep(.device, of: place.item, from: own.position, to: place.position)
        }
        borrow(place)
    }

    private func borrow(_ place: Place) {
        borrowed[place.item] = place
        store.post(.borrowed(place))
        wrote(place)
    }
}
