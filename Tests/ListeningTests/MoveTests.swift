import Testing

@testable import Listening

private func move(
    _ at: Int64, _ from: Double, _ to: Double, _ cause: Player.JumpCause = .seek, _ item: ItemID = emma.id
) -> Move {
    Move(at: at, item: item, from: .seconds(from), to: .seconds(to), cause: cause)
}

/// A ring as the listener fills it: newest first, with undo as the daemon does it.
private struct Ring {
    var moves: [Move] = []
    var at: Int64 = 0
    var place = 0.0

    mutating func jump(to goal: Double, _ cause: Player.JumpCause = .seek) {
        at += 10_000
        moves.insert(move(at, place, goal, cause), at: 0)
        place = goal
    }

    /// - Returns: whether there was anything to undo.
    @discardableResult
    mutating func undo() -> Bool {
        guard let last = Move.next(in: moves, of: emma.id) else { return false }
        jump(to: last.from.seconds, .undo)
        return true
    }
}

@Suite struct MoveTests {
    @Test func whatBeginsAgainLeavesAWayBack() {
        var desk = Desk()
        desk.open(emma, at: .seconds(30))
        desk.seek(to: 180, landing: 179.95)
        desk.report(.ended)
        #expect(desk.player.phase == .stopped && !desk.player.isFinished && desk.position == 179.95)
        desk.send(.play)
        #expect(desk.effects.first == .jumped(emma.id, from: .seconds(179.95), to: .seconds(169.5), .begin))
        desk.send(.stop)
        desk.send(.replace(.seconds(30), finished: true, .finish))
        desk.send(.play)
        #expect(desk.effects.first == .jumped(emma.id, from: .seconds(30), to: .zero, .begin))
        #expect(Stretch.unfinished(.seconds(175), of: .seconds(180)) == .seconds(175))
        #expect(Stretch.unfinished(.seconds(180), of: .seconds(180)) == .seconds(169.5))
        #expect(Stretch.unfinished(.seconds(30), of: .zero) == .seconds(30))
    }

    @Test func undoingAgainWalksBack() {
        var ring = Ring()
        ring.jump(to: 10)
        ring.jump(to: 50)
        ring.jump(to: 90)
        for expected in [50.0, 10, 0] {
            #expect(ring.undo() == true)
            #expect(ring.place == expected)
        }
        #expect(ring.undo() == false, "nothing stands any more")
        #expect(ring.place == 0)
    }

    @Test func aMoveAfterAnUndoIsTakenBackFirst() {
        var ring = Ring()
        ring.jump(to: 10)
        ring.jump(to: 50)
        ring.undo()
        ring.jump(to: 70)
        ring.undo()
        #expect(ring.place == 10)
        ring.undo()
        #expect(ring.place == 0)
        #expect(ring.undo() == false)
        #expect(
            Move.standings(ring.moves) == [.undo, .undo, .undone, .undo, .undone, .undone],
            "\(ring.moves.map(\.cause))")
    }

    @Test func aRingThatForgotItsOldestStillWalksBack() {
        var ring = Ring()
        for goal in 1...40 { ring.jump(to: Double(goal)) }
        for _ in 1...20 {
            ring.undo()
            ring.moves = Array(ring.moves.prefix(50))
        }
        #expect(ring.place == 20)
        // Twenty undos took ten moves' room away: ten of the other twenty are left.
        var steps = 0
        while ring.undo() {
            steps += 1
            ring.moves = Array(ring.moves.prefix(50))
        }
        #expect(steps >= 5)
        #expect(ring.place == Double(20 - steps), "each step led one back")
    }

    @Test func itemsDoNotMeddleWithEachOther() {
        let moves = [move(3, 5, 0, .undo, plain.id), move(2, 0, 5, .seek, plain.id), move(1, 7, 60)]
        #expect(Move.next(in: moves, of: emma.id) == moves[2])
        #expect(Move.next(in: moves, of: plain.id) == nil)
        #expect(Move.next(in: [], of: plain.id) == nil)
    }

    @Test func aHeldKeyIsOneMove() {
        let joined = move(1000, 0, 30).joined(by: move(2900, 31, 60))
        #expect(joined == move(2900, 0, 60))
        #expect(joined?.joined(by: move(4900, 60, 90)) == move(4900, 0, 90), "as long as it is held")
        #expect(move(1000, 0, 30).joined(by: move(3001, 30, 60)) == nil, "too late")
        #expect(move(1000, 0, 30).joined(by: move(900, 30, 60)) == nil, "the clock was set back")
        #expect(move(1000, 0, 30).joined(by: move(1100, 30, 60, .chapter)) == nil)
        #expect(move(1000, 0, 30).joined(by: move(1100, 30, 60, .seek, plain.id)) == nil)
        #expect(move(1000, 30, 0, .undo).joined(by: move(1100, 0, 30, .undo)) == nil, "each undo counts")
        #expect(move(.min, 0, 30).joined(by: move(.max, 0, 30)) == nil)
    }

    @Test func anotherDeviceThatPlaysOnIsOneMove() {
        let first = move(1000, 60, 10, .device)
        #expect(first.joined(by: move(16_000, 75, 25, .device)) == move(16_000, 75, 25, .device))
        #expect(first.joined(by: move(16_000, 5, 25, .device)) == nil, "another place")
        #expect(first.joined(by: move(200_000, 60, 25, .device)) == nil, "another time")
        #expect(move(.min, 60, 10, .device).joined(by: move(.max, 60, 10, .device)) == nil)
    }

    @Test func whatMovedNothingIsNotKept() {
        #expect(!move(1, 30, 30.2).isWorthKeeping)
        #expect(move(1, 30, 31).isWorthKeeping)
        #expect(move(1, 30, 30, .finish).isWorthKeeping, "it can be taken back")
        #expect(move(1, 30, 30, .undo).isWorthKeeping, "else the next one would take the same move back again")
    }
}

