import Foundation

/// A user's place in an item, as the server has it.
public struct StandInProgress: Sendable, Equatable {
    /// Id of the record.
    public var id: String
    public var itemID: String
    public var episodeID: String?
    /// Seconds; `nil` when the server holds no number.
    public var currentTime: Double?
    /// Seconds.
    public var duration: Double
    /// 0…1.
    public var fraction: Double
    public var isFinished: Bool
    /// Milliseconds since 1970.
    public var lastUpdate: Int
}

/// An open session, or a row of the listening history.
public struct StandInSession: Sendable, Equatable {
    public var id: String
    public var itemID: String
    public var episodeID: String?
    /// 0 direct, 2 transcode, 3 local.
    public var playMethod: Int
    /// Seconds listened.
    public var timeListening: Double
    /// Seconds.
    public var currentTime: Double?
}

extension StandInServer {
    /// The progress of a user, named as at login, in a book or an episode; `nil` when there is none.
    public func progress(of user: String, item: String, episode: String? = nil) -> StandInProgress? {
        look { world in
            world.progress(world.id(of: user), item: item, episode: episode).map(StandInProgress.init)
        }
    }

    /// Everything a user has progress in.
    public func progress(of user: String) -> [StandInProgress] {
        look { world in
            let id = world.id(of: user)
            return world.users.first { $0.account.id == id }?.progress.map(StandInProgress.init) ?? []
        }
    }

    /// A user's listening history, latest change first.
    public func history(of user: String) -> [StandInSession] {
        look { world in world.history(world.id(of: user)).map(StandInSession.init) }
    }

    /// The sessions a user has open.
    public func openSessions(of user: String) -> [StandInSession] {
        look { world in world.open.filter { $0.userID == world.id(of: user) }.map(StandInSession.init) }
    }

    /// A user's bookmarks as JSON.
    public func bookmarks(of user: String) -> [JSON] {
        look { world in world.users.first { $0.account.id == world.id(of: user) }?.bookmarks ?? [] }
    }

    /// Makes or renames a bookmark as another client of the user would; sockets are told.
    public func putBookmark(of user: String, item: String, time: Double, title: String) {
        change { world in
            let id = world.id(of: user)
            let now = world.now
            _ = world.change(id) { user in
                let old = user.bookmarks.firstIndex { $0["libraryItemId"]?.text == item && $0["time"]?.number == time }
                let json: JSON = [
                    "libraryItemId": .string(item), "time": .double(time), "title": .string(title),
                    "createdAt": old.flatMap { user.bookmarks[$0]["createdAt"] } ?? .int(now),
                ]
                if let old { user.bookmarks[old] = json } else { user.bookmarks.append(json) }
            }
            world.tellUserUpdated(id)
        }
    }

    /// Removes a bookmark as another client of the user would; sockets are told.
    public func removeBookmark(of user: String, item: String, time: Double) {
        change { world in
            let id = world.id(of: user)
            _ = world.change(id) { user in
                user.bookmarks.removeAll { $0["libraryItemId"]?.text == item && $0["time"]?.number == time }
            }
            world.tellUserUpdated(id)
        }
    }

    /// Writes progress as another client of the user would by `PATCH /api/me/progress`; sockets are told.
    /// - Parameter change: any keys of the record; an unknown item is ignored.
    public func setProgress(of user: String, item: String, episode: String? = nil, _ change: JSON) {
        self.change { world in
            let id = world.id(of: user)
            _ = try? world.write(change, user: id, item: item, episode: episode)
            world.tellUserUpdated(id)
        }
    }

    /// Throws away what sockets have not fetched yet.
    public func forgetEvents() {
        change { world in
            for sid in world.sockets.keys { world.sockets[sid]?.outbox = [] }
        }
    }

    /// Takes an item out of its library, as if its files had been removed.
    public func deleteItem(_ id: String) {
        change { world in
            guard let found = world.find(id) else { return }
            world.deletedItems.insert(id)
            world.libraryCache = [:]
            world.tellAll("item_removed", ["id": .string(id), "libraryId": .string(found.library.id)])
        }
    }

