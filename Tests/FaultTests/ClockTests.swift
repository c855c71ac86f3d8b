import EventLoop
import Testing

@testable import Daemon
@testable import Listening

/// The clock of this computer is set while something plays, as one without a battery is some time after the start.
@Suite struct ClockTests {
    @LoopActor @Test(arguments: [3600.0, -3600]) func aClockThatIsSetKeepsNoOtherDevicesPlaceAway(_ step: Double)
        async throws
    {
        let rig = try Rig(seed: 1)
        let book = Thing.all[1]
        try await rig.begin()
        let service = rig.service
        await rig.answered(within: 15) { _ = try? await service.answer(.play(what: book.id, at: "")) }
        await rig.pass(35)
        #expect(rig.upstream.place(of: book) != nil, "the server has said what time it is")
        let skew = rig.sky.skew - Int64(step * 1000)
        rig.time.set(by: step)
        rig.sky.set(skew, at: rig.time.now.wall)
        await rig.pass(3)
        service.send(.pause(.listener))
        await rig.settle()
        await rig.pass(20)
        let ours = try #require(service.told)
        let serverNow = rig.time.now.wall + skew
        #expect(abs(ours.updated - (serverNow - 20_000)) < 3000, "\(ours.updated - serverNow)")
        await rig.pass(100)
        rig.upstream.write(book, place: 500, finished: false)
        service.send(.toggle)
        await rig.settle()
        await rig.pass(5)
        #expect((500..<510).contains(service.position.seconds), "\(service.position)")
        await rig.end()
    }

    /// A proxy dates the answers by a clock of its own. Another device goes on a moment after this one has paused.
    @LoopActor @Test(arguments: [20_000, -20_000])
    func aProxysClockKeepsNoOtherDevicesPlaceAway(_ ahead: Int64) async throws {
        let rig = try Rig(seed: 1, headersAhead: ahead)
        let book = Thing.all[1]
        try await rig.begin()
        let service = rig.service
        await rig.answered(within: 15) { _ = try? await service.answer(.play(what: book.id, at: "")) }
        await rig.pass(35)
        service.send(.pause(.listener))
        await rig.settle()
        await rig.pass(6)
        let ours = try #require(rig.upstream.place(of: book))
        #expect(abs(ours.position - service.position.seconds) < 1)
        try await rig.kill()
        rig.upstream.write(book, place: 500, finished: false)
        await rig.pass(30)
        let again = rig.service
        await rig.answered(within: 15) { _ = try? await again.answer(.play(what: book.id, at: "")) }
        await rig.pass(2)
        #expect((500..<510).contains(again.position.seconds), "\(again.position)")
        await rig.end()
    }
}
