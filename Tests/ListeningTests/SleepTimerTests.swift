import Testing

@testable import Listening

/// Listening that ends by itself. Chapters of the book are a minute long, and the sound fades over 20 s.
@Suite struct SleepTimerTests {
    /// Playing from a place, with a timer.
    private func timed(_ text: String, _ item: Item = emma, at place: Double = 0) -> Desk {
        var desk = Desk()
        desk.open(item, at: .seconds(place))
        desk.send(.sleep(SleepWish(text)!))
        return desk
    }

    private func left(_ desk: Desk) -> Double? {
        desk.player.sleepLeft(at: desk.now, engine: desk.sound)?.seconds
    }

    /// Plays on, waking when the player wants to, as the daemon does.
    /// - Returns: everything that was done, in order, without the journal's lines.
    @discardableResult
    private func play(_ desk: inout Desk, _ seconds: Double) -> [Player.Effect] {
        var rest = seconds
        var effects: [Player.Effect] = []
        while rest > 0, let wake = desk.player.wake(at: desk.now, engine: desk.sound) {
            let step = min(wake.seconds, rest)
            desk.pass(step)
            rest -= step
            effects += desk.send(.tick).filter { if case .heard(let heard) = $0 { heard.why != .tick } else { true } }
        }
        return effects
    }

    @Test(arguments: [
        ("30m", SleepWish.set(.time(.seconds(1800)))), ("90", .set(.time(.seconds(90)))),
        ("1:00:00", .set(.time(.seconds(3600)))), ("chapter", .set(.chapters(1))), ("chapter:3", .set(.chapters(3))),
        ("item", .set(.item)), ("+10m", .extend(.seconds(600))), ("off", .off),
    ])
    func wishesAreRead(_ text: String, _ wish: SleepWish) { #expect(SleepWish(text) == wish) }

    @Test(arguments: ["", "soon", "0", "0.5", "25h", "-5m", "+", "+0", "chapter:0", "chapter:100", "chapter:x", "Off"])
    func nonsenseIsNoWish(_ text: String) { #expect(SleepWish(text) == nil) }

    @Test func afterATimeItFadesPausesAndIsBackWhereTheFadeBegan() {
        var desk = timed("60", plain, at: 10)
        let load = desk.player.load
        #expect(left(desk) == 60 && !desk.player.isFading)
        #expect(play(&desk, 39.5) == [])
        let fading = Fading(left: .seconds(20), length: .seconds(20))
        #expect(play(&desk, 0.5) == [.fade(load, fading), .sleepChanged])
        #expect(desk.player.isFading && left(desk) == 20)
        #expect(desk.player.volume == 1, "the volume is the listener's")
        let effects = play(&desk, 60)
        #expect(
            effects == [
                .pause(load), .heard(.init(item: plain.id, place: .seconds(70), listened: .second, why: .pause)),
                .fade(load, nil),
                .heard(.init(item: plain.id, place: .seconds(50), listened: .zero, why: .seek)),
                .seek(load, to: .seconds(50)), .jumped(plain.id, from: .seconds(70), to: .seconds(50), .sleep), .seeked,
                .sleepChanged,
            ], "The full sound is back before the jump makes its own ready.")
        #expect(desk.player.phase == .paused && desk.position == 50 && desk.player.sleep == nil)
        #expect(desk.player.wake(at: desk.now, engine: desk.sound) == nil)
        // Nothing goes back a second time.
        desk.pass(3600 * 8)
        desk.report(.seeked(to: .seconds(50)))
        #expect(desk.send(.play) == [.start(load)])
        #expect(desk.position == 50 && desk.player.sleep == nil)
    }

    @Test func onlyTimeOfListeningCounts() {
        var desk = timed("60")
        play(&desk, 10)
        desk.send(.pause(.listener))
        desk.pass(1000)
        #expect(left(desk) == 50)
        desk.send(.play)
        play(&desk, 10)
        desk.report(.buffering(true))
        desk.pass(500)
        desk.report(.buffering(false))
        #expect(left(desk) == 40)
        // A faster book is no shorter night.
        desk.send(.rate(2))
        play(&desk, 10)
        #expect(left(desk) == 30)
        desk.open(plain)
        #expect(left(desk) == 30, "what plays next goes on with it")
        play(&desk, 5)
        #expect(left(desk) == 25)
        desk.send(.stop)
        desk.pass(100)
        #expect(left(desk) == 25)
    }

    @Test func withoutAFadeItEndsWhereItIs() {
        var desk = Desk()
        desk.player.options.sleepFade = .zero
        desk.open(emma, at: .seconds(5))
        desk.send(.sleep(.set(.time(.seconds(3)))))
        let load = desk.player.load
        #expect(
            play(&desk, 10) == [
                .pause(load), .heard(.init(item: emma.id, place: .seconds(8), listened: .second, why: .pause)),
                .sleepChanged,
            ])
        #expect(desk.position == 8)
    }

