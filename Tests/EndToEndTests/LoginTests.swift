import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// Who may listen: logging in and out, on every kind of server, and logins that end.
@Suite struct LoginTests {
    private func accounts(_ house: House) async throws -> [AccountsReport.Row] {
        let text = try await house.done("accounts", "--json")
        return try JSONDecoder().decode(AccountsReport.self, from: Data(text.utf8)).accounts
    }

    /// What was heard before it moved is not owed to an address where nobody answers any more.
    @Test func aServerAtAnotherAddressIsTheSameAccount() async throws {
        try await House.signedIn { house, _ in
            let account = try #require(try await accounts(house).first)
            try await house.done("play", "tidebook", "--at", "20")
            try await house.status("on its way") { $0.position > 21 }
            house.server.fail(.status(503), path: "/api/session/**", times: .max)
            try await house.status("some more") { $0.position > 22 }
            try await house.done("stop")
            let place = try await house.status("owed") { $0.unsent > 0 }.position
            let moved = house.address.replacing("127.0.0.1", with: "localhost")
            let login = try await house.run(
                Child.built("dogear"), ["login", moved, "--user", House.user, "--password-stdin"],
                input: House.password + "\n")
            #expect(login.output.contains("It is the account that was at \(house.address)"), "\(login)")
            let rows = try await accounts(house)
            #expect(rows.map(\.id) == [account.id] && rows.map(\.server) == [moved])
            house.server.clearFaults()
            try await house.progress("told") { abs(($0.currentTime ?? 0) - place) < 0.2 }
            #expect(house.listened > 1.5)
            #expect(try await house.report(ListReport.self, "continue").items.map(\.item.title) == ["Tidebook"])
            try await house.done("play")
            try await house.status("where it was") { $0.state == .playing && $0.position >= place }
        }
    }

    /// What people paste is what their browser shows.
    @Test func thePageOfAnItemNamesIt() async throws {
        try await House.with { house in
            let login = try await house.dogear(
                "login", "\(house.address)/login", "--user", House.user, "--password-stdin",
                input: House.password + "\n")
            #expect(login.code == 0, "\(login)")
            #expect(try await accounts(house).map(\.server) == [house.address])
            let items = try await house.report(ListReport.self, "list", "Books").items.map(\.item)
            func page(_ title: String) throws -> String {
                let id = try #require(items.first { $0.title == title }?.id.split(separator: "/").last)
                return "\(house.address)/item/\(id)"
            }
            try await house.done("play", try page("Tidebook"))
            try await house.status("it plays") { $0.item?.title == "Tidebook" && $0.state == .playing }
            #expect(try await house.done("queue", "add", "\(try page("Tidebook"))?from=here").contains("Tidebook"))
            try await house.playerctl("open", try page("Three Rooms"))
            try await house.status("another") { $0.item?.title == "Three Rooms" }
            let unknown = try await house.dogear("play", "\(house.address)/item/nothing")
            #expect(unknown.code == 2, "\(unknown)")
        }
    }

    @Test(arguments: StandInVersion.allCases) func passwords(_ version: StandInVersion) async throws {
        try await House.with(version: version) { house in
            let wrong = try await house.dogear(
                "login", house.address, "--user", House.user, "--password-stdin", input: "guess\n")
            #expect(wrong.code == 3)
            #expect(wrong.errors.contains("does not know this user with this password"))
            #expect(try await accounts(house).isEmpty)
            try await house.logIn()
            let row = try #require(try await accounts(house).first)
            #expect(row.server == house.address && row.user == House.user && row.signedIn)
            #expect(row.login == (version == .v225 ? "legacy" : "tokens"))
            #expect(row.serverVersion == version.rawValue)

            // The same user again is the same account.
            try await house.logIn()
            #expect(try await accounts(house).map(\.id) == [row.id])
            try await house.done("play", "tidebook")
            // Long enough for listening that the server has not been told of.
            try await house.status("on its way") { $0.position > 1.5 }
            #expect(try await house.dogear("logout", "").code == 64, "an empty variable names no account")
            try await house.done("logout")
            #expect(try await accounts(house).isEmpty)
            #expect(house.listened > 1)
            let list = try await house.dogear("list", "Books")
            #expect(list.code == 3)
            #expect(list.errors.contains("dogear login"))
            let secrets = try await house.run(
                "busctl",
                [
                    "--user", "call", "org.freedesktop.secrets", "/org/freedesktop/secrets",
                    "org.freedesktop.Secret.Service", "SearchItems", "a{ss}", "1", "account", row.id,
                ])
            #expect(secrets.output == "aoao 0 0\n")
            let gone = try await house.dogear("play")
            #expect(gone.code == 3 && gone.errors.contains("dogear login"), "\(gone)")

            // Who comes back finds what was left: speeds, history, bookmarks and the queue hang on the id.
            try await house.logIn()
            #expect(try await accounts(house).map(\.id) == [row.id])
            try await house.done("play")
        }
    }

