import EventLoop
import HTTP
import Listening
import Testing

@testable import Audiobookshelf

/// A server's end of one live connection: what a test puts in is answered to the next poll.
private final class FakeSocket: Sendable {
    let journal = Journal()
    /// Tokens that open it.
    let good = Locked<Set<String>>(["A1"])
    /// What the next requests get instead, first come first served.
    let failures = Locked<[Result<HTTPResponse, TransportError>]>([])
    private let packets = Locked<[AsyncStream<String>.Continuation]>([])
    private let streams = Locked<[AsyncStream<String>]>([])

    func say(_ packet: String) { packets.withLock { $0.last }?.yield(packet) }

    private func open() -> HTTPResponse {
        let (stream, packets) = AsyncStream.makeStream(of: String.self)
        streams.withLock { $0.append(stream) }
        self.packets.withLock { $0.append(packets) }
        return .text("0{\"sid\":\"s\",\"pingInterval\":25000,\"pingTimeout\":20000}")
    }

    private func hear(_ packet: String) {
        journal.note("packet \(packet)")
        guard packet.hasPrefix("4") else { return }
        guard packet != "40" else { return say("40{\"sid\":\"n\"}") }
        let token = JSON(Array(packet.utf8.dropFirst(2)))?.elements.last?.string ?? ""
        say(
            good.withLock { $0.contains(token) }
                ? "42[\"init\",{\"userId\":\"u\"}]" : "42[\"auth_failed\",{\"message\":\"Invalid token\"}]")
    }

    var transport: FakeTransport {
        FakeTransport(journal) { request throws(TransportError) in
            if request.path.hasSuffix("/auth/refresh") {
                self.good.withLock { _ = $0.insert("A2") }
                return .json(["user": ["username": "lena", "accessToken": "A2", "refreshToken": "R2"]])
            }
            guard request.path == "/abs/socket.io/" else { return .json(["libraries": []]) }
            let failure = self.failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let failure { return try failure.get() }
            guard request.query.contains("sid=s") else { return self.open() }
            if request.method == "POST" {
                self.hear(String(decoding: request.body ?? [], as: UTF8.self))
                return .text("ok", type: "text/html")
            }
            guard let stream = self.streams.withLock({ $0.last }) else { return .json(["code": 1], status: 400) }
            for await packet in stream { return .text(packet) }
            throw .cancelled
        }
    }
}

@Suite struct SocketTests {
    private let socket = FakeSocket()
    private let naps = Locked<[Double]>([])

    /// What is reported while it runs, one at a time.
    private func listening(
        _ login: Account.Login = .tokens, hasHeaders: Bool = false, transport: FakeTransport? = nil,
        _ body: (inout AsyncStream<LiveReport>.AsyncIterator, ShelfSocket) async throws -> Void
    ) async throws {
        let (reports, reporting) = AsyncStream.makeStream(of: LiveReport.self)
        let client = try client(transport ?? socket.transport, login, hasHeaders: hasHeaders)
        let live = ShelfSocket(
            client: client, sleep: { seconds in naps.withLock { $0.append(seconds) } }, spread: { 0 },
            report: { reporting.yield($0) })
        let task = Task { await live.run() }
        var iterator = reports.makeAsyncIterator()
        try await body(&iterator, live)
        task.cancel()
        await task.value
    }

    private func event(session: String, at seconds: Int) -> String {
        """
        42["user_item_progress_updated",{"sessionId":"\(session)","data":{"libraryItemId":"i","episodeId":null,\
        "currentTime":\(seconds),"duration":100,"isFinished":false,"lastUpdate":1795223700000}}]
        """
    }

    private let item = ItemID(source: "abs", key: "\(accountID)/i")

    @Test func signsInAndTellsPlaces() async throws {
        try await listening { reports, _ in
            #expect(await reports.next() == .connected)
            socket.say(event(session: "phone", at: 50))
            let place = Place(
                item: item, position: .seconds(50), duration: .seconds(100), updated: 1_795_223_700_000)
            #expect(await reports.next() == .progress(session: "phone", place))
            socket.say("2")
            socket.say("42[\"user_updated\",{\"mediaProgress\":[{\"libraryItemId\":\"i\",\"currentTime\":7}]}]")
            guard case .places(let places)? = await reports.next() else {
                Issue.record("no places")
                return
            }
            #expect(places.map(\.position) == [.seconds(7)])
        }
        let packets = socket.journal.lines.filter { $0.hasPrefix("packet") }
        #expect(packets == ["packet 40", "packet 42[\"auth\",\"A1\"]", "packet 3"])
    }

