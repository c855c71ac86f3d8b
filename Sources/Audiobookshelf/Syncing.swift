internal import HTTP
public import Listening

/// What became of listening time sent to a server.
public enum SyncOutcome: Hashable, Sendable {
    /// `placeTaken` is false where another device has a newer place: the time counts, the place does not.
    case accepted(placeTaken: Bool)
    /// The server does not know the session (any more): send the whole of it as a local one, under the same id.
    case sessionGone
    /// It may or may not have arrived: only what is safe to repeat may follow.
    case doubtful(ShelfError)
    /// It has certainly not arrived, and may later.
    case later(ShelfError)
    /// For good; the sentence is the listener's.
    case refused(String)
}

extension ShelfClient {
    /// `POST /api/session/:id/sync`: adds `listened` to an open session and moves its place. Never repeat it by itself:
    /// the server adds up.
    /// - Parameters:
    ///   - time: when the listener was there, in milliseconds since 1970 of the server's clock; nil is now.
    ///   - listened: since the last sync that was accepted.
    public func sync(
        session: String, of item: ItemID? = nil, place: BookTime, at time: Int64? = nil, listened: BookTime,
        duration: BookTime
    ) async -> SyncOutcome {
        let id = item.flatMap { ShelfItemID($0) }
        let told = Told(place: place, at: time ?? serverNow, sent: serverNow)
        // Before it is answered, for the server may speak of it before that.
        if let id { tell(id, told) }
        let outcome = await outcome(.sync(session: session, body: stretch(place, listened, duration)))
        if let id { answered(id, told, outcome) }
        return outcome
    }

    /// `POST /api/session/:id/close`. Without a place: another device may have moved it since.
    public func close(session: String) async -> SyncOutcome { await outcome(.close(session: session)) }

    /// `POST /api/session/local-all`: whole stretches in absolute numbers, under their ids. Safe to repeat, as often as
    /// needed; the place of each is taken only if it is the newest.
    ///
    /// Sent newest first: an item without progress takes the first place it is given, with the present as its time, and
    /// would refuse all others.
    /// - Returns: an outcome for every stretch.
    public func deliver(_ stretches: [Stretch], device: ShelfDevice) async -> [String: SyncOutcome] {
        var outcomes: [String: SyncOutcome] = [:]
        let dated = stretches.map { stretch in
            var stretch = stretch
            stretch.updated = credible(stretch.updated)
            return stretch
        }
        var left = dated.sorted { $0.updated > $1.updated }[...]
        while !left.isEmpty {
            let batch = Array(left.prefix(100))
            left = left.dropFirst(100)
            outcomes.merge(await deliver(batch: batch, device)) { first, _ in first }
        }
        return outcomes
    }

    private func deliver(batch: [Stretch], _ device: ShelfDevice) async -> [String: SyncOutcome] {
        let sessions = batch.compactMap { local($0, device) }
        var outcomes = Dictionary(
            batch.filter { ShelfItemID($0.item) == nil }.map { ($0.id, SyncOutcome.refused("not on this server")) }
        ) { first, _ in first }
        guard !sessions.isEmpty else { return outcomes }
        let call = Call.localSessions(body: ["sessions": .array(sessions), "deviceInfo": device.json])
        // Before it is answered: of an item without progress a server notes that it was there when this came.
        let words = Dictionary(
            batch.compactMap { stretch in
                ShelfItemID(stretch.item).map {
                    ($0, (stretch, Told(place: stretch.place, at: stretch.updated, sent: serverNow)))
                }
            }
        ) { first, _ in first }
        for (id, (_, word)) in words { tell(id, word) }
        do throws(ShelfError) {
            let json = try await json(call)
            guard case .array(let results) = json["results"] else {
                throw ShelfError.missing(field: "results", endpoint: call.endpoint)
            }
            for result in results {
                guard let id = result["id"].text, batch.contains(where: { $0.id == id }) else { continue }
                outcomes[id] =
                    result["success"].bool == true
                    ? .accepted(placeTaken: result["progressSynced"].bool ?? true)
                    : .refused("the server says: \(result["error"].text ?? "not accepted")")
            }
            for stretch in batch where outcomes[stretch.id] == nil {
                outcomes[stretch.id] = .doubtful(.missing(field: "results.id", endpoint: call.endpoint))
            }
            for (id, (stretch, word)) in words {
                guard let outcome = outcomes[stretch.id] else { continue }
                outcomes[stretch.id] = await settled(stretch, id, outcome, word)
                answered(id, word, outcome)
            }
        } catch {
            for (id, (_, word)) in words { answered(id, word, SyncOutcome(error)) }
            for stretch in batch where outcomes[stretch.id] == nil {
                // Only a row's own answer is for good. All of them refused at once, that is a server that is moving or
                // a proxy before it.
                let outcome = SyncOutcome(error)
                if case .refused = outcome {
                    outcomes[stretch.id] = .sessionGone
                } else {
                    outcomes[stretch.id] = outcome
                }
            }
        }
        return outcomes
    }

