import Control
import DBus
import EventLoop
import MPRIS
import Testing

@testable import Daemon
@testable import Listening

/// What is asked for while something else is on its way, or still shows.
extension BetweenTests {
    /// Sets the place in a track as clients do: by name, as they last heard of it.
    @LoopActor private func set(_ track: ObjectPath, to seconds: Double, _ service: Service) throws {
        for case .method(let method) in playerInterface.members where method.name == "SetPosition" {
            guard case .now(let body) = method.body else { continue }
            #expect(try body(service, [.objectPath(track), .int64(BookTime.seconds(seconds).microseconds)]).isEmpty)
        }
    }

    @LoopActor @Test func whatIsMeantForTheFormerMovesNothingOfTheNext() async throws {
        let saga = Thing.all[0]
        for (former, next) in [(book, other), (saga, other), (book, saga), (saga, Thing.all[2])] {
            try await listening { rig, service in
                await rig.answered(within: 15) { _ = try? await service.answer(.play(what: former.id, at: "100")) }
                await rig.pass(5)
                choose(next, service)
                await rig.settle()
                await rig.pass(0.03)
                #expect(service.player.item?.duration == .seconds(next.length) && service.isBetween)
                try set(service.shown.trackID, to: 30, service)
                service.goTo(track: 0)
                await rig.settle()
                await rig.pass(1)
                #expect(isAt(next, service) && service.position < .seconds(3))
                try set(service.shown.trackID, to: 30, service)
                await rig.settle()
                await rig.pass(1)
                #expect((30...32).contains(service.partPosition.seconds))
            }
        }
    }

    @LoopActor @Test func whatIsQueuedWhileSomethingFailsToLoadStaysQueued() async throws {
        let last = Thing.all[4]
        for isQueued in [false, true] {
            try await listening { rig, service in
                if isQueued {
                    await rig.answered(within: 15) {
                        _ = try? await service.answer(.queueAdd(what: other.id, next: false))
                    }
                }
                choose(other, service)
                await rig.settle()
                await rig.pass(0.03)
                await rig.answered(within: 15) { _ = try? await service.answer(.queueAdd(what: last.id, next: false)) }
                rig.life.engine.refuse(.unreadable(track: 0, reason: "not audio"))
                await rig.settle()
                await rig.pass(0.3)
                #expect(isAt(book, service))
                let waits = service.queue.items.map { Int($0.duration.seconds) }
                #expect(waits == (isQueued ? [Int(other.length), Int(last.length)] : [Int(last.length)]))
                #expect(service.queue.present?.item.duration == .seconds(book.length))
            }
        }
    }

    /// A sound server that hangs is waited for once, not twice.
    @LoopActor @Test func withoutAnOutputWhatWasThereWaitsToBePlayed() async throws {
        try await listening { rig, service in
            await rig.pass(20)
            let (place, line) = (service.position, service.queue)
            choose(other, service)
            await rig.settle()
            await rig.pass(0.03)
            rig.life.engine.refuse(.noSink(reason: "it does not answer"))
            await rig.settle()
            #expect(service.player.phase == .stopped && service.shown.status == .paused)
            #expect(service.player.item?.duration == .seconds(book.length) && service.queue == line)
            #expect(abs((service.position - place).seconds) < 1)
            #expect(service.player.error?.contains("it does not answer") == true)
            service.send(.play)
            await rig.settle()
            await rig.pass(3)
            #expect(isAt(book, service) && service.position > place && service.player.error == nil)
        }
    }

    @LoopActor @Test(arguments: [true, false]) func whatPausesBeforeItIsFoundHoldsForIt(isOutput: Bool) async throws {
        try await listening { rig, service in
            rig.proxy.fail(.item, .delay(3), times: 1)
            service.open(uri: "dogear:\(other.id)", Reply { _ in })
            await rig.pass(1)
            #expect(service.finding != nil && isAt(book, service))
            let gone = Player.Event.report(EngineReport(service.player.load, .outputGone))
            service.send(isOutput ? gone : .pause(.system))
            await rig.pass(5)
            #expect(service.player.phase == .paused && service.player.item?.duration == .seconds(other.length))
        }
    }

