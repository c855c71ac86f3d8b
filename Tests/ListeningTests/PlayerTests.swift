import Testing

@testable import Listening

@Suite struct PlayerTests {
    @Test func nothingIsPlayingBeforeThePipelineSaysWhere() {
        var desk = Desk()
        desk.send(.opening(play: true))
        desk.send(.open(emma, at: .seconds(70), play: true, rate: 1.5))
        #expect(desk.player.phase == .loading(play: true))
        #expect(desk.position == 70)
        #expect(desk.player.partIndex == 1)
        desk.send(.tick)
        #expect(desk.heard == nil, "a half-open pipeline never overwrites a real place")
        desk.report(.ready(at: .seconds(70)))
        #expect(desk.player.phase == .playing)
        #expect(desk.effects.contains(.start(desk.player.load)))
    }

    @Test func theLastWordsOfAnEarlierLoadAreIgnored() {
        var desk = Desk()
        desk.open(emma)
        let old = desk.player.load
        desk.open(plain)
        #expect(desk.send(.report(EngineReport(old, .failed(.notFound)))) == [])
        #expect(desk.send(.report(EngineReport(old, .ended))) == [])
        #expect(desk.player.phase == .playing)
    }

    @Test func pauseTellsThePlaceAndTheTimeListened() {
        var desk = Desk()
        desk.open(emma)
        desk.send(.rate(2))
        desk.pass(10)
        desk.send(.pause(.listener))
        #expect(desk.heard == .init(item: emma.id, place: .seconds(20), listened: .seconds(10), why: .pause))
        desk.pass(100)
        desk.send(.pause(.listener))
        #expect(desk.effects.isEmpty)
    }

    @Test func chaptersRollByPlaying() {
        var desk = Desk()
        desk.open(emma, at: .seconds(59.5))
        #expect(desk.player.wake(at: desk.now, engine: desk.sound) == .seconds(0.5))
        desk.pass(0.6)
        #expect(desk.player.partPosition(engine: desk.sound) == .seconds(60), "until announced, the old chapter's end")
        desk.send(.tick)
        #expect(desk.player.partIndex == 1)
        #expect(desk.isSeeked)
        #expect(abs(desk.player.partPosition(engine: desk.sound).seconds - 0.1) < 0.001)
    }

    /// What is left of the chapter stays as little, and a tick is a line in the journal.
    @Test func aSoundThatStandsJustBeforeARollIsNotLookedAtAllTheTime() {
        var desk = Desk()
        desk.open(emma, at: .seconds(59.99))
        for wait in [0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.05, 0.05] {
            #expect(desk.player.wake(at: desk.now, engine: desk.sound) == .seconds(wait))
            let sound = desk.sound
            desk.passUnseen(wait)
            desk.sound = sound
            desk.send(.tick)
        }
        desk.passUnseen(0.05)
        desk.send(.tick)
        #expect(desk.player.partIndex == 1 && desk.isSeeked)
    }

    @Test func aRollIsNotPutOffByWhatComesJustBeforeIt() {
        var desk = Desk()
        desk.open(emma, at: .seconds(59.5))
        desk.pass(0.501)
        desk.send(.volume(0.5))
        #expect(desk.player.partIndex == 0)
        #expect(desk.player.wake(at: desk.now, engine: desk.sound) == BookTime(microseconds: 1000))
        desk.send(.tick)
        #expect(desk.player.partIndex == 1 && desk.isSeeked)
    }

    @Test func nextAndPreviousMoveByChapter() {
        var desk = Desk()
        desk.open(emma)
        desk.send(.next)
        #expect(desk.position == 60)
        #expect(desk.player.canGoNext)
        desk.send(.next)
        #expect(desk.position == 120)
        #expect(!desk.player.canGoNext)
        #expect(desk.send(.next) == [])
        desk.report(.seeked(to: .seconds(120)))
        desk.pass(5)
        desk.send(.previous)
        #expect(desk.position == 120, "later than three seconds it restarts the chapter")
        desk.send(.previous)
        #expect(desk.position == 60)
    }

    @Test func previousPassesAChapterThatBeginsWithASilenceNobodyHears() {
        var desk = Desk()
        desk.open(emma, at: .seconds(90))
        desk.send(.previous)
        #expect(desk.position == 60)
        desk.report(.seeked(to: .seconds(60)))
        desk.pass(1)
        desk.sound = .seconds(75)
        desk.report(.skipped)
        desk.pass(1)
        #expect(desk.position == 76)
        desk.send(.previous)
        #expect(desk.position == 0)
    }

