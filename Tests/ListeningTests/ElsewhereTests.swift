import Testing

@testable import Listening

/// The same item on another device: who keeps which place.
@Suite struct ElsewhereTests {
    /// Paused at 70 s for so long.
    private func paused(_ seconds: Double, _ item: Item = emma) -> Desk {
        var desk = Desk()
        desk.isAnswered = false
        desk.open(item, at: .seconds(60))
        desk.pass(10)
        desk.send(.pause(.listener))
        desk.pass(seconds)
        return desk
    }

    private func place(_ seconds: Double, finished: Bool = false, _ item: Item = emma) -> Place {
        Place(
            item: item.id, position: .seconds(seconds), duration: item.duration, isFinished: finished,
            updated: 1_700_000_100_000)
    }

    private func move(_ from: Double, _ to: Double) -> Player.Effect {
        .jumped(emma.id, from: .seconds(from), to: .seconds(to), .device)
    }

    @Test func afterALongPauseTheServerIsAskedAndPlayAnswersAtOnce() throws {
        var desk = paused(61)
        desk.send(.play)
        let question = try #require(desk.question)
        #expect(desk.effects == [.ask(question)])
        #expect(desk.player.phase == .playing && desk.player.isAsking && desk.position == 70)
        #expect(desk.player.wake(at: desk.now, engine: desk.sound) == nil)
        #expect(desk.send(.tick) == [], "nothing is heard before the sound comes")
        desk.send(.answered(question, newer: nil))
        #expect(desk.effects.contains(.start(desk.player.load)))
        #expect(!desk.player.isAsking && desk.isSeeked)
        #expect(desk.position == 65, "the rewind after a pause is as ever")
    }

    @Test(arguments: [1.0, 4.9])
    func aShortPauseAsksNothing(seconds: Double) {
        var desk = paused(seconds)
        desk.send(.play)
        #expect(desk.question == nil && desk.effects.contains(.start(desk.player.load)))
    }

    @Test func filesOfThisComputerAreNowhereElse() {
        var desk = paused(4000, plain)
        desk.send(.play)
        #expect(desk.question == nil && desk.effects.contains(.start(desk.player.load)))
    }

    @Test func whoHasListenedAllAlongNeedNotAsk() {
        var desk = paused(30)
        desk.send(.watched(true))
        desk.pass(4000)
        desk.send(.play)
        #expect(desk.question == nil)
        desk.send(.pause(.listener))
        desk.pass(61)
        desk.send(.watched(false))
        desk.send(.play)
        #expect(desk.question != nil)
    }

    @Test func aComputerThatSleptHasHeardNothing() {
        var desk = paused(10)
        desk.send(.watched(true))
        desk.now.asleep += 3_600_000_000
        desk.send(.play)
        #expect(desk.question != nil)
    }

