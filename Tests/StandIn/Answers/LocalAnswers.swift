/// Sessions that happened offline, and the listening history.
enum LocalAnswers {
    static let all = [
        Route("POST", "api/session/local") { world, call in
            let result = world.takeLocal(call.body, device: call.body["deviceInfo"], call)
            return result.error.map { .sentence(500, $0) } ?? .ok
        },
        Route("POST", "api/session/local-all") { world, call in
            let results = (call.body["sessions"]?.elements ?? []).map { session -> JSON in
                world.takeLocal(session, device: call.body["deviceInfo"], call).json
            }
            return .json(["results": .array(results)])
        },
        Route("GET", "api/me/listening-sessions") { world, call in world.page(of: world.history(call.userID), call) },
        Route("GET", "api/me/item/listening-sessions/:item") { world, call in
            world.page(of: world.history(call.userID).filter { $0.itemID == call["item"] }, call)
        },
        Route("GET", "api/me/item/listening-sessions/:item/:episode") { world, call in
            let rows = world.history(call.userID).filter {
                $0.itemID == call["item"] && $0.episodeID == call["episode"]
            }
            return world.page(of: rows, call)
        },
        Route("GET", "api/me/listening-stats") { world, call in .json(world.statistics(world.history(call.userID))) },
    ]
}

/// What became of one local session.
struct LocalResult {
    var id: String
    var progressSynced = false
    var error: String?

    var json: JSON {
        if let error { return ["id": .string(id), "success": false, "error": .string(error)] }
        return ["id": .string(id), "success": true, "progressSynced": .bool(progressSynced)]
    }
}

extension World {
    /// Stores a local session and, unless the progress is newer, moves the progress to it.
    ///
    /// The listened time is absolute and replaces what was stored under the same id, whoever stored it.
    fileprivate mutating func takeLocal(_ json: JSON, device info: JSON?, _ call: Call) -> LocalResult {
        var result = LocalResult(id: json["id"]?.text ?? DerivedID.random())
        let itemID = json["libraryItemId"]?.text ?? ""
        let episodeID = json["episodeId"]?.text
        guard let found = find(itemID), episodeID == nil || found.item.episode(episodeID ?? "") != nil else {
            result.error = "Media item not found"
            return result
        }
        let session = storeLocal(json, id: result.id, found, device: info, call)
        if let known = progress(call.userID, item: itemID, episode: episodeID),
            let updated = session.updatedAt.coerced, Double(known.lastUpdate) > updated
        {
            return result
        }
        let change = sessionChange(session, found.library).adding(["lastUpdate": session.updatedAt])
        if let record = try? write(change, user: call.userID, item: itemID, episode: episodeID) {
            result.progressSynced = true
            tellProgress(record, session: session)
        }
        return result
    }

    private mutating func storeLocal(_ json: JSON, id: String, _ found: Found, device info: JSON?, _ call: Call)
        -> PlaySession
    {
        let updated = json["updatedAt"] ?? .int(now)
        let listened = json["timeListening"]?.coerced ?? 0
        if let index = history.firstIndex(where: { $0.id == id }) {
            history[index].currentTime = json["currentTime"]
            history[index].timeListening = listened
            history[index].updatedAt = updated
            history[index].dayFrom = updated.integer ?? now
            return history[index]
        }
        let episode = json["episodeId"]?.text
        let device = device(info ?? json["deviceInfo"], of: call.userID, userAgent: call.headers["user-agent"])
        let session = PlaySession(
            id: id, userID: call.userID, itemID: found.item.id, episodeID: episode,
            method: json["playMethod"]?.integer.flatMap(PlaySession.Method.init),
            mediaPlayer: json["mediaPlayer"] ?? nil, device: device.json, deviceRow: device.row,
            duration: episode.flatMap(found.item.episode)?.audio.duration ?? found.item.duration,
            startTime: json["startTime"] ?? 0, currentTime: json["currentTime"] ?? 0, timeListening: listened,
            startedAt: json["startedAt"] ?? .int(now), updatedAt: updated, dayFrom: updated.integer ?? now)
        history.append(session)
        return session
    }

    /// One user's history, latest change first.
    func history(_ userID: String) -> [PlaySession] {
        history.filter { $0.userID == userID }
            .sorted { ($0.updatedAt.coerced ?? 0) > ($1.updatedAt.coerced ?? 0) }
    }

    fileprivate func page(of rows: [PlaySession], _ call: Call) -> Answer {
        let size = max(1, Int(call.query["itemsPerPage"] ?? "") ?? 10)
        let page = max(0, Int(call.query["page"] ?? "") ?? 0)
        let part = rows.dropFirst(page * size).prefix(size).map { json($0, full: false) }
        return .json([
            "total": .int(rows.count), "numPages": .int((rows.count + size - 1) / size), "page": .int(page),
            "itemsPerPage": .int(size), "sessions": .array(part),
        ])
    }

    fileprivate func statistics(_ rows: [PlaySession]) -> JSON {
        var items: [JSON.Member] = []
        var days: [JSON.Member] = []
        var weekdays: [JSON.Member] = []
        func add(_ seconds: Double, under key: String, to members: inout [JSON.Member]) {
            if let index = members.firstIndex(where: { $0.key == key }) {
                members[index].value = .double((members[index].value.number ?? 0) + seconds)
            } else {
                members.append(.init(key, .double(seconds)))
            }
        }
        for row in rows {
            add(row.timeListening, under: HTTPDate.day(milliseconds: row.dayFrom), to: &days)
            add(row.timeListening, under: HTTPDate.weekday(milliseconds: row.dayFrom), to: &weekdays)
            guard !items.contains(where: { $0.key == row.itemID }), let found = find(row.itemID) else { continue }
            let listened = rows.filter { $0.itemID == row.itemID }.reduce(0) { $0 + $1.timeListening }
            let entry: JSON = [
                "id": .string(row.itemID), "timeListening": .double(listened),
                "mediaMetadata": ItemJSON(found, version: version).metadata,
            ]
            items.append(.init(row.itemID, entry))
        }
        let today = HTTPDate.day(milliseconds: now)
        return [
            "totalTime": .double(rows.reduce(0) { $0 + $1.timeListening }), "items": .object(items),
            "days": .object(days), "dayOfWeek": .object(weekdays),
            "today": days.first { $0.key == today }?.value ?? 0,
            "recentSessions": .array(rows.prefix(10).map { json($0, full: false) }),
        ]
    }
}