    @Test func seeksInsideAChapterFollowTheContract() {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.send(.seekPart(by: .seconds(-30)))
        #expect(desk.position == 60, "stops at the start")
        desk.send(.seekPart(by: .seconds(-30)))
        #expect(desk.position == 30, "asked again it goes on")
        desk.send(.seekPart(by: .seconds(40)))
        #expect(desk.position == 70, "rolls into the next by what remains")
        desk.send(.seekPart(by: .seconds(1000)))
        #expect(desk.position == 120, "past its end too: its start")
        #expect(desk.send(.seekPart(by: .seconds(1000))) == [], "after the last acts like Next")
        desk.send(.seekPart(by: BookTime(microseconds: .max)))
        desk.send(.seekPart(by: BookTime(microseconds: .min)))
        #expect(desk.player.phase == .playing)
    }

    @Test func setPositionOutsideTheTrackDoesNothing() {
        var desk = Desk()
        desk.open(emma)
        #expect(desk.send(.setPartPosition(.seconds(60.5))) == [])
        #expect(desk.send(.setPartPosition(.seconds(-1))) == [])
        desk.send(.setPartPosition(.seconds(30)))
        #expect(desk.position == 30)
    }

    @Test func aSeekAnswersItsTargetUntilConfirmed() {
        var desk = Desk()
        desk.open(emma)
        desk.send(.seek(to: .seconds(100)))
        #expect(desk.position == 100)
        desk.sound = .seconds(100)
        desk.report(.seeked(to: .seconds(3)))
        #expect(desk.player.target != nil, "the answer to an earlier seek")
        desk.report(.seeked(to: .seconds(100.02)))
        desk.sound = .seconds(101)
        #expect(desk.position == 101)
        #expect(desk.player.target == nil)
    }

    /// A file that is shorter than it says, or one that can only be sought in roughly.
    @Test func aSeekThatLandsElsewhereIsOverToo() {
        var desk = Desk()
        desk.open(emma)
        desk.send(.seek(to: .seconds(100)))
        desk.sound = .seconds(90)
        desk.report(.seeked(to: .seconds(90)))
        #expect(desk.player.target == nil)
        desk.pass(3)
        desk.send(.tick)
        #expect(desk.heard == .init(item: emma.id, place: .seconds(93), listened: .seconds(3), why: .tick))
    }

    /// The engine says that the item has ended, and before that is heard of the listener asks to go back.
    @Test func whoGoesBackAsTheEndComesHasNotFinished() {
        var desk = Desk()
        desk.open(emma, at: .seconds(179))
        desk.pass(1)
        desk.send(.seek(to: .seconds(150)))
        desk.sound = .seconds(150)
        desk.report(.ended)
        #expect(desk.effects == [.start(desk.player.load)], "it stands at its end until it is told to play")
        #expect(desk.player.phase == .playing && desk.position == 150)
        desk.report(.seeked(to: .seconds(150)))
        desk.sound = .seconds(152)
        #expect(desk.position == 152 && !desk.player.isFinished)
        // What was asked for is the end: there is no other place to go.
        desk.send(.seek(to: .seconds(179.5)))
        desk.sound = .seconds(180)
        desk.report(.ended)
        #expect(desk.player.phase == .stopped)
    }

    /// A server may take as long as it likes to bring the sound of another place.
    @Test func onTheWayToAnotherPlaceNothingIsHeard() {
        for isPaused in [false, true] {
            var desk = Desk()
            desk.open(emma)
            desk.pass(10)
            if isPaused { desk.send(.pause(.listener)) }
            desk.send(.seek(to: .seconds(100)))
            if isPaused {
                desk.pass(5)
                desk.send(.play)
            } else {
                #expect(desk.heard?.listened == .seconds(10))
            }
            desk.pass(20)
            desk.send(.tick)
            #expect(desk.heard == .init(item: emma.id, place: .seconds(100), listened: .zero, why: .tick))
            desk.report(.seeked(to: .seconds(100)))
            desk.sound = .seconds(100)
            desk.pass(3)
            desk.send(.tick)
            #expect(desk.heard == .init(item: emma.id, place: .seconds(103), listened: .seconds(3), why: .tick))
        }
    }

