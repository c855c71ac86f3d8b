import Testing

@testable import Listening

@Suite struct SyncRowTests {
    private func command(_ kind: ProgressWrite.Kind, at place: Double = 30, made: Int64 = 0) -> ProgressWrite {
        ProgressWrite(item: emma.id, kind: kind, position: .seconds(place), duration: .seconds(180), made: made)
    }

    @Test(arguments: [Sync.Outcome.refused("no permission"), .gone])
    func aRefusedCommandIsKeptAndShown(_ outcome: Sync.Outcome) {
        var wire = Wire()
        var kept: [ProgressWrite] = []
        wire.take(wire.sync.write(command(.finish, made: 5), wire.now))
        let ticket = wire.sent.removeFirst().ticket
        for effect in wire.sync.answered(ticket, account: "a", outcome, at: wire.now, spread: 0) {
            if case .saveWrite(let write) = effect { kept.append(write) }
            if case .removeWrite = effect { Issue.record("dropped") }
        }
        #expect(kept.first?.refusal != nil)
        #expect(wire.sync.unsentWrites == kept)
        #expect(wire.sync.parked == 1 && wire.sync.overdue == 0)
        wire.pass(10_000)
        #expect(wire.sent.isEmpty, "not again by itself")

        var later = Sync()
        _ = later.restore([], kept, at: wire.now)
        #expect(later.parked == 1, "nor after a restart")
        #expect(later.kick(at: wire.now, isSign: true) == [])
    }

    /// Killed while a pause was being told, begun again, and killed before a second of that was heard.
    @Test func aSessionThatWasNotListenedToIsOnlyClosed() {
        var wire = Wire()
        wire.open("s")
        wire.hear(20, to: 20, .pause)
        var begun = Stretch(
            id: "t", item: emma.id, started: wire.now.wall, startPlace: .seconds(20), duration: .seconds(180),
            delivery: .open)
        begun.sentPlace = .zero
        var told = Stretch(
            id: "u", item: emma.id, started: wire.now.wall, startPlace: .seconds(10), duration: .seconds(180),
            delivery: .open)
        told.place = .seconds(20)
        told.sentPlace = .seconds(20)
        var later = Wire()
        later.take(later.sync.restore([wire.rows["s"]!, begun], [], at: wire.now))
        var locals: [[String]] = []
        for _ in 0..<6 {
            if case .local(let rows)? = later.request { locals.append(rows.map(\.id)) }
            guard case .local? = later.request else {
                if later.request != nil { later.answer(.gone) }
                continue
            }
            later.answer(.rows(["s": nil, "t": nil]))
        }
        #expect(locals.allSatisfy { $0 == ["s"] } && !locals.isEmpty, "\(locals)")
        #expect(later.sync.rows.isEmpty && later.rows.isEmpty)
        var third = Wire()
        third.take(third.sync.restore([told], [], at: wire.now))
        #expect(third.request == .close(stretch: "u", item: emma.id))
        third.answer(.accepted)
        #expect(third.request == nil && third.rows.isEmpty)
    }

    @Test func aLaterCommandTakesTheRefusedOnesPlace() {
        var wire = Wire()
        wire.take(wire.sync.write(command(.finish), wire.now))
        wire.answer(.refused("no"))
        wire.take(wire.sync.write(command(.unfinish), wire.now))
        #expect(wire.request == .progress(command(.unfinish)))
        wire.answer(.accepted)
        #expect(wire.sync.rows.isEmpty)
    }

    /// Said again after that, it would move the listener back to where the command was given.
    @Test func listeningOutlivesTheCommandThatWasRefusedBefore() {
        var wire = Wire()
        wire.take(wire.sync.write(command(.place), wire.now))
        wire.answer(.gone)
        wire.open("s", at: 30)
        #expect(wire.sync.parked == 1)
        wire.hear(0, to: 30)
        #expect(wire.sync.parked == 1, "nothing was heard yet")
        wire.now.wall += 1000
        let effects = wire.sync.heard(
            .init(item: emma.id, place: .seconds(31), listened: .second, why: .tick), serverNow: wire.now.wall,
            wire.now)
        #expect(effects.contains(.removeWrite(emma.id)))
        wire.take(effects)
        wire.take(wire.sync.retry(at: wire.now))
        #expect(wire.sync.unsentWrites.isEmpty && wire.sent.isEmpty)
    }

