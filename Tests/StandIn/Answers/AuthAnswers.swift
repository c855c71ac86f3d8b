/// Login, refresh, logout, password.
enum AuthAnswers {
    static let open = [
        Route("GET", "status", .open) { world, _ in .json(world.statusJSON) },
        Route("GET", "ping", .open) { _, _ in .json(["success": true]) },
        Route("GET", "healthcheck", .open) { _, _ in .ok },
        // The stand-in always has its users, so this is the second call on the real server.
        Route("POST", "init", .open) { _, _ in .phrase(500) },
        Route("POST", "login", .limited, login),
        Route("POST", "logout", .open, logout),
        Route("POST", "api/authorize") { world, call in .json(world.loginJSON(world.user(call).account.id, call)) },
        Route("PATCH", "api/me/password", .limitedUser, changePassword),
    ]

    static let refreshing = [Route("POST", "auth/refresh", .limited, refresh)]

    @Sendable private static func login(world: inout World, call: Call) -> Answer {
        guard let name = call.body["username"]?.text, let password = call.body["password"]?.text, !name.isEmpty,
            !password.isEmpty
        else { return .bare(400) }
        let match = world.users.first { $0.account.name.lowercased() == name.lowercased() }
        guard let account = match?.account, account.password == password, account.isActive else { return .unauthorized }
        let wantsTokens = call.headers["x-return-tokens"] == "true"
        guard world.version.hasRefreshTokens else {
            return .json(world.loginJSON(account.id, call)).adding("Set-Cookie", serverCookie)
        }
        let refresh = world.startLogin(of: account, userAgent: call.headers["user-agent"])
        let access = world.accessToken(account)
        let tokens: JSON = [
            "refreshToken": wantsTokens ? .string(refresh) : nil, "accessToken": .string(access),
        ]
        var answer = Answer.json(world.loginJSON(account.id, call, tokens: tokens))
        if !wantsTokens { answer = answer.adding("Set-Cookie", refreshCookie(refresh, world)) }
        return answer.adding("Set-Cookie", serverCookie)
    }

    @Sendable private static func refresh(world: inout World, call: Call) -> Answer {
        let header = call.headers["x-refresh-token"]
        guard let token = header ?? call.cookie("refresh_token"), !token.isEmpty else {
            return refusal("No refresh token provided")
        }
        guard let claims = world.claims(of: token) else { return refusal("Invalid refresh token") }
        guard claims.type == "refresh" else { return refusal("Invalid token type") }
        if let end = claims.expiresAt, end * 1000 <= world.now { return refusal("Refresh token expired") }
        guard let fresh = world.rotate(token, of: claims.userID),
            let account = world.users.first(where: { $0.account.id == claims.userID })?.account, account.isActive
        else { return refusal("Invalid refresh token") }
        let tokens: JSON = [
            "accessToken": .string(world.accessToken(account)), "refreshToken": header == nil ? nil : .string(fresh),
        ]
        // The cookie is set in the header flow too.
        return .json(world.loginJSON(account.id, call, tokens: tokens))
            .adding("Set-Cookie", refreshCookie(fresh, world))
    }

    private static func refusal(_ reason: String) -> Answer { .json(["error": .string(reason)], status: 401) }

    @Sendable private static func logout(world: inout World, call: Call) -> Answer {
        // The cookie's token is taken first, as on the real server.
        if let token = call.cookie("refresh_token") ?? call.headers["x-refresh-token"],
            let userID = world.claims(of: token)?.userID
        {
            let everywhere = call.query["allDevices"] == "1" && world.version.hasMeLists
            _ = world.change(userID) { user in
                let known = user.logins.contains { $0.refreshToken == token }
                user.logins.removeAll { $0.refreshToken == token || (everywhere && known) }
            }
        }
        let past = "Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        return .json(["redirect_url": nil])
            .adding("Set-Cookie", "refresh_token=; \(past)").adding("Set-Cookie", "auth_method=; \(past)")
            .adding("Set-Cookie", serverCookie)
    }

    @Sendable private static func changePassword(world: inout World, call: Call) -> Answer {
        let account = world.user(call).account
        guard account.kind != .guest else { return .forbidden }
        guard call.body["password"]?.text == account.password else { return .sentence(400, "Invalid password") }
        _ = world.change(account.id) {
            $0.account.password = call.body["newPassword"]?.text ?? ""
            $0.logins = []
        }
        guard call.headers["x-refresh-token"] != nil else { return .json(["success": true]) }
        let refresh = world.startLogin(of: account, userAgent: call.headers["user-agent"])
        let tokens: JSON = ["accessToken": .string(world.accessToken(account)), "refreshToken": .string(refresh)]
        return .json(["success": true, "user": tokens]).adding("Set-Cookie", refreshCookie(refresh, world))
    }

    static let serverCookie = "connect.sid=s%3Aunused; Path=/; HttpOnly"

    private static func refreshCookie(_ token: String, _ world: World) -> String {
        let lifetime = world.configuration.refreshExpiry
        let end = HTTPDate.text(milliseconds: world.now + lifetime * 1000)
        return "refresh_token=\(token); Max-Age=\(lifetime); Path=/; Expires=\(end); HttpOnly; SameSite=Lax"
    }
}

extension World {
    mutating func startLogin(of account: StandInUser, userAgent: String?) -> String {
        let token = token(type: "refresh", user: account, lifetime: configuration.refreshExpiry)
        let login = Login(
            id: DerivedID.random(), refreshToken: token, expiresAt: now + configuration.refreshExpiry * 1000,
            createdAt: now, updatedAt: now, userAgent: userAgent)
        _ = change(account.id) { $0.logins.append(login) }
        return token
    }

    /// Exchanges a refresh token for the next one.
    ///
    /// A token that was exchanged within the grace period gives the current one again; any other is unknown: `nil`.
    mutating func rotate(_ token: String, of userID: String) -> String? {
        guard let account = users.first(where: { $0.account.id == userID })?.account else { return nil }
        let next = self.token(type: "refresh", user: account, lifetime: configuration.refreshExpiry)
        let now = now
        let grace = configuration.refreshGrace * 1000
        let lifetime = configuration.refreshExpiry * 1000
        return change(userID) { user -> String? in
            if let index = user.logins.firstIndex(where: { $0.refreshToken == token }) {
                user.logins[index].previousToken = token
                user.logins[index].refreshToken = next
                user.logins[index].rotatedAt = now
                user.logins[index].updatedAt = now
                user.logins[index].expiresAt = now + lifetime
                return next
            }
            return user.logins.first { $0.previousToken == token && now < $0.rotatedAt + grace }?.refreshToken
        } ?? nil
    }
}