    /// The newest stretch of an item, put right with a `PATCH` where the server's rules lead elsewhere:
    /// - It held an older place of our own for newer: it notes when a place reached it, not when it was true, and the
    ///   clocks agree only so far.
    /// - The item was finished at its start and is there again: a finish is taken back only where the place changes.
    /// - It had no progress: that is dated by when this came, and would outdo what was listened to since.
    private func settled(
        _ stretch: Stretch, _ id: ShelfItemID, _ outcome: SyncOutcome, _ word: Told
    ) async -> SyncOutcome {
        guard case .accepted(let isTaken) = outcome else { return outcome }
        do throws(ShelfError) {
            guard let server = try await progress(of: id) else {
                // There is a record: it outdid ours.
                if isTaken { return outcome } else { throw ShelfError.notFound(what: stretch.item.description) }
            }
            let isThere = (server.position - stretch.place).microseconds.magnitude < 100_000
            var fields: [String: JSON] = ["currentTime": .number(max(0, stretch.place.seconds))]
            if isTaken {
                let isLate = server.updated > stretch.updated + Place.clockTolerance
                let isFinishedStart = server.isFinished && stretch.place == .zero
                guard isThere, isFinishedStart || isLate && !server.isFinished else { return outcome }
                fields["lastUpdate"] = .number(Double(stretch.updated))
            } else {
                guard server.position != stretch.place,
                    isOurs(server, (told[id] ?? []).filter { $0 != word }, before: stretch)
                else { return outcome }
                fields["lastUpdate"] = .number(Double(max(server.updated, stretch.updated)))
            }
            if stretch.place == .zero { fields["isFinished"] = false }
            if stretch.duration > .zero {
                fields["duration"] = .number(stretch.duration.seconds)
                fields["progress"] = .number((stretch.place.seconds / stretch.duration.seconds).clamped(to: 0...1))
            }
            _ = try await answer(.patchProgress(id, body: .object(fields)))
            return .accepted(placeTaken: true)
        } catch {
            if isTaken { return outcome }
            // That may have been a proxy's word, for some time.
            if case .notFound = error, serverNow - stretch.updated < 3_600_000 { return .later(error) }
            return error.isTemporary || error.endsLogin ? .later(error) : outcome
        }
    }

    private func isOurs(_ server: ShelfProgress, _ last: [Told], before stretch: Stretch) -> Bool {
        guard let newest = last.reversed().max(by: { $0.at < $1.at }) else { return false }
        // The newest that was told is this very place, and the answer was lost: all others are older.
        let isNewest = newest.at <= stretch.updated || newest.place == stretch.place
        return isNewest
            && last.contains { told in
                told.isFinished == server.isFinished && told.isNear(server.position, noted: server.updated)
            }
    }