    /// A server that goes away is waited for; one that gives a broken file each time is not.
    @Test func aStreamThatNeverSoundsIsGivenUp() {
        var desk = Desk()
        desk.open(emma, at: .seconds(50))
        desk.pass(1)
        desk.send(.tick)
        let failure = EngineFailure.unreachable(reason: "it broke")
        for _ in 1..<Player.patience {
            desk.report(.failed(failure))
            #expect(desk.player.phase == .opening(play: true))
            desk.send(.open(emma, at: .seconds(51), play: true, rate: 1))
            desk.report(.ready(at: .seconds(51)))
        }
        desk.report(.failed(failure))
        // That its server answers does not mend it.
        desk.send(.serverAnswers)
        #expect(desk.player.phase == .stopped && desk.player.error == failure.sentence && desk.position == 51)
        // Of another place it is not said.
        var moved = desk
        moved.send(.seek(to: .seconds(80)))
        #expect(moved.player.phase == .stopped && moved.player.error == nil && moved.position == 80)
        // Asked for again, it is tried as often again.
        desk.open(emma, at: .seconds(51))
        desk.report(.failed(failure))
        #expect(desk.player.phase == .opening(play: true))
        // Away, not broken.
        for _ in 0..<20 { desk.send(.openFailed(nil, mayReturn: true)) }
        #expect(desk.player.phase == .opening(play: true))
    }

    /// The process was stopped: its clock went on, and nothing was heard.
    @Test func whoStoodStillIsWhereItWas() {
        func frozen(_ seconds: Double, then event: (Desk) -> Player.Event) -> Desk {
            var desk = Desk()
            desk.open(plain, at: .seconds(50))
            desk.pass(1)
            desk.send(.tick)
            desk.passUnseen(seconds)
            desk.send(event(desk))
            return desk
        }
        let tick: (Desk) -> Player.Event = { _ in .tick }
        for (seconds, event) in [(40, tick), (3.1, tick), (40, { .report(EngineReport($0.player.load, .ended)) })] {
            var desk = frozen(seconds, then: event)
            let load = desk.player.load
            #expect(desk.effects == [.seek(load, to: .seconds(51)), .start(load), .seeked])
            #expect(desk.position == 51 && desk.player.phase == .playing && !desk.player.isFinished)
            desk.report(.seeked(to: .seconds(51)))
            desk.pass(1)
            desk.send(.tick)
            #expect(desk.heard == .init(item: plain.id, place: .seconds(52), listened: .second, why: .tick))
        }
        let paused = frozen(40) { _ in .pause(.listener) }
        #expect(paused.position == 51 && paused.player.phase == .paused)
        #expect(paused.heard?.place == .seconds(51) && paused.heard?.listened == .zero)
        let moved = frozen(40) { _ in .seek(to: .seconds(20)) }
        #expect(moved.position == 20)
        // What is only late was heard.
        #expect(frozen(3) { _ in .tick }.position == 54)
    }

    @Test func whileTheNextIsOpenedNothingIsMoved() {
        var desk = Desk()
        desk.open(emma, at: .seconds(50))
        desk.send(.opening(play: true, turns: true))
        #expect(desk.send(.seek(to: .seconds(10))).isEmpty)
        #expect(desk.send(.seekPart(by: .seconds(10))).isEmpty)
    }

    @Test func theEndFinishesAndPlayBeginsAgain() {
        var desk = Desk()
        desk.open(plain, at: .seconds(90))
        desk.pass(10)
        desk.report(.ended)
        #expect(desk.heard == .init(item: plain.id, place: .seconds(100), listened: .seconds(10), why: .end))
        #expect(desk.effects.contains(.finished(plain.id)))
        #expect(desk.player.phase == .stopped)
        desk.send(.play)
        #expect(desk.effects == [.reopen(plain.id, at: .zero, play: true, after: .zero)])
    }

    @Test func aKeyThatLeadsNowhereTakesNoFinishBack() {
        var desk = Desk()
        desk.open(plain, at: .seconds(90))
        desk.send(.play)
        desk.pass(10)
        desk.report(.ended)
        #expect(desk.player.isFinished)
        #expect(desk.send(.previous).isEmpty)
        #expect(desk.player.isFinished)
        desk.send(.next)
        #expect(!desk.player.isFinished && desk.position == 30)
        // Kept as what it is: undo gives the mark back.
        #expect(desk.effects.contains(.jumped(plain.id, from: .zero, to: .seconds(30), .unfinish)))
        desk.send(.next)
        #expect(desk.effects.contains(.jumped(plain.id, from: .seconds(30), to: .seconds(60), .seek)))
        desk.send(.replace(.zero, finished: true, .undo))
        #expect(desk.player.isFinished && desk.position == 0)
    }