    @LoopActor @Test func whoAsksForWhatIsThereKeepsIt() async throws {
        try await listening { rig, service in
            service.send(.pause(.listener))
            rig.proxy.fail(.item, .delay(9), times: 1)
            service.open(uri: "dogear:\(other.id)", Reply { _ in })
            await rig.pass(1)
            #expect(service.finding != nil)
            choose(book, service)
            await rig.settle()
            await rig.pass(20)
            #expect(isAt(book, service) && service.finding == nil)
            rig.proxy.fail(.item, .delay(9), times: 1)
            service.open(uri: "dogear:\(other.id)", Reply { _ in })
            await rig.pass(1)
            service.goTo(track: try #require(service.tracks.index(of: service.shown.trackID)))
            await rig.pass(20)
            #expect(isAt(book, service) && service.finding == nil)
        }
    }

    @LoopActor @Test(arguments: [Endpoint.item, .play]) func whatIsStoppedWhileItIsOpenedIsNotLoaded(
        _ endpoint: Endpoint
    ) async throws {
        try await listening { rig, service in
            rig.proxy.fail(endpoint, .delay(3), times: 1)
            service.open(uri: "dogear:\(other.id)", Reply { _ in })
            await rig.pass(1)
            #expect(service.finding != nil && service.player.isOpening == (endpoint == .play))
            service.send(.stop)
            await rig.settle()
            #expect(service.shown.status == .stopped && service.finding == nil)
            await rig.pass(20)
            #expect(service.player.phase == .stopped && service.player.item?.duration == .seconds(book.length))
        }
    }

    /// Who follows the status hears of what no property of the desktop's tells.
    @LoopActor @Test func whatIsNoPropertyIsToldToo() async throws {
        try await listening { rig, service in
            service.send(.stop)
            await rig.settle()
            rig.proxy.fail(.item, .status(404), times: 1)
            service.send(.play)
            await rig.settle()
            await rig.pass(5)
            #expect(service.player.error != nil && !service.hasNews)
            service.send(.play)
            await rig.pass(5)
            rig.proxy.fail(.sync, .status(500), times: 9)
            await rig.pass(60)
            #expect(service.sync.overdue > 0 && !service.hasNews)
        }
    }
    @LoopActor @Test func whatIsDoneElsewhereThanWherePlayingIsIsToldToo() async throws {
        try await listening { rig, service in
            @LoopActor func told(_ what: String) async {
                await rig.settle()
                await rig.pass(0.1)
                #expect(!service.hasNews, "\(what)")
            }
            // What nobody could tell of by chance, as something else is told.
            service.send(.pause(.listener))
            await rig.answered(within: 15) {
                _ = try? await service.answer(.queueAdd(what: Thing.all[2].id, next: false))
            }
            await rig.pass(1)
            service.line { $0.clear() }
            await told("the queue")
            rig.proxy.fail(.progress, .delay(60), times: 1)
            Task { @LoopActor in _ = try? await service.answer(.finish(what: Thing.all[4].id)) }
            await rig.settle()
            await rig.pass(2)
            #expect(service.sync.overdue > 0)
            await told("what waits for a server")
            rig.proxy.clear()
            await rig.pass(60)
            await rig.answered(within: 15) { _ = try? await service.answer(.logout(account: "", force: true)) }
            #expect(service.statusReport().account == nil)
            await told("an account")
        }
    }

    @LoopActor @Test(arguments: [1, 2]) func whatIsTakenOutOfTheQueueOnItsWayIsNotPlayed(_ count: Int) async throws {
        try await atAnEnd { rig, service in
            if count == 1 {
                service.line { $0.remove(1) }
            } else {
                await rig.answered(within: 5) { _ = try? await service.answer(.queueClear) }
            }
            await rig.settle()
            await rig.pass(30)
            #expect(service.heading == nil && service.finding == nil)
            if count == 1 { return #expect(isAt(Thing.all[4], service)) }
            #expect(service.player.phase == .stopped && service.shown.status == .stopped)
            #expect(service.player.item?.duration == .seconds(book.length) && service.player.isFinished)
        }
    }

    @LoopActor @Test func whatCannotBeOpenedAtAnEndIsInNobodysWay() async throws {
        for uri in ["file:///no/such.mp3", "dogear:\(Thing.all[2].id)"] {
            try await atAnEnd { rig, service in
                let (reply, answered, refused) = expected()
                if uri.hasPrefix("dogear") { rig.proxy.fail(.item, .status(404), times: 1) }
                service.open(uri: uri, reply)
                await rig.settle()
                await rig.pass(20)
                #expect(answered.isSet && refused.isSet && isAt(other, service), "\(uri)")
                #expect(service.heading == nil && service.finding == nil && service.queueTrouble == nil)
            }
        }
    }

    /// The first of what waits is not there, for whoever asks for the item or for it to be played.
    @LoopActor private func stuck(_ endpoint: Endpoint, _ body: (Rig, Service) async throws -> Void) async throws {
        try await linedUp { rig, service in
            service.send(.seek(to: .seconds(book.length - 3)))
            rig.proxy.fail(endpoint, .status(404), times: 2)
            await rig.pass(10)
            #expect(service.queueTrouble?.contains("; 'dogear next' passes over it") == true, "\(endpoint)")
            try await body(rig, service)
        }
    }

    /// The finished one is not begun again instead.
    @LoopActor @Test(arguments: [Endpoint.item, .play]) func theQueueStandsAtWhatCannotBePlayedNext(
        _ endpoint: Endpoint
    ) async throws {
        @LoopActor func isSetDown(_ service: Service, at thing: Thing) -> Bool {
            service.player.item?.duration == .seconds(thing.length) && service.player.isSetDown
                && service.shown.status == .paused && service.queue.played.map(\.item.duration.seconds) == [book.length]
        }
        try await stuck(endpoint) { rig, service in
            #expect(isSetDown(service, at: other))
            // It is asked for again, in vain and then not.
            service.send(service.shown.playPause)
            await rig.settle()
            await rig.pass(5)
            #expect(isSetDown(service, at: other) && service.statusReport().error != nil)
            service.send(service.shown.playPause)
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(other, service) && service.statusReport().error == nil)
        }
        try await stuck(endpoint) { rig, service in
            service.send(.next)
            await rig.settle()
            #expect(service.player.item?.duration == .seconds(Thing.all[4].length))
            #expect(service.shown.status == .paused && service.queueTrouble == nil)
            rig.proxy.clear()
            service.send(.play)
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(Thing.all[4], service))
        }
        try await stuck(endpoint) { rig, service in
            try await rig.kill()
            #expect(isSetDown(rig.service, at: other), "after a restart too")
        }
    }

