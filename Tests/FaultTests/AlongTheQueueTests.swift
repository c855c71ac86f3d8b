import Control
import DBus
import EventLoop
import Testing

@testable import Daemon
@testable import Listening

/// What the desktop is shown, and what is played, on the way along the queue.
extension BetweenTests {
    /// Listening to an item with two behind it, where Next and Previous go by the queue.
    @LoopActor func linedUp(_ body: (Rig, Service) async throws -> Void) async throws {
        try await listening { rig, service in
            await rig.answered(within: 15) {
                for thing in [other, Thing.all[4]] {
                    _ = try? await service.answer(.queueAdd(what: thing.id, next: false))
                }
                for key in ["playback.next", "playback.previous"] {
                    _ = try? await service.answer(.settings(key: key, value: "queue"))
                }
            }
            await rig.pass(20)
            try await body(rig, service)
        }
    }

    /// At the end of the first of the line, with what is next being asked for.
    /// - Parameter seconds: since three before that end.
    @LoopActor func atAnEnd(after seconds: Double = 6, _ body: (Rig, Service) async throws -> Void) async throws {
        try await linedUp { rig, service in
            service.send(.seek(to: .seconds(book.length - 3)))
            rig.proxy.fail(.item, .delay(9), times: 1)
            await rig.pass(seconds)
            try #require(service.player.turning == .rolled && service.heading != nil)
            try await body(rig, service)
        }
    }

    @LoopActor func isAt(_ thing: Thing, _ service: Service) -> Bool {
        service.player.item?.duration == .seconds(thing.length) && service.player.phase == .playing
    }

    @LoopActor @Test(arguments: [false, true]) func previousTakesBackTheNext(isLate: Bool) async throws {
        try await linedUp { rig, service in
            let (place, line) = (service.position, service.queue)
            if isLate { rig.proxy.fail(.item, .delay(9), times: 1) }
            service.send(.next)
            if isLate { await rig.pass(3) }
            #expect(isAt(book, service))
            service.send(.previous)
            await rig.pass(20)
            #expect(isAt(book, service) && service.queue == line && service.heading == nil && service.finding == nil)
            #expect(service.position >= place + .seconds(20), "it was never left")
            service.send(.next)
            await rig.pass(3)
            #expect(isAt(other, service) && service.queue.previous?.item.duration == .seconds(book.length))
            service.send(.previous)
            await rig.pass(3)
            #expect(isAt(book, service) && service.position >= place + .seconds(20), "it goes on where it was left")
        }
    }

    @LoopActor @Test func previousOfWhatIsBeingLoadedGoesBack() async throws {
        try await linedUp { rig, service in
            let place = service.position
            service.send(.next)
            await rig.settle()
            #expect(service.player.isUnderWay && service.heading?.isPresent == true)
            service.send(.previous)
            await rig.pass(3)
            #expect(isAt(book, service) && service.position >= place)
            #expect(service.queue.items.map(\.duration.seconds) == [other.length, Thing.all[4].length])
        }
    }

    @LoopActor @Test func eachNextGoesOneFurther() async throws {
        try await linedUp { rig, service in
            let place = service.position
            let answers = (1...3).map { _ in call(service) { service.send(.next) } }
            #expect(answers.allSatisfy { !$0.isSet })
            await rig.pass(3)
            // There is no third.
            #expect(isAt(Thing.all[4], service) && answers.allSatisfy(\.isSet))
            #expect(service.queue.played.map(\.item.duration.seconds) == [book.length, other.length])
            #expect(service.queue.items.isEmpty)
            let left = try #require(try await rig.life.store.place(of: service.queue.played[0].item.id))
            #expect((place...place + .second).contains(left.position))
        }
    }