    @Test func theNewerPlaceIsTakenAndTheOldOneKept() throws {
        var desk = paused(3600)
        desk.send(.play)
        desk.send(.answered(try #require(desk.question), newer: place(120)))
        #expect(
            desk.effects == [
                .took(place(120)), .seek(desk.player.load, to: .seconds(120)), .start(desk.player.load), move(70, 120),
                .seeked,
            ])
        #expect(desk.position == 120 && desk.player.partIndex == 2)
        desk.report(.seeked(to: .seconds(120)))
        desk.pass(5)
        desk.send(.pause(.listener))
        #expect(desk.heard == .init(item: emma.id, place: .seconds(125), listened: .seconds(5), why: .pause))
    }

    @Test func anAnswerThatComesTooLateIsOnlyKept() throws {
        var desk = paused(3600)
        desk.send(.play)
        let question = try #require(desk.question)
        desk.send(.answered(question, newer: nil))
        let own = desk.position
        #expect(desk.send(.answered(question, newer: place(120))) == [move(120, own)])
        #expect(desk.position == own && desk.player.phase == .playing)
    }

    /// A server did not say how long it is.
    @Test func aNewerPlaceThatCannotBeTakenLeavesNoSilence() throws {
        let endless = Item(
            id: emma.id, kind: .book, title: "Emma",
            tracks: [Track(start: .zero, duration: .zero, audio: .file(path: "/emma.mp3"))])
        var desk = paused(3600, endless)
        desk.send(.play)
        desk.send(.answered(try #require(desk.question), newer: place(120)))
        #expect(desk.effects.contains(.start(desk.player.load)) && !desk.player.isAsking)
    }

    @Test func pauseTakesThePlayBack() throws {
        var desk = paused(3600)
        desk.send(.play)
        let question = try #require(desk.question)
        #expect(desk.send(.pause(.listener)) == [])
        #expect(desk.player.phase == .paused)
        #expect(desk.send(.answered(question, newer: nil)) == [], "no answer starts what was paused")
        desk.send(.answered(question, newer: place(120)))
        #expect(desk.player.phase == .paused && desk.position == 120)
        #expect(!desk.effects.contains(.start(desk.player.load)))
    }

    @Test func anEarlierQuestionsSilenceDoesNotEndALaterOne() throws {
        var desk = paused(3600)
        desk.send(.play)
        let first = try #require(desk.question)
        desk.send(.pause(.listener))
        desk.send(.play)
        #expect(desk.send(.answered(first, newer: nil)) == [])
        #expect(desk.player.isAsking)
    }

    @Test func aSeekMeanwhileIsTheListenersWord() throws {
        var desk = paused(3600)
        desk.send(.play)
        let question = try #require(desk.question)
        desk.send(.seek(to: .seconds(10)))
        #expect(desk.effects.contains(.start(desk.player.load)) && desk.heard?.place == .seconds(10))
        #expect(desk.send(.answered(question, newer: place(120))) == [move(120, 10)])
        #expect(desk.position == 10)
    }

    @Test func aPausedPlayerMovesAtOnce() {
        var desk = paused(5)
        desk.send(.elsewhere(place(100)))
        #expect(
            desk.effects == [
                .took(place(100)), .seek(desk.player.load, to: .seconds(100)), move(70, 100), .seeked,
            ])
        #expect(desk.player.phase == .paused && desk.position == 100)
    }

    @Test func anHourOnAnotherDeviceIsOneMove() {
        var desk = paused(5)
        desk.send(.elsewhere(place(80)))
        desk.send(.elsewhere(place(95)))
        #expect(!desk.effects.contains { if case .jumped = $0 { true } else { false } })
        #expect(desk.position == 95)
        desk.report(.seeked(to: .seconds(95)))
        desk.send(.play)
        desk.pass(5)
        desk.send(.pause(.listener))
        desk.send(.elsewhere(place(150)))
        #expect(desk.effects.contains(move(100, 150)), "what was heard here since is ours again")
    }

    @Test func aPlayingPlayerKeepsItsOwn() {
        var desk = paused(0)
        desk.send(.play)
        desk.pass(10)
        #expect(desk.send(.elsewhere(place(120))) == [move(120, 80)])
        #expect(desk.position == 80)
    }

    @Test func aStoppedPlayerGoesOnThere() {
        var desk = paused(5)
        desk.send(.stop)
        desk.send(.elsewhere(place(30)))
        #expect(desk.effects == [.took(place(30)), move(70, 30), .seeked])
        desk.send(.play)
        #expect(desk.effects == [.reopen(emma.id, at: .seconds(30), play: true, after: .zero)])
    }

    /// Its beginning is no place that the listener chose, to be given up or to go before what the source says.
    @Test func whatIsUnheardHereStandsWhereTheOtherIs() {
        func unheard() -> Desk {
            var desk = Desk()
            desk.send(.restore(emma, at: nil, rate: 1, finished: false, paused: false))
            return desk
        }
        var desk = unheard()
        #expect(desk.send(.play) == [.reopen(emma.id, at: nil, play: true, after: .zero)])
        desk = unheard()
        #expect(desk.send(.elsewhere(place(30))) == [.took(place(30)), .seeked])
        #expect(desk.send(.play) == [.reopen(emma.id, at: .seconds(30), play: true, after: .zero)])
        desk = unheard()
        desk.send(.seek(to: .seconds(7), .seek))
        #expect(desk.send(.play) == [.reopen(emma.id, at: .seconds(7), play: true, after: .zero)])
    }

    @Test func whatWasFinishedElsewhereIsNotGoneOnWith() throws {
        var desk = paused(5)
        let load = desk.player.load
        desk.send(.elsewhere(place(175, finished: true)))
        #expect(
            desk.effects == [.took(place(175, finished: true)), .unload, .close(emma.id), move(70, 0), .seeked])
        #expect(desk.player.phase == .stopped && desk.player.isFinished && desk.player.load != load)
        desk.send(.play)
        #expect(desk.effects == [.reopen(emma.id, at: .zero, play: true, after: .zero)])

        desk = paused(3600)
        desk.send(.play)
        desk.send(.answered(try #require(desk.question), newer: place(175, finished: true)))
        #expect(desk.player.phase == .opening(play: true) && desk.position == 0 && !desk.player.isFinished)
        #expect(
            desk.effects == [
                .took(place(175, finished: true)), .unload, .close(emma.id),
                .reopen(emma.id, at: .zero, play: true, after: .zero), move(70, 0), .seeked,
            ], "in a session of its own, which tells nothing before something is heard")
    }

    @Test func whatIsFinishedElsewhereWhileItLoadsBeginsAnewInItsOwnSession() {
        var desk = paused(5)
        desk.send(.stop)
        desk.send(.play)
        desk.send(.open(emma, at: .seconds(70), play: true, rate: 1))
        desk.send(.elsewhere(place(175, finished: true)))
        #expect(desk.player.phase == .opening(play: true) && desk.position == 0)
        #expect(desk.effects.contains(.reopen(emma.id, at: .zero, play: true, after: .zero)))
    }

    @Test func anotherItemsPlaceChangesNothing() {
        var desk = paused(5)
        #expect(desk.send(.elsewhere(place(50, plain))) == [])
        #expect(desk.position == 70)
    }

    @Test(arguments: [Player.Event.stop, .leave, .opening(play: true), .stop])
    func whatIsPausedHasBeenTold(event: Player.Event) {
        var desk = paused(3600)
        desk.send(event)
        #expect(desk.heard == nil, "told again, an old place would pass for a new one")
        #expect(desk.position == 70)
    }

    @Test func aQuestionIsNoListening() {
        var desk = paused(3600)
        desk.send(.play)
        desk.send(.stop)
        #expect(desk.heard == nil && desk.player.phase == .stopped && !desk.player.isAsking)
    }

    @Test func aSeekWhileStoppedIsWrittenDown() {
        var desk = paused(5)
        desk.send(.stop)
        desk.send(.seek(to: .seconds(20)))
        #expect(desk.effects.contains(.placed(emma.id, .seconds(20))))
    }
}

/// What is owed to a server while another device goes on.
@Suite struct OutdoneTests {
    private func pausedOffline() -> Wire {
        var wire = Wire()
        wire.open("s")
        wire.hear(20, to: 20, .pause)
        wire.answer(.later(retryAfter: nil))
        return wire
    }

    @Test func aFreshPlaceIsToldToTheOpenSession() {
        var wire = pausedOffline()
        wire.now.wall += 2000
        wire.pass(2)
        #expect(wire.request == syncOf("s", at: 20, listened: 20))
    }

    @Test func anOldPlaceIsLeftToTheServerToJudge() throws {
        var wire = pausedOffline()
        wire.now.wall += 3_600_000
        wire.pass(3600)
        guard case .local(let rows) = wire.request else {
            Issue.record("\(wire.request as Any): would overwrite what another device did in that hour")
            return
        }
        #expect(rows.map(\.id) == ["s"] && rows[0].listened == .seconds(20))
        #expect(rows[0].updated == wire.now.wall - 3_600_000)
        #expect(wire.rows["s"]?.delivery == .local)
    }

    @Test func aServersOwnClockIsHeeded() {
        var wire = Wire()
        wire.open("s")
        // Our clock is an hour behind the server's.
        wire.take(
            wire.sync.heard(
                .init(item: emma.id, place: .seconds(20), listened: .seconds(20), why: .pause),
                serverNow: wire.now.wall + 3_600_000, wire.now))
        wire.answer(.later(retryAfter: nil))
        wire.now.wall += 2000
        wire.pass(2)
        #expect(wire.request == syncOf("s", at: 20, listened: 20))
    }

    @Test func ofTwoThatWereOfflineTheNewerWins() throws {
        // The server is back within seconds, and may know the other one's place already.
        var wire = pausedOffline()
        wire.now.wall += 5000
        wire.pass(5)
        guard case .local(let rows) = wire.request else {
            Issue.record("\(wire.request as Any): would win only by coming last")
            return
        }
        #expect(rows.first?.updated == wire.now.wall - 5000)
    }

    @Test func whoPlaysOnThroughAnOutageKeepsTheOpenSession() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.later(retryAfter: nil))
        wire.hear(1, to: 31)
        #expect(wire.request == syncOf("s", at: 31, listened: 31))
    }

