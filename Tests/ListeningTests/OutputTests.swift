import Testing

@testable import Listening

/// The sound output comes and goes; the place does not.
@Suite struct OutputTests {
    @Test func whatIsUnpluggedPausesAndNeverGoesOnByItself() {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.pass(5)
        desk.report(.outputGone)
        #expect(desk.player.phase == .paused)
        #expect(desk.heard == .init(item: emma.id, place: .seconds(35), listened: .seconds(5), why: .pause))
        desk.report(.outputGone)
        #expect(desk.effects.isEmpty && desk.player.phase == .paused)
        desk.send(.play)
        #expect(desk.player.phase == .playing && desk.effects == [.start(desk.player.load)])
    }

    @Test func anOutputThatFailsIsAPauseAtThePlace() {
        var desk = Desk()
        desk.open(emma, at: .seconds(40))
        desk.pass(10)
        desk.report(.failed(.noSink(reason: "Connection terminated")))
        #expect(desk.player.phase == .paused && desk.position == 50)
        #expect(desk.heard == .init(item: emma.id, place: .seconds(50), listened: .seconds(10), why: .pause))
        #expect(desk.effects.contains(.unload) && !desk.effects.contains(.close(emma.id)))
        #expect(desk.player.error?.contains("Connection terminated") == true)
        #expect(desk.player.wake(at: desk.now, engine: nil) == nil, "nothing goes on by itself")
        desk.pass(20)
        desk.send(.play)
        // Two seconds back, as after every pause of this length.
        #expect(desk.effects == [.reopen(emma.id, at: .seconds(48), play: true, after: .zero)])
        #expect(desk.player.error == nil)
        desk.send(.open(emma, at: .seconds(48), play: true, rate: 1))
        desk.report(.ready(at: .seconds(48)))
        #expect(desk.player.phase == .playing && desk.position == 48)
    }

    @Test func seeksWithoutAnOutputCount() {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.pass(20)
        desk.report(.failed(.noSink(reason: "gone")))
        desk.send(.seek(to: .seconds(100)))
        #expect(desk.position == 100 && desk.player.phase == .paused)
        desk.send(.toggle)
        #expect(desk.effects == [.reopen(emma.id, at: .seconds(100), play: true, after: .zero)])
    }

    /// What it cannot be played from by then keeps the place that was chosen, and can be moved on.
    @Test func aSeekWithoutAnOutputHoldsThoughNothingOpens() {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.report(.failed(.noSink(reason: "gone")))
        desk.send(.seek(to: .seconds(100)))
        desk.send(.play)
        desk.send(.openFailed("the file is gone", mayReturn: false))
        #expect(desk.player.phase == .stopped && desk.position == 100)
        desk.send(.seek(to: .seconds(120)))
        #expect(desk.position == 120)
        desk.send(.play)
        #expect(desk.effects == [.reopen(emma.id, at: .seconds(120), play: true, after: .zero)])
    }

    /// Play asks the server first, and what comes meanwhile makes it go on.
    @Test(arguments: [
        Player.Event.seek(to: .seconds(100)),
        .elsewhere(Place(item: emma.id, position: .seconds(100), duration: emma.duration, updated: 1_700_000_100_000)),
    ])
    func anOutputThatWentDuringAPauseIsOpenedAnewBy(_ event: Player.Event) {
        var desk = Desk()
        desk.isAnswered = false
        desk.open(emma, at: .seconds(40))
        desk.pass(10)
        desk.send(.pause(.listener))
        desk.pass(61)
        desk.send(.play)
        #expect(desk.player.isAsking)
        desk.send(event)
        #expect(desk.effects.contains(.start(desk.player.load)))
        desk.report(.failed(.noSink(reason: "Connection terminated")))
        #expect(desk.effects.last == .reopen(emma.id, at: .seconds(100), play: true, after: .zero))
    }

    @Test func anOutputThatWentDuringAPauseIsOpenedAnewByPlay() {
        var desk = Desk()
        desk.open(emma, at: .seconds(40))
        desk.pass(10)
        desk.send(.pause(.listener))
        desk.pass(5)
        desk.send(.play)
        desk.now.monotonic += 20_000
        desk.report(.failed(.noSink(reason: "Connection terminated")))
        #expect(desk.effects.last == .reopen(emma.id, at: .seconds(50), play: true, after: .zero))
        #expect(desk.player.wantsPlay)
        // Once: with no output at all it says so.
        desk.send(.open(emma, at: .seconds(50), play: true, rate: 1))
        desk.report(.failed(.noSink(reason: "none")))
        #expect(desk.player.phase == .stopped && desk.position == 50)
        #expect(desk.player.error?.contains("no sound output") == true)
    }

    @Test func anOutputThatGoesDuringAPauseIsNoConcernYet() {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.send(.pause(.listener))
        desk.pass(30)
        desk.report(.failed(.noSink(reason: "gone")))
        #expect(desk.player.phase == .paused && desk.player.error == nil)
        desk.pass(45)
        desk.send(.play)
        #expect(desk.effects == [.reopen(emma.id, at: .seconds(25), play: true, after: .zero)], "of 75 seconds' pause")
    }

    @Test func asleepIsPausedButNotListenedTo() {
        var desk = Desk()
        desk.open(emma, at: .seconds(50))
        desk.pass(5)
        desk.send(.pause(.system))
        desk.now.asleep += 7_200_000_000
        desk.pass(3)
        desk.send(.play)
        #expect(desk.position == 25, "half a minute back after two hours")
        // No logind told of it: the sleep is not counted as heard.
        desk.report(.seeked(to: .seconds(25)))
        desk.pass(4)
        desk.now.asleep += 7_200_000_000
        desk.send(.pause(.listener))
        #expect(desk.heard?.listened == .seconds(4))
    }
}
