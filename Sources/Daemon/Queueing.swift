internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Store

/// What plays when an item has come to its end.
extension Service {
    /// Opens the head of the queue. One that cannot be opened stays there and is told; nothing else plays in its place.
    func playFromQueue() {
        guard let head = queue.head else { return }
        queueTrouble = nil
        Task { @LoopActor in
            let ticket = self.opening + 1
            do throws(ControlError) { try await self.open(head.id, at: nil) } catch {
                // Something else was asked for meanwhile: not the queue's affair any more.
                guard ticket == self.opening else { return }
                self.queueTrouble = "'\(head.title)' is next in the queue but cannot be played: \(error.message)"
                self.log.notice("the queue does not go on", metadata: ["why": "\(error.message)"])
                self.emitStatus()
            }
        }
    }

    /// What begins to play is no longer waiting.
    func leaveQueue(_ id: ItemID) {
        queueTrouble = nil
        if queue.remove(id) { store.post(.queue(queue)) }
    }

    func addToQueue(_ what: String, next: Bool) async throws(ControlError) -> QueueReport {
        let item = try await described(what)
        queue.add(item, next: next)
        return try await kept()
    }

    func removeFromQueue(_ number: Int) async throws(ControlError) -> QueueReport {
        guard queue.remove(number) != nil else { throw noNumber(number) }
        return try await kept()
    }

    func moveInQueue(_ number: Int, to other: Int) async throws(ControlError) -> QueueReport {
        guard queue.move(number, to: other) else {
            throw noNumber(queue.items.indices.contains(number - 1) ? other : number)
        }
        return try await kept()
    }

    func clearQueue() async throws(ControlError) -> QueueReport {
        queue.clear()
        return try await kept()
    }

    func queueReport() async -> QueueReport {
        let places = (try? await store.places(of: queue.items.map(\.id))) ?? [:]
        return QueueReport(items: queue.items.map { ItemRow($0, place: places[$0.id]) })
    }

    private func kept() async throws(ControlError) -> QueueReport {
        queueTrouble = nil
        emitStatus()
        do throws(StoreError) { try await store.write(.queue(queue)) } catch {
            throw ControlError(.failed, "the queue lasts only until dogear ends: \(error)")
        }
        return await queueReport()
    }

    private func noNumber(_ number: Int) -> ControlError {
        let count = queue.items.count
        return ControlError(
            .notFound,
            count == 0
                ? "the queue is empty; 'dogear queue add WHAT' puts something into it"
                : "there is no number \(number) in the queue: it goes from 1 to \(count), and 'dogear queue' lists it")
    }

    /// An item that can be played, with what is told about it. Nothing that plays is disturbed.
    private func described(_ what: String) async throws(ControlError) -> Item {
        let id: ItemID
        if let path = localPath(what) {
            id = ItemID(source: "path", key: path)
        } else if WebAddress(what) != nil {
            id = ItemID(source: "address", key: what)
        } else {
            id = try playable(try await one(what), what)
        }
        do throws(SourceError) {
            let found = try await source(of: id).find(id)
            if id.source == "abs" { return try await shelves.described(found) }
            let item = try await files.open(found).item
            // Where it is has to be known when its turn comes.
            store.post(.item(item))
            return item
        } catch {
            throw ControlError(error)
        }
    }
}

extension Shelves {
    /// What is told about an item that waits; how it is played is asked again when its turn comes.
    fileprivate func described(_ found: Found) async throws(SourceError) -> Item {
        do throws(ShelfError) {
            let (client, shelf) = try client(of: found.id)
            let row = try await client.details(shelf).row
            if let progress = row.progress, (try? await store.place(of: found.id)) == .some(nil) {
                let place = Place(
                    item: found.id, position: progress.position, duration: row.duration,
                    isFinished: progress.isFinished, updated: progress.updated)
                store.post(.place(place))
            }
            return Item(
                id: found.id, kind: row.kind == .episode ? .episode : .book, title: row.title, authors: row.authors,
                narrators: row.narrators, series: row.series, podcast: row.podcast, duration: row.duration, tracks: [])
        } catch {
            throw SourceError(error)
        }
    }
}

extension Player.Effect {
    /// Played to the end, not marked as finished by hand.
    var isRealEnd: Bool { if case .finished = self { true } else { false } }
}