@Suite struct BeginningTests {
    private func place(_ seconds: Double, at updated: Int64, finished: Bool = false) -> Place {
        Place(
            item: emma.id, position: .seconds(seconds), duration: emma.duration, isFinished: finished, updated: updated)
    }
    private func step(_ from: Double, _ to: Double, _ cause: Player.JumpCause) -> Beginning.Step {
        Beginning.Step(from: .seconds(from), to: .seconds(to), cause: cause)
    }

    @Test func anotherDevicesNewerPlaceWinsAndOursIsKept() {
        let beginning = Beginning(of: emma, server: place(90, at: 60_000), journal: place(30, at: 1000))
        #expect(beginning.place == .seconds(90))
        #expect(beginning.steps == [step(30, 90, .device)])
    }

    @Test func theSameOldServerPlaceDoesNotWinAgain() {
        let server = place(90, at: 60_000)
        #expect(Beginning(of: emma, server: server, journal: place(30, at: 61_000)).place == .seconds(30))
        #expect(Beginning(of: emma, server: server, journal: place(30, at: 61_000)).steps == [])
    }

    @Test func aPlayerThatComesBackStandsWhereItStood() {
        let own = Beginning(of: emma, server: place(30, at: 1000), journal: place(30, at: 1000), own: .seconds(31))
        #expect(own.place == .seconds(31) && own.steps == [])
        let moved = Beginning(of: emma, server: place(90, at: 60_000), journal: place(30, at: 1000), own: .seconds(31))
        #expect(moved.place == .seconds(90) && moved.steps == [step(31, 90, .device)])
        #expect(Beginning(of: emma, server: place(90, at: 60_000), journal: nil, own: .zero).place == .zero)
    }

    /// Some of its files are missing for a while.
    @Test func aPlaceBeyondTheEndIsKept() {
        let far = Place(item: emma.id, position: .seconds(400), duration: .seconds(600), updated: 60_000)
        let here = Beginning(of: emma, server: nil, journal: far)
        #expect(here.place == .seconds(169.5) && here.steps == [step(400, 169.5, .begin)])
        #expect(here.beyond == .seconds(400))
        var chosen = here
        chosen.move(to: .seconds(10))
        #expect(chosen.beyond == nil)
        #expect(Beginning(of: emma, server: nil, journal: far, own: .seconds(400)).steps == here.steps)
        let there = Beginning(of: emma, server: far, journal: place(30, at: 1))
        #expect(there.steps == [step(30, 400, .device), step(400, 169.5, .begin)] && there.beyond == .seconds(400))
        let atEnd = Beginning(of: emma, server: nil, journal: place(180, at: 1))
        #expect(atEnd.steps == [] && atEnd.beyond == nil, "at its end, as ever")
        let endless = Item(id: emma.id, kind: .book, title: "Emma", tracks: [])
        #expect(Beginning(of: endless, server: nil, journal: far).steps == [], "nobody knows where that ends")
    }

