import Testing

@testable import Listening

/// A Sync machine and a server that answers as told.
struct Wire {
    var sync = Sync()
    var now = Moment(monotonic: 0, wall: 1_700_000_000_000)
    var rows: [String: Stretch] = [:]
    var bookmarks: [Bookmark.ID: Bookmark] = [:]
    var sent: [(account: String, ticket: Sync.Ticket, request: Sync.Request)] = []
    var wakes: [BookTime] = []

    mutating func take(_ effects: [Sync.Effect]) {
        for effect in effects {
            switch effect {
            case .save(let stretch): rows[stretch.id] = stretch
            case .remove(let id): rows[id] = nil
            case .send(let account, let ticket, let request): sent.append((account, ticket, request))
            case .wake(let delay): wakes.append(delay)
            case .saveBookmark(let bookmark): bookmarks[bookmark.id] = bookmark
            case .removeBookmark(let id): bookmarks[id] = nil
            case .saveWrite, .removeWrite, .tell: break
            }
        }
    }

    mutating func open(_ id: String, _ item: ItemID = emma.id, at place: Double = 0) {
        take(
            sync.opened(session: id, item: item, at: .seconds(place), duration: .seconds(180), serverNow: now.wall, now)
        )
    }

    mutating func hear(_ seconds: Double, to place: Double, _ why: Player.Heard.Why = .tick, _ item: ItemID = emma.id) {
        now.monotonic += Int64(seconds * 1_000_000)
        now.wall += Int64(seconds * 1000)
        take(
            sync.heard(
                .init(item: item, place: .seconds(place), listened: .seconds(seconds), why: why), serverNow: now.wall,
                now))
    }

    /// Answers the oldest request that waits.
    mutating func answer(_ outcome: Sync.Outcome) {
        let (account, ticket, _) = sent.removeFirst()
        take(sync.answered(ticket, account: account, outcome, at: now, spread: 0))
    }

    mutating func close() { take(sync.closed(emma.id, now)) }
    mutating func pass(_ seconds: Double) {
        now.monotonic += Int64(seconds * 1_000_000)
        take(sync.kick(at: now))
    }
    var request: Sync.Request? { sent.first?.request }
}

extension Sync.Request {
    /// Of local sessions.
    fileprivate var rows: [String]? { if case .local(let rows) = self { rows.map(\.id) } else { nil } }
}

func syncOf(_ id: String, at place: Double, listened: Double) -> Sync.Request {
    .sync(stretch: id, item: emma.id, place: .seconds(place), listened: .seconds(listened), duration: .seconds(180))
}

@Suite struct SyncTests {
    /// What the server said as the next session was opened is true no more once the word before has come to it.
    @Test func whoGoesBackToWhereTheServerWasIsToldWhereAnEarlierWordIsOnItsWay() {
        var wire = Wire()
        func open(_ id: String, serverPlace: Double) -> [Sync.Effect] {
            wire.sync.opened(
                session: id, item: emma.id, at: .seconds(58), duration: .seconds(180), serverNow: wire.now.wall,
                serverPlace: .seconds(serverPlace), wire.now)
        }
        wire.take(open("first", serverPlace: 0))
        wire.hear(0, to: 58, .stop)
        #expect(wire.request == syncOf("first", at: 58, listened: 0))
        wire.close()
        wire.take(open("second", serverPlace: 0))
        wire.hear(0, to: 0, .seek)
        #expect(!wire.sync.hasTold(emma.id))
        wire.answer(.accepted)
        while let request = wire.request, case .close = request { wire.answer(.accepted) }
        #expect(wire.request == syncOf("second", at: 0, listened: 0))
        wire.answer(.accepted)
        #expect(wire.sync.hasTold(emma.id))
    }

    @Test func everyThirtySecondsAndAtEveryPause() {
        var wire = Wire()
        wire.open("s")
        for second in 1...29 { wire.hear(1, to: Double(second)) }
        #expect(wire.sent.isEmpty)
        wire.hear(1, to: 30)
        #expect(wire.request == syncOf("s", at: 30, listened: 30))
        wire.answer(.accepted)
        wire.hear(2, to: 32, .pause)
        #expect(wire.request == syncOf("s", at: 32, listened: 2))
        wire.answer(.accepted)
        #expect(wire.sync.unsent.isEmpty)
    }