    @Test func norDoesAJumpPastTheEndFromTheEnd() {
        var desk = Desk()
        desk.open(plain, at: .seconds(50))
        desk.send(.stop)
        desk.send(.replace(plain.duration, finished: true, .finish))
        let end = desk.position
        #expect(desk.send(.seek(to: plain.duration)).isEmpty)
        #expect(desk.player.isFinished && desk.position == end)
    }

    @Test func stopKeepsThePlace() {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.pass(5)
        desk.send(.stop)
        #expect(desk.effects.suffix(2) == [.unload, .close(emma.id)])
        #expect(desk.position == 75)
        desk.send(.play)
        #expect(desk.effects == [.reopen(emma.id, at: .seconds(75), play: true, after: .zero)])
    }

    @Test func stopRestartsTheChapterByOption() {
        var desk = Desk()
        var options = Player.Options()
        options.stopRestarts = true
        desk.send(.options(options))
        desk.open(emma, at: .seconds(70))
        desk.pass(5)
        desk.send(.stop)
        #expect(desk.position == 60)
        #expect(desk.heard?.place == .seconds(75), "the journal has the real place")
    }

    @Test func aStreamThatBreaksComesBackAtItsPlace() {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.pass(5)
        desk.report(.failed(.unreachable(reason: "gone")))
        #expect(desk.effects.last == .reopen(emma.id, at: .seconds(75), play: true, after: .zero))
        #expect(desk.player.isBuffering)
        desk.send(.openFailed("server away", mayReturn: true))
        #expect(desk.effects == [.reopen(emma.id, at: .seconds(75), play: true, after: .second)])
        desk.send(.open(emma, at: .seconds(75), play: true, rate: 1))
        desk.report(.ready(at: .seconds(75)))
        #expect(desk.player.phase == .playing)
        #expect(!desk.player.isBuffering)
        #expect(desk.player.error == nil)
    }

    @Test func pauseEndsTheComingBack() {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.report(.failed(.unreachable(reason: "gone")))
        desk.send(.pause(.listener))
        #expect(desk.player.phase == .stopped)
        desk.send(.openFailed("server away", mayReturn: true))
        #expect(desk.effects.isEmpty)
    }

    @Test func pauseCountsThoughTheSourceAnswersAfterIt() {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.report(.failed(.unreachable(reason: "gone")))
        desk.send(.pause(.listener))
        desk.send(.open(emma, at: .seconds(70), play: true, rate: 1))
        desk.report(.ready(at: .seconds(70)))
        #expect(desk.player.phase == .paused)
    }

    @Test func aFileThatCannotBePlayedIsSaidAndKeepsThePlace() {
        var desk = Desk()
        desk.send(.opening(play: true))
        desk.send(.open(emma, at: .seconds(70), play: true, rate: 1))
        desk.report(.failed(.unreadable(track: 0, reason: "not audio")))
        #expect(desk.player.phase == .stopped)
        #expect(desk.player.error == "x cannot be played: not audio; 'dogear next' passes over it")
        #expect(desk.position == 70)
        #expect(desk.heard == nil)
    }

    @Test func bufferingTimeIsNotListenedTime() {
        var desk = Desk()
        desk.open(emma)
        desk.pass(4)
        desk.report(.buffering(true))
        #expect(desk.heard?.listened == .seconds(4))
        desk.pass(60)
        desk.report(.buffering(false))
        #expect(desk.isSeeked)
        desk.pass(2)
        desk.send(.pause(.listener))
        #expect(desk.heard?.listened == .seconds(2))
    }

    @Test(arguments: [(5.0, 30.0), (30, 28), (120, 25), (1200, 20), (7200, 0)])
    func aLongPauseRewindsALittle(pause: Double, expected: Double) {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.send(.pause(.listener))
        desk.pass(pause)
        desk.send(.play)
        #expect(desk.position == expected)
    }

    @Test func aPauseBeforeTheRewindArrivedGoesBackFromThere() {
        var desk = Desk()
        desk.open(emma, at: .seconds(40))
        desk.send(.pause(.listener))
        desk.pass(7200)
        desk.send(.play)
        #expect(desk.position == 10)
        desk.send(.pause(.listener))
        desk.pass(30)
        desk.send(.play)
        #expect(desk.position == 8)
    }

