/// Progress, bookmarks and what is being listened to.
enum ProgressAnswers {
    static let all = [
        Route("GET", "api/me") { world, call in
            .json(world.userJSON(call.userID, usedLegacyToken: call.usedLegacyToken))
        },
        Route("PATCH", "api/me/progress/batch/update", .user, batch),
        Route("GET", "api/me/progress/:id/remove-from-continue-listening", .user, hide),
        Route("GET", "api/me/progress/:item") { world, call in read(world, call, episode: nil) },
        Route("GET", "api/me/progress/:item/:episode") { world, call in read(world, call, episode: call["episode"]) },
        Route("PATCH", "api/me/progress/:item") { world, call in patch(&world, call, episode: nil) },
        Route("PATCH", "api/me/progress/:item/:episode") { world, call in patch(&world, call, episode: call["episode"])
        },
        Route("DELETE", "api/me/progress/:id", .user, delete),
        Route("GET", "api/me/items-in-progress", .user, inProgress),
        Route("POST", "api/me/item/:item/bookmark", .user, createBookmark),
        Route("PATCH", "api/me/item/:item/bookmark", .user, renameBookmark),
        Route("DELETE", "api/me/item/:item/bookmark/:time", .user, deleteBookmark),
    ]

    /// Lists that came with 2.36.0.
    static let lists = [
        Route("GET", "api/me/progress") { world, call in
            .json(["mediaProgress": .array(world.user(call).progress.map(\.json))])
        },
        Route("GET", "api/me/bookmarks") { world, call in .json(["bookmarks": .array(world.user(call).bookmarks)]) },
        Route("GET", "api/me/bookmarks/:item") { world, call in
            let own = world.user(call).bookmarks.filter { $0["libraryItemId"]?.text == call["item"] }
            return .json(["bookmarks": .array(own)])
        },
        Route("GET", "api/me/sessions", .user, logins),
    ]

    private static func read(_ world: World, _ call: Call, episode: String?) -> Answer {
        guard let record = world.progress(call.userID, item: call["item"], episode: episode) else { return .notFound }
        return .json(record.json)
    }

    private static func patch(_ world: inout World, _ call: Call, episode: String?) -> Answer {
        do throws(ProgressRefusal) {
            _ = try world.write(call.body, user: call.userID, item: call["item"], episode: episode)
        } catch {
            return .sentence(error.status, error.text)
        }
        world.tellUserUpdated(call.userID)
        return .ok
    }

    @Sendable private static func batch(world: inout World, call: Call) -> Answer {
        let entries = call.body.elements
        guard !entries.isEmpty else { return .sentence(400, "Missing request payload") }
        for entry in entries {
            // Bad entries are skipped in silence.
            _ = try? world.write(
                entry, user: call.userID, item: entry["libraryItemId"]?.text ?? "", episode: entry["episodeId"]?.text)
        }
        world.tellUserUpdated(call.userID)
        return .ok
    }

    @Sendable private static func hide(world: inout World, call: Call) -> Answer {
        let id = call["id"]
        let now = world.now
        let isKnown = world.change(call.userID) { user -> Bool in
            guard let index = user.progress.firstIndex(where: { $0.id == id }) else { return false }
            user.progress[index].isHidden = true
            user.progress[index].lastUpdate = now
            return true
        }
        guard isKnown == true else { return .notFound }
        world.tellUserUpdated(call.userID)
        return .json(world.userJSON(call.userID))
    }

    @Sendable private static func delete(world: inout World, call: Call) -> Answer {
        let id = call["id"]
        let isKnown = world.change(call.userID) { user -> Bool in
            let before = user.progress.count
            user.progress.removeAll { $0.id == id }
            return user.progress.count < before
        }
        guard isKnown == true else { return .notFound }
        world.tellUserUpdated(call.userID)
        return .ok
    }