    @Test func thePlaceStaysWhereTheSettingWantsIt() {
        var desk = Desk()
        desk.player.options.sleepRewinds = false
        desk.open(emma, at: .seconds(30))
        desk.send(.sleep(.set(.chapters(1))))
        let load = desk.player.load
        let effects = play(&desk, 40)
        #expect(effects.first == .fade(load, Fading(left: .seconds(20), length: .seconds(20))))
        #expect(effects.suffix(3) == [.fade(load, nil), .seeked, .sleepChanged])
        #expect(desk.position == 60 && desk.player.partIndex == 1 && desk.player.phase == .paused)
        desk.pass(30)
        desk.send(.play)
        #expect(desk.position == 60, "not past the start of the chapter")
    }

    @Test func aShortTimerFadesFromItsStart() {
        var desk = timed("10")
        #expect(
            desk.effects == [
                .sleepChanged, .fade(desk.player.load, Fading(left: .seconds(10), length: .seconds(10))), .sleepChanged,
            ])
        play(&desk, 20)
        #expect(desk.position == 0 && desk.player.phase == .paused)
    }

    @Test func theEndOfAChapterIsReachedByPlaying() {
        var desk = timed("chapter", at: 10)
        #expect(left(desk) == 50)
        desk.send(.rate(2))
        #expect(left(desk) == 25)
        // A jump leads to the chapter that is then the present one.
        desk.seek(to: 70)
        #expect(left(desk) == 25 && desk.player.phase == .playing)
        desk.send(.next)
        desk.report(.seeked(to: .seconds(120)))
        desk.seek(to: 10)
        play(&desk, 24)
        #expect(desk.player.isFading)
        let effects = play(&desk, 10)
        #expect(effects.contains(.jumped(emma.id, from: .seconds(60), to: .seconds(20), .sleep)), "\(effects)")
        #expect(desk.position == 20 && desk.player.partIndex == 0 && desk.player.phase == .paused)
    }

    @Test func severalChaptersAreCountedByTheirEnds() {
        var desk = timed("chapter:2", at: 50)
        #expect(left(desk) == 70)
        play(&desk, 15)
        #expect(desk.player.sleep?.left == .chapters(1) && left(desk) == 55)
        // Back over an end: it is not given back, and not counted again by jumping.
        desk.seek(to: 5)
        #expect(desk.player.sleep?.left == .chapters(1) && left(desk) == 55)
        play(&desk, 60)
        #expect(desk.player.phase == .paused && desk.position == 40)
        desk = timed("chapter:9", at: 50)
        #expect(left(desk) == nil, "in an item that is not loaded yet")
    }

    @Test func chaptersAreCountedWhateverTheTracksAre() {
        var options = Player.Options()
        options.chaptersAsTracks = false
        var desk = Desk()
        desk.send(.options(options))
        desk.open(emma, at: .seconds(50))
        desk.send(.sleep(.set(.chapters(2))))
        play(&desk, 80)
        #expect(desk.player.phase == .paused && desk.position == 100)
    }

    @Test func aChapterThatRepeatsEndsAllTheSame() {
        var desk = Desk()
        desk.send(.lineup(Lineup(loop: .track)))
        desk.open(emma, at: .seconds(30))
        desk.send(.sleep(.set(.chapters(2))))
        play(&desk, 31)
        desk.report(.seeked(to: .zero))
        #expect(desk.player.sleep?.left == .chapters(1) && desk.player.partIndex == 0)
        play(&desk, 61)
        #expect(desk.player.phase == .paused && desk.position == 40)
    }

    @Test func theEndOfTheItemIsTheEndOfListening() {
        for text in ["item", "chapter"] {
            var desk = timed(text, at: 170)
            desk.send(.lineup(Lineup(hasNext: true)))
            #expect(left(desk) == 10)
            play(&desk, 10)
            #expect(desk.player.phase == .playing, "the engine says when it ends")
            desk.report(.ended)
            #expect(desk.player.phase == .stopped && desk.player.isFinished && desk.player.sleep == nil)
            #expect(
                desk.effects.dropFirst() == [
                    .finished(emma.id), .unload, .close(emma.id),
                    .jumped(emma.id, from: .seconds(170), to: .seconds(180), .sleep), .sleepChanged, .seeked,
                    .follow(.onward),
                ])
            #expect(desk.player.isSetDown, "what is next is there to be played")
        }
    }

    @Test(arguments: [Lineup(), Lineup(loop: .queue)]) func withNothingBehindItTheItemStaysWhereItEnded(
        _ lineup: Lineup
    ) {
        var desk = timed("item", at: 170)
        desk.send(.lineup(lineup))
        play(&desk, 10)
        desk.report(.ended)
        #expect(desk.effects.last == .seeked && desk.player.isFinished)
        #expect(desk.player.isSetDown == (lineup.loop == .queue), "what comes round is there to be played")
    }

    /// Playing goes back ten seconds from there, over two chapters, of which nobody said that they were to be the last.
    @Test(arguments: [false, true]) func thePlayersOwnWayBackIsNoOtherChapter(isStopped: Bool) {
        let item = emma.divided([chapter("One", 0, 174), chapter("Two", 174, 177), chapter("Three", 177, 180)])
        let back = item.reachable(.seconds(179.5))
        var desk = Desk()
        desk.open(item, at: .seconds(179.5))
        desk.send(isStopped ? .stop : .pause(.listener))
        desk.send(.sleep(SleepWish("chapter")!))
        desk.send(.play)
        if isStopped {
            // The file is away, and back.
            desk.send(.openFailed("gone", mayReturn: false))
            desk.send(.play)
            desk.send(.open(item, at: back, play: true, rate: 1))
            desk.report(.ready(at: back))
        } else {
            desk.report(.seeked(to: back))
        }
        #expect(desk.position < 174 && left(desk).map { abs($0 + desk.position - 180) < 0.01 } == true)
        play(&desk, 9.9)
        #expect(desk.player.phase == .playing)
    }

    @Test func whoTakesTheWayBackBackSleepsWhereThatWas() {
        let item = emma.divided([
            chapter("One", 0, 174), chapter("Two", 174, 177), chapter("Three", 177, 179.8), chapter("Four", 179.8, 180),
        ])
        var desk = Desk()
        // While the sound fades it would be a sign of life.
        desk.player.options.sleepFade = .zero
        desk.open(item, at: .seconds(179.3))
        desk.send(.pause(.listener))
        desk.send(.sleep(SleepWish("chapter")!))
        desk.send(.play)
        desk.report(.seeked(to: item.reachable(.seconds(179.3))))
        play(&desk, 5)
        desk.send(.seek(to: .seconds(179.3), .undo))
        desk.report(.seeked(to: .seconds(179.3)))
        #expect(left(desk).map { abs($0 - 0.5) < 0.01 } == true)
        play(&desk, 1)
        #expect(desk.player.phase == .paused && desk.player.sleep == nil)
    }

    @Test func otherTimersGoOnWithTheQueue() {
        for text in ["60", "chapter:2"] {
            var desk = timed(text, at: 170)
            desk.send(.lineup(Lineup(hasNext: true)))
            play(&desk, 10)
            desk.report(.ended)
            #expect(desk.effects.last == .follow(.onward))
            desk.send(.opening(play: true, turns: true))
            desk.send(.open(plain, at: .zero, play: true, rate: 1))
            desk.report(.ready(at: .zero))
            // One without chapters counts as one.
            #expect(left(desk) == (text == "60" ? 50 : 100))
        }
    }

    @Test func aFadeGoesOnIntoTheNextItem() {
        var desk = timed("15", plain, at: 95)
        desk.send(.lineup(Lineup(hasNext: true)))
        play(&desk, 5)
        desk.report(.ended)
        desk.send(.opening(play: true, turns: true))
        desk.send(.open(emma, at: .seconds(30), play: true, rate: 1))
        desk.pass(2)
        desk.report(.ready(at: .seconds(30)))
        #expect(desk.effects.contains(.fade(desk.player.load, Fading(left: .seconds(10), length: .seconds(15)))))
        play(&desk, 11)
        #expect(desk.position == 30, "never back into another item")
        let back = Player.Effect.jumped(plain.id, from: .seconds(95), to: .seconds(100), .sleep)
        #expect(desk.effects.contains(back), "undo leads there")
    }

    @Test func aFadeThatLoopsEndsWhereItBegan() {
        for loop in [Queue.Loop.track, .queue] {
            var desk = timed("15", plain, at: 90)
            desk.send(.lineup(Lineup(loop: loop)))
            play(&desk, 10)
            desk.report(.ended)
            desk.send(.opening(play: true, turns: true))
            desk.send(.open(plain, at: .zero, play: true, rate: 1))
            desk.report(.ready(at: .zero))
            play(&desk, 6)
            #expect(desk.player.phase == .paused && desk.position == 90, "\(loop)")
        }
    }

    // MARK: Keys in the dark

    @Test func aKeyDuringTheFadeOnlyExtends() {
        let keys: [Player.Event] = [.toggle, .pause(.listener), .play, .next, .previous, .rate(0)]
        for key in keys {
            var desk = timed("60", at: 5)
            play(&desk, 45)
            #expect(desk.player.isFading)
            let effects = desk.send(key)
            #expect(effects == [.fade(desk.player.load, nil), .sleepChanged], "\(key)")
            #expect(desk.player.phase == .playing && desk.position == 50 && !desk.player.isFading)
            #expect(left(desk) == 915)
            // The next one does what it says.
            desk.send(.toggle)
            #expect(desk.player.phase == .paused)
        }
    }

    @Test func whatSaysMoreThanAKeyIsDoneToo() {
        var desk = timed("60", at: 5)
        let load = desk.player.load
        play(&desk, 45)
        #expect(desk.send(.volume(0.5)) == [.fade(load, nil), .sleepChanged, .setVolume(0.5), .rememberVolume(0.5)])
        #expect(left(desk) == 915)
        desk.send(.sleep(.set(.time(.seconds(21)))))
        play(&desk, 2)
        desk.send(.seekPart(by: .seconds(-10)))
        #expect(desk.position == 42 && !desk.player.isFading && left(desk) == 919)
        desk.send(.sleep(.set(.time(.seconds(21)))))
        desk.report(.seeked(to: .seconds(42)))
        play(&desk, 2)
        desk.send(.stop)
        #expect(desk.player.phase == .stopped && desk.position == 44, "stop stops")
    }

    @Test func choosingSomethingElseIsASignOfLifeButTheQueueIsNone() {
        for turns in [false, true] {
            var desk = timed("15", at: 5)
            #expect(desk.player.isFading)
            desk.send(.opening(play: true, turns: turns))
            #expect(left(desk) == (turns ? 15 : 915))
        }
    }

    @Test func ofChaptersAKeyAddsOne() {
        var desk = timed("chapter", at: 50)
        #expect(desk.player.isFading)
        desk.send(.toggle)
        #expect(desk.player.sleep?.left == .chapters(2) && left(desk) == 70 && !desk.player.isFading)
        desk = timed("item", at: 170)
        desk.send(.toggle)
        #expect(desk.player.sleep?.left == .time(.seconds(910)) && desk.player.sleep?.asked == .item)
    }

    @Test func theVeryLastMomentIsStillTheFade() {
        var desk = timed("30")
        play(&desk, 29)
        desk.pass(1.2)
        desk.send(.toggle)
        #expect(desk.player.phase == .playing && left(desk) == 900)
    }

    @Test func whatInterruptsTheFadeIsNoKey() {
        var desk = timed("60", at: 5)
        play(&desk, 45)
        desk.report(.outputGone)
        #expect(desk.player.phase == .paused && desk.position == 50)
        desk.pass(5)
        #expect(left(desk) == 15)
        // Going on is one: full sound, and time to hear it.
        #expect(desk.send(.play) == [.fade(desk.player.load, nil), .sleepChanged, .start(desk.player.load)])
        #expect(left(desk) == 915)
    }

    @Test func waitingForDataHaltsTheFade() {
        var desk = timed("60")
        play(&desk, 45)
        desk.report(.buffering(true))
        desk.pass(60)
        #expect(left(desk) == 15 && desk.player.phase == .playing)
        desk.report(.buffering(false))
        #expect(desk.effects.contains(.fade(desk.player.load, Fading(left: .seconds(15), length: .seconds(20)))))
        play(&desk, 16)
        #expect(desk.player.phase == .paused && desk.position == 40)
    }

    @Test func aStreamThatBreaksOffFadesOn() {
        var desk = timed("60", at: 5)
        play(&desk, 45)
        desk.report(.failed(.unreachable(reason: "gone")))
        desk.pass(100)
        desk.send(.open(emma, at: .seconds(50), play: true, rate: 1))
        desk.report(.ready(at: .seconds(50)))
        #expect(desk.effects.contains(.fade(desk.player.load, Fading(left: .seconds(15), length: .seconds(20)))))
        play(&desk, 16)
        #expect(desk.player.phase == .paused && desk.position == 45, "where the sound was still full")
    }

    // MARK: Later, never, again

    @Test func moreTimeIsMoreTime() {
        var desk = timed("30")
        play(&desk, 15)
        #expect(desk.player.isFading)
        desk.send(.sleep(.extend(.seconds(60))))
        #expect(desk.effects == [.fade(desk.player.load, nil), .sleepChanged])
        #expect(left(desk) == 75)
        desk = timed("chapter", at: 30)
        desk.send(.sleep(.extend(.seconds(60))))
        #expect(left(desk) == 90, "so long after the end of the chapter")
        desk.send(.sleep(.off))
        #expect(left(desk) == nil && desk.effects == [.sleepChanged])
        #expect(desk.send(.sleep(.off)) == [])
        desk.send(.sleep(.extend(.seconds(60))))
        #expect(left(desk) == 60)
        desk.send(.sleep(.prolong))
        #expect(left(desk) == 960)
        desk.send(.sleep(.extend(SleepWish.limit)))
        #expect(left(desk) == 86_400)
    }

    @Test func offDuringTheFadeIsFullSound() {
        var desk = timed("30")
        play(&desk, 15)
        #expect(desk.send(.sleep(.off)) == [.fade(desk.player.load, nil), .sleepChanged])
        #expect(play(&desk, 40) == [])
    }

    @Test func byTheSettingPlayingAgainSetsItAgain() {
        for sleepsAgain in [false, true] {
            var desk = Desk()
            desk.player.options.sleepsAgain = sleepsAgain
            desk.open(emma)
            desk.send(.sleep(.set(.time(.seconds(30)))))
            desk.send(.sleep(.extend(.seconds(5))))
            play(&desk, 40)
            #expect(desk.player.phase == .paused)
            desk.report(.seeked(to: .seconds(15)))
            desk.send(.toggle)
            #expect(left(desk) == (sleepsAgain ? 30 : nil), "as it was asked for")
            desk.send(.sleep(.off))
            desk.send(.pause(.listener))
            desk.send(.play)
            #expect(left(desk) == nil)
        }
    }

    /// The place is back before the end of the chapter that it ended with: that chapter is over.
    @Test func anotherChapterIsTheNextOne() {
        for (goes, ends) in [(false, 120.0), (true, 60)] {
            var desk = timed("chapter", at: 30)
            desk.player.options.sleepsAgain = true
            play(&desk, 40)
            #expect(desk.player.phase == .paused && desk.position == 40)
            desk.report(.seeked(to: .seconds(40)))
            if goes {
                desk.send(.seek(to: .seconds(20)))
                desk.report(.seeked(to: .seconds(20)))
            }
            desk.send(.toggle)
            #expect(left(desk).map { $0 + desk.position } == ends, "\(goes): of one's own choice it is the present one")
            play(&desk, 100)
            #expect(desk.player.phase == .paused && desk.position == ends - 20)
        }
    }
}
