import DBus
import EventLoop
import TestSupport
import Testing

@testable import Daemon
@testable import Listening

/// What the desktop is shown, and when a caller is answered, as one item gives way to another that is chosen.
@Suite struct BetweenTests {
    private let book = Thing.all[1]
    private let other = Thing.all[3]

    @LoopActor private func listening(_ body: (Rig, Service) async throws -> Void) async throws {
        let rig = try Rig(seed: 1)
        try await rig.begin()
        let service = rig.service
        await rig.answered(within: 15) { _ = try? await service.answer(.play(what: book.id, at: "100")) }
        await rig.pass(5)
        try await body(rig, service)
        await rig.end()
    }

    @LoopActor private func choose(_ what: Thing, _ service: Service) {
        Task { @LoopActor in _ = try? await service.answer(.play(what: what.id, at: "")) }
    }

    @LoopActor @Test func whatIsOverInAMomentShowsNoPause() async throws {
        try await listening { rig, service in
            let (track, before) = (service.shown.trackID, service.partPosition)
            choose(other, service)
            await rig.settle()
            #expect(service.player.isUnderWay && service.shown.status == .playing && service.shown.trackID == track)
            await rig.pass(0.03)
            #expect(service.player.isUnderWay && service.shown.status == .playing && service.shown.trackID == track)
            #expect(service.partPosition == before + .seconds(0.03), "it goes on for everyone who looks")
            await rig.pass(0.02)
            #expect(service.player.phase == .playing && service.shown.status == .playing)
            #expect(service.shown.trackID != track && service.between == nil)
            #expect(service.partPosition < .second)
        }
    }

    @LoopActor @Test func whatTakesLongerShowsAsAPause() async throws {
        try await listening { rig, service in
            let before = service.partPosition
            rig.proxy.fail(.play, .delay(3), times: 1)
            choose(other, service)
            await rig.settle()
            #expect(service.player.isUnderWay && service.shown.status == .playing)
            await rig.pass(0.3)
            #expect(service.player.isUnderWay && service.shown.status == .paused)
            await rig.pass(4)
            #expect(service.player.phase == .playing && service.shown.status == .playing)
            #expect(service.position < before)
        }
    }

    @LoopActor @Test func aPauseOnTheWayShowsAtOnce() async throws {
        try await listening { rig, service in
            rig.proxy.fail(.play, .delay(3), times: 1)
            choose(other, service)
            await rig.pass(0.1)
            service.send(.pause(.listener))
            #expect(service.shown.status != .playing && service.between?.isBrief != true)
            #expect(service.partPosition <= service.player.position(engine: nil), "where it was left")
            await rig.pass(4)
            #expect(service.player.phase == .paused && service.shown.status == .paused)
        }
    }

    @LoopActor private func call(_ service: Service, _ body: @LoopActor () -> Void) -> Rig.Flag {
        let answered = Rig.Flag()
        service.answer(Reply { _ in LoopActor.onLoop { answered.isSet = true } }, after: body)
        return answered
    }

    @LoopActor @Test(arguments: [false, true]) func whoAsksForTheNextIsAnsweredWhenItIsHeard(isLate: Bool) async throws
    {
        try await listening { rig, service in
            await rig.answered(within: 15) {
                _ = try? await service.answer(.queueAdd(what: other.id, next: true))
                _ = try? await service.answer(.settings(key: "playback.next", value: "queue"))
            }
            let track = service.shown.trackID
            if isLate { rig.proxy.fail(.play, .delay(5), times: 1) }
            let answered = call(service) { service.send(.next) }
            #expect(!answered.isSet)
            await rig.settle()
            await rig.pass(0.03)
            #expect(!answered.isSet && service.shown.trackID == track)
            await rig.pass(0.02)
            if isLate {
                #expect(!answered.isSet)
                await rig.pass(1)
                #expect(answered.isSet && service.shown.trackID == track, "nobody is kept waiting")
                await rig.pass(5)
            }
            #expect(answered.isSet && service.shown.trackID != track && service.shown.status == .playing)
        }
    }

    @LoopActor @Test func whatIsHeardAtOnceIsAnsweredAtOnce() async throws {
        try await listening { rig, service in
            #expect(call(service) { service.send(.toggle) }.isSet && service.shown.status == .paused)
            #expect(call(service) { service.send(.toggle) }.isSet && service.shown.status == .playing)
            service.send(.stop)
            await rig.settle()
            let answered = call(service) { service.send(.play) }
            #expect(!answered.isSet)
            await rig.pass(0.1)
            #expect(answered.isSet && service.shown.status == .playing)
        }
    }
}