    @Sendable private static func inProgress(world: inout World, call: Call) -> Answer {
        let limit = Int(call.query["limit"] ?? "") ?? 25
        let records = world.user(call).progress
            .filter { !$0.isFinished && (($0.currentTime?.coerced ?? 0) > 0 || ($0.ebookProgress.number ?? 0) > 0) }
            .sorted { $0.lastUpdate > $1.lastUpdate }
        var items: [JSON] = []
        for record in records where items.count < limit {
            guard let found = world.find(record.itemID) else { continue }
            var json = ItemJSON(found, version: world.version).minified
            if let id = record.episodeID, let episode = found.item.episode(id) {
                json = json.adding(["recentEpisode": ItemJSON(found, version: world.version).episode(episode)])
            }
            items.append(json.adding(["progressLastUpdate": .int(record.lastUpdate)]))
        }
        return .json(["libraryItems": .array(items)])
    }

    @Sendable private static func createBookmark(world: inout World, call: Call) -> Answer {
        bookmark(&world, call, mayCreate: true)
    }

    @Sendable private static func renameBookmark(world: inout World, call: Call) -> Answer {
        bookmark(&world, call, mayCreate: false)
    }

    private static func bookmark(_ world: inout World, _ call: Call, mayCreate: Bool) -> Answer {
        guard world.find(call["item"]) != nil else { return .notFound }
        guard let time = call.body["time"], time.coerced != nil, !time.isNull else {
            return .sentence(400, "Invalid time")
        }
        guard let title = call.body["title"]?.text, !title.isEmpty else { return .sentence(400, "Invalid title") }
        let item = call["item"]
        let now = world.now
        let stored = world.change(call.userID) { user -> JSON? in
            if let index = user.bookmarks.firstIndex(where: { isSame($0, item: item, time: time.coerced) }) {
                user.bookmarks[index] = user.bookmarks[index].adding(["title": .string(title)])
                return user.bookmarks[index]
            }
            guard mayCreate else { return nil }
            let json: JSON = [
                "libraryItemId": .string(item), "time": time, "title": .string(title), "createdAt": .int(now),
            ]
            user.bookmarks.append(json)
            return json
        }
        guard let json = stored ?? nil else { return .notFound }
        world.tellUserUpdated(call.userID)
        return .json(json)
    }

    @Sendable private static func deleteBookmark(world: inout World, call: Call) -> Answer {
        let item = call["item"]
        guard world.find(item) != nil else { return .notFound }
        guard let time = Double(call["time"]) else { return .sentence(400, "Invalid time") }
        let isKnown = world.change(call.userID) { user -> Bool in
            guard user.bookmarks.contains(where: { isSame($0, item: item, time: time) }) else { return false }
            // Looking up compares loosely, removing strictly: a time stored as text stays for ever.
            user.bookmarks.removeAll { $0["libraryItemId"]?.text == item && $0["time"]?.number == time }
            return true
        }
        guard isKnown == true else { return .notFound }
        world.tellUserUpdated(call.userID)
        return .ok
    }

    private static func isSame(_ bookmark: JSON, item: String, time: Double?) -> Bool {
        bookmark["libraryItemId"]?.text == item && bookmark["time"]?.coerced == time
    }

    @Sendable private static func logins(world: inout World, call: Call) -> Answer {
        let logins = world.user(call).logins.sorted { $0.updatedAt > $1.updatedAt }
        let current = call.headers["x-refresh-token"] ?? call.cookie("refresh_token")
        let rows = logins.map { login -> JSON in
            let isLinux = login.userAgent?.contains("Linux") == true
            return [
                "id": .string(login.id), "ipAddress": "127.0.0.1", "userAgent": .optional(login.userAgent),
                "deviceInfo": isLinux ? ["osName": "Linux"] : nil, "createdAt": .int(login.createdAt),
                "updatedAt": .int(login.updatedAt), "current": .bool(login.refreshToken == current),
            ]
        }
        return .json([
            "total": .int(rows.count), "numPages": rows.isEmpty ? 0 : 1, "page": 0, "itemsPerPage": 10,
            "sessions": .array(rows),
        ])
    }
}