    @Test func apiKeys() async throws {
        try await House.with { house in
            let wrong = try await house.dogear("login", house.address, "--api-key-stdin", input: "no.such.key\n")
            #expect(wrong.code == 3)
            #expect(wrong.errors.contains("API key"))
            let key = house.server.makeAPIKey(for: House.user)
            try await house.done("login", house.address, "--api-key-stdin", input: key + "\n")
            let row = try #require(try await accounts(house).first)
            #expect(row.user == House.user && row.login == "apikey")
            try await house.done("play", "tidebook", "--at", "7")
            try await house.done("pause")
            try await house.progress("beyond 7 s") { ($0.currentTime ?? 0) >= 7 }
        }
    }

    @Test func addressesThatAreNotRight() async throws {
        try await House.with { house in
            let nobody = try await house.dogear(
                "login", "http://127.0.0.1:\(freePort())", "--user", "a", "--password-stdin", input: "b\n")
            #expect(nobody.code == 4)
            #expect(nobody.errors.contains("cannot reach"))
            let web = try LoopbackServer { _ in
                .bytes(
                    LoopbackServer.response("200 OK", headers: ["Content-Type": "text/html"], body: Array("<p>".utf8)))
            }
            defer { web.stop() }
            let page = try await house.dogear("login", web.address, "--user", "a", "--password-stdin", input: "b\n")
            #expect(page.code == 1)
            #expect(page.errors.contains("not Audiobookshelf's API"))
            // Nobody's password goes to something that is not known to be a server.
            #expect(web.requests.allSatisfy { $0.method == "GET" })
            let far = try await house.dogear(
                "login", "http://books.example.org", "--user", "a", "--password-stdin", input: "b\n")
            #expect(far.code == 64)
            #expect(far.errors.contains("--insecure-http"))
            let typed = try await house.dogear("login", "ftp://x", "--user", "a", "--password-stdin", input: "b\n")
            #expect(typed.code == 64)
        }
    }

    /// Without a scheme https is tried first; the stand-in speaks http only. The path stays as it was typed.
    @Test(arguments: ["", "/audiobookshelf"]) func addressesAsPeopleTypeThem(_ basePath: String) async throws {
        try await House.with { house in
            let address = house.address.replacingOccurrences(of: "/audiobookshelf", with: basePath)
            try await house.done(
                "login", String(address.dropFirst("http://".count)) + "/", "--user", "ADA", "--password-stdin",
                input: House.password + "\n")
            #expect(try await accounts(house).first?.server == address)
            house.server.forgetRequests()
            try await house.done("play", "tidebook")
            #expect(house.server.requests.count > 2)
            #expect(house.server.requests.allSatisfy { $0.path.hasPrefix("/audiobookshelf/") == !basePath.isEmpty })
        }
    }