    /// Sent again by the transport, a poll would not bring what the lost one brought, and nobody would know.
    @Test func aPollIsSentOnce() async throws {
        let polls = Locked<[Bool]>([])
        let inner = socket.transport
        let watched = FakeTransport { request throws(TransportError) in
            if request.method == "GET", request.query.contains("sid=") { polls.withLock { $0.append(request.isOnce) } }
            return try await inner.send(request)
        }
        try await listening(transport: watched) { reports, _ in #expect(await reports.next() == .connected) }
        #expect(polls.withLock { !$0.isEmpty && $0.allSatisfy { $0 } })
    }

    @Test func whatAnotherUserDoesIsNotOurs() async throws {
        try await listening { reports, _ in
            #expect(await reports.next() == .connected)
            let theirs = event(session: "phone", at: 50).replacing(
                "\"libraryItemId\"", with: "\"userId\":\"v\",\"libraryItemId\"")
            socket.say(theirs)
            socket.say(
                "42[\"user_updated\",{\"id\":\"v\",\"mediaProgress\":[{\"libraryItemId\":\"i\",\"currentTime\":8}]}]")
            let rows =
                "{\"userId\":\"v\",\"libraryItemId\":\"i\",\"currentTime\":9},{\"userId\":\"u\",\"libraryItemId\":\"i\",\"currentTime\":7}"
            socket.say("42[\"user_updated\",{\"id\":\"u\",\"mediaProgress\":[\(rows)]}]")
            guard case .places(let places)? = await reports.next() else {
                Issue.record("no places")
                return
            }
            #expect(places.map(\.position) == [.seconds(7)])
        }
    }

    @Test func theAccountsHeadersGoAlongAndTheTokenOnlyInsideAPacket() async throws {
        let requests = Locked<[HTTPRequest]>([])
        let inner = socket.transport
        let watched = FakeTransport { request throws(TransportError) in
            requests.withLock { $0.append(request) }
            return try await inner.send(request)
        }
        try await listening(hasHeaders: true, transport: watched) { reports, _ in
            #expect(await reports.next() == .connected)
        }
        for request in requests.withLock({ $0 }) {
            #expect(request.header("X-Proxy") == "open" && request.bearer == nil)
            #expect(!request.url.contains("A1"))
            #expect(request.url.contains("/abs/socket.io/?EIO=4&transport=polling"))
        }
    }

    @Test func aTokenThatIsRefusedIsExchangedOnce() async throws {
        socket.good.withLock { $0 = [] }
        try await listening { reports, _ in #expect(await reports.next() == .connected) }
        #expect(socket.journal.count("POST /abs/auth/refresh") == 1)
        #expect(socket.journal.count("packet 42[\"auth\",\"A2\"]") == 1)
    }

    @Test(arguments: [Account.Login.apikey, .legacy])
    func aLoginThatIsNotTakenIsNotTriedAgain(login: Account.Login) async throws {
        socket.good.withLock { $0 = [] }
        try await listening(login) { reports, _ in #expect(await reports.next() == .refused) }
        #expect(socket.journal.lines.count { $0.hasPrefix("packet 42") } == 1)
        #expect(naps.withLock { $0 }.isEmpty)
    }

    @Test func itComesBackAfterOneTwoFourAndAtMostSixtySeconds() async throws {
        socket.failures.withLock {
            $0 = Array(repeating: .failure(.unreachable(host: "x", reason: "down")), count: 8)
        }
        try await listening { reports, _ in
            for _ in 0..<8 {
                guard case .disconnected(let why)? = await reports.next() else {
                    Issue.record("connected too early")
                    return
                }
                #expect(why.contains("down"))
            }
            #expect(await reports.next() == .connected)
        }
        #expect(naps.withLock { $0 } == [1, 2, 4, 8, 16, 32, 60, 60])
    }

    @Test(arguments: ["1", "41", "44{\"message\":\"no\"}"]) func anEndIsAnEnd(packet: String) async throws {
        try await listening { reports, _ in
            #expect(await reports.next() == .connected)
            socket.say(packet)
            let end = await reports.next()
            if packet.hasPrefix("44") {
                #expect(end == .refused)
            } else {
                #expect(end == .disconnected("the server ended the live connection"))
                #expect(await reports.next() == .connected)
            }
        }
    }

    @Test(arguments: [400, 404, 502]) func aServerThatForgotIsAskedAnew(status: Int) async throws {
        try await listening { reports, _ in
            #expect(await reports.next() == .connected)
            socket.failures.withLock { $0 = [.success(HTTPResponse(status: status))] }
            socket.say("6")
            guard case .disconnected? = await reports.next() else {
                Issue.record("went on with a session that is gone")
                return
            }
            #expect(await reports.next() == .connected)
        }
    }

    @Test func aPageInsteadOfAConnectionIsSaid() async throws {
        socket.failures.withLock { $0 = [.success(.page)] }
        try await listening { reports, _ in
            guard case .disconnected(let why)? = await reports.next() else { return }
            #expect(why.contains("proxy"))
        }
    }

    @Test(arguments: ["", "<html></html>"]) func answersThatAreNoneEndTheConnection(body: String) async throws {
        try await listening { reports, _ in
            #expect(await reports.next() == .connected)
            socket.failures.withLock { $0 = [.success(.text(body))] }
            socket.say("6")
            guard case .disconnected? = await reports.next() else {
                Issue.record("asked on and on")
                return
            }
            #expect(await reports.next() == .connected)
        }
        #expect(naps.withLock { $0.last } == 1, "the back-off, not the next poll at once")
    }

    @Test func aServerThatTakesUsInAndDropsUsIsAskedLessAndLess() async throws {
        try await listening { reports, _ in
            for _ in 0..<4 {
                #expect(await reports.next() == .connected)
                socket.say("1")
                guard case .disconnected? = await reports.next() else {
                    Issue.record("it went on")
                    return
                }
            }
            #expect(await reports.next() == .connected)
            // A connection that lasted until a ping was a good one.
            socket.say("2")
            socket.say("1")
            guard case .disconnected? = await reports.next() else {
                Issue.record("it went on")
                return
            }
            #expect(await reports.next() == .connected)
        }
        #expect(naps.withLock { $0 } == [1, 2, 4, 8, 1])
    }

    @Test func aNewTokenIsSentOnTheSameConnection() async throws {
        let good = Locked("A1")
        let inner = socket.transport
        let strict = FakeTransport { request throws(TransportError) in
            if request.path.hasPrefix("/abs/api/"), request.bearer != good.withLock({ $0 }) {
                return .text("Unauthorized", status: 401)
            }
            return try await inner.send(request)
        }
        let (reports, reporting) = AsyncStream.makeStream(of: LiveReport.self)
        let client = try client(strict, .tokens)
        let live = ShelfSocket(client: client, sleep: { _ in }, report: { reporting.yield($0) })
        let task = Task { await live.run() }
        var iterator = reports.makeAsyncIterator()
        #expect(await iterator.next() == .connected)
        good.withLock { $0 = "A2" }
        _ = try await client.libraries()
        socket.say("2")
        #expect(await iterator.next() == .connected)
        #expect(socket.journal.count("packet 42[\"auth\",\"A2\"]") == 1)
        task.cancel()
        await task.value
    }

    @Test func aSignOfTheNetworkBeginsAnew() async throws {
        try await listening { reports, live in
            #expect(await reports.next() == .connected)
            await live.nudge()
            guard case .disconnected? = await reports.next() else {
                Issue.record("went on with a connection that may be dead")
                return
            }
            #expect(await reports.next() == .connected)
        }
        #expect(naps.withLock { $0 }.isEmpty)
    }

    @Test func silenceHasALimit() async throws {
        let limits = Locked<[Double?]>([])
        let inner = socket.transport
        let watched = FakeTransport { request throws(TransportError) in
            if request.method == "GET" { limits.withLock { $0.append(request.timeout) } }
            return try await inner.send(request)
        }
        try await listening(transport: watched) { reports, _ in #expect(await reports.next() == .connected) }
        #expect(limits.withLock { $0 }.prefix(2) == [30, 45])
    }
}
