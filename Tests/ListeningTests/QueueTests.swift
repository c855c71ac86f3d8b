import Testing

@testable import Listening

private func item(_ name: String) -> Item {
    Item(id: ItemID(source: "file", key: name), kind: .file, title: name, tracks: [track(100)])
}

extension Queue {
    fileprivate var titles: [String] { items.map(\.title) }
    fileprivate var all: [String] { line.map { $0.copy == 0 ? $0.item.title : "\($0.item.title)#\($0.copy)" } }

    /// As the daemon goes on by itself.
    fileprivate mutating func goOn() -> String? {
        guard let next else { return nil }
        begin(next.item, next.key, .onward)
        return next.item.title
    }
}

@Suite struct QueueTests {
    @Test func anItemIsInItOnce() {
        var queue = Queue([emma, plain, emma])
        #expect(queue.items == [emma, plain])
        #expect(queue.add(emma, next: false) == 2)
        #expect(queue.items == [plain, emma])
        #expect(queue.add(emma, next: true) == 1)
        #expect(queue.next?.item == emma)
        #expect(queue.remove(Queue.Key(item: emma.id)) == true)
        #expect(queue.remove(Queue.Key(item: emma.id)) == false)
        #expect(queue.items == [plain])
    }

    @Test func numbersCountFromOneAndMustExist() {
        let third = item("Third")
        var queue = Queue([emma, plain, third])
        for (number, other) in [(0, 1), (1, 0), (4, 1), (1, 4), (-1, 1), (.max, .min)] {
            #expect(queue.move(number, to: other) == false)
            #expect(queue.remove(number == 1 ? other : number) == nil)
        }
        #expect(queue.items == [emma, plain, third])
        #expect(queue.move(3, to: 1) == true)
        #expect(queue.items == [third, emma, plain])
        #expect(queue.move(1, to: 2) == true)
        #expect(queue.items == [emma, third, plain])
        #expect(queue.remove(2) == third)
        queue.clear()
        #expect(queue.items.isEmpty)
    }

    @Test func itIsWalkedOnwardAndBack() {
        var queue = Queue(["A", "B", "C"].map(item))
        #expect(queue.goOn() == "A")
        #expect(queue.goOn() == "B")
        #expect(queue.all == ["A", "B", "C"])
        #expect(queue.titles == ["C"])
        #expect(queue.previous?.item.title == "A")
        queue.begin(item("A"), queue.previous?.key, .back)
        #expect(queue.all == ["A", "B", "C"], "the line is the same, another place in it is present")
        #expect(queue.previous == nil && queue.next?.item.title == "B")
        #expect(queue.goOn() == "B")
        #expect(queue.goOn() == "C")
        #expect(queue.goOn() == nil)
        #expect(queue.lineup == Lineup(hasNext: false, hasPrevious: true))
    }

    @Test func whatIsChosenLeavesItAndForgetsTheWay() {
        var queue = Queue(["A", "B", "C"].map(item))
        _ = queue.goOn()
        queue.begin(item("C"), nil, .chosen)
        #expect(queue.all == ["C", "B"])
        queue.begin(item("X"), nil, .chosen)
        #expect(queue.all == ["X", "B"], "what waits goes on waiting")
        queue.begin(item("B"), queue.next?.key, .picked)
        #expect(queue.all == ["X", "B"])
        queue.restore(item("Y"))
        #expect(queue.present?.item.title == "Y")
    }

    @Test func anEarlierRunsLineIsGoneOnWith() {
        var queue = Queue(["A", "B", "C", "D"].map(item))
        for _ in 1...3 { _ = queue.goOn() }
        #expect(queue.line.map(\.item.title) == ["A", "B", "C", "D"] && queue.present?.item.title == "C")
        let kept = queue
        queue.restore(item("C"))
        #expect(queue == kept)
        queue.restore(item("A"))
        #expect(queue.present?.item.title == "A" && queue.items.map(\.title) == ["B", "C", "D"], "it is gone back to")
        queue = kept
        queue.restore(item("X"))
        #expect(queue.line.map(\.item.title) == ["X", "D"] && queue.previous == nil && !queue.isUnderWay)
    }

    @Test func roundAndRound() {
        var queue = Queue(["A", "B"].map(item))
        queue.loop = .queue
        #expect((1...5).map { _ in queue.goOn() } == ["A", "B", "A", "B", "A"])
        #expect(queue.all == ["A", "B"])
        #expect(queue.previous?.item.title == "B")
        queue.loop = .off
        #expect(queue.goOn() == "B" && queue.goOn() == nil)
    }