    /// Each goes directly behind the track that is named, the later before the earlier, however long one is looked up, and
    /// whatever becomes of those between.
    @LoopActor @Test func whatIsAddedTogetherComesInItsOrder() async throws {
        try await listening { rig, service in
            service.send(.pause(.listener))
            await rig.settle()
            @LoopActor func add(_ uri: String) -> Rig.Flag {
                let answered = Rig.Flag()
                let reply = Reply { _ in LoopActor.onLoop { answered.isSet = true } }
                service.addTrack(uri: uri, after: ObjectPath("/gone")!, isCurrent: false, reply)
                return answered
            }
            rig.proxy.fail(.item, .delay(3), times: 1)
            let slow = add("dogear:\(Thing.all[2].id)")
            await rig.settle()
            let missing = add("file:///missing.mp3")
            await rig.pass(0.5)
            #expect(missing.isSet && !slow.isSet)
            let quick = add("dogear:\(Thing.all[4].id)")
            await rig.pass(0.5)
            #expect(!quick.isSet && service.queue.items.isEmpty)
            await rig.pass(3)
            #expect(slow.isSet && quick.isSet)
            #expect(service.queue.items.map(\.duration.seconds) == [Thing.all[2].length, Thing.all[4].length])
            // What is still looked up then is not wanted any more.
            rig.proxy.fail(.item, .delay(3), times: 1)
            let late = add("dogear:\(other.id)")
            await rig.settle()
            await rig.answered(within: 1) { _ = try? await service.answer(.queueClear) }
            await rig.pass(4)
            #expect(late.isSet && service.queue.items.isEmpty)
        }
    }

    @LoopActor @Test func aBookWithChaptersIsNotPassedByForTheFirstOfThem() async throws {
        try await listening { rig, service in
            await rig.answered(within: 15) {
                for thing in [Thing.all[2], other] {
                    _ = try? await service.answer(.queueAdd(what: thing.id, next: false))
                }
            }
            for _ in 1...2 { service.send(.next) }
            await rig.settle()
            await rig.pass(3)
            #expect(isAt(Thing.all[2], service) && service.queue.items.count == 1)
        }
    }

    @LoopActor @Test func whatDoesNotComeIsPassedOverAsAWhole() async throws {
        try await listening { rig, service in
            await rig.answered(within: 15) {
                for thing in [Thing.all[2], other] {
                    _ = try? await service.answer(.queueAdd(what: thing.id, next: false))
                }
            }
            service.send(.seek(to: .seconds(book.length - 60)))
            await rig.settle()
            let end = service.longWait.seconds
            rig.proxy.fail(.item, .delay(Int(end) + 20), times: 1)
            service.send(.next)
            await rig.settle()
            try #require(service.heading != nil)
            await rig.pass(end - 1)
            service.send(.next)
            await rig.settle()
            #expect(service.heading?.entry.item.duration == .seconds(Thing.all[2].length) && service.isAwaited)
            await rig.pass(2)
            #expect(isAt(book, service))
            service.send(.next)
            await rig.settle()
            await rig.pass(3)
            #expect(isAt(other, service) && service.queue.items.isEmpty)
        }
    }