    @Test func aPlaceThatWasHandedOnLeavesAWayBack() {
        let place = Place(item: plain.id, position: .seconds(40), duration: plain.duration, updated: 60_000)
        let beginning = Beginning(of: plain, server: place, journal: nil)
        #expect(beginning.place == .seconds(40) && beginning.steps == [step(0, 40, .begin)])
        #expect(Beginning(of: plain, server: place, journal: nil, own: .seconds(7)).steps == [])
    }

    @Test func whatIsFinishedStartsOverAndItsMarkIsKept() {
        let byHand = Beginning(of: emma, server: nil, journal: place(70, at: 1, finished: true))
        #expect(byHand.place == .zero && byHand.steps == [step(70, 0, .begin)])
        let heard = Beginning(of: emma, server: nil, journal: place(180, at: 1, finished: true))
        #expect(heard.place == .zero && heard.steps == [])
        let elsewhere = Beginning(of: emma, server: place(70, at: 60_000, finished: true), journal: place(30, at: 1))
        #expect(elsewhere.place == .zero && elsewhere.steps == [step(30, 70, .device), step(70, 0, .begin)])
        let unknown = Beginning(of: emma, server: place(70, at: 60_000, finished: true), journal: nil)
        #expect(unknown.steps == [step(70, 0, .begin)])
        let stopped = Beginning(of: emma, server: nil, journal: place(70, at: 1, finished: true), own: .zero)
        for beginning in [byHand, heard, elsewhere, unknown, stopped] { #expect(beginning.startsOver) }
        #expect(!Beginning(of: emma, server: nil, journal: place(70, at: 1), own: .zero).startsOver)
        var chosen = byHand
        chosen.move(to: .seconds(20))
        #expect(!chosen.startsOver && chosen.isChosen)
    }

    @Test func previousLeadsToTheLastPartOfWhatWasHeard() throws {
        let last = try #require(emma.chapters.last)
        var heard = Beginning(of: emma, server: nil, journal: place(180, at: 1, finished: true))
        heard.goBack(into: emma.chapters)
        #expect(heard.place == last.start && !heard.startsOver && heard.isChosen && heard.steps == [])
        var whole = Beginning(of: emma, server: nil, journal: place(180, at: 1, finished: true))
        whole.goBack(into: [last])
        #expect(whole.place == .zero)
        var begun = Beginning(of: emma, server: nil, journal: place(70, at: 1))
        begun.goBack(into: emma.chapters)
        #expect(begun.place == .seconds(70))
    }

    @Test func anAskedForPlaceIsAStep() {
        var beginning = Beginning(of: emma, server: nil, journal: place(70, at: 1))
        beginning.move(to: .seconds(100))
        #expect(beginning.place == .seconds(100) && beginning.steps == [step(70, 100, .begin)])
    }

    @Test func whatWasNeverBegunBeginsAtTheStart() {
        let beginning = Beginning(of: emma, server: nil, journal: nil)
        #expect(beginning.place == .zero && beginning.steps == [])
    }

    @Test func withNothingLeftTheLastSecondsAreHeardAgain() {
        for end in [179.5, 180, 9999] {
            #expect(Beginning(of: emma, server: nil, journal: place(end, at: 1)).place == .seconds(169.5))
        }
        #expect(Beginning(of: emma, server: nil, journal: place(175, at: 1)).place == .seconds(175))
    }
}

@Suite struct EndTests {
    @Test func aBarDraggedToTheEndFinishesNothing() {
        var desk = Desk()
        desk.open(plain, at: .seconds(20))
        desk.seek(to: 1000, landing: 99.95)
        desk.pass(0.05)
        desk.report(.ended)
        #expect(!desk.effects.contains(.finished(plain.id)))
        #expect(desk.heard?.place == .seconds(99.95) && desk.heard?.why == .stop)
        #expect(desk.player.phase == .stopped && !desk.player.isFinished)
        desk.send(.play)
        #expect(
            desk.effects == [
                .jumped(plain.id, from: .seconds(99.95), to: .seconds(89.5), .begin),
                .reopen(plain.id, at: .seconds(89.5), play: true, after: .zero),
            ])
    }

