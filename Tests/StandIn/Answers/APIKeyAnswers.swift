/// API keys, made and changed by admins.
enum APIKeyAnswers {
    static let all = [
        Route("GET", "api/api-keys", .admin) { world, _ in
            .json(["apiKeys": .array(world.apiKeys.map { world.apiKeyJSON($0, withCreator: true) })])
        },
        Route("POST", "api/api-keys", .admin, create),
        Route("PATCH", "api/api-keys/:id", .admin, change),
    ]

    @Sendable private static func create(world: inout World, call: Call) -> Answer {
        guard let name = call.body["name"]?.text, let userID = call.body["userId"]?.text,
            let user = world.users.first(where: { $0.account.id == userID })?.account
        else { return .phrase(400) }
        let id = DerivedID.random()
        let lifetime = call.body["expiresIn"]?.integer
        let key = APIKey(
            id: id, name: name, key: world.token(type: "api", user: user, lifetime: lifetime, key: id), userID: userID,
            createdBy: call.userID, isActive: call.body["isActive"]?.isTruthy ?? false,
            expiresAt: lifetime.map { world.now + $0 * 1000 }, createdAt: world.now, updatedAt: world.now)
        world.apiKeys.append(key)
        let json: JSON = [
            "apiKey": .string(key.key), "id": .string(id), "name": .string(name),
            "expiresAt": .optional(key.expiresAt.map(HTTPDate.iso)), "userId": .string(userID),
            "isActive": .bool(key.isActive), "createdByUserId": .string(call.userID),
            "updatedAt": .string(HTTPDate.iso(milliseconds: key.updatedAt)),
            "createdAt": .string(HTTPDate.iso(milliseconds: key.createdAt)), "user": world.briefUser(userID),
        ]
        return .json(["apiKey": json])
    }

    @Sendable private static func change(world: inout World, call: Call) -> Answer {
        guard let index = world.apiKeys.firstIndex(where: { $0.id == call["id"] }) else { return .notFound }
        if case .bool(let isActive)? = call.body["isActive"] { world.apiKeys[index].isActive = isActive }
        if let userID = call.body["userId"]?.text { world.apiKeys[index].userID = userID }
        world.apiKeys[index].updatedAt = world.now
        return .json(["apiKey": world.apiKeyJSON(world.apiKeys[index], withCreator: false)])
    }
}

extension World {
    func briefUser(_ id: String) -> JSON {
        guard let account = users.first(where: { $0.account.id == id })?.account else { return nil }
        return ["id": .string(id), "username": .string(account.name), "type": .string(account.kind.rawValue)]
    }

    func apiKeyJSON(_ key: APIKey, withCreator: Bool) -> JSON {
        let json: JSON = [
            "id": .string(key.id), "name": .string(key.name), "description": nil,
            "expiresAt": .optional(key.expiresAt.map(HTTPDate.iso)), "lastUsedAt": nil,
            "isActive": .bool(key.isActive), "permissions": nil,
            "createdAt": .string(HTTPDate.iso(milliseconds: key.createdAt)),
            "updatedAt": .string(HTTPDate.iso(milliseconds: key.updatedAt)), "userId": .string(key.userID),
            "createdByUserId": .string(key.createdBy), "user": briefUser(key.userID),
        ]
        return withCreator ? json.adding(["createdByUser": briefUser(key.createdBy)]) : json
    }
}
