/// Opening, syncing and closing live sessions.
enum PlayAnswers {
    static let all = [
        Route("POST", "api/items/:item/play") { world, call in play(&world, call, episode: nil) },
        Route("POST", "api/items/:item/play/:episode") { world, call in play(&world, call, episode: call["episode"]) },
        Route("GET", "api/session/:id") { world, call in
            world.withOpenSession(call) { world, session in .json(world.json(session, full: true)) }
        },
        Route("POST", "api/session/:id/sync") { world, call in
            world.withOpenSession(call) { world, session in
                world.sync(session, call.body) ? .ok : .phrase(500)
            }
        },
        Route("POST", "api/session/:id/close") { world, call in
            world.withOpenSession(call) { world, session in
                if !call.body.keys.isEmpty { _ = world.sync(session, call.body) }
                world.close(session.id)
                return .ok
            }
        },
    ]

    private static func play(_ world: inout World, _ call: Call, episode: String?) -> Answer {
        guard let found = world.find(call["item"]) else { return .notFound }
        let account = world.user(call).account
        guard world.may(account, see: found) else { return .forbidden }
        if let episode {
            guard found.item.podcast != nil else { return .phrase(400) }
            guard found.item.episode(episode) != nil else { return .notFound }
        }
        return .json(world.json(world.startSession(of: found, episode: episode, call), full: true))
    }
}

extension World {
    /// Opens a session; one that the same device of the same user had open is closed.
    fileprivate mutating func startSession(of found: Found, episode: String?, _ call: Call) -> PlaySession {
        let device = device(call.body["deviceInfo"], of: call.userID, userAgent: call.headers["user-agent"])
        for old in open where old.userID == call.userID && old.deviceRow == device.row { close(old.id) }
        let audio =
            found.item.podcast == nil ? found.item.audio : found.item.episode(episode ?? "").map { [$0.audio] } ?? []
        let stored = progress(call.userID, item: found.item.id, episode: episode)
        let isStoredForThis = stored?.episodeID == episode
        let start: JSON =
            if isStoredForThis, let stored, !stored.isFinished, let time = stored.currentTime, time.isTruthy {
                time
            } else {
                0
            }
        var session = PlaySession(
            id: DerivedID.random(), userID: call.userID, itemID: found.item.id, episodeID: episode,
            method: playsDirectly(audio, found.item, episode, call.body) ? .direct : .transcode,
            mediaPlayer: call.body["mediaPlayer"] ?? "unknown", device: device.json, deviceRow: device.row,
            duration: audio.reduce(0) { $0 + $1.duration }, startTime: start, currentTime: start, startedAt: .int(now),
            updatedAt: .int(now), dayFrom: now)
        session.transcodedFor = start.coerced ?? 0
        open.append(session)
        return session
    }

    private func playsDirectly(_ audio: [StandInAudio], _ item: StandInItem, _ episode: String?, _ body: JSON) -> Bool {
        if body["forceTranscode"]?.isTruthy == true { return false }
        if body["forceDirectPlay"]?.isTruthy == true { return true }
        // A podcast without an episode has nothing that could be played directly.
        if item.podcast != nil, episode == nil { return false }
        let supported = (body["supportedMimeTypes"]?.elements ?? []).compactMap(\.text)
        return !supported.isEmpty && audio.allSatisfy { supported.contains($0.mimeType) }
    }

    /// Runs a route on an open session: 404 when it is gone, 403 for another user's unless an admin asks.
    fileprivate mutating func withOpenSession(_ call: Call, _ body: (inout World, PlaySession) -> Answer) -> Answer {
        guard let session = open.first(where: { $0.id == call["id"] }) else { return .notFound }
        guard session.userID == call.userID || user(call).account.isAdmin else { return .forbidden }
        return body(&self, session)
    }

    /// Takes a position and a listened delta; the last writer wins, nothing is compared.
    /// - Returns: `false` when the item is gone.
    fileprivate mutating func sync(_ session: PlaySession, _ body: JSON) -> Bool {
        guard let found = find(session.itemID), let index = open.firstIndex(where: { $0.id == session.id }) else {
            return false
        }
        open[index].currentTime = body["currentTime"]
        open[index].listened(body["timeListened"], now: now)
        let current = open[index]
        if let record = try? write(
            sessionChange(current, found.library), losesPosition: current.currentTime == nil, user: current.userID,
            item: current.itemID, episode: current.episodeID)
        {
            tellProgress(record, session: current)
        }
        store(current)
        return true
    }

    /// The progress change that a session stands for, with the library's finish settings.
    func sessionChange(_ session: PlaySession, _ library: StandInLibrary) -> JSON {
        var change: JSON = ["duration": .double(session.duration)]
        if let time = session.currentTime { change = change.adding(["currentTime": time]) }
        if let fraction = session.fraction { change = change.adding(["progress": .double(fraction)]) }
        if let percent = library.finishedPercent {
            change = change.adding(["markAsFinishedPercentComplete": .double(percent)])
        }
        if let seconds = library.finishedTimeRemaining {
            change = change.adding(["markAsFinishedTimeRemaining": .double(seconds)])
        }
        return change
    }

    /// Puts a session into the history, where only those with listened time are kept.
    mutating func store(_ session: PlaySession) {
        guard session.timeListening != 0 else { return }
        if let index = history.firstIndex(where: { $0.id == session.id }) {
            history[index] = session
        } else {
            history.append(session)
        }
    }

    mutating func close(_ id: String) {
        guard let index = open.firstIndex(where: { $0.id == id }) else { return }
        let session = open.remove(at: index)
        store(session)
        tellClosed(session)
    }
}
