internal import Audiobookshelf
internal import Control
internal import DBus
internal import EventLoop
internal import Listening
internal import Logging
internal import MPRIS
internal import SDBus
internal import Store

/// The service's beginning and end.
extension Service {
    func export() throws(BusError) {
        begun.listen { [weak self] in self?.choicesChanged() }
        try bus.export(rootInterface, at: MPRISName.path, face: self as any PlayerFace)
        try bus.export(playerInterface, at: MPRISName.path, face: self as any PlayerFace)
        try bus.export(trackListInterface, at: MPRISName.path, face: self as any PlayerFace)
        try bus.export(playlistsInterface, at: MPRISName.path, face: self as any PlayerFace)
        try bus.export(controlInterface, at: ControlName.path, face: self as any ControlFace)
        try exportLaunchers()
        watchCinnamon()
        Log.shared.listen { row in LoopActor.onLoop { self.emitLogged(row) } }
    }

    /// Takes up what an earlier run left: accounts, listening that was not delivered, the item listened to last.
    func readJournal() async {
        await shelves.restore()
        for account in shelves.accounts where account.isSignedOut { notices?.signedOut(account) }
        defer { notices?.lookAtUnsent() }
        do throws(StoreError) {
            if let volume = try await store.volume() { send(.volume(volume)) }
            queue = try await store.queue()
            isQueueKnown = true
            send(.lineup(queue.lineup))
            begun.refresh()
            for place in try await store.asked() {
                await shelves.tell(place)
                let age = serverNow(of: place.item, at: time.now) - place.updated
                if age > ShelfClient.longestWay { store.post(.answered(place.item)) }
            }
            borrowed = try await store.borrowed().merging(borrowed) { _, later in later }
            let stretches = try await store.stretches()
            let places = try await store.places(of: stretches.map(\.item))
            for stretch in stretches {
                // What the server had before the last move is a word of ours.
                if let sent = stretch.sentPlace, sent != .unknown {
                    await shelves.tell(
                        Place(
                            item: stretch.item, position: sent, duration: stretch.duration, updated: stretch.updated))
                }
                // Moved since, without listening there.
                if let place = places[stretch.item], place.updated > stretch.updated { await shelves.tell(place) }
            }
            let writes = try await store.progressWrites()
            let bookmarks = try await store.owedBookmarks()
            sync { $0.restore(stretches, writes, bookmarks, at: time.now) }
            let isStopped = try await store.isStopped()
            if let (last, place) = try await lastPresent(isStopped: isStopped), player.phase == .empty {
                let rate = await rate(of: last)
                var item = last
                item.coverPath = remaining(item.coverPath)
                told = place
                queue.restore(item)
                adopt(queue.lineup)
                rateKey = rate.key
                keptStopped = isStopped
                send(
                    .restore(
                        item, at: place?.position, rate: rate.rate, finished: place?.isFinished ?? false,
                        paused: !isStopped, copy: queue.present?.copy ?? 0))
            }
        } catch {
            log.error("the journal could not be read", metadata: ["why": "\(error)"])
            trouble = "\(error)"
        }
    }

    /// What the queue stood at, heard or not yet; else what was heard last.
    private func lastPresent(isStopped: Bool) async throws(StoreError) -> (Item, Place?)? {
        guard var present = queue.present else {
            return try await store.lastPlayed().map { ($0.item, $0.place) }
        }
        var place = try await store.place(of: present.item.id)
        // It was played to its end, and what is next was on its way.
        if !isStopped, place?.isFinished ?? false, let next = queue.next {
            lineQuietly { $0.begin(next.item, next.key, .onward) }
            (present, place) = (next, try await store.place(of: next.item.id))
        }
        return (try await store.item(present.item.id) ?? present.item, place)
    }

    /// All that commands may ask for is there, and those that came before are answered.
    /// - Parameter librarian: reads what the servers have, from now on; nil: nobody does.
    func begin(with librarian: Librarian?) {
        self.librarian = librarian
        if let librarian { Task { @LoopActor in await librarian.begin() } }
        isRestored = true
        let waiting = early
        early = []
        for body in waiting { body() }
    }

    /// The last words: the place to the journal, the listening to the server if it answers soon, all of it to the disk.
    func leave() async {
        isLeaving = true
        // What is still being opened must not begin to play now.
        opening += 1
        send(.leave)
        notices?.leave()
        if let item = player.item { sync { $0.closed(item.id, time.now) } }
        engine.unload()
        await handIn(within: .seconds(patience.seconds.clamped(to: 1.2...10)))
    }

    /// Returns when what was heard is on the disk and with the server.
    /// - Parameter limit: without the server after so long.
    func handIn(within limit: BookTime) async {
        async let flushed: Void = flush()
        await drain(limit: limit)
        await flushed
        await flush()
    }

    private func flush() async {
        do throws(StoreError) { try await store.flush() } catch {
            log.error("the journal could not be written", metadata: ["why": "\(error)"])
        }
    }

    func heard(_ trouble: StoreTrouble) {
        switch trouble {
        case .began(let error):
            self.trouble = "\(error)"
            log.error("the journal cannot be written", metadata: ["why": "\(error)"])
        case .ended:
            self.trouble = nil
            log.notice("the journal is written again")
        case .renewed, .replaced:
            notice = trouble.notice
            log.error("the journal was made anew", metadata: ["why": "\(trouble.notice ?? "")"])
        }
        emitStatus()
    }

    private func emitLogged(_ row: LogsReport.Row) {
        // Not logged if it fails: that would come back here.
        do throws(BusError) {
            try bus.emit("Logged", [.string(json(row))], of: ControlName.interface, at: ControlName.path)
        } catch {}
    }
}