    @LoopActor @Test func whatIsNextIsWhatIsOfferedAfterARestartBehindAnEnd() async throws {
        try await atAnEnd { rig, _ in
            try await rig.kill()
            let service = rig.service
            #expect(service.player.item?.duration == .seconds(other.length) && service.player.isSetDown)
            #expect(service.queue.played.map(\.item.duration.seconds) == [book.length])
            service.send(.play)
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(other, service) && service.queue.items.map(\.duration.seconds) == [Thing.all[4].length])
        }
    }

    @LoopActor @Test func theStatusAtAnEndIsWhatTheDesktopIsShown() async throws {
        try await atAnEnd { rig, service in
            #expect(service.statusReport().position == book.length)
            for (state, status) in [(StatusReport.State.paused, "Paused"), (.buffering, "Playing")] {
                service.send(.toggle)
                #expect(service.statusReport().state == state && service.shown.status.rawValue == status)
                #expect(service.partPosition == service.shown.length)
            }
            await #expect(throws: ControlError.self) { try await service.answer(.seek("+30")) }
            await rig.pass(20)
            #expect(isAt(other, service))
            _ = try await service.answer(.seek("+30"))
        }
    }

    @LoopActor @Test func nextThatGivesWayToSomethingElseSaysSo() async throws {
        try await linedUp { rig, service in
            for isBad in [false, true] {
                rig.proxy.fail(.item, .delay(9), times: 1)
                let (reply, answered, refused) = expected()
                service.perform(.next, reply)
                await rig.settle()
                await rig.pass(1)
                #expect(!answered.isSet)
                service.open(uri: isBad ? "file:///no/such.mp3" : "dogear:\(Thing.all[2].id)", Reply { _ in })
                await rig.settle()
                await rig.pass(5)
                #expect(answered.isSet && refused.isSet)
                // What could not be opened leaves the way to what was asked for before.
                #expect(isAt(isBad ? other : Thing.all[2], service))
                await rig.pass(20)
            }
        }
    }

    @LoopActor @Test func theUsualSpeedIsThatOfWhatHasNoneOfItsOwn() async throws {
        try await listening { rig, service in
            _ = try await service.answer(.settings(key: "playback.rate", value: "1.5"))
            #expect(service.player.rate == 1.5 && service.shown.rate == 1.5 && service.rateKey == nil)
            service.send(.rate(1.2))
            _ = try await service.answer(.settings(key: "playback.rate", value: "2"))
            #expect(service.player.rate == 1.2)
            _ = try await service.answer(.forgetSpeed)
            #expect(service.player.rate == 2)
            _ = try await service.answer(.resetSetting(key: "playback.rate"))
            #expect(service.player.rate == 1)
        }
    }

    @LoopActor private func isLogoutRefused(_ rig: Rig, _ service: Service, force: Bool = false) async -> Bool {
        let refused = Rig.Flag()
        await rig.answered(within: 15) {
            do { _ = try await service.answer(.logout(account: "", force: force)) } catch { refused.isSet = true }
        }
        await rig.settle()
        return refused.isSet
    }

    @LoopActor @Test(arguments: [false, true]) func aLogoutThatFailsTakesNothing(isPaused: Bool) async throws {
        try await listening { rig, service in
            // What stop does is not what is meant.
            _ = try await service.answer(.settings(key: "playback.stop", value: "restart"))
            if isPaused { service.send(.pause(.listener)) }
            let (place, phase) = (service.position, service.player.phase)
            await rig.vault.beStubborn(true)
            #expect(await isLogoutRefused(rig, service))
            #expect(service.player.phase == phase && service.position >= place)
            await rig.pass(60)
            #expect(service.sync.overdue == 0 && service.player.phase == phase)
            let heard = try #require(rig.upstream.place(of: book)).position
            #expect(abs(service.position.seconds - heard) < (isPaused ? 1 : 35), "the server hears of it as before")
            await rig.vault.beStubborn(false)
            #expect(await !isLogoutRefused(rig, service))
            #expect(!service.shelves.hasAccounts && service.player.phase == .stopped && service.sync.rows.isEmpty)
            #expect(rig.upstream.openSessions.isEmpty)
        }
    }

    @LoopActor @Test(arguments: [false, true]) func aLogoutAsksForWhatTheServerHasNotHeardOf(isPaused: Bool)
        async throws
    {
        try await listening { rig, service in
            await rig.pass(26)
            if isPaused { service.send(.pause(.listener)) }
            await rig.pass(1)
            let phase = service.player.phase
            rig.proxy.setDown(true)
            service.send(.seek(to: .seconds(600)))
            await rig.pass(1)
            #expect(await isLogoutRefused(rig, service))
            #expect(service.player.phase == phase && service.position >= .seconds(600))
            #expect(await !isLogoutRefused(rig, service, force: true))
        }
    }

    @LoopActor @Test func whatIsPickedAtAnEndAndTakenOutLeavesTheWayToTheNext() async throws {
        try await linedUp { rig, service in
            service.send(.seek(to: .seconds(book.length - 3)))
            await rig.settle()
            rig.proxy.fail(.item, .delay(20), times: 1)
            let picked = service.queue.entries[1]
            service.go(to: picked, .picked, plays: true)
            await rig.pass(6)
            try #require(service.player.turning == .rolled && service.putOff != nil)
            service.line { $0.remove(picked.key) }
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(other, service) && service.heading == nil && service.putOff == nil)
        }
    }

    @LoopActor @Test func whatGoesRoundBeginsAgainWhereNothingElseIsLeft() async throws {
        try await atAnEnd { rig, service in
            service.line { $0.loop = .queue }
            await rig.answered(within: 5) { _ = try? await service.answer(.queueClear) }
            await rig.pass(20)
            #expect(isAt(book, service) && service.position < .seconds(30))
        }
    }

    @LoopActor @Test(arguments: [1, 2]) func whatWasGonePastIsNotPlayedForWhatIsTakenOut(_ number: Int) async throws {
        try await linedUp { rig, service in
            await rig.answered(within: 15) {
                _ = try? await service.answer(.queueAdd(what: Thing.all[2].id, next: false))
            }
            rig.proxy.fail(.item, .delay(9), times: 2)
            for _ in 1...2 {
                service.send(.next)
                await rig.settle()
            }
            service.line { $0.remove(number) }
            await rig.settle()
            await rig.pass(30)
            #expect(isAt(number == 1 ? Thing.all[4] : Thing.all[2], service))
            let played = service.queue.played.map(\.item.duration.seconds)
            #expect(played == (number == 1 ? [book.length] : [book.length, other.length]))
        }
    }

    /// It takes three seconds until that is found out.
    @LoopActor private func askForNothing(_ rig: Rig, _ service: Service) async {
        rig.proxy.clear()
        rig.proxy.fail(.item, .delay(3), times: 1)
        service.open(uri: "dogear:abs:\(Thing.account)/nosuch", Reply { _ in })
        await rig.settle()
        await rig.pass(1)
    }

    @LoopActor @Test(arguments: [false, true]) func aPauseHoldsForWhatIsGoneBackTo(isBefore: Bool) async throws {
        try await linedUp { rig, service in
            rig.proxy.fail(.item, .delay(9), times: 1)
            service.go(to: service.queue.entries[0], .picked, plays: true)
            await rig.pass(1)
            if isBefore { service.send(.pause(.listener)) }
            await askForNothing(rig, service)
            if !isBefore { service.send(.pause(.listener)) }
            await rig.pass(30)
            #expect(service.player.phase == .paused && service.player.item?.duration == .seconds(other.length))
        }
    }

    @LoopActor @Test(arguments: [false, true]) func howeverMuchCannotBeOpenedAtAnEndItGoesOn(isTakenOut: Bool)
        async throws
    {
        try await atAnEnd { rig, service in
            await askForNothing(rig, service)
            if isTakenOut {
                service.line { $0.remove(1) }
            } else {
                service.open(uri: "file:///no/such.mp3", Reply { _ in })
            }
            await rig.settle()
            await rig.pass(30)
            #expect(isAt(isTakenOut ? Thing.all[4] : other, service))
            #expect(service.heading == nil && service.displaced == nil)
        }
    }

    @LoopActor @Test func anAddressAtAnEndIsInNobodysWayWhereTheQueueIsEmptied() async throws {
        try await atAnEnd { rig, service in
            await askForNothing(rig, service)
            service.line { $0.clear() }
            await rig.pass(30)
            #expect(service.player.phase == .stopped && service.shown.status == .stopped && service.finding == nil)
            #expect(service.displaced == nil)
        }
    }

    /// Neither what the server will not play, nor what turns out to be no audio.
    @LoopActor @Test(arguments: [false, true], [false, true]) func whatIsFoundAndDoesNotPlayLeavesTheWay(
        isAtEnd: Bool, isLoaded: Bool
    ) async throws {
        @LoopActor func body(_ rig: Rig, _ service: Service) async {
            rig.proxy.clear()
            if !isLoaded { rig.proxy.fail(.play, .status(404), times: 1) }
            service.open(uri: "dogear:\(Thing.all[2].id)", Reply { _ in })
            await rig.settle()
            if isLoaded {
                await rig.pass(0.03)
                rig.life.engine.refuse(.unreadable(track: 0, reason: "not audio"))
            }
            await rig.settle()
            await rig.pass(30)
            #expect(isAt(other, service))
        }
        if isAtEnd { return try await atAnEnd { rig, service in await body(rig, service) } }
        try await linedUp { rig, service in
            rig.proxy.fail(.item, .delay(9), times: 1)
            service.send(.next)
            await rig.pass(1)
            await body(rig, service)
        }
    }

    /// What a silent server is still to be told holds up nothing that is not its own.
    @LoopActor @Test func aFilePlaysAtOnceWhateverAServerDoes() async throws {
        try await listening { rig, service in
            await rig.pass(10)
            rig.proxy.fail(.sync, .delay(20), times: 9)
            service.send(.pause(.listener))
            await rig.settle()
            #expect(service.sync.isSending)
            let (reply, answered, refused) = expected()
            service.open(uri: "file://\(OneFile.path)", reply)
            await rig.settle()
            await rig.pass(0.1)
            #expect(answered.isSet && !refused.isSet && service.sync.isSending)
            #expect(service.player.item?.id == OneFile.item.id && service.player.phase == .playing)
        }
    }

    @LoopActor @Test(arguments: [0.5, 9]) func whatWaitsForItsServerShowsAsAPauseInTime(_ wait: Double) async throws {
        try await listening { rig, service in
            #expect(service.shown.status == .playing)
            rig.life.engine.starve(true)
            await rig.settle()
            let place = service.partPosition
            #expect(service.shown.status == .playing && service.statusReport().state == .buffering)
            await rig.pass(wait)
            let isLong = wait > 1
            #expect(service.shown.status == (isLong ? .paused : .playing) && service.player.wantsPlay)
            if isLong { #expect(service.followed.place(at: service.time.now.monotonic) == place) }
            rig.life.engine.starve(false)
            await rig.settle()
            #expect(service.shown.status == .playing && service.drought == nil)
            await rig.pass(3)
            #expect(service.shown.status == .playing)
            rig.life.engine.starve(true)
            service.send(.pause(.listener))
            await rig.pass(3)
            #expect(service.shown.status == .paused && service.drought == nil)
        }
    }
}