    @Test func aPlaceBegunAtOnPurposeIsToldThoughNothingWasHeard() {
        var wire = Wire()
        wire.take(
            wire.sync.opened(
                session: "s", item: emma.id, at: .seconds(60), duration: .seconds(180), serverNow: wire.now.wall,
                serverPlace: .seconds(20), wire.now))
        #expect(wire.sent.isEmpty, "nothing sounds yet")
        wire.hear(0, to: 60)
        // Who looks on another device sees it there.
        #expect(wire.request == syncOf("s", at: 60, listened: 0))
        wire.hear(0, to: 60, .stop)
        wire.answer(.doubtful)
        wire.close()
        wire.pass(2)
        wire.answer(.accepted)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.first?.place == .seconds(60), "over whatever the close wrote")
    }

    @Test func lastWordsAfterAPauseMakeAPlaceNoNewer() {
        var wire = Wire()
        wire.open("s")
        wire.hear(20, to: 20, .pause)
        let paused = wire.rows["s"]?.updated
        wire.now.wall += 3_600_000
        wire.hear(0, to: 20, .stop)
        #expect(wire.rows["s"]?.updated == paused)
    }

    @Test func theRowIsKeptBeforeAnythingIsSentAndGoesOnlyWhenAccepted() {
        var wire = Wire()
        wire.open("s")
        wire.hear(5, to: 5, .stop)
        wire.close()
        #expect(wire.rows["s"]?.listened == .seconds(5))
        wire.answer(.accepted)
        #expect(wire.rows["s"] != nil, "not before the session is closed")
        #expect(wire.request == .close(stretch: "s", item: emma.id))
        wire.answer(.accepted)
        #expect(wire.rows["s"] == nil)
    }

    /// A server takes a finish back only where the place moves, and the edge may be the place it has.
    @Test func begunAnewItSaysSoBeforeTheEndsEdge() {
        var wire = Wire()
        wire.open("s")
        wire.hear(1, to: 175, .seek)
        #expect(wire.request == syncOf("s", at: 0, listened: 1))
        wire.answer(.accepted)
        #expect(wire.request == syncOf("s", at: 169.5, listened: 0), "at once")
        wire.answer(.accepted)
        #expect(wire.sent.isEmpty)
        wire.hear(1, to: 176, .pause)
        #expect(wire.request == syncOf("s", at: 169.5, listened: 1))
        wire.answer(.accepted)
        #expect(wire.sent.isEmpty)
    }

    @Test func aLostAnswerIsMendedUnderTheSameIdInAbsoluteNumbers() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.doubtful)
        #expect(wire.sent.isEmpty, "not at once")
        wire.pass(2)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.map(\.id) == ["s"])
        #expect(rows.first?.listened == .seconds(30))
        wire.answer(.rows(["s": nil]))
        wire.hear(30, to: 60)
        guard case .local(let more)? = wire.request else { return #expect(Bool(false)) }
        #expect(more.first?.listened == .seconds(60))
        wire.answer(.rows(["s": nil]))
        wire.close()
        #expect(wire.request == .close(stretch: "s", item: emma.id), "the server may still hold it")
        wire.answer(.accepted)
        guard case .local(let last)? = wire.request else { return #expect(Bool(false)) }
        #expect(last.first?.listened == .seconds(60), "over what closing wrote")
        wire.answer(.rows(["s": nil]))
        #expect(wire.rows.isEmpty)
        #expect(wire.sent.isEmpty)
    }

    @Test func aForgottenSessionIsMendedAtOnce() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.gone)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.first?.listened == .seconds(30))
        wire.answer(.rows(["s": nil]))
        wire.close()
        #expect(wire.request == .close(stretch: "s", item: emma.id), "the 404 may have been a proxy's")
        wire.answer(.gone)
        wire.answer(.rows(["s": nil]))
        #expect(wire.sent.isEmpty)
        #expect(wire.rows.isEmpty)
    }

    @Test func aPlaceWhoseAnswerWasLostIsTakenBack() {
        var wire = Wire()
        wire.open("s")
        wire.hear(0, to: 30, .seek)
        wire.answer(.doubtful)
        wire.hear(0, to: 0, .seek)
        wire.pass(2)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.map(\.place) == [.zero])
    }

    @Test func aCloseThatSeemedLostMayHaveWrittenTheServersCount() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.doubtful)
        wire.pass(2)
        wire.answer(.rows(["s": nil]))
        wire.close()
        wire.answer(.doubtful)
        wire.pass(2)
        #expect(wire.request == .close(stretch: "s", item: emma.id))
        wire.answer(.gone)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.first?.listened == .seconds(30))
    }

    @Test func aSessionThatSeemedGoneMayHaveEndedByALostClose() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.doubtful)
        wire.close()
        wire.pass(2)
        wire.answer(.gone)
        wire.answer(.rows(["s": nil]))
        #expect(wire.request == .close(stretch: "s", item: emma.id))
        wire.answer(.doubtful)
        wire.pass(2)
        wire.answer(.gone)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.first?.listened == .seconds(30))
    }

    @Test func aServerThatTakesNoLocalSessionsNowIsAskedAgainAndHoldsNothingUp() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.gone)
        wire.answer(.gone)
        #expect(wire.rows["s"]?.delivery == .local, "kept, not parked")
        wire.open("t", at: 30)
        wire.answer(.gone)
        wire.hear(30, to: 60)
        #expect(wire.request == syncOf("t", at: 60, listened: 30), "what goes another way does not wait")
        wire.answer(.accepted)
        #expect(wire.sent.isEmpty)
        wire.pass(301)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.map(\.id) == ["s"])
        wire.answer(.rows(["s": nil]))
        #expect(wire.request == .close(stretch: "s", item: emma.id), "the 404 may have been a proxy's")
        wire.answer(.gone)
        #expect(wire.rows.keys.sorted() == ["t"])
    }

    /// What holds the session after all ends it, with its own count, when the next one begins.
    @Test(arguments: [1, 2]) func aSessionThatWasDeniedIsToldOnceMoreWhenTheNextBegins(_ lies: Int) {
        var wire = Wire()
        wire.open("s")
        wire.hear(48, to: 48)
        wire.answer(.gone)
        if lies == 1 { wire.answer(.rows(["s": nil])) } else { wire.answer(.later(retryAfter: nil)) }
        wire.close()
        wire.take(wire.sync.hurry(at: wire.now))
        while case .close? = wire.request {
            wire.answer(.gone)
            if case .local? = wire.request { wire.answer(.rows(["s": nil])) }
        }
        #expect(wire.rows.isEmpty && wire.sent.isEmpty)
        wire.take(wire.sync.ended(before: emma.id, wire.now))
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.map(\.id) == ["s"] && rows.first?.listened == .seconds(48))
        wire.answer(.rows(["s": nil]))
        wire.take(wire.sync.ended(before: emma.id, wire.now))
        #expect(wire.sent.isEmpty && wire.rows.isEmpty, "once")
    }

    /// A server that held the session all the while has ended it with its own count.
    @Test func aSessionThatOnlySeemedGoneIsToldOnceMore() {
        var wire = Wire()
        wire.open("s")
        wire.hear(12, to: 12)
        let row = wire.rows["s"]!
        wire = Wire()
        wire.take(wire.sync.restore([row], [], at: wire.now))
        #expect(wire.request == .close(stretch: "s", item: emma.id))
        wire.answer(.gone)
        guard case .local? = wire.request else { return #expect(Bool(false)) }
        wire.answer(.rows(["s": nil]))
        #expect(wire.request == .close(stretch: "s", item: emma.id))
        wire.answer(.accepted)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.first?.listened == .seconds(12))
        wire.answer(.rows(["s": nil]))
        #expect(wire.rows.isEmpty && wire.sent.isEmpty)
    }

    @Test func anUnreachableServerIsAskedAgainWithTheSameDifference() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.later(retryAfter: nil))
        wire.hear(0.5, to: 30.5)
        #expect(wire.sent.isEmpty)
        #expect(wire.sync.unsent.map(\.id) == ["s"])
        wire.pass(2)
        #expect(wire.request == syncOf("s", at: 30.5, listened: 30.5))
        wire.answer(.later(retryAfter: 90))
        #expect(wire.wakes.last == .seconds(90))
    }

    @Test func whatAServerCannotCopeWithKeepsNothingElseWaiting() {
        let other = ItemID(source: "abs", key: emma.id.key.split(separator: "/")[0] + "/other")
        var rows: [Stretch] = []
        for (number, item) in [emma.id, other].enumerated() {
            var row = Stretch(
                id: "row \(number)", item: item, started: 1000, startPlace: .zero, duration: .seconds(180),
                delivery: .local)
            (row.listened, row.place, row.updated) = (.seconds(10), .seconds(10), 11_000 + Int64(number))
            rows.append(row)
        }
        var wire = Wire()
        wire.take(wire.sync.restore(rows, [], at: wire.now))
        #expect(wire.request?.rows == ["row 1", "row 0"])
        wire.answer(.doubtful)
        // Both failed, nobody knows for which of the two: each goes alone, and the next to fail comes last.
        for row in ["row 0", "row 1", "row 0"] {
            wire.pass(600)
            #expect(wire.request?.rows == [row])
            if row == "row 0" { wire.answer(.doubtful) } else { wire.answer(.rows([row: nil])) }
        }
        #expect(wire.sync.unsent.map(\.id) == ["row 0"])
    }

    @Test func sessionsOfAnEarlierRunGoNewestFirst() {
        var wire = Wire()
        var old = Stretch(
            id: "old", item: emma.id, started: 1000, startPlace: .zero, duration: .seconds(180), delivery: .local)
        old.listened = .seconds(10)
        old.place = .seconds(10)
        old.updated = 11_000
        var new = Stretch(
            id: "new", item: emma.id, started: 20_000, startPlace: .seconds(10), duration: .seconds(180),
            delivery: .open)
        new.listened = .seconds(5)
        new.place = .seconds(15)
        new.updated = 25_000
        wire.take(wire.sync.restore([old, new], [], at: wire.now))
        #expect(wire.request == .close(stretch: "new", item: emma.id))
        wire.answer(.gone)
        guard case .local(let rows)? = wire.request else { return #expect(Bool(false)) }
        #expect(rows.map(\.id) == ["new", "old"])
        wire.answer(.rows(["new": nil, "old": "Media item not found"]))
        #expect(wire.request == .close(stretch: "new", item: emma.id), "the 404 may have been a proxy's")
        wire.answer(.gone)
        #expect(wire.rows.keys.sorted() == ["old"])
        #expect(wire.rows["old"]?.delivery == .parked)
        #expect(wire.sync.unsent.map(\.id) == ["old"], "a refused row is kept and shown")
        wire.pass(1000)
        #expect(wire.sent.isEmpty)
    }

    @Test func aCommandGoesBeforeWhatIsListenedToAfterIt() throws {
        var wire = Wire()
        wire.open("s", at: 170)
        wire.hear(5, to: 175, .pause)
        wire.answer(.later(retryAfter: nil))
        let write = ProgressWrite(
            item: emma.id, kind: .restart, position: .zero, duration: .seconds(180), made: wire.now.wall + 1)
        wire.take(wire.sync.write(write, wire.now))
        wire.hear(3, to: 3, .pause)
        wire.pass(10)
        #expect(wire.request == .progress(write))
        wire.answer(.accepted)
        #expect(wire.request == .local([try #require(wire.rows["s"])]))
        #expect(wire.rows["s"]?.place == .seconds(3) && wire.rows["s"]?.listened == .seconds(8))
    }

    @Test func aRefusedCommandIsOutlivedByWhatWasListenedToSince() {
        var wire = Wire()
        wire.open("s", at: 100)
        wire.take(
            wire.sync.write(
                ProgressWrite(
                    item: emma.id, kind: .restart, position: .zero, duration: .seconds(180), made: wire.now.wall + 1),
                wire.now))
        wire.hear(3, to: 3, .pause)
        wire.answer(.refused("no"))
        #expect(wire.sync.unsentWrites.isEmpty)
        #expect(wire.request == syncOf("s", at: 3, listened: 3))
    }

    @Test func theLastTenSecondsDoNotFinishAnItem() {
        var wire = Wire()
        wire.open("s", at: 160)
        wire.hear(15, to: 175, .pause)
        #expect(wire.request == syncOf("s", at: 169.5, listened: 15))
        wire.answer(.accepted)
        #expect(wire.sync.unsent.isEmpty)
        wire.hear(5, to: 180, .end)
        #expect(wire.request == syncOf("s", at: 180, listened: 5))
    }

    @Test func oneRequestAtATimeForEachAccount() {
        var wire = Wire()
        let other = ItemID(source: "abs", key: "b/x")
        wire.open("s")
        wire.hear(30, to: 30)
        wire.hear(1, to: 31, .pause)
        #expect(wire.sent.count == 1)
        let write = ProgressWrite(item: other, kind: .finish, position: .zero, duration: .zero, made: 1)
        wire.take(wire.sync.write(write, wire.now))
        #expect(wire.sent.map(\.account) == ["a", "b"])
    }

    @Test func signedOutKeepsEverythingUntilTheNextLogin() throws {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.signedOut)
        wire.pass(10_000)
        #expect(wire.sent.isEmpty)
        #expect(wire.sync.unsent.count == 1)
        wire.take(wire.sync.signedIn(account: "a", wire.now))
        // It is old by now: the server may have heard of others.
        #expect(wire.request == .local([try #require(wire.rows["s"])]))
        #expect(wire.rows["s"]?.place == .seconds(30) && wire.rows["s"]?.listened == .seconds(30))
    }

    /// The keyring was not there yet, and what it keeps neither.
    @Test func aLoginThatWasOnlyLateIsTriedAgain() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.signedOut)
        wire.take(wire.sync.kick(at: wire.now, isSign: true))
        #expect(wire.request == syncOf("s", at: 30, listened: 30))
        wire.answer(.signedOut)
        wire.close()
        #expect(wire.sent.isEmpty)
        wire.open("t", at: 30)
        #expect(wire.request == syncOf("s", at: 30, listened: 30), "the server let us open a session")
    }

    @Test func whatIsRefusedWhileItIsListenedToIsAskedForNowAndThen() {
        var wire = Wire()
        wire.open("s")
        wire.hear(30, to: 30)
        wire.answer(.gone)
        wire.answer(.rows(["s": "Media item not found"]))
        guard case .parked? = wire.rows["s"]?.delivery else { return #expect(Bool(false)) }
        for second in 31...90 { wire.hear(1, to: Double(second)) }
        #expect(wire.sent.isEmpty, "not every second")
        for second in 91...331 { wire.hear(1, to: Double(second)) }
        guard case .local? = wire.request else { return #expect(Bool(false)) }
        wire.answer(.rows(["s": nil]))
        guard case .local? = wire.rows["s"]?.delivery else { return #expect(Bool(false)) }
        wire.hear(5, to: 336, .stop)
        wire.close()
        while !wire.sent.isEmpty { wire.answer(.accepted) }
        #expect(wire.rows.isEmpty)
    }

    /// The phone may have gone on meanwhile, and a session that is open would take it back there.
    @Test func aClockThatIsSetBackMakesNoPlaceFresh() {
        var wire = Wire()
        wire.open("a")
        wire.hear(31, to: 31)
        wire.answer(.accepted)
        wire.hear(20, to: 51, .pause)
        wire.answer(.later(retryAfter: nil))
        wire.now.wall -= 7_200_000
        wire.now.monotonic += 3_600_000_000
        wire.take(wire.sync.kick(at: wire.now, isSign: true))
        #expect(wire.request?.rows == ["a"], "\(wire.sent)")
    }

    @Test func localFilesHaveNoServerToTell() {
        var wire = Wire()
        wire.open("s", plain.id)
        wire.hear(60, to: 60, .stop, plain.id)
        wire.take(wire.sync.closed(plain.id, wire.now))
        #expect(wire.sent.isEmpty)
        #expect(wire.rows.isEmpty)
    }

    @Test func backOffDoublesUpToFiveMinutes() {
        var backOff = BackOff()
        #expect((0..<11).map { _ in backOff.fail(spread: 0) } == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
        #expect(backOff.fail(retryAfter: 588, spread: 0) == 588)
        backOff.succeed()
        #expect(backOff.fail(spread: 0.5) == 1.125)
    }
}