    /// At 30 s when the server was told last, at 120 s now.
    @Test(arguments: [
        (0, true), (14, true), (16, false), (75, false), (134, false), (136, true), (179, true),
    ]) func whoPlaysBesideIsNotOnOurWay(_ place: Double, _ isBeside: Bool) {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.accepted)
        wire.hear(90, to: 120)
        func other(_ updated: Int64, isFinished: Bool = false) -> Place {
            Place(
                item: emma.id, position: .seconds(place), duration: .seconds(180), isFinished: isFinished,
                updated: updated)
        }
        #expect(wire.sync.isBeside(other(wire.now.wall - 60_000), here: .seconds(120)) == isBeside)
        #expect(!wire.sync.isBeside(other(wire.now.wall, isFinished: true), here: .seconds(120)))
        #expect(!wire.sync.isBeside(other(wire.now.wall - 120_000), here: .seconds(120)), "before this session")
    }

    /// At 30 s when the server was told last, then from 150 s on to 152.
    @Test(arguments: [(30.0, false), (90, true), (140, false), (168, true)])
    func whatAJumpWentOverIsNotOurs(_ place: Double, isOthers: Bool) {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.accepted)
        wire.hear(0, to: 150, .seek)
        wire.hear(2, to: 152)
        let other = Place(
            item: emma.id, position: .seconds(place), duration: .seconds(180), updated: wire.now.wall - 1000)
        #expect(wire.sync.isBeside(other, here: .seconds(152)) == isOthers)
        let next = syncOf("s", at: 152, listened: 2)
        #expect(wire.sync.overwrites(other, with: next) == (isOthers ? .seconds(152) : nil))
    }

    @Test func aServerIsAwayUntilItAnswers() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        #expect(!wire.sync.wasAway("a"))
        wire.answer(.later(retryAfter: nil))
        #expect(wire.sync.wasAway("a"))
        wire.pass(300)
        #expect(wire.sync.wasAway("a"))
        wire.answer(.accepted)
        #expect(!wire.sync.wasAway("a"))
    }

    @Test func aSlowAnswerOfOurOwnMakesNothingStale() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.hear(1, to: 31, .pause)
        wire.now.wall += 25_000
        wire.answer(.accepted)
        #expect(wire.request == syncOf("s", at: 31, listened: 1))
    }

    @Test func aPlaceThatWasOutdoneIsNotToldAnyMore() {
        var wire = pausedOffline()
        wire.take(wire.sync.outdone(by: place(50, at: 0), wire.now))
        wire.pass(5)
        guard case .local = wire.request else {
            Issue.record("\(wire.request as Any)")
            return
        }
    }

    @Test func whatWasToldInTimeStaysAsItIs() {
        var wire = Wire()
        wire.open("s")
        wire.hear(20, to: 20, .pause)
        wire.answer(.accepted)
        wire.take(wire.sync.outdone(by: place(50, at: 0), wire.now))
        #expect(wire.sent.isEmpty)
        wire.now.wall += 3_600_000
        wire.close()
        #expect(wire.request == .close(stretch: "s", item: emma.id), "and closes without a place")
    }

    /// Gone back to, the place that the server was told before is news to it.
    @Test(arguments: [false, true]) func whatIsGoneBackToIsToldAgain(isLookedAt: Bool) {
        var wire = Wire()
        wire.open("s")
        wire.hear(20, to: 20, .pause)
        wire.answer(.accepted)
        wire.take(wire.sync.outdone(by: place(50, at: 0), wire.now))
        wire.now.wall += 60_000
        wire.now.monotonic += 60_000_000
        if isLookedAt { wire.hear(0, to: 50, .tick) }
        wire.hear(0, to: 20, .seek)
        #expect(wire.request == syncOf("s", at: 20, listened: 0))
    }

    private func place(_ seconds: Double, at updated: Int64, finished: Bool = false) -> Place {
        Place(
            item: emma.id, position: .seconds(seconds), duration: .seconds(180), isFinished: finished, updated: updated)
    }

    @Test func ofTwoThatPausedWithinAMomentTheServersPlaceIsTheLater() {
        let own = place(70, at: 10_000)
        for moment in [9000, 10_000, 11_000] as [Int64] {
            let other = place(120, at: moment)
            #expect(!own.isOutdone(by: other), "it may be ours of a moment before")
            #expect(own.isOutdone(by: other, knowsOurs: true))
        }
        #expect(!own.isOutdone(by: place(120, at: 7000), knowsOurs: true))
        #expect(!own.isOutdone(by: place(70.05, at: 11_000), knowsOurs: true))
        #expect(!own.isOutdone(by: place(70, at: 11_000, finished: true), knowsOurs: true), "by a rule of the library")
        let long = { (seconds: Double, isFinished: Bool) in
            Place(
                item: emma.id, position: .seconds(seconds), duration: .seconds(7200), isFinished: isFinished,
                updated: 10_000)
        }
        #expect(long(1000, false).isOutdone(by: long(1000, true), knowsOurs: true), "no rule does that so early")
        #expect(!long(1000, false).isOutdone(by: long(1000, true)), "it may be from before ours")
        #expect(!long(5000, false).isOutdone(by: long(5000, true), knowsOurs: true), "by a rule of the library")
        #expect(!long(1000, true).isOutdone(by: long(1000, true), knowsOurs: true))
        #expect(!place(175, at: 10_000).isOutdone(by: place(169.5, at: 11_000), knowsOurs: true), "what it was told")
        #expect(!place(180, at: 10_000, finished: true).isOutdone(by: place(70, at: 11_000), knowsOurs: true))
        // Taken over from the server: both are dated by its clock, and the mark alone is news too.
        #expect(own.isOutdone(by: place(120, at: 1), knowsOurs: true, isAhead: true))
        #expect(!own.isOutdone(by: place(120, at: 1), isAhead: true), "it may not have ours yet")
        #expect(own.isOutdone(by: place(120, at: 10_001), isServers: true))
        #expect(own.isOutdone(by: place(70, at: 10_001, finished: true), isServers: true))
        #expect(place(70, at: 10_000, finished: true).isOutdone(by: place(70, at: 10_001), isServers: true))
        #expect(!own.isOutdone(by: place(70, at: 10_001), isServers: true))
        #expect(!own.isOutdone(by: place(120, at: 10_000), isServers: true))
        let beginning = { (knowsOurs: Bool) in
            Beginning(of: emma, server: self.place(120, at: 11_000), journal: own, knowsOurs: knowsOurs)
        }
        #expect(beginning(false).place == .seconds(70))
        #expect(beginning(true).place == .seconds(120) && beginning(true).isOutdone)
        #expect(beginning(true).steps.map(\.cause) == [.device])
    }

    @Test func whatTheServerHasOfOursIsKnown() {
        var wire = Wire()
        wire.open("s")
        #expect(!wire.sync.hasTold(emma.id) && wire.sync.hasTold(plain.id), "nothing yet of where this one began")
        wire.hear(20, to: 20, .pause)
        #expect(!wire.sync.hasTold(emma.id), "on its way")
        wire.answer(.later(retryAfter: nil))
        #expect(!wire.sync.hasTold(emma.id) && wire.sync.hasTold(plain.id))
        wire.now.wall += 1000
        wire.pass(2)
        wire.answer(.accepted)
        #expect(wire.sync.hasTold(emma.id))
        wire.take(
            wire.sync.write(
                ProgressWrite(item: emma.id, kind: .finish, position: nil, duration: .zero, made: wire.now.wall),
                wire.now))
        #expect(!wire.sync.hasTold(emma.id))
        wire.answer(.refused("no"))
        #expect(!wire.sync.hasTold(emma.id), "it never got that")
    }

    @Test func ourOwnSessionsAreKnown() {
        var wire = Wire()
        wire.open("s")
        #expect(wire.sync.isOurs(session: "s") && !wire.sync.isOurs(session: "t"))
        wire.close()
        wire.answer(.accepted)
        #expect(wire.sync.isOurs(session: "s"))
        for number in 0..<25 {
            wire.open("n\(number)")
            wire.close()
        }
        #expect(wire.sync.past.count == 20)
    }

    /// What is told of it comes after the answer, and would move the listener back.
    @Test func soAreThoseOfAnEarlierRunOnceTheyAreDelivered() {
        var stretch = Stretch(
            id: "s", item: emma.id, started: 1, startPlace: .zero, duration: .seconds(180), delivery: .local)
        stretch.place = .seconds(20)
        stretch.isHeldByServer = false
        var wire = Wire()
        wire.take(wire.sync.restore([stretch], [], at: wire.now))
        wire.answer(.rows(["s": nil]))
        #expect(wire.sync.rows.isEmpty && wire.sync.isOurs(session: "s"))
    }
}

extension Desk {
    fileprivate var question: Player.Question? {
        effects.lazy.compactMap { if case .ask(let question) = $0 { question } else { nil } }.last
    }
}