    @LoopActor @Test func whatComesRightBehindNextMovesNothingThatIsLeft() async throws {
        try await linedUp { rig, service in
            let (place, id) = (service.position, try #require(service.player.item?.id))
            service.send(.next)
            service.send(.seekPart(by: .seconds(60)))
            service.send(.setPartPosition(.seconds(7)))
            await rig.pass(3)
            #expect(isAt(other, service) && service.position < .seconds(5))
            let left = try #require(try await rig.life.store.place(of: id))
            #expect((place...place + .second).contains(left.position), "\(left.position)")
        }
    }

    @LoopActor @Test func whatIsStoppedOnItsWayDoesNotComeBack() async throws {
        try await linedUp { rig, service in
            service.send(.stop)
            await rig.settle()
            service.send(.play)
            service.send(.stop)
            await rig.settle()
            await rig.pass(5)
            #expect(service.player.phase == .stopped && service.shown.status == .stopped)
            service.send(.play)
            await rig.settle()
            await rig.pass(5)
            service.send(.seek(to: .seconds(book.length - 3)))
            rig.proxy.fail(.item, .delay(20), times: 1)
            await rig.pass(6)
            #expect(service.player.turning == .rolled && service.heading != nil)
            service.send(.stop)
            await rig.settle()
            await rig.pass(60)
            #expect(service.player.phase == .stopped && service.player.item?.duration == .seconds(book.length))
        }
    }

    /// A server that does not answer would leave everyone with a player that plays and cannot be heard.
    @LoopActor @Test func whatIsLongOnItsWayBehindAnEndIsPausedUntilItIsHeard() async throws {
        try await atAnEnd(after: 4) { rig, service in
            #expect(service.player.turning == .rolled && service.shown.status == .playing)
            let track = service.shown.trackID
            await rig.pass(2)
            #expect(service.shown.status == .paused && service.player.wantsPlay && service.shown.trackID == track)
            #expect(service.partPosition == service.shown.length)
            // Who presses the key sees a pause, and means that it is to play.
            service.send(service.shown.playPause)
            #expect(service.shown.status == .paused && service.player.wantsPlay)
            service.send(.rate(1.75))
            #expect(service.shown.rate == 1.75)
            await rig.pass(9)
            #expect(isAt(other, service) && service.shown.status == .playing && service.drought == nil)
            #expect(service.shown.rate == 1.75 && rig.life.engine.rate == 1.75)
            let rate = try await rig.life.store.rate(among: [#require(service.queue.played.last).item.id])
            #expect(rate?.rate == nil, "the speed of what is over stays")
            service.send(service.shown.playPause)
            #expect(service.player.phase == .paused)
            service.send(service.shown.playPause)
            #expect(service.player.phase == .playing)
        }
    }

    @LoopActor @Test func whoSleepsAtAnEndWakesUpAtWhatIsNext() async throws {
        for wakes in ["play", "undo"] {
            try await linedUp { rig, service in
                service.send(.seek(to: .seconds(book.length - 40)))
                await rig.settle()
                service.send(.sleep(.set(.item)))
                await rig.pass(60)
                #expect(service.player.phase == .stopped && service.shown.status == .paused && service.heading == nil)
                #expect(service.player.item?.duration == .seconds(other.length) && service.partPosition == .zero)
                if wakes == "undo" {
                    await rig.answered(within: 15) { _ = try? await service.answer(.undo(what: "")) }
                    #expect(service.player.item?.duration == .seconds(book.length) && !service.player.isFinished)
                    #expect(abs(service.position.seconds - (book.length - 20)) < 1.5, "where the sound was still full")
                    #expect(service.shown.status == .paused)
                }
                service.send(.play)
                await rig.settle()
                await rig.pass(3)
                #expect(isAt(wakes == "undo" ? book : other, service))
                #expect(service.queue.next?.item.duration.seconds == (wakes == "undo" ? other : Thing.all[4]).length)
            }
        }
    }

    @LoopActor @Test func whatIsPausedWhileTheNextIsOnItsWayWaitsThere() async throws {
        try await atAnEnd(after: 4) { rig, service in
            #expect(service.player.turning == .rolled && service.shown.status == .playing)
            let track = service.shown.trackID
            service.send(.pause(.listener))
            #expect(service.shown.status == .paused && service.shown.trackID == track)
            #expect(service.partPosition == service.shown.length, "where it came to its end")
            await rig.pass(20)
            #expect(service.player.phase == .paused && service.shown.status == .paused)
            #expect(service.player.item?.duration == .seconds(other.length) && service.heading == nil)
            service.send(.play)
            await rig.pass(1)
            #expect(isAt(other, service))
        }
    }

    @LoopActor @Test(arguments: [Player.Event.play, .toggle]) func playOfAStoppedPlayerPlaysWhatIsOnItsWay(
        _ event: Player.Event
    ) async throws {
        try await linedUp { rig, service in
            service.send(.stop)
            await rig.settle()
            rig.proxy.fail(.item, .delay(3), times: 1)
            choose(other, service)
            await rig.settle()
            await rig.pass(1)
            service.send(event)
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(other, service))
            service.send(.stop)
            await rig.settle()
            let last = try #require(service.queue.entries.last)
            service.go(to: last, .picked, plays: true)
            service.send(event)
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(Thing.all[4], service))
        }
    }

    @LoopActor @Test func theEndOfWhatPlaysCancelsNothingThatIsOnItsWay() async throws {
        for loop in ["off", "track", "queue"] {
            for isLost in [false, true] {
                try await linedUp { rig, service in
                    await rig.answered(within: 15) { _ = try? await service.answer(.queueLoop(loop)) }
                    service.send(.seek(to: .seconds(book.length - 3)))
                    await rig.settle()
                    rig.proxy.fail(.item, .delay(9), times: 1)
                    if isLost { rig.proxy.fail(.play, .status(500), times: 1) }
                    service.open(uri: "dogear:\(Thing.all[2].id)", Reply { _ in })
                    await rig.pass(6)
                    #expect(service.player.turning == .rolled && service.finding != nil, "\(loop)")
                    #expect(service.shown.status == .paused && service.partPosition == service.shown.length)
                    await rig.pass(12)
                    let next = loop == "track" ? book : other
                    #expect(isAt(isLost ? next : Thing.all[2], service), "\(loop) \(isLost)")
                    #expect(service.putOff == nil && service.finding == nil && service.heading == nil)
                }
            }
        }
    }

    @LoopActor @Test func whatIsStoppedBehindAnEndStaysStopped() async throws {
        try await linedUp { rig, service in
            service.send(.seek(to: .seconds(book.length - 3)))
            await rig.settle()
            rig.proxy.fail(.item, .delay(9), times: 1)
            service.open(uri: "dogear:\(Thing.all[2].id)", Reply { _ in })
            await rig.pass(6)
            #expect(service.putOff != nil)
            service.send(.stop)
            await rig.settle()
            await rig.pass(30)
            #expect(service.player.phase == .stopped && service.shown.status == .stopped && service.putOff == nil)
            #expect(service.player.item?.duration == .seconds(book.length))
        }
    }

    /// The third of the line, while it is looked for.
    @LoopActor private func nextIsRemoved(_ rig: Rig, _ service: Service) async {
        rig.proxy.fail(.item, .delay(3), times: 1)
        service.send(.next)
        await rig.settle()
        service.removeTrack(2)
        await rig.settle()
        await rig.pass(5)
    }

    /// Another of a line of three without parts, of which the second plays, or something from outside it, is on its way.
    @LoopActor private func taking(
        out way: Outing, _ body: (Rig, Service) async throws -> Void
    ) async throws {
        try await linedUp { rig, service in
            service.send(.next)
            await rig.pass(3)
            try #require(isAt(other, service) && service.queue.line.count == 3)
            rig.proxy.fail(.item, .delay(3), times: 1)
            switch way {
            case .next: service.send(.next)
            case .picked: service.goTo(track: 0)
            case .opened: service.open(uri: "dogear:\(Thing.all[2].id)", Reply { _ in })
            case .failed: service.open(uri: "dogear:abs:\(Thing.account)/nosuch", Reply { _ in })
            }
            await rig.settle()
            await rig.pass(0.1)
            service.removeTrack(1)
            await rig.settle()
            try await body(rig, service)
        }
    }

    enum Outing: CaseIterable { case next, picked, opened, failed }

    @LoopActor @Test(arguments: Outing.allCases) func whatIsTakenOutGoesAsWhatIsOnItsWayComes(_ way: Outing)
        async throws
    {
        try await taking(out: way) { rig, service in
            #expect(isAt(other, service), "until then it is heard")
            await rig.pass(6)
            let last = Thing.all[4]
            let (heard, line) =
                switch way {
                case .next, .failed: (last, [book, last])
                case .picked: (book, [book, last])
                case .opened: (Thing.all[2], [Thing.all[2], last])
                }
            #expect(isAt(heard, service))
            #expect(service.queue.line.map(\.item.duration.seconds) == line.map(\.length))
            #expect(service.leaving == nil && service.heading == nil)
        }
    }

    @LoopActor @Test func theLastOfTheLineGoesToo() async throws {
        try await linedUp { rig, service in
            for _ in 1...2 {
                service.send(.next)
                await rig.pass(3)
            }
            for (count, there) in [(2, other), (1, book)] {
                service.removeTrack(count)
                await rig.settle()
                await rig.pass(1)
                #expect(service.queue.line.count == count && service.shown.status == .stopped)
                #expect(service.player.item?.duration == .seconds(there.length))
            }
        }
    }

    @LoopActor @Test(arguments: [false, true]) func whatIsAskedForOnceMoreStays(isOpened: Bool) async throws {
        try await taking(out: .picked) { rig, service in
            if isOpened { choose(other, service) } else { service.goTo(track: 1) }
            await rig.settle()
            await rig.pass(6)
            #expect(isAt(other, service) && service.queue.line.count == 3)
            #expect(service.leaving == nil && service.heading == nil)
        }
    }

    @LoopActor @Test func whatIsRemovedOnItsWayCostsNothingThatPlays() async throws {
        try await linedUp { rig, service in
            // One without parts: the line is the list of tracks.
            service.send(.next)
            await rig.answered(within: 15) {
                _ = try? await service.answer(.queueAdd(what: Thing.all[2].id, next: false))
            }
            await rig.pass(3)
            #expect(isAt(other, service) && service.tracks.ids.count == 4)
            await nextIsRemoved(rig, service)
            #expect(isAt(Thing.all[2], service))
            let line = [book.length, other.length, Thing.all[2].length]
            #expect(service.queue.line.map(\.item.duration.seconds) == line)
            // To its start, and back.
            for _ in 1...2 {
                service.send(.previous)
                await rig.settle()
                await rig.pass(1)
            }
            try #require(isAt(other, service))
            await nextIsRemoved(rig, service)
            #expect(isAt(other, service) && service.queue.line.count == 2, "nothing else waits: it plays on")
        }
    }

    @LoopActor @Test func whatWasGivenUpForSomethingElseIsNoWayAnyMore() async throws {
        try await linedUp { rig, service in
            rig.proxy.fail(.item, .delay(60), times: 1)
            service.send(.next)
            await rig.settle()
            await rig.pass(2)
            #expect(service.heading != nil)
            service.send(.stop)
            await rig.settle()
            #expect(service.player.phase == .stopped && service.heading == nil)
            service.send(.play)
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(book, service), "the one that is there plays, not the one that was stopped on its way")
            rig.proxy.fail(.item, .delay(60), times: 1)
            service.send(.next)
            await rig.settle()
            await rig.pass(2)
            #expect(service.heading != nil)
            choose(Thing.all[2], service)
            await rig.settle()
            await rig.pass(5)
            #expect(isAt(Thing.all[2], service) && service.heading == nil)
            await rig.pass(120)
        }
    }

    @LoopActor @Test func aStoppedPlayerGoesAlongAsFarAsItIsAsked() async throws {
        try await linedUp { rig, service in
            service.send(.stop)
            await rig.settle()
            for _ in 1...2 { service.send(.next) }
            await rig.pass(1)
            #expect(service.player.phase == .stopped)
            #expect(service.player.item?.duration.seconds == Thing.all[4].length)
            service.send(.previous)
            service.send(.play)
            await rig.settle()
            await rig.pass(3)
            #expect(isAt(other, service))
        }
    }
}