    /// In front of a last chapter that is over in a moment.
    @Test func theChapterIsThatOfThePlaceABarWasDraggedTo() {
        let item = Item(
            id: plain.id, kind: .file, title: "Plain", tracks: [track(100)],
            chapters: [chapter("Long", 0, 99.5), chapter("Short", 99.5, 100)])
        var desk = Desk()
        desk.open(item, at: .seconds(20))
        desk.seek(to: 99.2)
        desk.pass(0.8)
        desk.send(.tick)
        #expect(desk.player.partIndex == 1)
        desk.report(.ended)
        #expect(desk.position == 99.2 && desk.player.partIndex == 0)
    }

    @Test(arguments: [true, false]) func behindABarDraggedToTheEndTheQueueGoesOn(hasNext: Bool) {
        var desk = Desk()
        desk.open(plain, at: .seconds(20))
        desk.send(.lineup(hasNext ? Lineup(hasNext: true) : Lineup(loop: .queue)))
        desk.seek(to: 99.6)
        desk.pass(0.4)
        desk.report(.ended)
        #expect(!desk.effects.contains(.finished(plain.id)) && !desk.isSeeked)
        #expect(desk.heard?.place == .seconds(99.6) && desk.heard?.why == .stop)
        #expect(
            desk.effects.last
                == (hasNext ? .follow(.onward) : .reopen(plain.id, at: .zero, play: true, after: .zero)))
        #expect(desk.player.turning == .rolled && desk.player.wantsPlay)
    }

    @Test func aSleepTimerEndsAtTheEndThatABarWasDraggedTo() {
        var desk = Desk()
        desk.open(plain, at: .seconds(20))
        desk.send(.lineup(Lineup(hasNext: true)))
        desk.send(.sleep(.set(.item)))
        desk.seek(to: 99.6)
        desk.pass(0.4)
        desk.report(.ended)
        #expect(desk.player.phase == .stopped && !desk.player.isFinished && desk.player.sleep == nil)
    }

    @Test func theEndHeardAfterAJumpIsTheEnd() {
        var desk = Desk()
        desk.open(plain, at: .seconds(20))
        desk.seek(to: 95)
        desk.pass(5)
        desk.report(.ended)
        #expect(desk.effects.contains(.finished(plain.id)))
    }

    @Test func anEarlierDragDoesNotCount() {
        var desk = Desk()
        desk.open(plain, at: .seconds(20))
        desk.send(.seek(to: .seconds(100)))
        desk.seek(to: 90)
        desk.pass(10)
        desk.report(.ended)
        #expect(desk.effects.contains(.finished(plain.id)))
        desk.open(plain, at: .seconds(90))
        desk.pass(10)
        desk.report(.ended)
        #expect(desk.effects.contains(.finished(plain.id)))
    }

    @Test func stopInTheLastSecondsKeepsThePlace() {
        var desk = Desk()
        desk.open(plain, at: .seconds(95))
        desk.pass(1)
        desk.send(.stop)
        desk.send(.play)
        #expect(desk.effects == [.reopen(plain.id, at: .seconds(96), play: true, after: .zero)])
    }
}

/// Nothing is loaded, and it is paused for whoever looks.
@Suite struct SetDownTests {
    private func back(paused: Bool = true) -> Desk {
        var desk = Desk()
        desk.send(.restore(plain, at: .seconds(50), rate: 1, finished: false, paused: paused))
        return desk
    }