    @Test func aProxyThatWantsAHeader() async throws {
        try await House.with { configuration in
            configuration.requiredHeader = ("X-Door", "open sesame")
        } _: { house in
            let without = try await house.dogear(
                "login", house.address, "--user", House.user, "--password-stdin", input: House.password + "\n")
            #expect(without.code == 1)
            #expect(without.errors.contains("--header"))
            try await house.done(
                "login", house.address, "--user", House.user, "--password-stdin", "--header", "X-Door: open sesame",
                input: House.password + "\n")
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 0.3 }
            // Audio and covers pass the same door.
            let cover = try await house.playerctl("metadata", "mpris:artUrl")
            #expect(cover.hasPrefix("file:///"))
        }
    }

    @Test func tokensThatExpireWhilePlayingAreRenewed() async throws {
        try await House.signedIn { configuration in
            configuration.accessExpiry = 2
        } _: { house, _ in
            try await house.done("play", "tidebook")
            try await house.status("past the token's end") { $0.position > 3 }
            try await house.done("pause")
            let paused = try await house.status("sent") { $0.state == .paused && $0.unsent == 0 }
            try await house.progress("where it was paused") { abs(($0.currentTime ?? 0) - paused.position) < 0.5 }
            #expect(house.server.requests.contains { $0.path.hasSuffix("/auth/refresh") })
            #expect(try await accounts(house).first?.signedIn == true)
        }
    }

    @Test func aRevokedLoginIsSaidAndNothingIsLost() async throws {
        try await House.signedIn { configuration in
            configuration.accessExpiry = 2
            configuration.refreshGrace = 0
        } _: { house, daemon in
            try await house.done("libraries", "--refresh")
            try await house.done("play", "tidebook")
            house.server.revokeRefreshTokens()
            try await house.status("past the token's end") { $0.position > 3 }
            try await house.done("pause")
            try await house.status("told") {
                $0.error?.contains("no longer accepts this login") == true && $0.unsent == 1
            }
            #expect(try await accounts(house).map(\.signedIn) == [false])
            // What was known before still is.
            let list = try await house.dogear("list", "Books")
            #expect(list.code == 0 && list.output.contains("Tidebook"), "\(list)")
            #expect(list.errors.contains("run 'dogear login \(house.address)'"))
            let stopped = try await house.dogear("stop")
            let refused = try await house.dogear("play")
            #expect(stopped.code == 0 && refused.code == 3, "\(refused)")
            // What cannot be looked for is not called not found.
            for command in ["play", "show"] {
                let outcome = try await house.dogear(command, "some other book")
                #expect(
                    outcome.code == 3 && outcome.errors.contains("run 'dogear login \(house.address)'"), "\(outcome)")
            }
            #expect(kill(daemon.pid, 0) == 0)

            try await house.logIn()
            let after = try await house.status("sent") { $0.unsent == 0 && $0.error == nil }
            try await house.progress("where it was paused") { abs(($0.currentTime ?? 0) - after.position) < 0.5 }
            #expect(abs(house.listened - after.position) < 1.5)
        }
    }

    @Test func patienceIsSaidInSeconds() async throws {
        try await House.with { house in
            house.server.fail(.tooManyRequests(retryAfter: 30), method: "POST", path: "/login")
            let outcome = try await house.dogear(
                "login", house.address, "--user", House.user, "--password-stdin", input: House.password + "\n")
            #expect(outcome.code == 4)
            #expect(outcome.errors.contains("30 seconds"))
        }
    }

    @Test func aLogoutDoesNotThrowListeningAway() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.status("beyond 1 s") { $0.position > 1 }
            house.server.fail(.dropBefore, path: "/**", times: .max)
            // Whoever is refused goes on listening.
            try await house.status("well beyond what is on its way") { $0.position > 8 }
            let early = try await house.dogear("logout")
            #expect(early.code == 1 && early.errors.contains("--force"), "\(early)")
            #expect(try await house.status().state == .playing)
            try await house.done("pause")
            try await house.status("unsent") { $0.unsent == 1 }
            let kept = try await house.dogear("logout")
            #expect(kept.code == 1)
            #expect(kept.errors.contains("--force"))
            #expect(try await accounts(house).map(\.unsent) == [1])
            house.server.clearFaults()
            try await house.status("sent") { $0.unsent == 0 }
            try await house.done("logout")
            #expect(try await accounts(house).isEmpty)
            // It is still among what was listened to.
            for command in ["search", "play"] {
                let gone = try await house.dogear(command, "tidebook")
                #expect(gone.code != 0 && gone.errors.contains("'Tidebook' is on a server"), "\(gone)")
                let long = try await house.dogear(command, String(repeating: "x", count: 100_000))
                #expect(long.code != 0 && long.errors.count < 300, "\(long.errors.prefix(300))")
            }
        }
    }
}