    /// Notes a place that the server has, or may have, from here.
    /// - Parameter time: when the listener was there, in milliseconds since 1970 of the server's clock.
    public func tell(_ id: ShelfItemID, _ place: BookTime, at time: Int64, isFinished: Bool = false) {
        tell(id, Told(place: place, at: time, sent: time, isFinished: isFinished))
    }

    func tell(_ id: ShelfItemID, _ word: Told) {
        let words = told[id] ?? []
        // Said once more, it takes no other word's place; and that it did not arrive this time is said of this time only.
        let before = words.last { $0.says(as: word) }
        told[id] = words.filter { !$0.says(as: word) || $0 == before }.suffix(7) + [word]
    }

    /// What came of a word: known to have arrived, or not to have, or neither.
    func answered(_ id: ShelfItemID, _ word: Told, _ outcome: SyncOutcome) {
        switch outcome {
        case .accepted:
            guard let index = told[id]?.lastIndex(of: word) else { return }
            told[id]?[index].latest = word.latest ?? serverNow
        case .doubtful: break
        case .sessionGone, .later, .refused:
            let rest = (told[id] ?? []).filter { $0 != word }
            told[id] = rest.isEmpty ? nil : rest
        }
    }

    /// How long a word of ours may be on its way, its second try with a new token among it; milliseconds.
    public static let longestWay: Int64 = 120_000

    /// A place as a server has it, dated by when it was true if it is a word of ours: a server notes when a place reached
    /// it, and one that was long on its way would pass for newer than what was listened to since.
    public func dated(_ place: Place) -> Place {
        guard let id = ShelfItemID(place.item) else { return place }
        let own = told[id]?.last { word in
            word.isFinished == place.isFinished && word.isNear(place.position, noted: place.updated)
                && word.at <= place.updated && place.updated <= word.sent + Self.longestWay
        }
        guard let own else { return place }
        var place = place
        place.updated = own.at
        return place
    }

    private func outcome(_ call: Call) async -> SyncOutcome {
        do throws(ShelfError) {
            _ = try await answer(call)
            return .accepted(placeTaken: true)
        } catch {
            return SyncOutcome(error)
        }
    }

    private func stretch(_ place: BookTime, _ listened: BookTime, _ duration: BookTime) -> JSON {
        var fields: [String: JSON] = [
            "currentTime": .number(max(0, place.seconds)), "timeListened": .number(max(0, listened.seconds)),
        ]
        if duration > .zero { fields["duration"] = .number(duration.seconds) }
        return .object(fields)
    }

    private func local(_ stretch: Stretch, _ device: ShelfDevice) -> JSON? {
        guard let id = ShelfItemID(stretch.item) else { return nil }
        var fields: [String: JSON] = [
            "id": .string(stretch.id), "libraryItemId": .string(id.item),
            "episodeId": id.episode.map { .string($0) } ?? .null,
            "mediaType": id.episode == nil ? "book" : "podcast", "playMethod": 3, "mediaPlayer": "dogear",
            "deviceInfo": device.json, "startTime": .number(max(0, stretch.startPlace.seconds)),
            "currentTime": .number(max(0, stretch.place.seconds)),
            "timeListening": .number(max(0, stretch.listened.seconds)), "startedAt": .number(Double(stretch.started)),
            "updatedAt": .number(Double(stretch.updated)),
        ]
        if stretch.duration > .zero { fields["duration"] = .number(stretch.duration.seconds) }
        return .object(fields)
    }
}

extension SyncOutcome {
    fileprivate init(_ error: ShelfError) {
        self =
            switch error {
            case .notFound: .sessionGone
            case .lost, .timedOut, .serverFault, .cancelled, .unreadable, .missing, .tooLarge, .notAudiobookshelf:
                .doubtful(error)
            case .forbidden, .refused, .badHeader, .badAddress, .notPlayable: .refused(error.description)
            default: .later(error)
            }
    }
}