    @Test func refusedRowsAreSentAgainOnceWhenAskedFor() {
        var wire = Wire()
        wire.open("s")
        wire.hear(5, to: 5, .stop)
        wire.answer(.gone)
        wire.answer(.rows(["s": "no such item"]))
        wire.close()
        wire.take(wire.sync.write(command(.finish), wire.now))
        wire.answer(.refused("no"))
        #expect(wire.sync.parked == 2)
        wire.take(wire.sync.retry(at: wire.now))
        #expect(wire.sync.parked == 0)
        #expect(wire.request == .close(stretch: "s", item: emma.id), "nobody knows whether the server holds it")
        wire.answer(.gone)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.map(\.id) == ["s"])
        wire.answer(.rows(["s": "still not"]))
        wire.answer(.refused("still no"))
        #expect(wire.sync.parked == 2)
        #expect(wire.sent.isEmpty)
    }

    @Test func onlyWhatWasRefusedCanBeGivenUp() {
        var wire = Wire()
        wire.open("s")
        wire.hear(5, to: 5, .stop)
        wire.close()
        wire.answer(.later(retryAfter: nil))
        wire.take(wire.sync.write(command(.finish), wire.now))
        for row in wire.sync.rows { #expect(wire.sync.drop(row) == []) }
        #expect(wire.sync.rows.count == 2)
        // But where nobody is left to send it to.
        var orphaned = wire
        for row in orphaned.sync.rows { orphaned.take(orphaned.sync.drop(row, isOrphan: true)) }
        #expect(orphaned.sync.rows.isEmpty && orphaned.rows.isEmpty)
        wire.take(wire.sync.hurry(at: wire.now))
        wire.answer(.gone)
        #expect(wire.request == .close(stretch: "s", item: emma.id))
        wire.answer(.gone)
        wire.answer(.rows(["s": "no such item"]))
        wire.answer(.refused("no"))
        let rows = wire.sync.rows
        #expect(rows.map(\.id) == ["s", "abs:a/emma"])
        let effects = rows.flatMap { wire.sync.drop($0) }
        #expect(effects == [.remove(stretch: "s"), .removeWrite(emma.id)])
        #expect(wire.sync.rows.isEmpty)
    }

    @Test(arguments: [Sync.Outcome.later(retryAfter: nil), .doubtful])
    func whatFailsWhileOneHurriesIsSentOnceMore(_ failure: Sync.Outcome) {
        var wire = Wire()
        wire.open("s")
        wire.hear(5, to: 5, .stop)
        #expect(wire.request == syncOf("s", at: 5, listened: 5))
        wire.take(wire.sync.hurry(at: wire.now))
        #expect(wire.sent.count == 1, "one at a time")
        wire.answer(failure)
        #expect(wire.sent.count == 1, "sent before the server was back")
        wire.answer(.later(retryAfter: nil))
        #expect(wire.sent.isEmpty, "after the sign: it waits")
    }

    @Test func aServerThatWantsToBeLeftAloneIsLeftAloneByHasteToo() {
        var wire = Wire()
        wire.open("s")
        wire.hear(5, to: 5, .stop)
        wire.take(wire.sync.hurry(at: wire.now))
        wire.answer(.later(retryAfter: 60))
        #expect(wire.sent.isEmpty)
    }

    @Test func eachRowSaysWhatBecameOfIt() {
        var wire = Wire()
        wire.open("s")
        wire.hear(5, to: 5)
        let rows = wire.sync.rows
        #expect(rows.map(\.id) == ["s"])
        #expect(wire.sent.isEmpty, "not due")
        wire.take(wire.sync.hurry(at: wire.now))
        #expect(wire.request == syncOf("s", at: 5, listened: 5))
        #expect(wire.sync.standing(of: rows[0], at: wire.now) == .unsent(.underWay))
        wire.answer(.later(retryAfter: nil))
        #expect(wire.sync.standing(of: rows[0], at: wire.now) == .unsent(.putOff(.second)))
        wire.take(wire.sync.hurry(at: wire.now))
        wire.answer(.signedOut)
        #expect(wire.sync.standing(of: rows[0], at: wire.now) == .unsent(.signedOut))
        wire.take(wire.sync.signedIn(account: "a", wire.now))
        wire.answer(.accepted)
        #expect(wire.sync.standing(of: rows[0], at: wire.now) == .accepted)
        wire.hear(1, to: 6)
        #expect(wire.sync.standing(of: rows[0], at: wire.now) == .accepted, "what came after is another matter")
    }

    @Test func aMovedPlaceAloneIsARow() {
        var wire = Wire()
        wire.open("s", at: 90)
        wire.hear(0, to: 30, .seek)
        let row = wire.sync.rows[0]
        #expect(wire.sync.standing(of: row, at: wire.now) == .unsent(.underWay))
        wire.answer(.accepted)
        #expect(wire.sync.standing(of: row, at: wire.now) == .accepted)
    }

    @Test func aServerThatTakesNoSessionsIsNamed() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.gone)
        wire.answer(.gone)
        #expect(wire.sync.standing(of: wire.sync.rows[0], at: wire.now) == .unsent(.takesNoSessions(.seconds(300))))
    }

    // MARK: Order

    @Test func whatWasListenedToAfterACommandGoesAfterIt() {
        var wire = Wire()
        wire.open("s", at: 100)
        wire.hear(5, to: 105, .pause)
        wire.answer(.later(retryAfter: 1000))
        wire.hear(0, to: 0, .seek)
        wire.take(wire.sync.write(command(.restart, at: 0, made: wire.now.wall), wire.now))
        wire.hear(50, to: 50, .stop)
        wire.close()
        #expect(wire.sent.isEmpty, "the server rests")
        wire.take(wire.sync.hurry(at: wire.now))
        guard case .progress(let write)? = wire.request else { return #expect(Bool(false), "\(wire.sent)") }
        #expect(write.kind == .restart)
        wire.answer(.accepted)
        guard case .sync("s", _, .seconds(50), _, _)? = wire.request else {
            return #expect(Bool(false), "\(wire.sent)")
        }
        wire.answer(.accepted)
        #expect(wire.request == .close(stretch: "s", item: emma.id))
    }

    /// Nor in the same moment: a local session that is delivered after it would be taken as just as new.
    @Test func aCommandComesAfterWhatWasHeardBeforeItWhateverTheClockSays() {
        var wire = Wire()
        wire.open("s", at: 100)
        wire.hear(5, to: 105, .stop)
        wire.close()
        wire.answer(.later(retryAfter: nil))
        wire.take(wire.sync.write(command(.finish, at: 105, made: 1), wire.now))
        wire.take(wire.sync.hurry(at: wire.now))
        #expect(wire.request == syncOf("s", at: 105, listened: 5))
        wire.answer(.accepted)
        wire.answer(.accepted)
        guard case .progress(let write)? = wire.request else { return #expect(Bool(false)) }
        #expect(write.made == wire.now.wall + 1)
    }

    @Test func aCommandIsNoOlderThanTheOneWhosePlaceItTakes() {
        var wire = Wire()
        for made in [2000, 1000] as [Int64] { wire.take(wire.sync.write(command(.finish, made: made), wire.now)) }
        #expect(wire.sync.unsentWrites.map(\.made) == [2000])
    }

    @Test func whatIsHeardAfterACommandComesAfterItDeliveredOrNot() {
        var wire = Wire()
        wire.open("s")
        wire.take(wire.sync.write(command(.restart, at: 0, made: wire.now.wall + 5000), wire.now))
        wire.answer(.accepted)
        wire.hear(0, to: 79, .seek)
        #expect(wire.sync.live?.updated == wire.now.wall + 5001)
    }

    @Test func aClockSetBackChangesNoOrder() {
        var wire = Wire()
        wire.open("s", at: 100)
        wire.hear(5, to: 105, .pause)
        wire.answer(.later(retryAfter: 1000))
        wire.hear(0, to: 0, .seek)
        wire.take(wire.sync.write(command(.restart, at: 0, made: wire.now.wall), wire.now))
        wire.now.wall -= 3_600_000
        wire.hear(50, to: 50, .stop)
        wire.close()
        wire.take(wire.sync.hurry(at: wire.now))
        guard case .progress? = wire.request else { return #expect(Bool(false), "\(wire.sent)") }
    }

    @Test func aRefusedCommandHoldsNothingUp() {
        var wire = Wire()
        wire.take(wire.sync.write(command(.finish, made: wire.now.wall), wire.now))
        wire.answer(.refused("no"))
        wire.open("s")
        wire.hear(5, to: 5, .stop)
        #expect(wire.request == syncOf("s", at: 5, listened: 5))
        wire.answer(.accepted)
        wire.close()
        wire.answer(.accepted)
        #expect(wire.rows.isEmpty)
    }
}
