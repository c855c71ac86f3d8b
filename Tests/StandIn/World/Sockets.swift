/// One Engine.IO session with what is waiting to be sent to it.
struct SocketState: Sendable {
    /// Known after `auth`; `nil` before, and when it failed.
    var userID: String?
    var outbox: [String] = []
}

extension World {
    /// Begins an Engine.IO session.
    /// - Returns: its id; the first packet waits in its outbox.
    mutating func openSocket(upgrades: Bool) -> String {
        let sid = String(DerivedID.random().replacing("-", with: "").prefix(20))
        let interval = Int(configuration.pingInterval * 1000)
        let hello: JSON = [
            "sid": .string(sid), "upgrades": upgrades ? ["websocket"] : [], "pingInterval": .int(interval),
            "pingTimeout": 20000, "maxPayload": 1_000_000,
        ]
        sockets[sid] = SocketState(outbox: ["0" + hello.serialized])
        return sid
    }

    /// Takes one packet from a client: connect, auth, pong, close.
    mutating func receive(_ packet: String, on sid: String) {
        if packet == "1" {
            sockets[sid] = nil
        } else if packet.hasPrefix("40") {
            let name: JSON = ["sid": .string(String(DerivedID.random().prefix(20)))]
            sockets[sid]?.outbox.append("40" + name.serialized)
        } else if packet.hasPrefix("42"), let event = try? JSON(parsing: packet.dropFirst(2).utf8),
            event.elements.first?.text == "auth"
        {
            authenticateSocket(sid, token: event.elements.dropFirst().first?.text ?? "")
        }
    }

    /// Only access tokens and the old token open a socket: no API key, no refresh token.
    private mutating func authenticateSocket(_ sid: String, token: String) {
        let type = claims(of: token)?.type
        guard type == "access" || type == nil, let userID = bearer(token),
            let name = users.first(where: { $0.account.id == userID })?.account.name
        else {
            sockets[sid]?.outbox.append(Self.event("auth_failed", ["message": "Invalid token"]))
            return
        }
        sockets[sid]?.userID = userID
        let now = now
        _ = change(userID) { $0.lastSeen = now }
        let greeting: JSON = ["userId": .string(userID), "username": .string(name)]
        sockets[sid]?.outbox.append(Self.event("init", greeting))
    }

    /// What waits for a session, once; `nil` when the session is gone.
    mutating func takePackets(_ sid: String) -> [String]? {
        defer { sockets[sid]?.outbox = [] }
        return sockets[sid]?.outbox
    }

    private static func event(_ name: String, _ value: JSON) -> String {
        "42" + JSON.array([.string(name), value]).serialized
    }

    /// Sends an event to every socket of a user, the writer's own included.
    private mutating func tell(_ userID: String, _ name: String, _ value: JSON) {
        let packet = Self.event(name, value)
        for sid in sockets.keys where sockets[sid]?.userID == userID { sockets[sid]?.outbox.append(packet) }
    }

    /// Sends an event to every socket that is signed in.
    mutating func tellAll(_ name: String, _ value: JSON) {
        let packet = Self.event(name, value)
        for sid in sockets.keys where sockets[sid]?.userID != nil { sockets[sid]?.outbox.append(packet) }
    }

    mutating func tellProgress(_ record: Progress, session: PlaySession) {
        tell(
            record.userID, "user_item_progress_updated",
            [
                "id": .string(record.id), "sessionId": .string(session.id),
                "deviceDescription": deviceDescription(session.device), "data": record.json,
            ])
    }

    mutating func tellUserUpdated(_ userID: String) {
        guard sockets.values.contains(where: { $0.userID == userID }) else { return }
        tell(userID, "user_updated", userJSON(userID))
    }

    mutating func tellClosed(_ session: PlaySession) {
        tell(session.userID, "user_session_closed", .string(session.id))
    }
}

extension JSON {
    /// The value as compact text.
    var serialized: String { String(decoding: bytes, as: UTF8.self) }
}