    @Test func whatWasLeftStoppedIsNot() { #expect(!back(paused: false).player.isSetDown) }

    @Test func itStaysThatWhereverItGoes() {
        var desk = back()
        #expect(desk.player.isSetDown && desk.effects == [])
        desk.send(.seek(to: .seconds(20)))
        #expect(desk.send(.pause(.listener)) == [])
        #expect(desk.player.isSetDown && desk.position == 20)
    }

    @Test func itIsStopped() {
        var desk = back()
        desk.send(.stop)
        #expect(!desk.player.isSetDown && desk.player.phase == .stopped && desk.position == 50)
        #expect(desk.send(.stop) == [])
    }

    /// Who pressed play finds it there to be pressed again.
    @Test(arguments: [false, true]) func whatDoesNotPlayIsPaused(isLoaded: Bool) {
        var desk = back(paused: false)
        desk.send(.play)
        if isLoaded {
            desk.send(.open(plain, at: .seconds(50), play: true, rate: 1))
            desk.report(.failed(.noSink(reason: "there is none")))
        } else {
            desk.send(.openFailed("it is gone", mayReturn: false))
        }
        #expect(desk.player.isSetDown && desk.position == 50 && desk.player.error != nil)
        desk.send(.stop)
        #expect(!desk.player.isSetDown)
    }

    @Test func whoPausesBeforeItIsThereFindsItPaused() {
        var desk = back(paused: false)
        #expect(desk.send(.play) == [.reopen(plain.id, at: .seconds(50), play: true, after: .zero)])
        desk.send(.opening(play: true))
        desk.send(.pause(.listener))
        #expect(desk.player.isSetDown)
        desk.send(.open(plain, at: .seconds(50), play: true, rate: 1))
        desk.report(.ready(at: .seconds(50)))
        #expect(desk.player.phase == .paused)
        desk.send(.stop)
        #expect(!desk.player.isSetDown)
    }

    @Test func whatCannotBeOpenedCanBeTriedAgain() {
        var desk = back()
        for _ in 0..<2 {
            desk.send(.play)
            desk.send(.opening(play: true))
            desk.send(.openFailed("no answer", mayReturn: true))
            #expect(desk.player.isSetDown && desk.player.error == "no answer")
        }
    }

    @Test func whatIsFinishedIsStopped() {
        var desk = back()
        desk.send(.replace(.seconds(100), finished: true, .finish))
        #expect(!desk.player.isSetDown && desk.player.phase == .stopped)
    }
}

@Suite struct ChosenPlaceTests {
    @Test func aJumpWhileStoppedIsKept() {
        var desk = Desk()
        desk.send(.restore(plain, at: .seconds(50), rate: 1, finished: false, paused: false))
        #expect(
            desk.send(.seek(to: .seconds(20), .undo)) == [
                .placed(plain.id, .seconds(20)),
                .jumped(plain.id, from: .seconds(50), to: .seconds(20), .undo), .seeked,
            ])
        #expect(desk.position == 20)
    }

    @Test func aJumpOfAFinishedItemTakesTheFinishBack() {
        var desk = Desk()
        desk.send(.restore(plain, at: .seconds(50), rate: 1, finished: true, paused: false))
        desk.send(.seek(to: .seconds(50), .undo))
        #expect(!desk.player.isFinished)
        desk.send(.play)
        #expect(desk.effects == [.reopen(plain.id, at: .seconds(50), play: true, after: .zero)])
    }

    @Test func aJumpWhileAStreamComesBackIsNotLost() {
        var desk = Desk()
        desk.open(plain, at: .seconds(50))
        desk.report(.failed(.unreachable(reason: "gone")))
        desk.send(.seek(to: .seconds(20)))
        #expect(desk.effects.contains(.placed(plain.id, .seconds(20))))
        desk.send(.open(plain, at: .seconds(50), play: true, rate: 1))
        #expect(desk.position == 20)
        desk.report(.ready(at: .seconds(20)))
        desk.report(.failed(.unreachable(reason: "gone")))
        desk.send(.seek(to: .seconds(30)))
        desk.send(.pause(.listener))
        desk.send(.play)
        #expect(desk.effects == [.reopen(plain.id, at: .seconds(30), play: true, after: .zero)])
        desk.send(.open(plain, at: .seconds(70), play: true, rate: 1))
        #expect(desk.position == 70, "an old choice does not win again")
    }

    @Test func aJumpWhileLoadingIsKeptAtOnce() {
        var desk = Desk()
        desk.send(.opening(play: true))
        desk.send(.open(emma, at: .zero, play: true, rate: 1))
        desk.send(.seek(to: .seconds(150)))
        #expect(desk.heard == .init(item: emma.id, place: .seconds(150), listened: .zero, why: .seek))
    }

    @Test func whoSetsThePlaceKeepsIt() {
        var desk = Desk()
        desk.send(.restore(plain, at: .seconds(50), rate: 1, finished: false, paused: false))
        desk.send(.replace(.zero, finished: false, .restart))
        #expect(desk.effects == [.jumped(plain.id, from: .seconds(50), to: .zero, .restart), .seeked])
    }

    @Test func stopThatRestartsCanBeUndone() {
        var desk = Desk()
        var options = Player.Options()
        options.stopRestarts = true
        desk.send(.options(options))
        desk.open(emma, at: .seconds(70))
        desk.pass(5)
        desk.send(.stop)
        #expect(desk.effects.contains(.jumped(emma.id, from: .seconds(75), to: .seconds(60), .restart)))
    }

    @Test func aPauseIsNoMove() {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.send(.pause(.listener))
        desk.pass(7200)
        desk.send(.play)
        #expect(desk.isSeeked)
        #expect(!desk.effects.contains { if case .jumped = $0 { true } else { false } })
    }
}
