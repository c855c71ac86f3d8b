import Control
import EventLoop
import Listening
import Testing

@testable import Daemon

/// The keyring does not give what was put into it.
@Suite struct KeyringTests {
    private let book = Thing.all[1]

    @LoopActor private func begun() async throws -> Rig {
        let rig = try Rig(seed: 1)
        try await rig.begin()
        let service = rig.service
        for thing in [Thing.all[0], book] {
            await rig.answered(within: 15) { _ = try? await service.answer(.play(what: thing.id, at: "")) }
            await rig.pass(35)
        }
        service.send(.pause(.listener))
        await rig.settle()
        return rig
    }

    /// - Returns: what it said.
    @LoopActor private func play(_ rig: Rig) async -> ControlError? {
        let (service, said) = (rig.service, Said())
        let isAnswered = await rig.answered(within: 15) {
            do throws(ControlError) { _ = try await service.answer(.play(what: "", at: "")) } catch {
                said.error = error
            }
        }
        #expect(isAnswered)
        return said.error
    }

    @LoopActor private func signedIn(_ rig: Rig) -> [Bool] {
        rig.service.shelves.accountsReport(overdue: { _ in 0 }).accounts.map(\.signedIn)
    }

    @LoopActor private final class Said {
        var error: ControlError?
        var row: AccountsReport.Row?
    }

    @LoopActor @Test func whatALockedKeyringKeptFromPlayingIsOverOnceItIsOpen() async throws {
        let rig = try await begun()
        await rig.vault.lock(true)
        try await rig.kill()
        let refused = await play(rig)
        #expect(refused?.kind == .notSignedIn && refused?.message.contains("locked") == true, "\(refused as Any)")
        #expect(rig.service.player.error?.contains("locked") == true)
        let service = rig.service
        await rig.answered(within: 15) { _ = try? await service.answer(.finish(what: Thing.all[0].id)) }
        await rig.pass(60)
        #expect(service.player.error?.contains("locked") == true, "nothing has changed")
        await rig.vault.lock(false)
        await rig.pass(600)
        #expect(rig.upstream.place(of: Thing.all[0])?.isFinished == true)
        #expect(service.player.error == nil && service.player.phase == .stopped)
        #expect(await play(rig) == nil)
        await rig.end()
    }

    /// As where another one has become the default.
    @LoopActor @Test func whatTheKeyringHasLostIsNotTheServersDoing() async throws {
        let rig = try await begun()
        await rig.vault.removeAll(account: Thing.account)
        try await rig.kill()
        let service = rig.service
        let refused = await play(rig)
        #expect(refused?.kind == .notSignedIn && refused?.message.contains("the keyring has no login") == true)
        #expect(signedIn(rig) == [false])
        #expect(service.shelves.trouble?.contains("the keyring has no login") == true)
        // That may have been put right by itself.
        #expect(service.shelves.accounts.map(\.isSignedOut) == [false])
        await rig.fillVault()
        #expect(await play(rig) == nil)
        #expect(signedIn(rig) == [true])
        #expect(service.shelves.trouble == nil)
        await rig.end()
    }

    /// Which need not wait for the server's next answer.
    @LoopActor @Test func aLoginMendsIt() async throws {
        let rig = try await begun()
        await rig.vault.removeAll(account: Thing.account)
        try await rig.kill()
        #expect(await play(rig)?.kind == .notSignedIn && signedIn(rig) == [false])
        let shelves = rig.service.shelves
        let request = LoginRequest(
            address: rig.proxy.address, user: Upstream.user, secrets: LoginSecrets(password: Upstream.password))
        let said = Said()
        await rig.answered(within: 15) { said.row = try? await shelves.logIn(request) }
        #expect(said.row?.signedIn == true && said.row?.id == Thing.account)
        await rig.end()
    }
}
