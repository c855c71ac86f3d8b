import Catalogue
import EventLoop
import Testing

@testable import Daemon
@testable import Listening

/// When libraries are read again.
@Suite struct LibrarianTests {
    /// As a view does, which asks again whenever it is told that something was read.
    @LoopActor @Test func whoAsksAgainWhileTheServerIsAwayHasItTriedOnceAMinute() async throws {
        let rig = try Rig(seed: 1)
        try await rig.begin()
        let librarian = Librarian(
            catalogue: try Catalogue.inMemory(), shelves: rig.service.shelves, time: rig.life.time)
        let (tellings, telling) = AsyncStream.makeStream(of: Bool.self)
        var told = tellings.makeAsyncIterator()
        librarian.listen {
            librarian.refresh(olderThan: .seconds(60))
            telling.yield(librarian.isBusy)
        }
        func quiet() async {
            while librarian.isBusy { await rig.settle() }
            await rig.pass(0.2)
        }
        await librarian.begin()
        #expect(await told.next() == true, "it was never read")
        await quiet()
        #expect(await told.next() == false)
        #expect(librarian.states.contains { $0.checked != nil } && librarian.problems.isEmpty)

        rig.proxy.setDown(true)
        for _ in 1...3 {
            await rig.pass(61)
            librarian.refresh(olderThan: .seconds(60))
            #expect(librarian.isBusy)
            await quiet()
            #expect(await told.next() == false, "it was tried again at once")
            #expect(!librarian.problems.isEmpty)
        }
        rig.proxy.setDown(false)
        librarian.heard(.connected, of: Thing.account)
        #expect(librarian.isBusy, "what could not be read waits although the server is back")
        await quiet()
        #expect(librarian.problems.isEmpty)
        await rig.end()
    }
}
