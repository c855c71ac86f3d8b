import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// Logins that last: a long absence, an answer that was lost, two servers at once.
@Suite struct TokenTests {
    private func accounts(_ house: House) async throws -> [AccountsReport.Row] {
        let text = try await house.done("accounts", "--json")
        return try JSONDecoder().decode(AccountsReport.self, from: Data(text.utf8)).accounts
    }

    private func refreshes(_ server: StandInServer) -> Int {
        server.requests.count { $0.path.hasSuffix("/auth/refresh") }
    }

    @Test func aWeekAwayIsNoReasonToLogInAgain() async throws {
        let clock = StandInClock()
        try await House.signedIn { configuration in
            configuration.clock = clock
        } _: { house, daemon in
            try await house.done("play", "tidebook", "--at", "10")
            let last = try await house.status("on its way") { $0.position > 11 }
            daemon.send(SIGTERM)
            _ = await daemon.end()
            clock.advance(seconds: 7 * 86400)
            house.server.forgetRequests()
            try await house.daemon()
            try await house.done("play")
            let back = try await house.status("playing") { $0.state == .playing }
            #expect((last.position - 1..<last.position + 20).contains(back.position))
            #expect(refreshes(house.server) == 1)
            #expect(try await accounts(house).map(\.signedIn) == [true])
        }
    }

    /// The server has new tokens, and we never heard of them.
    @Test(arguments: [StandInVersion.v236, .v230]) func aLostAnswerToTheExchange(version: StandInVersion) async throws {
        try await House.signedIn(version: version) { house, _ in
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 1.5 }
            house.server.fail(.dropAfter, method: "POST", path: "/auth/refresh")
            house.server.expireAccessTokens()
            try await house.done("pause")
            if version == .v230 {
                let status = try await house.status("told") { $0.error?.contains("no longer accepts") == true }
                #expect(status.unsent == 1)
                try await house.logIn()
            }
            let paused = try await house.status("sent") { $0.unsent == 0 && $0.error == nil }
            try await house.progress("where it was paused") { abs(($0.currentTime ?? 0) - paused.position) < 0.5 }
            #expect(abs(house.listened - paused.position) < 1.5)
            #expect(try await accounts(house).map(\.signedIn) == [true])
        }
    }

    /// The same user's name on two servers with the same library: nothing of the one concerns the other.
    @Test func twoServersAtOnce() async throws {
        try await House.signedIn { house, _ in
            let one = house.server
            var configuration = one.configuration
            configuration.port = freePort()
            // As each server names its own.
            for index in configuration.users.indices {
                configuration.users[index].id = UUID().uuidString.lowercased()
            }
            let two = StandInServer(configuration: configuration)
            let address = try await two.start() + configuration.basePath
            try await house.done(
                "login", address, "--user", House.user, "--password-stdin", input: House.password + "\n")
            let ids = try await accounts(house).map(\.id)
            #expect(Set(ids).count == 2)

            try await house.done("play", "abs:\(ids[0])/\(Library.book)", "--at", "10")
            try await house.status("on its way") { $0.position > 11 }
            await one.stop()
            try await house.done("pause")
            try await house.status("unsent") { $0.unsent == 1 }
            // The one is down; the other plays and is told.
            try await house.done("play", "abs:\(ids[1])/\(Library.book)", "--at", "40")
            try await house.status("on its way") { $0.position > 41 }
            try await house.done("pause")
            let paused = try await house.status()
            try await eventually("progress on the second server") {
                let place = two.progress(of: House.user, item: Library.book)?.currentTime ?? 0
                return abs(place - paused.position) < 0.2 ? true : nil
            }
            #expect(paused.unsent == 1)
            _ = try await one.start()
            try await house.status("sent") { $0.unsent == 0 }
            let first = try #require(one.progress(of: House.user, item: Library.book)?.currentTime)
            #expect((11..<35).contains(first))

            // Each login is renewed by itself.
            for server in [one, two] {
                server.expireAccessTokens()
                server.forgetRequests()
            }
            try await house.done("continue")
            #expect([one, two].map(refreshes) == [1, 1])
            #expect(try await accounts(house).map(\.signedIn) == [true, true])
            await two.stop()
        }
    }
}