    @Test func noRewindPastTheChapterOrAfterASeekOrByOption() {
        var desk = Desk()
        desk.open(emma, at: .seconds(61))
        desk.send(.pause(.listener))
        desk.pass(7200)
        desk.send(.play)
        #expect(desk.position == 60)
        desk.send(.pause(.listener))
        desk.send(.seek(to: .seconds(100)))
        desk.pass(7200)
        desk.send(.play)
        #expect(desk.position == 100)
        desk.report(.seeked(to: .seconds(100)))
        var options = Player.Options()
        options.resumeRewind = false
        desk.send(.options(options))
        desk.send(.pause(.listener))
        desk.pass(7200)
        desk.send(.play)
        #expect(desk.position == 100)
    }

    @Test func ratesAndVolumesStayInTheirRange() {
        var desk = Desk()
        desk.open(emma)
        desk.send(.rate(9))
        #expect(desk.player.rate == 3)
        desk.send(.rate(.nan))
        #expect(desk.player.rate == 3)
        desk.send(.rate(0))
        #expect(desk.player.phase == .paused)
        #expect(desk.player.rate == 3)
        desk.send(.volume(-1))
        #expect(desk.player.volume == 0)
        #expect(desk.send(.volume(.infinity)) == [])
        #expect(desk.send(.volume(0)) == [.setVolume(0)], "a mixer may have been moved since")
        let counted = desk.send(.volume(Double(Float(0.35))))
        #expect(counted == [.setVolume(0.35), .rememberVolume(0.35)], "as a client counts in floats")
    }

    @Test func aSpeedChosenOnTheWayIsThatOfWhatComes() {
        var desk = Desk()
        desk.open(emma)
        desk.send(.rate(1.5))
        desk.send(.opening(play: true, turns: true))
        #expect(desk.send(.rate(2)) == [], "not that of what is left")
        let effects = desk.send(.open(plain, at: .zero, play: true, rate: 1.25))
        #expect(effects == [.load(desk.player.load, plain.tracks, at: .zero, rate: 2, volume: 1)])
        desk.report(.ready(at: .zero))
        #expect(desk.effects.contains(.rememberRate(2)) && desk.player.rate == 2)
        // What does not come leaves it to what is there.
        desk.send(.opening(play: true))
        desk.send(.rate(3))
        #expect(desk.send(.openFailed("gone", mayReturn: false)).contains(.rememberRate(3)))
        #expect(desk.player.rate == 3 && desk.player.chosenRate == nil)
    }

    @Test func itemsWithoutChaptersSkip() {
        var desk = Desk()
        desk.open(plain)
        #expect(desk.player.canGoNext)
        desk.send(.next)
        #expect(desk.position == 30)
        desk.send(.seek(to: .seconds(80)))
        #expect(!desk.player.canGoNext)
        #expect(desk.send(.next) == [])
        desk.send(.previous)
        #expect(desk.position == 65)
    }

    @Test func pressesWhileOpeningCount() {
        var desk = Desk()
        desk.send(.opening(play: true))
        desk.send(.toggle)
        desk.send(.open(emma, at: .zero, play: true, rate: 1))
        desk.report(.ready(at: .zero))
        #expect(desk.player.phase == .paused)
    }

    @Test func aPlaceChosenAfterStoppingCountsThoughTheSourceAnswersLate() {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.send(.stop)
        desk.send(.play)
        desk.send(.stop)
        desk.send(.seek(to: .seconds(150)))
        desk.send(.open(emma, at: .seconds(30), play: true, rate: 1))
        desk.report(.ready(at: .seconds(150)))
        #expect(desk.player.phase == .paused && desk.position == 150)
        // Asked for by name, it begins where that leads.
        desk.send(.opening(play: true))
        desk.send(.open(emma, at: .seconds(70), play: true, rate: 1))
        #expect(desk.position == 70)
    }

    @Test func whatWasFinishedByHandIsNotBegunByALateAnswer() {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.send(.stop)
        desk.send(.play)
        desk.send(.stop)
        desk.send(.replace(.seconds(30), finished: true, .finish))
        #expect(desk.send(.open(emma, at: .seconds(30), play: true, rate: 1)).isEmpty)
        #expect(desk.player.phase == .stopped && desk.player.isFinished)
    }