    /// Adds an item to a library, or puts it in the place of the one with its id, as a scan does; sockets are told.
    public func putItem(_ item: StandInItem, library id: String) {
        change { world in
            guard let index = world.configuration.libraries.firstIndex(where: { $0.id == id }) else { return }
            var items = Array(world.configuration.libraries[index].items)
            let known = items.firstIndex { $0.id == item.id }
            if let known { items[known] = item } else { items.append(item) }
            world.configuration.libraries[index].items = StandInItems(items)
            world.libraryCache = [:]
            let json = ItemJSON(
                Found(item: item, library: world.configuration.libraries[index]), version: world.version
            ).expanded
            world.tellAll(known == nil ? "item_added" : "item_updated", json)
        }
    }

    /// A fresh access token of a user, without a login; empty when there is no such user.
    public func makeAccessToken(for user: String) -> String {
        change { world in
            let account = world.users.first { $0.account.id == world.id(of: user) }?.account
            return account.map { world.accessToken($0) } ?? ""
        }
    }

    /// A fresh refresh token of a user, without a login; empty when there is no such user.
    public func makeRefreshToken(for user: String) -> String {
        change { world in
            let account = world.users.first { $0.account.id == world.id(of: user) }?.account
            return account.map { world.startLogin(of: $0, userAgent: nil) } ?? ""
        }
    }

    /// Makes every access token given out so far answer 401.
    public func expireAccessTokens() {
        change { $0.expiredTokens.formUnion($0.issuedTokens) }
    }

    /// Forgets every login, so that each refresh answers 401.
    public func revokeRefreshTokens() {
        change { world in
            for index in world.users.indices { world.users[index].logins = [] }
        }
    }

    /// Behaves as after a restart of the server process: open sessions, sockets and caches are gone, the database and
    /// the tokens are not. Connections stay open.
    public func restart() {
        change { world in
            world.open = []
            world.sockets = [:]
            world.libraryCache = [:]
            world.rate = RateWindow()
            for user in world.users.indices {
                for index in world.users[user].progress.indices { world.users[user].progress[index].reload() }
            }
        }
    }

    /// Makes an API key that acts as a user and never expires; empty when there is no such user.
    public func makeAPIKey(for user: String) -> String {
        change { world in
            guard let account = world.users.first(where: { $0.account.id == world.id(of: user) })?.account else {
                return ""
            }
            let id = DerivedID.random()
            let secret = world.token(type: "api", user: account, lifetime: nil, key: id)
            world.apiKeys.append(
                APIKey(
                    id: id, name: account.name, key: secret, userID: account.id, createdBy: account.id, isActive: true,
                    expiresAt: nil, createdAt: world.now, updatedAt: world.now))
            return secret
        }
    }
}

extension StandInProgress {
    init(_ record: Progress) {
        self.init(
            id: record.id, itemID: record.itemID, episodeID: record.episodeID, currentTime: record.currentTime?.number,
            duration: record.duration.number ?? 0, fraction: record.fraction, isFinished: record.isFinished,
            lastUpdate: record.lastUpdate)
    }
}

extension StandInSession {
    init(_ session: PlaySession) {
        self.init(
            id: session.id, itemID: session.itemID, episodeID: session.episodeID,
            playMethod: session.method?.rawValue ?? 3,
            timeListening: session.timeListening, currentTime: session.currentTime?.number)
    }
}

extension World {
    /// The id of a user by name, without regard to case; empty for nobody.
    func id(of name: String) -> String {
        users.first { $0.account.name.lowercased() == name.lowercased() }?.account.id ?? ""
    }
}

// MARK: Sockets

extension StandInServer {
    func openSocket() -> String { change { $0.openSocket(upgrades: false) } }

    func receive(_ packet: String, on sid: String) { change { $0.receive(packet, on: sid) } }

    /// Waits for packets, a ping when none come in time; `nil` when the session is gone.
    func packets(_ sid: String) async -> [String]? {
        let interval = configuration.pingInterval
        let isPing = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.bell.wait { self.look { $0.sockets[sid]?.outbox.isEmpty != true } }
                return false
            }
            group.addTask { (try? await Task.sleep(for: .seconds(interval))) != nil }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        if Task.isCancelled { return nil }
        // An event may have come at the same moment as the ping.
        if isPing, look({ $0.sockets[sid]?.outbox.isEmpty == true }) { return ["2"] }
        return change { $0.takePackets(sid) }
    }

    /// The body of a polling answer.
    func poll(_ sid: String) async -> Data {
        let packets = await packets(sid) ?? ["1"]
        return Data(packets.joined(separator: String(SocketAnswers.separator)).utf8)
    }
}