    @Test func aShuffledOrderStaysAsItIs() throws {
        let names = (0..<40).map { "\($0)" }
        var queue = Queue(names.map(item))
        queue.shuffle(with: 7)
        #expect(queue.titles == names, "what waits keeps its places")
        var copy = queue
        let order = (0..<40).compactMap { _ in copy.goOn() }
        #expect(Set(order) == Set(names) && order != names)
        // Who comes or leaves changes nothing for the others.
        var other = queue
        other.add(item("new"), next: false)
        other.remove(Queue.Key(item: item("3").id))
        let rest = (0..<40).compactMap { _ in other.goOn() }
        #expect(rest.filter { $0 != "new" } == order.filter { $0 != "3" })
        // To play next is to play next.
        queue.add(item("urgent"), next: true)
        #expect(queue.next?.item.title == "urgent")
        queue.shuffle(with: nil)
        #expect(queue.goOn() == "urgent" && queue.goOn() == "0")
        // Another seed is another order, not always the same one.
        var again = Queue(names.map(item))
        again.shuffle(with: 8)
        #expect((0..<40).compactMap { _ in again.goOn() } != order)
    }

    @Test func shuffledRoundsPlayEachOnce() {
        var queue = Queue(["A", "B", "C", "D", "E"].map(item))
        queue.shuffle(with: 1)
        queue.loop = .queue
        let order = (0..<15).compactMap { _ in queue.goOn() }
        for start in [0, 5, 10] { #expect(Set(order[start..<start + 5]).count == 5, "\(order)") }
        // Going on and back takes nobody's turn.
        for _ in 1...6 {
            _ = queue.goOn()
            if let previous = queue.previous { queue.begin(previous.item, previous.key, .back) }
        }
        let later = (0..<15).compactMap { _ in queue.goOn() }
        for start in [0, 5, 10] { #expect(Set(later[start..<start + 5]).count == 5, "\(later)") }
    }

    @Test func severalAreAddedInTheirOrder() throws {
        var queue = Queue(["A", "B"].map(item))
        let first = queue.add(["X", "B", "X"].map(item), next: true)
        #expect(queue.titles == ["X", "B", "A"] && first == queue.entries[1].key)
        // The rest of them, found out about later.
        let second = queue.add(["Y", "A"].map(item), next: true, behind: first)
        #expect(queue.titles == ["X", "B", "Y", "A"])
        queue.shuffle(with: 3)
        var copy = queue
        #expect((0..<4).map { _ in copy.goOn() } == ["X", "B", "Y", "A"], "each is asked to be next")
        queue.remove(try #require(second))
        queue.add([item("Z")], next: true, behind: second)
        #expect(queue.titles == ["Z", "X", "B", "Y"])
        queue.follow(["L"].map(item), of: "list")
        let last = queue.add(["M", "N"].map(item), next: false)
        #expect(queue.titles == ["Z", "X", "B", "Y", "M", "N", "L"])
        queue.add([item("O")], next: false, behind: last)
        #expect(queue.titles == ["Z", "X", "B", "Y", "M", "N", "O", "L"])
        #expect(queue.add([], next: false) != nil && Queue().all.isEmpty)
    }

    @Test func theSameItemTwiceIsTwoEntries() throws {
        var queue = Queue(["A", "B"].map(item))
        _ = queue.goOn()
        let added = queue.insert(item("A"), after: queue.entries.last?.key)
        let second = try #require(added)
        #expect(queue.all == ["A", "B", "A#1"])
        #expect(queue.insert(item("B"), after: Queue.Key(item: item("Z").id)) == nil)
        queue.insert(item("B"), after: nil)
        #expect(queue.all == ["B#1", "A", "B", "A#1"] && queue.titles == ["B", "A"])
        queue.begin(item("A"), second.key, .picked)
        #expect(queue.all == ["B#1", "A", "A#1", "B"])
        queue.insert(item("C"), after: Queue.Key(item: item("A").id))
        queue.insert(item("D"), after: second.key)
        #expect(queue.all == ["B#1", "A", "C", "A#1", "D", "B"] && queue.titles == ["D", "B"])
        queue.begin(item("D"), nil, .instead)
        #expect(queue.all == ["B#1", "A", "C", "D", "B"])
    }

    @Test func aListComesBehindWhatTheListenerLinedUp() {
        var queue = Queue(["A", "B"].map(item))
        queue.begin(item("X"), nil, .chosen, playlist: "latest")
        queue.follow(["X", "Y", "B", "Z"].map(item), of: "latest")
        #expect(queue.all == ["X", "A", "B", "Y", "Z"])
        #expect(queue.add(item("C"), next: false) == 3)
        #expect(queue.titles == ["A", "B", "C", "Y", "Z"])
        queue.follow([item("Q")], of: "continue")
        #expect(queue.titles == ["A", "B", "C", "Q"])
        #expect(queue.goOn() == "A" && queue.present?.playlist == nil)
        queue.begin(item("elsewhere"), nil, .chosen)
        #expect(queue.titles == ["B", "C"], "the rest of the list is done with, the listener's own is not")
    }
}

@Suite struct LineupTests {
    private func desk(_ item: Item = emma, at place: Double = 0, _ lineup: Lineup) -> Desk {
        var desk = Desk()
        desk.send(.lineup(lineup))
        desk.open(item, at: .seconds(place))
        return desk
    }

    private func opens(_ desk: Desk) -> [Player.Direction] {
        desk.effects.compactMap { if case .follow(let direction) = $0 { direction } else { nil } }
    }

    @Test func nextGoesOnFromTheLastChapter() {
        var desk = desk(at: 70, Lineup(hasNext: true))
        desk.send(.next)
        #expect(desk.position == 120 && opens(desk).isEmpty && desk.player.canGoNext)
        desk.send(.next)
        #expect(opens(desk) == [.onward] && desk.player.phase == .playing, "what plays goes on until the next is found")
        desk.send(.lineup(Lineup()))
        #expect(!desk.player.canGoNext)
        #expect(desk.send(.next) == [])
        desk.send(.lineup(Lineup(loop: .queue)))
        #expect(desk.player.canGoNext)
        desk.send(.next)
        #expect(desk.position == 0, "with nothing else in it the queue goes round to the item itself")
    }

    @Test func whatGoesRoundAloneGoesOnToItself() {
        var desk = desk(plain, at: 90, Lineup())
        #expect(!desk.player.canGoNext)
        desk.send(.lineup(Lineup(loop: .queue)))
        #expect(desk.player.canGoNext)
        desk.send(.next)
        #expect(desk.position == 0)
    }

    @Test func previousGoesBackFromTheFirstChapter() {
        var desk = desk(at: 70, Lineup(hasPrevious: true))
        desk.send(.previous)
        #expect(desk.position == 60)
        desk.send(.previous)
        #expect(desk.position == 0)
        desk.send(.previous)
        #expect(opens(desk) == [.back])
        desk.pass(4)
        desk.report(.seeked(to: .zero))
        desk.pass(4)
        desk.send(.previous)
        #expect(opens(desk).isEmpty && desk.position == 0)
    }

    @Test func itemsWithoutChaptersGoByTheQueue() {
        var desk = desk(plain, at: 50, Lineup(hasNext: true))
        #expect(desk.player.canGoNext)
        desk.send(.next)
        #expect(opens(desk) == [.onward])
        desk.send(.previous)
        #expect(desk.position == 0)
        desk.send(.lineup(Lineup(hasPrevious: true)))
        #expect(!desk.player.canGoNext)
        desk.send(.previous)
        #expect(opens(desk) == [.back])
    }

    @Test func theKeysGoByWhatTheListenerChose() {
        var desk = desk(at: 70, Lineup(hasNext: true, hasPrevious: true))
        var options = Player.Options()
        options.next = .queue
        options.previous = .skip
        desk.send(.options(options))
        desk.send(.next)
        #expect(opens(desk) == [.onward])
        desk.send(.previous)
        #expect(desk.position == 55)
        options.next = .skip
        options.previous = .queue
        desk.send(.options(options))
        desk.send(.next)
        #expect(desk.position == 85)
        desk.send(.previous)
        #expect(desk.position == 0)
        desk.send(.previous)
        #expect(opens(desk) == [.back])
    }

    @Test func theEndOfAnItemLeadsToTheNext() {
        var desk = desk(at: 170, Lineup(hasNext: true))
        desk.pass(10)
        desk.report(.ended)
        #expect(opens(desk) == [.onward])
        #expect(desk.effects.contains(.finished(emma.id)))
        #expect(desk.player.turning == .rolled && desk.player.wantsPlay)
        #expect(!desk.isSeeked, "nothing is said before something else is heard")
        #expect(desk.send(.next) == [] && desk.send(.seekPart(by: .second)) == [], "there is nothing to move in")
        desk.send(.opening(play: true, turns: true))
        #expect(desk.player.turning == .rolled)
        desk.send(.open(plain, at: .zero, play: true, rate: 1))
        #expect(desk.player.turning == .rolled)
        desk.report(.ready(at: .zero))
        #expect(desk.player.turning == nil && desk.player.phase == .playing && desk.isSeeked)
    }

    @Test func whatCannotFollowIsAnEnd() {
        var desk = desk(plain, at: 90, Lineup(hasNext: true))
        desk.pass(10)
        desk.report(.ended)
        desk.send(.openFailed("gone", mayReturn: false))
        #expect(desk.player.turning == nil && desk.player.phase == .stopped && desk.player.error == "gone")
        #expect(desk.player.isFinished)
    }

    @Test func pauseOnTheWayIsPause() {
        var desk = desk(plain, at: 90, Lineup(hasNext: true))
        desk.pass(10)
        desk.report(.ended)
        desk.send(.pause(.listener))
        #expect(desk.player.turning == .rolled && !desk.player.wantsPlay, "what was heard to its end still shows")
        desk.send(.open(emma, at: .zero, play: true, rate: 1))
        desk.report(.ready(at: .zero))
        #expect(desk.player.turning == nil && desk.player.phase == .paused)
    }

    /// The last of it was on its way out already when the listener paused.
    @Test func pauseRightBeforeTheEndIsPause() {
        for loop in Queue.Loop.allCases {
            for hasNext in [true, false] {
                var desk = desk(plain, at: 90, Lineup(hasNext: hasNext, loop: loop))
                desk.pass(9.9)
                desk.send(.pause(.listener))
                desk.report(.ended)
                #expect(!desk.player.wantsPlay && !desk.effects.contains(.ranOut(plain.id)), "\(loop) \(hasNext)")
                for effect in desk.effects {
                    if case .reopen(_, _, let play, _) = effect { #expect(!play) }
                }
            }
        }
    }

    @Test func aChapterThatRepeatsBeginsAgainAtItsEnd() {
        var desk = desk(at: 118, Lineup(hasNext: true, loop: .track))
        desk.pass(2.01)
        desk.send(.tick)
        #expect(desk.effects.contains(.seek(desk.player.load, to: .seconds(60))) && desk.isSeeked)
        #expect(desk.player.partIndex == 1 && desk.position == 60)
        #expect(!desk.effects.contains { if case .jumped = $0 { true } else { false } }, "no move of the listener's")
        desk.report(.seeked(to: .seconds(60)))
        desk.send(.next)
        #expect(desk.position == 120, "Next goes on all the same")
    }

    @Test func anItemThatRepeatsIsNotFinished() {
        var desk = desk(at: 178, Lineup(hasNext: true, loop: .track))
        desk.pass(2)
        desk.report(.ended)
        #expect(!desk.effects.contains(.finished(emma.id)))
        #expect(desk.effects.contains(.reopen(emma.id, at: .seconds(120), play: true, after: .zero)))
        #expect(desk.heard?.place == .seconds(120) && desk.heard?.listened == .seconds(2))
    }

    @Test func whatRepeatsDoesSoAlsoAfterAJumpToItsVeryEnd() {
        var desk = desk(at: 170, Lineup(loop: .track))
        desk.seek(to: 179.5)
        desk.pass(0.5)
        desk.report(.ended)
        #expect(desk.effects.contains(.reopen(emma.id, at: .seconds(120), play: true, after: .zero)))
        #expect(!desk.effects.contains(.finished(emma.id)))
    }

    @Test func anItemGoesRoundWhereNothingElseWaits() {
        var desk = desk(plain, at: 90, Lineup(loop: .queue))
        desk.pass(10)
        desk.report(.ended)
        #expect(desk.effects.contains(.finished(plain.id)))
        #expect(desk.effects.contains(.reopen(plain.id, at: .zero, play: true, after: .zero)))
        #expect(desk.player.turning == .rolled)
    }

    @Test func filesArePartsWhereThereAreNoChapters() {
        let item = Item(
            id: ItemID(source: "abs", key: "a/files"), kind: .book, title: "Files", tracks: [track(40), track(60)])
        var desk = desk(item, Lineup())
        #expect(desk.player.parts.map(\.title) == ["Part 1", "Part 2"])
        desk.send(.next)
        #expect(desk.position == 40 && desk.player.part?.duration == .seconds(60))
    }

    @Test func aStoppedPlayerGoesToAnotherItemWithoutLoadingIt() {
        var desk = desk(at: 70, Lineup(hasNext: true))
        desk.send(.stop)
        desk.send(.restore(plain, at: .seconds(9), rate: 1, finished: false, paused: false, copy: 2))
        #expect(desk.player.phase == .stopped && desk.position == 9 && desk.player.copy == 2 && desk.isSeeked)
        desk.send(.play)
        #expect(desk.effects.contains(.reopen(plain.id, at: .seconds(9), play: true, after: .zero)))
    }
}