    @Test func aSeekWhileLoadingIsCarriedOut() {
        var desk = Desk()
        desk.send(.opening(play: true))
        desk.send(.open(emma, at: .zero, play: true, rate: 1))
        desk.send(.seek(to: .seconds(150)))
        #expect(desk.position == 150)
        desk.report(.ready(at: .zero))
        #expect(desk.effects.first == .seek(desk.player.load, to: .seconds(150)))
        #expect(desk.player.partIndex == 2)
    }
}

@Suite struct TimelineTests {
    /// Times are told and typed in whole seconds, and chapters begin between them.
    @Test func aWholeSecondBeforeAChapterMeansTheChapter() {
        func book(_ starts: [Double]) -> Item {
            let ends = starts.dropFirst() + [180]
            return Item(
                id: emma.id, kind: .book, title: "Emma", tracks: [track(90), track(90)],
                chapters: zip(starts, ends).map { chapter("", $0, $1) })
        }
        let uneven = book([0, 60.02, 120.999])
        #expect(uneven.meant(by: .seconds(60)) == .seconds(60.02))
        #expect(uneven.meant(by: .seconds(120)) == .seconds(120.999))
        for time in [0, 59, 61, 119, 121, 180, 59.9, 60.01] {
            #expect(uneven.meant(by: .seconds(time)) == .seconds(time), "\(time)")
        }
        for time in [59.0, 60, 61] { #expect(book([0, 60]).meant(by: .seconds(time)) == .seconds(time)) }
        let files = Item(id: plain.id, kind: .file, title: "Plain", tracks: [track(60.5), track(90)])
        #expect(files.meant(by: .seconds(60)) == .seconds(60.5))
    }

    @Test func chaptersOfAnyKindBecomeSane() {
        let bad = [
            chapter("late", 50, 10), chapter("beyond", 500, 600), chapter("negative", -5, 3), chapter("twin", 20, 30),
            chapter("twin again", 20, 25), chapter("first", 5, 20), chapter("nan", .nan, .infinity),
            chapter("out of reach", 99.96, 100),
        ]
        let chapters = Timeline.repaired(chapters: bad, duration: .seconds(100))
        #expect(chapters.map(\.title) == ["nan", "first", "twin again", "late"])
        #expect(chapters.first?.start == .zero)
        #expect(chapters.last?.end == .seconds(100))
        for (a, b) in zip(chapters, chapters.dropFirst()) { #expect(a.end == b.start) }
    }

    @Test func lookUpsFindTheirPlace() {
        #expect(emma.chapterIndex(at: .zero) == 0)
        #expect(emma.chapterIndex(at: .seconds(59.999)) == 0)
        #expect(emma.chapterIndex(at: .seconds(60)) == 1)
        #expect(emma.chapterIndex(at: .seconds(9999)) == 2)
        #expect(plain.chapterIndex(at: .zero) == nil)
    }

    @Test(arguments: [
        ("90", 90.0), ("15m", 900), ("1h30m", 5400), ("1:02:03", 3723), ("12.5", 12.5), ("2m30s", 150), ("1h", 3600),
        ("0:07.5", 7.5), ("1h30", 5400), ("2m30", 150), ("90min", 5400), ("20Minutes", 1200), ("1hr5sec", 3605),
        ("1h0", 3600), ("1.5h", 5400),
    ])
    func timesArePeoplesTimes(text: String, seconds: Double) {
        #expect(TimeText.parse(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "x", "-5", "1:60", "1:2:3:4", "5x", "h", "1m1h", "1e5", "nan", "٣", "1.5:00", "1h90", "1s5", "1m1m",
        "30 min", "min", "1h30x", "99999999999999",
    ])
    func nonsenseIsNoTime(text: String) { #expect(TimeText.parse(text) == nil) }

    @Test func jumps() {
        #expect(Jump("+30") == .by(.seconds(30)))
        #expect(Jump("-1:00") == .by(.seconds(-60)))
        #expect(Jump("50%") == .share(0.5))
        #expect(Jump("+10%") == nil && Jump("-10%") == nil, "of what, and from where?")
        #expect(Jump("chapter:7") == .chapter(7))
        #expect(Jump("1:00") == .to(.seconds(60)))
        for bad in ["101%", "chapter:0", "chapter:", "+", "--5", "%"] { #expect(Jump(bad) == nil) }
    }
}
