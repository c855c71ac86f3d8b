import Control
import DBus
import EventLoop
import TestSupport
import Testing

@testable import Daemon
@testable import Listening

/// What the desktop is shown, and when a caller is answered, as one item gives way to another that is chosen.
@Suite struct BetweenTests {
    let book = Thing.all[1]
    let other = Thing.all[3]

    @LoopActor func listening(_ body: (Rig, Service) async throws -> Void) async throws {
        let rig = try Rig(seed: 1)
        try await rig.begin()
        let service = rig.service
        await rig.answered(within: 15) { _ = try? await service.answer(.play(what: book.id, at: "100")) }
        await rig.pass(5)
        try await body(rig, service)
        await rig.end()
    }

    /// How far who follows the signals is ahead of what is heard; seconds.
    @LoopActor func gap(_ service: Service) -> Double {
        (service.followed.place(at: service.time.now.monotonic) - service.partPosition).seconds
    }

    @LoopActor func choose(_ what: Thing, _ service: Service) {
        Task { @LoopActor in _ = try? await service.answer(.play(what: what.id, at: "")) }
    }

    /// What failed is shown until what was there before is heard again: its place, too.
    @LoopActor @Test func thePlaceIsThatOfWhatIsShownOnTheWayBack() async throws {
        try await listening { rig, service in
            rig.proxy.fail(.play, .delay(1), times: 1)
            choose(other, service)
            await rig.settle()
            while service.player.item?.duration != .seconds(other.length) { await rig.pass(0.02) }
            #expect(service.player.isUnderWay && service.between?.isBrief == false)
            let track = service.shown.trackID
            rig.proxy.fail(.play, .delay(3), times: 1)
            rig.life.engine.refuse(.unreadable(track: 0, reason: "not audio"))
            await rig.settle()
            var places: Set<BookTime> = []
            while service.player.turning != nil {
                places.insert(service.partPosition)
                #expect(service.shown.trackID == track && service.partPosition <= service.shown.length)
                await rig.pass(0.1)
            }
            #expect(places.count == 1, "\(places)")
            await rig.pass(1)
            #expect(service.shown.trackID != track && service.player.phase == .playing && service.between == nil)
        }
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

    @LoopActor @Test(arguments: [false, true]) func aStandingPlayerTurnsInOneStepToo(isStopped: Bool) async throws {
        try await listening { rig, service in
            service.send(isStopped ? .stop : .pause(.listener))
            let (track, before, status) = (service.shown.trackID, service.partPosition, service.shown.status)
            choose(other, service)
            await rig.settle()
            await rig.pass(0.03)
            #expect(service.player.isUnderWay && service.shown.status == status && service.shown.trackID == track)
            #expect(service.partPosition == before, "nothing is heard, and nothing moves")
            await rig.pass(0.02)
            #expect(service.shown.status == .playing && service.shown.trackID != track)
        }
    }

    /// What was chosen turns out to be no audio.
    @LoopActor private func refuse(_ rig: Rig) async {
        await rig.settle()
        await rig.pass(0.03)
        rig.life.engine.refuse(.unreadable(track: 0, reason: "not audio"))
    }

    @LoopActor @Test(arguments: [false, true]) func whatCannotBePlayedShowsNothing(isPaused: Bool) async throws {
        try await listening { rig, service in
            if isPaused { service.send(.pause(.listener)) }
            let (track, before) = (service.shown.trackID, service.position)
            let status = service.shown.status
            choose(other, service)
            await refuse(rig)
            #expect(service.player.phase == .stopped && service.isBetween)
            for step in 0..<20 {
                #expect(service.shown.trackID == track && service.shown.status == status, "\(step)")
                await rig.pass(0.01)
            }
            #expect(service.player.phase == (isPaused ? .paused : .playing) && !service.isBetween)
            #expect((service.position - before).seconds < 1 && service.retreat == nil)
        }
    }

    @LoopActor @Test func theListenerGoesOnPastWhatCannotBePlayed() async throws {
        let last = Thing.all[4]
        try await listening { rig, service in
            await rig.answered(within: 15) {
                _ = try? await service.answer(.queueAdd(what: other.id, next: false))
                _ = try? await service.answer(.queueAdd(what: last.id, next: false))
                _ = try? await service.answer(.settings(key: "playback.next", value: "queue"))
            }
            service.send(.next)
            await refuse(rig)
            await rig.settle()
            await rig.pass(0.3)
            #expect(isAt(book, service) && service.queue.items.count == 2 && service.queueTrouble != nil)
            service.send(.next)
            await rig.settle()
            await rig.pass(0.3)
            #expect(isAt(last, service) && service.queueTrouble == nil)
            // What was passed over lies behind, and may play after all.
            service.send(.previous)
            await rig.settle()
            await rig.pass(0.3)
            #expect(isAt(other, service))
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

    @LoopActor @Test(arguments: [0.04, 0.2, 1.3]) func whoFollowsTheSignalsIsToldWhereTheSoundSlips(by slip: Double)
        async throws
    {
        try await listening { rig, service in
            #expect(abs(gap(service)) < 0.001)
            rig.life.engine.slip(by: .seconds(slip))
            #expect(abs(gap(service) - slip) < 0.001)
            await rig.pass(1.1)
            // Less than what may be off is not worth a signal.
            #expect(abs(gap(service) - (slip > 0.05 ? 0 : slip)) < 0.001)
            service.send(.rate(1.5))
            service.send(.pause(.listener))
            await rig.pass(3)
            #expect(abs(gap(service)) < 0.001)
            service.send(.play)
            await rig.pass(7)
            #expect(abs(gap(service)) < 0.001 && service.player.phase == .playing)
        }
    }

    /// Again and again while it stands, as who follows counts on, and once more as it goes on. A stream may say that it waits.
    @LoopActor @Test(arguments: [(0.5, false), (1, false), (1, true), (2, true)], [false, true])
    func whoFollowsTheSignalsIsToldThatTheSoundStands(_ how: (rate: Double, isStream: Bool), isLong: Bool) async throws
    {
        let (rate, isStream) = how
        try await listening { rig, service in
            service.send(.rate(rate))
            await rig.pass(0.1)
            service.send(.seek(to: service.position + .seconds(60)))
            await rig.pass(0.1)
            if isStream { rig.life.engine.starve(true) } else { rig.life.engine.stand() }
            for _ in 1...9 {
                await rig.pass(0.1)
                #expect(abs(gap(service)) <= 0.05)
            }
            #expect(service.shown.status == .playing)
            if isLong {
                for _ in 1...40 {
                    await rig.pass(0.1)
                    #expect(abs(gap(service)) <= 0.05)
                }
                #expect(service.shown.status == .paused)
            }
            if isStream { rig.life.engine.starve(false) } else { rig.life.engine.settle() }
            await rig.pass(isLong ? 1.25 : 0.25)
            #expect(service.shown.status == .playing && abs(gap(service)) < (isLong ? 0.05 : 0.001))
        }
    }

    /// Before a tick has told it, and at the latest then: a pause may be long.
    @LoopActor @Test(arguments: [Player.Event.pause(.listener), .toggle, .stop])
    func whoFollowsTheSignalsIsToldWhereTheSoundStands(by event: Player.Event) async throws {
        try await listening { rig, service in
            rig.life.engine.slip(by: .seconds(0.8))
            service.send(event)
            #expect(service.player.phase != .playing)
            #expect(abs(gap(service)) < 0.001)
        }
    }

    /// The sound takes 20 ms to get there, in which who follows counts on.
    @LoopActor @Test(arguments: [2.0, 3.0]) func whoFollowsTheSignalsIsToldWhereASeekArrives(rate: Double) async throws
    {
        try await listening { rig, service in
            service.send(.rate(rate))
            await rig.pass(0.1)
            service.send(.seek(to: service.position + .seconds(60)))
            await rig.pass(0.1)
            #expect(abs(gap(service) - (rate == 3 ? 0 : 0.04)) < 0.001)
        }
    }

    /// From one rate to another the sound stands for a moment, in which who follows counts on at the new one.
    @LoopActor @Test(arguments: [1.5, 2, 3]) func whoFollowsTheSignalsIsToldWhereAnotherRateIsHeard(rate: Double)
        async throws
    {
        try await listening { rig, service in
            rig.life.engine.begin(after: .seconds(0.015))
            service.send(.rate(rate))
            await rig.pass(0.1)
            #expect(abs(gap(service)) < 0.001)
        }
    }

    /// So does the sound as it begins, which at the usual pace is little.
    @LoopActor @Test(arguments: [Player.Event.pause(.listener), .stop], [1.0, 2, 3])
    func whoFollowsTheSignalsIsToldWhereTheSoundBegins(behind event: Player.Event, rate: Double) async throws {
        try await listening { rig, service in
            service.send(.rate(rate))
            await rig.pass(0.1)
            service.send(event)
            await rig.pass(0.5)
            rig.life.engine.begin(after: .seconds(0.03))
            service.send(.play)
            await rig.pass(0.2)
            #expect(service.player.phase == .playing)
            #expect(abs(gap(service) - (rate == 1 ? 0.03 : 0)) < 0.001)
        }
    }

    /// As by PlayPause twice: a clock that has gone on may yet stand, run ahead or fall back.
    @LoopActor @Test(arguments: [-0.08, 0.06, 0.3], [1.0, 3])
    func whoFollowsTheSignalsIsToldWhereTheSoundSettles(slip: Double, rate: Double) async throws {
        try await listening { rig, service in
            service.send(.rate(rate))
            service.send(.toggle)
            await rig.pass(0.05)
            service.send(.toggle)
            await rig.pass(0.15)
            #expect(abs(gap(service)) < 0.001)
            rig.life.engine.slip(by: .seconds(slip))
            await rig.pass(0.08)
            #expect(abs(gap(service)) < 0.001)
            // Nobody looks for longer than it may take: from then on the tick does, once a second.
            await rig.pass(2)
            #expect(service.settling == nil)
        }
    }

    /// As with PulseAudio behind Stop: its clock counts on from the last sound, and stands until there is one.
    @LoopActor @Test(arguments: [0.1, 0.4, 0.76, 1.5], [0.5, 1, 2])
    func whoFollowsTheSignalsIsToldThatTheSoundStandsAfterAll(later: Double, rate: Double) async throws {
        try await listening { rig, service in
            service.send(.rate(rate))
            service.send(.stop)
            await rig.pass(0.5)
            service.send(.play)
            await rig.pass(later)
            rig.life.engine.stand()
            var most = 0.0
            for _ in 1...80 {
                await rig.pass(0.01)
                most = max(most, abs(gap(service)))
            }
            #expect(service.shown.status == .playing && most < 0.051, "\(most)")
        }
    }

    /// While the server is waited for nothing is heard, and nothing new begins.
    @LoopActor @Test func whatIsSaidLastHolds() async throws {
        try await listening { rig, service in
            let item = try #require(service.player.item?.id)
            for endpoint in [Endpoint.sync, .close, .local, .progress] {
                rig.proxy.fail(endpoint, .delay(20), times: 10)
            }
            let place = service.position
            let hasLeft = Rig.Flag()
            Task { @LoopActor in
                await service.leave()
                hasLeft.isSet = true
            }
            await rig.settle()
            #expect(!hasLeft.isSet)
            service.send(.seek(to: place + .seconds(60)))
            await #expect(throws: ControlError.self) { try await service.answer(.play(what: "/notes.mp3", at: "")) }
            await rig.pass(10)
            #expect(hasLeft.isSet)
            #expect(try await service.store.place(of: item)?.position == place && service.player.item?.id == item)
        }
    }

    /// The tick comes again after what is left of the chapter, and that stays as little.
    @LoopActor @Test(arguments: [0.02, 0.1]) func aSoundThatStandsBeforeAnEndIsNotToldOfAllTheTime(left: Double)
        async throws
    {
        try await listening { rig, service in
            let end = service.position + service.shown.length - service.partPosition
            service.send(.seek(to: end - .seconds(left + 1)))
            await rig.pass(1)
            rig.life.engine.stand()
            var told: Set<Int64> = []
            for _ in 1...16 {
                await rig.pass(0.05)
                told.insert(service.followed.told)
            }
            // As often as who follows needs it: every 40 ms.
            #expect(service.shown.status == .playing && (2...21).contains(told.count), "\(told)")
        }
    }

    /// A clock that does not settle is no reason to draw a bar again and again.
    @LoopActor @Test func aClockThatDoesNotSettleIsNotToldOfAllTheTime() async throws {
        try await listening { rig, service in
            service.send(.toggle)
            await rig.pass(0.05)
            service.send(.toggle)
            var told = 0
            for _ in 1...30 {
                rig.life.engine.slip(by: .seconds(0.06))
                let before = service.followed
                await rig.pass(0.06)
                if service.followed.place(at: 0) != before.place(at: 0) { told += 1 }
            }
            #expect(told > 0 && told < 8, "\(told)")
            await rig.pass(1)
            #expect(service.settling == nil)
        }
    }

    @LoopActor func call(_ service: Service, _ body: @LoopActor () -> Void) -> Rig.Flag {
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

    /// - Returns: what to answer with, whether it was, and whether that was an error.
    @LoopActor func expected() -> (reply: Reply, answered: Rig.Flag, refused: Rig.Flag) {
        let (answered, refused) = (Rig.Flag(), Rig.Flag())
        let reply = Reply { result in
            LoopActor.onLoop {
                answered.isSet = true
                if case .failure = result { refused.isSet = true }
            }
        }
        return (reply, answered, refused)
    }

    @LoopActor @Test func whatTakesTooLongIsOnItsWay() async throws {
        try await listening { rig, service in
            rig.proxy.fail(.item, .delay(9), times: 1)
            let (reply, answered, refused) = expected()
            service.open(uri: "dogear:\(other.id)", reply)
            await rig.settle()
            await rig.pass(4.9)
            #expect(!answered.isSet)
            await rig.pass(0.2)
            #expect(answered.isSet && !refused.isSet && service.finding != nil)
            rig.proxy.fail(.play, .status(500), times: 1)
            await rig.pass(60)
            #expect(!refused.isSet && service.player.phase == .playing)
            #expect(service.queueTrouble?.hasPrefix("what was asked for cannot be played: ") == true)
        }
    }

    @LoopActor @Test func whoIsOvertakenIsToldAtOnce() async throws {
        for endpoint in [Endpoint.item, .play] {
            try await listening { rig, service in
                rig.proxy.fail(endpoint, .delay(15), times: 1)
                let refused = Rig.Flag()
                let reply = Reply { result in
                    if case .failure = result { LoopActor.onLoop { refused.isSet = true } }
                }
                service.open(uri: "dogear:\(other.id)", reply)
                await rig.settle()
                await rig.pass(2)
                #expect(!refused.isSet)
                choose(Thing.all[4], service)
                await rig.settle()
                #expect(refused.isSet, "\(endpoint)")
                await rig.pass(30)
                #expect(isAt(Thing.all[4], service))
            }
        }
    }

    /// What `dogear play` alone says of a stopped player while something is on its way.
    @LoopActor private func playing(_ rig: Rig, _ service: Service, _ meanwhile: () async -> Void) async -> String {
        let said = Locked("")
        Task { @LoopActor in
            do throws(ControlError) {
                let report = try await service.answer(.play(what: "", at: ""))
                said.withLock { $0 = report }
            } catch {
                said.withLock { $0 = error.message }
            }
        }
        await rig.settle()
        await rig.pass(1)
        #expect(said.withLock { $0 } == "", "too early")
        await meanwhile()
        await rig.settle()
        return said.withLock { $0 }
    }

    @LoopActor @Test func playOfAStoppedPlayerIsAnsweredWhenWhatIsOnItsWayPlays() async throws {
        try await listening { rig, service in
            for fault in [Fault.delay(3), .status(500), .dropBefore] {
                service.send(.stop)
                await rig.settle()
                rig.proxy.fail(.item, .delay(2), times: 1)
                rig.proxy.fail(.play, fault, times: 1)
                service.open(uri: "dogear:\(other.id)", Reply { _ in })
                await rig.settle()
                let said = await playing(rig, service) { await rig.pass(9) }
                #expect(!said.isEmpty && said != "nothing plays", "\(fault): \(said)")
                #expect(said.contains("\"state\":\"playing\"") == isAt(other, service), "\(fault): \(said)")
            }
        }
    }

    @LoopActor @Test func playOfAStoppedPlayerIsAnsweredWhenItIsStoppedAgain() async throws {
        try await listening { rig, service in
            service.send(.stop)
            await rig.settle()
            rig.proxy.fail(.item, .delay(9), times: 1)
            service.open(uri: "dogear:\(other.id)", Reply { _ in })
            await rig.settle()
            #expect(await playing(rig, service) { service.send(.stop) } == "nothing plays")
            await rig.pass(20)
            #expect(service.player.phase == .stopped)
        }
    }
}
