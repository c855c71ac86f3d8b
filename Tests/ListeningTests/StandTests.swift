import Testing

@testable import Listening

/// A place that does not move though sound is wanted.
@Suite struct StandTests {
    @Test func soundThatStandsStillIsOpenedAnew() throws {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.pass(1)
        desk.send(.tick)
        #expect(desk.heard?.listened == .second)
        func stand(_ seconds: Int) -> [Player.Effect] {
            for _ in 0..<seconds {
                desk.now.monotonic += 1_000_000
                desk.sound = desk.sound.map { $0 + BookTime(microseconds: 4000) }
                desk.send(.tick)
                if desk.player.phase != .playing { break }
            }
            return desk.effects
        }
        #expect(!desk.player.isStanding)
        _ = stand(3)
        #expect(desk.player.isStanding && desk.heard?.listened == .zero && desk.heard?.place == .seconds(71.012))
        // Time asked for more often than it passes is no stand.
        for _ in 0..<50 { desk.send(.tick) }
        #expect(desk.player.phase == .playing)
        for _ in 0..<4 {
            let effects = stand(6)
            let place = desk.player.place
            #expect(effects.contains(.reopen(emma.id, at: place, play: true, after: .zero)), "\(effects)")
            desk.send(.open(emma, at: place, play: true, rate: 1))
            desk.report(.ready(at: place))
        }
        // Nothing helps: a pause, which says why.
        #expect(stand(6).contains(.unload))
        #expect(desk.player.phase == .paused && desk.player.error?.contains("nothing of what it gets") == true)
        #expect(abs(desk.position - 71) < 0.5)
    }

    /// A suspended one: opened anew it takes what it may have ahead, and calls that played.
    @Test(arguments: [1.0, 2]) func whatASinkOnlyTookWasNotHeard(rate: Double) {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.send(.rate(rate))
        var opened: [BookTime] = []
        for _ in 0..<50 where desk.player.phase == .playing {
            for _ in 0..<2 {
                desk.passUnseen(0.9)
                desk.send(.tick)
            }
            for _ in 0..<12 where desk.player.phase == .playing {
                desk.now.monotonic += 1_000_000
                if desk.send(.tick).contains(.unload) { opened.append(desk.player.place) }
            }
            guard case .opening = desk.player.phase else { continue }
            desk.send(.open(emma, at: desk.player.place, play: true, rate: rate))
            desk.report(.ready(at: desk.player.place))
        }
        #expect(desk.player.phase == .paused && opened.count == Player.patience)
        #expect(Set(opened).count == 1 && opened.allSatisfy { abs($0.seconds - 70 - 1.8 * rate) < 0.1 }, "\(opened)")
        // Played on for longer than that it was heard.
        desk.send(.play)
        desk.send(.open(emma, at: desk.player.place, play: true, rate: rate))
        desk.report(.ready(at: desk.player.place))
        for _ in 0..<9 {
            desk.pass(1)
            desk.send(.tick)
        }
        #expect(desk.player.stands == 0)
    }

    /// Nor is it where another item stood.
    @Test func whereTheListenerWentMeanwhileIsKept() {
        var desk = Desk()
        func untilOpenedAnew() {
            for _ in 0..<9 {
                desk.now.monotonic += 1_000_000
                if desk.send(.tick).contains(.unload) { return }
            }
            Issue.record("it was not opened anew")
        }
        desk.open(emma, at: .seconds(70))
        untilOpenedAnew()
        desk.open(emma, at: desk.player.place)
        desk.seek(to: 71)
        untilOpenedAnew()
        #expect(desk.player.place == .seconds(71))
        desk.open(plain, at: .seconds(72))
        untilOpenedAnew()
        #expect(desk.player.item?.id == plain.id && desk.player.place == .seconds(72))
    }

    @Test(arguments: [90.0, 180]) func aFileThatGoesOnBehindItsEndIsHeardToItsEnd(end: Double) {
        for start in [end - 2.5, end - 0.02] {
            var desk = Desk()
            desk.open(emma, at: .seconds(start))
            for _ in 0..<3 {
                desk.pass(1)
                desk.sound = min(desk.sound!, .seconds(end))
                desk.send(.tick)
            }
            for _ in 0..<600 {
                desk.now.monotonic += 1_000_000
                desk.send(.tick)
                #expect(desk.player.phase == .playing && !desk.effects.contains(.unload))
            }
            #expect(desk.position == end)
        }
        // Who jumped there, and hears nothing, is another matter.
        var desk = Desk()
        desk.open(emma, at: .seconds(90))
        var isOpenedAnew = false
        for _ in 0..<9 where !isOpenedAnew {
            desk.now.monotonic += 1_000_000
            isOpenedAnew = desk.send(.tick).contains(.unload)
        }
        #expect(isOpenedAnew)
    }

    /// Each second it is where it was a second before.
    @Test func aShortChapterThatRepeatsDoesNotStandStill() {
        let item = emma.divided([chapter("One", 0, 60), chapter("Two", 60, 61), chapter("Three", 61, 180)])
        var desk = Desk()
        desk.open(item, at: .seconds(60))
        desk.send(.lineup(Lineup(loop: .track)))
        for _ in 0..<30 {
            desk.passUnseen(1)
            desk.send(.tick)
            #expect(desk.effects.contains(.seek(desk.player.load, to: .seconds(60))))
            desk.report(.seeked(to: .seconds(60)))
            #expect(!desk.player.isStanding && desk.player.phase == .playing)
        }
    }
}
