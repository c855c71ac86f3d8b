import Testing

@testable import Listening

/// A desktop's bar that is dragged to its end.
@Suite struct BarTests {
    /// Plasma asks for the end of what is there by then, as long as the bar is held.
    @Test func aBarHeldAtItsEndLeadsIntoTheNextPartAndNoFurther() {
        var desk = Desk()
        desk.open(emma, at: .seconds(5))
        desk.send(.setPartPosition(.seconds(60)))
        #expect(desk.position == 60)
        for _ in 1...3 {
            desk.now.monotonic += 2_000_000
            #expect(desk.send(.setPartPosition(.seconds(60))) == [], "let go")
            #expect(desk.send(.setPartPosition(.seconds(58))) == [], "by a trembling hand")
            #expect(desk.player.isDraggedOver(desk.now))
        }
        #expect(desk.position == 60)
        desk.send(.setPartPosition(.seconds(50)))
        #expect(desk.position == 110, "a place that is meant")
        desk.send(.setPartPosition(.seconds(60)))
        #expect(desk.position == 120, "and its end")
        desk.now.monotonic += 4_000_000
        desk.send(.setPartPosition(.seconds(59)))
        #expect(desk.position > 170, "another time")
    }

    @Test func aBarHeldAtTheEndOfAnItemDoesNotPassOverTheNext() {
        var desk = Desk()
        desk.open(emma, at: .seconds(70))
        desk.send(.goTo(part: desk.player.parts.count - 1))
        let last = desk.player.parts[desk.player.parts.count - 1].duration
        desk.send(.setPartPosition(last))
        desk.send(.opening(play: true, turns: true))
        // However long the next one takes.
        desk.now.monotonic += 8_000_000
        desk.send(.open(plain, at: .seconds(7), play: true, rate: 1))
        desk.report(.ready(at: .seconds(7)))
        let there = desk.player.part!.duration
        #expect(desk.send(.setPartPosition(there)) == [])
        #expect(desk.position == 7)
        // What is chosen is no end's doing.
        desk.open(emma)
        desk.send(.setPartPosition(.seconds(60)))
        #expect(desk.position == 60)
    }

    @Test func playAtTheVeryEndOfWhatNothingFollowsIsHeard() {
        var desk = Desk()
        desk.open(emma, at: .seconds(100))
        desk.send(.pause(.listener))
        let end = emma.duration.seconds
        desk.send(.seek(to: emma.duration))
        desk.send(.play)
        #expect(desk.position == end - Stretch.finishZone.seconds && desk.player.phase == .playing)
        // What follows is meant where there is something.
        desk.send(.pause(.listener))
        desk.send(.lineup(Lineup(hasNext: true)))
        desk.send(.seek(to: emma.duration))
        desk.send(.play)
        #expect(desk.position > end - 1)
    }

    /// The credits are shorter than what is gone back: the chapter before them is what everyone sees and acts on.
    @Test func goingBackFromTheVeryEndMayLeaveTheLastChapter() {
        let credits = Item(
            id: emma.id, kind: .book, title: "Emma", tracks: emma.tracks,
            chapters: [chapter("All", 0, 176), chapter("Credits", 176, 180)])
        var desk = Desk()
        desk.open(credits, at: .seconds(179.6))
        desk.send(.pause(.listener))
        #expect(desk.player.part?.title == "Credits")
        desk.send(.play)
        #expect(desk.position == 180 - Stretch.finishZone.seconds && desk.player.part?.title == "All")
        desk.send(.pause(.listener))
        #expect(desk.player.part?.title == "All")
        desk.send(.next)
        #expect(desk.position == 176 && desk.player.part?.title == "Credits")
    }
}
