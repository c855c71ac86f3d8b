import EventLoop
import HTTP
import Listening
import Testing

@testable import Audiobookshelf

private let device = ShelfDevice(id: "device-1", version: "0.1.0")
private let book = ItemID("abs:\(accountID)/book")!

@Suite struct SyncingTests {
    private let bodies = Locked<[JSON]>([])

    private func recording(_ answer: HTTPResponse = .text("OK")) throws -> ShelfClient {
        try client(
            FakeTransport { request in
                bodies.withLock { $0.append(request.json) }
                return answer
            })
    }

    private func failing(_ error: TransportError) throws -> ShelfClient {
        try client(FakeTransport { _ throws(TransportError) in throw error })
    }

    @Test func aSyncIsTheDifferenceInDecimalSeconds() async throws {
        let shelf = try recording()
        let outcome = await shelf.sync(
            session: "s", place: .seconds(315.5), listened: .seconds(15), duration: .seconds(2118.374))
        #expect(outcome == .accepted(placeTaken: true))
        _ = await shelf.close(session: "s")
        _ = await shelf.sync(session: "s", place: .seconds(-1), listened: .seconds(1.25), duration: .zero)
        #expect(
            bodies.withLock { $0 } == [
                ["currentTime": 315.5, "timeListened": 15, "duration": 2118.374], [:],
                ["currentTime": 0, "timeListened": 1.25],
            ])
    }

    @Test func outcomesOfASync() async throws {
        func sync(_ shelf: ShelfClient) async -> SyncOutcome {
            await shelf.sync(session: "s", place: .second, listened: .second, duration: .zero)
        }
        #expect(await sync(try recording(try Fixture("sess-02-sync").response)) == .accepted(placeTaken: true))
        #expect(await sync(try recording(try Fixture("sess-22-sync-after-close").response)) == .sessionGone)
        #expect(await sync(try failing(.lost(host: "x", reason: "r"))) == .doubtful(.lost(server: server, reason: "r")))
        #expect(await sync(try failing(.timedOut(host: "x"))) == .doubtful(.timedOut(server: server)))
        #expect(
            await sync(try failing(.unreachable(host: "x", reason: "r")))
                == .later(.unreachable(server: server, reason: "r")))
        #expect(
            await sync(try recording(HTTPResponse(status: 500))) == .doubtful(.serverFault(server: server, status: 500))
        )
        #expect(await sync(try recording(.page)) == .doubtful(.notAudiobookshelf(server: server)))
        #expect(await sync(try recording(HTTPResponse(status: 401))) == .later(.signedOut(server: server)))
        guard case .refused = await sync(try recording(.text("Forbidden", status: 403))) else {
            return #expect(Bool(false))
        }
    }

    @Test func aHotelsNetworkDoesNotFinishABook() async throws {
        let shelf = try recording(.page)
        let write = ProgressWrite(item: book, kind: .finish, position: .zero, duration: .zero, made: 0)
        let error = await failure { () throws(ShelfError) in try await shelf.write(write) }
        #expect(error == .notAudiobookshelf(server: server) && error?.isTemporary == true)
    }

    @Test func localSessionsGoNewestFirstInAbsoluteNumbers() async throws {
        let shelf = try recording(
            .json([
                "results": [
                    ["id": "new", "success": true, "progressSynced": false],
                    ["id": "gone", "success": false, "error": "Media item not found"],
                ]
            ]))
        var stretches = ["old", "new", "gone"].map { id in
            Stretch(id: id, item: book, started: 1000, startPlace: .second, duration: .seconds(60), delivery: .local)
        }
        stretches[1].updated = 3000
        stretches[1].listened = .seconds(2)
        stretches[1].place = .seconds(3)
        let outcomes = await shelf.deliver(stretches, device: device)
        #expect(outcomes["new"] == .accepted(placeTaken: false))
        #expect(outcomes["gone"] == .refused("the server says: Media item not found"))
        guard case .doubtful? = outcomes["old"] else { return #expect(Bool(false)) }
        let sessions = bodies.withLock { $0[0]["sessions"].elements }
        #expect(sessions.first?["id"] == "new" && sessions.count == 3)
        #expect(sessions.first?["timeListening"] == 2 && sessions.first?["currentTime"] == 3)
        #expect(sessions.first?["updatedAt"] == 3000 && sessions.first?["mediaType"] == "book")
        #expect(sessions.first?["playMethod"] == 3 && sessions.first?["episodeId"] == .null)
    }

    @Test func theRecordedAnswerIsUnderstood() async throws {
        let shelf = try recording(try Fixture("local-07-all").response)
        let ids = [
            "59aea1e5-7c0d-44c0-b8d8-d419f7614e8b", "a96cac69-5dac-43a4-b4e3-98f5e801a6e0",
            "eb03a003-424c-45c9-a802-9d75a00524f2",
        ]
        let stretches = ids.map {
            Stretch(id: $0, item: book, started: 1, startPlace: .zero, duration: .zero, delivery: .local)
        }
        let outcomes = await shelf.deliver(stretches, device: device)
        #expect(outcomes[ids[0]] == .accepted(placeTaken: true))
        #expect(outcomes[ids[1]] == .refused("the server says: Media item not found"))
        #expect(outcomes[ids[2]] == .accepted(placeTaken: false))
    }

    /// The server noted the time at which an earlier place of ours reached it.
    @Test(arguments: [300.0, 500])
    func aNewerPlaceGoesOverAnOlderOneOfOurOwnAndOverNoOther(serverPlace: Double) async throws {
        let shelf = try client(
            FakeTransport { request in
                bodies.withLock { $0.append(request.json) }
                switch (request.method, request.path.split(separator: "/").last) {
                case ("POST", "local-all"):
                    return .json(["results": [["id": "s", "success": true, "progressSynced": false]]])
                case ("GET", _):
                    return .json([
                        "libraryItemId": "book", "currentTime": .number(serverPlace), "lastUpdate": 1_795_223_602_000,
                    ])
                default: return .text("OK")
                }
            })
        _ = await shelf.sync(
            session: "s", of: book, place: .seconds(300), listened: .second, duration: .seconds(1000))
        var stretch = Stretch(
            id: "s", item: book, started: 1000, startPlace: .second, duration: .seconds(1000), delivery: .local)
        stretch.place = .seconds(20)
        stretch.updated = 1_795_223_601_000
        let outcomes = await shelf.deliver([stretch], device: device)
        let isOurs = serverPlace == 300
        #expect(outcomes["s"] == .accepted(placeTaken: isOurs))
        let patch: JSON = ["currentTime": 20, "duration": 1000, "progress": 0.02, "lastUpdate": 1_795_223_602_000]
        #expect(bodies.withLock { $0.contains(patch) } == isOurs)
    }

    /// A sync that was long under way is noted late, the next one is lost and what it said goes once more.
    @Test func whatWasToldLastIsTheNewestHoweverLateTheServerNotedTheFirst() async throws {
        let asked = Locked(0)
        let shelf = try client(
            FakeTransport { request throws(TransportError) in
                bodies.withLock { $0.append(request.json) }
                switch (request.method, request.path.split(separator: "/").last) {
                case ("POST", "local-all"):
                    return .json(["results": [["id": "s", "success": true, "progressSynced": false]]])
                case ("GET", _):
                    return .json([
                        "libraryItemId": "book", "currentTime": 300, "lastUpdate": 1_795_223_602_000,
                    ])
                case ("POST", "sync"):
                    let isFirst = asked.withLock { asked in
                        asked += 1
                        return asked == 1
                    }
                    if !isFirst { throw .lost(host: "x", reason: "r") }
                    return .text("OK")
                default: return .text("OK")
                }
            })
        for place in [300.0, 330] {
            _ = await shelf.sync(
                session: "s", of: book, place: .seconds(place), listened: .second, duration: .seconds(1000))
        }
        var stretch = Stretch(
            id: "s", item: book, started: 1000, startPlace: .second, duration: .seconds(1000), delivery: .local)
        stretch.place = .seconds(330)
        stretch.updated = 1_000
        #expect(await shelf.deliver([stretch], device: device)["s"] == .accepted(placeTaken: true))
        #expect(bodies.withLock { $0.last }?["currentTime"] == 330)
    }

    /// The beginning is told first where the end's edge was reached; its answer is lost, and the place itself goes once
    /// more, as of before the beginning was sent.
    @Test func whatWasSentLaterAndIsNoNewerStandsInNoWay() async throws {
        let shelf = try client(
            FakeTransport { request throws(TransportError) in
                bodies.withLock { $0.append(request.json) }
                switch (request.method, request.path.split(separator: "/").last) {
                case ("POST", "local-all"):
                    return .json(["results": [["id": "s", "success": true, "progressSynced": false]]])
                case ("GET", _):
                    return .json(["libraryItemId": "book", "currentTime": 0, "lastUpdate": 1_795_223_602_000])
                case ("POST", "sync"): throw .lost(host: "x", reason: "r")
                default: return .text("OK")
                }
            })
        var stretch = Stretch(
            id: "s", item: book, started: 1000, startPlace: .zero, duration: .seconds(1000), delivery: .local)
        stretch.place = .seconds(989.5)
        stretch.updated = 1_795_223_600_000
        _ = await shelf.sync(
            session: "s", of: book, place: .zero, at: stretch.updated, listened: .second, duration: .seconds(1000))
        #expect(await shelf.deliver([stretch], device: device)["s"] == .accepted(placeTaken: true))
        #expect(bodies.withLock { $0.last }?["currentTime"] == 989.5)
    }

    /// Of an item that it knew nothing of, a server notes that it was there when the listening came.
    @Test func aFirstStretchWhoseAnswerWasLostIsDatedByWhenItWasTrue() async throws {
        let shelf = try client(
            FakeTransport { request throws(TransportError) in throw .lost(host: "x", reason: "r") })
        var stretch = Stretch(
            id: "s", item: book, started: 1000, startPlace: .zero, duration: .seconds(1000), delivery: .local)
        (stretch.place, stretch.updated) = (.seconds(17), 17_040)
        let outcomes = await shelf.deliver([stretch], device: device)
        guard case .doubtful? = outcomes["s"] else { return #expect(Bool(false)) }
        let sent = await shelf.serverNow
        for (place, noted, updated) in [
            (17.0, sent + 100, Int64(17_040)), (18, sent + 100, sent + 100), (17, 17_039, 17_039),
            (17, sent + ShelfClient.longestWay + 60_000, sent + ShelfClient.longestWay + 60_000),
        ] {
            let server = Place(item: stretch.item, position: .seconds(place), duration: .zero, updated: noted)
            #expect(await shelf.dated(server).updated == updated)
        }
    }

    /// A server that takes local sessions, has one record of progress and notes what is patched.
    private func keeping(_ progress: JSON, taken: Bool) throws -> ShelfClient {
        try client(
            FakeTransport { request in
                switch request.method {
                case "GET": return .json(progress)
                case "POST" where request.path.hasSuffix("local-all"):
                    return .json(["results": [["id": "s", "success": true, "progressSynced": .bool(taken)]]])
                case "PATCH": bodies.withLock { $0.append(request.json) }
                default: break
                }
                return .text("OK")
            })
    }

    private func stretch(at place: Double) -> Stretch {
        var stretch = Stretch(
            id: "s", item: book, started: 1000, startPlace: .zero, duration: .seconds(1000), delivery: .local)
        (stretch.place, stretch.updated) = (.seconds(place), 1_795_223_500_000)
        return stretch
    }

    @Test func aFirstStretchIsDatedByWhenItWasTrue() async throws {
        let late: JSON = ["libraryItemId": "book", "currentTime": 17, "lastUpdate": 1_795_223_600_000]
        let shelf = try keeping(late, taken: true)
        #expect(await shelf.deliver([stretch(at: 17)], device: device)["s"] == .accepted(placeTaken: true))
        let patch: JSON = [
            "currentTime": 17, "duration": 1000, "progress": 0.017, "lastUpdate": 1_795_223_500_000,
        ]
        #expect(bodies.withLock { $0 } == [patch])
        for other in [
            late.merging(["lastUpdate": 1_795_223_500_000]), late.merging(["currentTime": 20]),
            late.merging(["isFinished": true]),
        ] {
            _ = try await keeping(other, taken: true).deliver([stretch(at: 17)], device: device)
        }
        #expect(bodies.withLock { $0.count } == 1)
    }

    @Test func whatWasFinishedAtItsStartAndBeganAnewThereIsUnfinished() async throws {
        let finished: JSON = [
            "libraryItemId": "book", "currentTime": 0, "isFinished": true, "lastUpdate": 1_795_223_500_000,
        ]
        _ = try await keeping(finished, taken: true).deliver([stretch(at: 0)], device: device)
        #expect(bodies.withLock { $0.map { $0["isFinished"] } } == [false])
    }

    /// A proxy's 404 to the `PATCH` gives nothing up.
    @Test(arguments: [true, false]) func aPlaceThatCouldNotBePutRightIsToldAgain(_ isRecent: Bool) async throws {
        let shelf = try client(
            FakeTransport { request in
                switch request.method {
                case "GET": .json(["libraryItemId": "book", "currentTime": 49, "lastUpdate": 1_795_223_600_000])
                case "POST" where request.path.hasSuffix("local-all"):
                    .json(["results": [["id": "s", "success": true, "progressSynced": false]]])
                case "PATCH": .text("Not Found", status: 404)
                default: .text("OK")
                }
            })
        var late = stretch(at: 53)
        late.updated = 1_795_223_600_000 - (isRecent ? 60_000 : 7_200_000)
        await shelf.tell(ShelfItemID(book)!, .seconds(49), at: late.updated - 4000)
        let outcome = await shelf.deliver([late], device: device)["s"]
        if case .later? = outcome { #expect(isRecent) } else { #expect(outcome == .accepted(placeTaken: false)) }
        #expect(isRecent == (outcome != .accepted(placeTaken: false)))
    }

    /// While a server is moved, the proxy before it knows none of its routes.
    @Test(arguments: ["404 page not found\n", "<html>404 Not Found</html>", ""])
    func aProxyWithoutTheRouteRefusesNoCommand(_ word: String) async throws {
        let shelf = try recording(.text(word, status: 404))
        for kind in [ProgressWrite.Kind.finish, .unfinish, .restart] {
            let write = ProgressWrite(item: book, kind: kind, position: nil, duration: .zero, made: 1)
            let error = await failure { () throws(ShelfError) in try await shelf.write(write) }
            #expect(error == .serverFault(server: server, status: 404) && error?.isTemporary == true)
        }
        let own = try recording(.text("Not Found", status: 404))
        #expect(try await own.progress(of: ShelfItemID(book)!) == nil)
    }

    /// Told and answered long before, it is not ours that the server has noted since, be it the same place.
    @Test(arguments: [true, false]) func anotherDeviceMayFinishWhereWeDid(_ isOther: Bool) async throws {
        let noted: Int64 = isOther ? 1_795_223_700_000 : 1_795_223_601_000
        let finished: JSON = [
            "libraryItemId": "book", "currentTime": 1000, "isFinished": true, "lastUpdate": .number(Double(noted)),
        ]
        let shelf = try keeping(finished, taken: false)
        try await shelf.write(
            ProgressWrite(
                item: book, kind: .finish, position: .seconds(1000), duration: .seconds(1000), made: 1_795_223_600_000))
        var later = stretch(at: 60)
        later.updated = 1_795_223_602_000
        #expect(await shelf.deliver([later], device: device)["s"] == .accepted(placeTaken: !isOther))
        let next = try client(FakeTransport { _ in .text("OK") })
        await next.goOn(from: shelf)
        #expect(await next.told == shelf.told, "a new login forgets none of it")
    }

    /// The first word about an item counts as said when it came, so that what was listened to after it seems older.
    @Test func listeningGoesOverAFinishOfOurOwnThatCameLate() async throws {
        let shelf = try client(
            FakeTransport { request in
                bodies.withLock { $0.append(request.json) }
                switch (request.method, bodies.withLock { $0.count }) {
                case ("GET", 1): return .text("Not Found", status: 404)
                case ("GET", _):
                    return .json([
                        "libraryItemId": "book", "currentTime": 0, "isFinished": true, "lastUpdate": 1_795_223_602_000,
                    ])
                case ("POST", _):
                    return .json(["results": [["id": "s", "success": true, "progressSynced": false]]])
                default: return .text("OK")
                }
            })
        try await shelf.write(
            ProgressWrite(
                item: book, kind: .finish, position: .zero, duration: .seconds(1000), made: 1_795_223_600_000))
        var stretch = Stretch(
            id: "s", item: book, started: 1000, startPlace: .zero, duration: .seconds(1000), delivery: .local)
        stretch.place = .seconds(60)
        stretch.updated = 1_795_223_661_000
        #expect(await shelf.deliver([stretch], device: device)["s"] == .accepted(placeTaken: true))
        #expect(bodies.withLock { $0.last }?["currentTime"] == 60)
    }

    /// A sync was under way when the run before ended; the server notes it when it comes, after the command.
    @Test func aCommandOfAnEarlierRunOutlivesItsLateSync() async throws {
        let shelf = try client(
            FakeTransport { request in
                bodies.withLock { $0.append(request.json) }
                if request.method == "GET" {
                    return .json([
                        "libraryItemId": "book", "currentTime": 135, "lastUpdate": 1_795_223_599_000,
                    ])
                }
                return .json(["results": [["id": "s", "success": true, "progressSynced": true]]])
            })
        var stretch = Stretch(
            id: "s", item: book, started: 1000, startPlace: .second, duration: .seconds(1000), delivery: .local)
        stretch.place = .seconds(136)
        _ = await shelf.deliver([stretch], device: device)
        let write = ProgressWrite(
            item: book, kind: .place, position: .seconds(792), duration: .seconds(1000), made: 1_795_223_591_000)
        try await shelf.write(write)
        #expect(bodies.withLock { $0.last }?["currentTime"] == 792)
    }

    /// Between two answers of a server, in this run or the one before, its clock is taken to be where it was.
    @Test func aServersClockIsKnownBeforeItAnswers() async throws {
        var known = account()
        known.clockOffset = 3_600_000
        let shelf = try ShelfClient(
            account: known, transport: FakeTransport { _ in .text("OK") }, vault: FakeVault(Journal(), [:]),
            now: { at(0) })
        #expect(await shelf.clock.offset(at: at(0)) == 3_600_000)
    }

    @Test func progressAsRecorded() async throws {
        let id = try #require(
            ShelfItemID(
                account: accountID, item: "c50ec295-17b3-440b-83f6-c00f39becba7",
                episode: "6f89386c-c45e-4d4c-b10a-02dc86f46109"))
        let progress = try await client(replay("prog-24-episode-get")).progress(of: id)
        #expect(
            progress
                == ShelfProgress(
                    position: .seconds(42.5), duration: .seconds(152.163265), isFinished: false,
                    updated: 1_795_223_876_081))
        #expect(try await client(replay()).progress(of: id) == nil)
        for name in ["prog-35-get-after-bad-type", "sess-35-progress-after-null"] {
            let body = try Fixture(name).body
            let progress = ProgressPayload(body)?.progress
            #expect(progress?.position == .zero && progress?.updated == 0, "\(name)")
        }
        // Another client's sync had no place in it: nobody is sent to the start for that.
        let bare = try #require(ProgressPayload(try Fixture("sess-10-progress-after-no-currentTime").body)).progress
        #expect(abs(bare.position.seconds - 100) < 0.001 && bare.updated == 0)
        let item = try #require(ItemID("abs:1/2"))
        let ours = Place(item: item, position: .seconds(180), duration: bare.duration, updated: 1_795_223_703_776)
        let server = Place(item: item, position: bare.position, duration: bare.duration, updated: bare.updated)
        #expect(!ours.isOutdone(by: server, knowsOurs: true))
        let late = ProgressPayload(["libraryItemId": "b", "lastUpdate": 9_000_000_000_000_000])
        #expect(late.map { $0.progress.updated < 8_640_000_000_000_000 } == true, "a date that JavaScript has")
        let all = try await client(replay("me-01-me-with-progress")).progressByItem()
        #expect(all.count == 12)
        let begun = try #require(all[ShelfItemID(account: accountID, item: "e5f6d6b7-e059-4b34-b996-c83b1448fe67")!])
        #expect(begun.position.seconds / begun.duration.seconds > 0.2)
    }

    /// What is sent for a command to a server that has this record.
    private func write(
        _ kind: ProgressWrite.Kind, at place: Double?, on known: JSON? = nil
    ) async throws -> [JSON] {
        let shelf = try client(
            FakeTransport { request in
                guard request.method == "GET" else {
                    bodies.withLock { $0.append(request.json) }
                    return .text("OK")
                }
                return known.map { .json($0) } ?? .text("Not Found", status: 404)
            })
        bodies.withLock { $0 = [] }
        try await shelf.write(
            ProgressWrite(
                item: book, kind: kind, position: place.map(BookTime.seconds), duration: .seconds(100), made: 7))
        return bodies.withLock { $0 }
    }

    private func record(at place: Double, finished: Bool) -> JSON {
        ["libraryItemId": "book", "currentTime": .number(place), "duration": 100, "isFinished": .bool(finished)]
    }

    private func moved(to place: Double) -> JSON {
        ["duration": 100, "lastUpdate": 7, "currentTime": .number(place), "progress": .number(place / 100)]
    }

    @Test func commandsMindTheServersWays() async throws {
        let known = record(at: 5, finished: false)
        let finished: JSON = ["isFinished": true, "duration": 100, "lastUpdate": 7]
        #expect(try await write(.finish, at: 30, on: known) == [finished])
        #expect(try await write(.finish, at: nil, on: known) == [finished])
        #expect(
            try await write(.finish, at: 99, on: known) == [
                ["isFinished": true, "duration": 100, "lastUpdate": 7, "currentTime": 99]
            ])
        #expect(
            try await write(.restart, at: 30, on: known) == [
                ["isFinished": false, "duration": 100, "lastUpdate": 7, "currentTime": 0, "progress": 0]
            ])
    }

    /// The server dates a record that it makes by its own clock, whatever it was told.
    @Test func aRecordThatACommandMakesIsDatedByTheCommand() async throws {
        let once = try await write(.restart, at: 30, on: record(at: 5, finished: false))
        #expect(try await write(.restart, at: 30) == once + once)
    }

    /// A computer without a battery for its clock may live in the future until a network tells it.
    @Test func whatAClockThatWasAheadDatedIsDatedByTheServers() async throws {
        let date = HTTPHeader("Date", "Sat, 21 Nov 2026 01:13:41 GMT")
        let told = 1_795_223_621_000.0
        let known = record(at: 5, finished: false)
        let results: JSON = ["results": [["id": "s", "success": true, "progressSynced": true]]]
        let shelf = try client(
            FakeTransport { request in
                guard request.method != "GET" else { return .json(known, headers: [date]) }
                bodies.withLock { $0.append(request.json) }
                return request.method == "POST" ? .json(results, headers: [date]) : .text("OK")
            })
        let ahead = Int64(told) + 3_600_000
        try await shelf.write(
            ProgressWrite(item: book, kind: .restart, position: .zero, duration: .seconds(100), made: ahead))
        var stretch = Stretch(
            id: "s", item: book, started: ahead, startPlace: .zero, duration: .seconds(100), delivery: .local)
        (stretch.updated, stretch.place) = (ahead, .seconds(5))
        _ = await shelf.deliver([stretch], device: device)
        let sent = bodies.withLock { $0 }
        let dates = [sent[0]["lastUpdate"].number, sent[1]["sessions"].elements.first?["updatedAt"].number]
        #expect(dates.allSatisfy { ($0 ?? .infinity) < told + 60_000 }, "\(dates)")
    }

    /// The server would let a command that arrives late go over all that was done after it.
    @Test(arguments: [ProgressWrite.Kind.finish, .restart, .place, .unfinish])
    func anotherDevicesNewerPlaceOutlivesALateCommand(kind: ProgressWrite.Kind) async throws {
        let newer = record(at: 50, finished: true).merging(["lastUpdate": 60_000])
        #expect(try await write(kind, at: 30, on: newer) == [])
        let older = record(at: 50, finished: true).merging(["lastUpdate": 6])
        #expect(try await write(kind, at: 30, on: older).count == 1)
        // Told by an earlier run of ours, a sync counts as of its arrival.
        let own = record(at: 50, finished: true).merging(["lastUpdate": 15_000])
        #expect(try await write(kind, at: 30, on: own).count == 1)
    }

    @Test func ourOwnPlaceStandsInTheWayOfNoCommand() async throws {
        let requests = Locked<[JSON]>([])
        let now = record(at: 50, finished: false).merging(["lastUpdate": 60_000])
        let shelf = try client(
            FakeTransport { request in
                if request.method == "PATCH" { requests.withLock { $0.append(request.json) } }
                return request.method == "GET" ? .json(now) : .text("OK")
            })
        let outcome = await shelf.sync(
            session: "s", of: book, place: .seconds(50), listened: .second, duration: .seconds(100))
        #expect(outcome == .accepted(placeTaken: true))
        try await shelf.write(
            ProgressWrite(item: book, kind: .finish, position: .seconds(50), duration: .seconds(100), made: 7))
        #expect(requests.withLock { $0.count } == 1)
    }

    /// `isFinished: false` would move the item to its start, for the time between two requests or for good.
    @Test(arguments: [ProgressWrite.Kind.unfinish, .place]) func aFinishIsTakenBackByThePlaceAlone(
        _ kind: ProgressWrite.Kind
    ) async throws {
        #expect(try await write(kind, at: 30) == [moved(to: 30), moved(to: 30)], "never opened there")
        #expect(try await write(kind, at: 30, on: record(at: 50, finished: true)) == [moved(to: 30)])
        #expect(try await write(kind, at: 30, on: record(at: 30, finished: false)) == [moved(to: 30)])
        #expect(try await write(kind, at: 30, on: record(at: 30, finished: true)) == [moved(to: 29.99)], "a change")
        for end in [95.0, 100, 105] {
            #expect(try await write(kind, at: end, on: record(at: 100, finished: true)) == [moved(to: 89.5)])
        }
        #expect(
            try await write(kind, at: 0, on: record(at: 0, finished: true)) == [
                moved(to: 0).merging(["isFinished": false])
            ])
    }

    @Test func whereNobodyKnowsThePlaceTheServersHolds() async throws {
        #expect(try await write(.unfinish, at: nil, on: record(at: 50, finished: true)) == [moved(to: 49.99)])
        #expect(try await write(.unfinish, at: nil, on: record(at: 50, finished: false)) == [])
        #expect(try await write(.unfinish, at: nil) == [])
    }
}

extension JSON {
    fileprivate func merging(_ fields: [String: JSON]) -> JSON {
        guard case .object(let own) = self else { return self }
        return .object(own.merging(fields) { $1 })
    }
}
