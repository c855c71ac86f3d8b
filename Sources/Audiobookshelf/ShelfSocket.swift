internal import HTTP
public import Listening

/// What the live connection to a server says, for whoever keeps the places.
public enum LiveReport: Hashable, Sendable {
    /// Connected and signed in. What happened before is not told: ask.
    case connected
    /// Not connected; it is tried again by itself. For people.
    case disconnected(String)
    /// The server takes this login for everything but this. Not tried again before another login.
    case refused
    /// A session of some device, perhaps our own, told a place.
    case progress(session: String?, Place)
    /// Something of this user changed, on whatever device: all the places the server has.
    case places([Place])
    /// With that, all the bookmarks it has.
    case bookmarks([Bookmark])
    /// Items that were added, changed or removed on the server.
    case items([ItemID])
    /// The libraries or their lists changed.
    case libraries
}

/// The live connection to one account's server: socket.io by long polling, through the same client as all requests. One
/// answer every 25 seconds keeps it up; a server that says nothing for longer is gone.
public actor ShelfSocket {
    private let client: ShelfClient
    private let sleep: @Sendable (Double) async -> Void
    private let spread: @Sendable () -> Double
    private let report: @Sendable (LiveReport) -> Void
    private var attempt: Task<End, Never>?
    private var rest: Task<Void, Never>?
    private var isNudged = false
    private var backOff = BackOff()

    /// The longest wait between two tries in seconds, before it is spread.
    static let patience = 60.0
    /// The wait after an answer that says nothing to us, in seconds.
    static let pace = 0.1

    /// - Parameters:
    ///   - sleep: returns after so many seconds, or when its task is cancelled.
    ///   - spread: random, 0..<1.
    ///   - report: called on no particular thread, in order.
    public init(
        client: ShelfClient, sleep: @escaping @Sendable (Double) async -> Void,
        spread: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        report: @escaping @Sendable (LiveReport) -> Void
    ) {
        self.client = client
        self.sleep = sleep
        self.spread = spread
        self.report = report
    }

    /// Stays connected until its task is cancelled or the server refuses the login.
    public func run() async {
        while !Task.isCancelled {
            let attempt = Task { await self.connection() }
            self.attempt = attempt
            let end = await withTaskCancellationHandler {
                await attempt.value
            } onCancel: {
                attempt.cancel()
            }
            self.attempt = nil
            if Task.isCancelled { return }
            switch end {
            case .refused: return report(.refused)
            case .lost(let why):
                report(.disconnected(why))
                if !isNudged {
                    let spread = spread()
                    await wait(min(Self.patience * (1 + spread / 4), backOff.fail(spread: spread)))
                }
                isNudged = false
            }
        }
    }

    /// The network or the computer came back: whatever there was is dead, and the next try is now.
    public func nudge() {
        backOff.succeed()
        isNudged = true
        attempt?.cancel()
        rest?.cancel()
    }

    private func wait(_ seconds: Double) async {
        let nap = Task { [sleep] in await sleep(seconds) }
        rest = nap
        await withTaskCancellationHandler {
            await nap.value
        } onCancel: {
            nap.cancel()
        }
        rest = nil
    }

    // MARK: One connection

    private enum End: Error {
        case lost(String)
        case refused
    }

    private struct Line {
        let sid: String
        /// Seconds without a word after which the server is gone.
        let silence: Double
        /// What was last sent to sign in.
        var bearer: String
        var hasRenewed = false
        var isWelcome = false
        /// Who signed in, by the server's word.
        var user: String?

        /// What another user does moves no place of this one's.
        func isOurs(_ other: String?) -> Bool { user == nil || other == nil || other == user }
    }

    private func connection() async -> End {
        do throws(End) {
            var line = try await open()
            while true {
                let packets = try await poll(line)
                for packet in packets { try await take(packet, &line) }
                // A scan of a library, or a proxy with answers of its own: nothing of use comes, and without end.
                if packets.isEmpty { await sleep(Self.pace) }
                // A server keeps a connection up whose token has expired; it shall know the present one all the same.
                if line.isWelcome, let present = await client.presentBearer, present != line.bearer {
                    try await signIn(with: present, &line)
                }
            }
        } catch {
            return error
        }
    }

    private func open() async throws(End) -> Line {
        let bearer = try await asked { () throws(ShelfError) in try await client.bearer() }
        let packets = try await poll(session: nil, timeout: 30)
        guard case .open(let sid, let silence)? = packets.first else {
            throw .lost("the server has no live connection; a proxy in front of it may not pass /socket.io/")
        }
        let line = Line(sid: sid, silence: silence, bearer: bearer)
        try await push("40", line)
        return line
    }

    private func take(_ packet: EnginePacket, _ line: inout Line) async throws(End) {
        switch packet {
        case .open: break
        case .close: throw .lost("the server ended the live connection")
        case .refused: throw .refused
        case .ping:
            // Not at its welcome: a server that takes everybody in and drops them at once is not to be hammered.
            if line.isWelcome { backOff.succeed() }
            try await push("3", line)
        case .connected: try await signIn(with: line.bearer, &line)
        case .event(.welcome(let user)):
            line.isWelcome = true
            line.user = user
            line.hasRenewed = false
            report(.connected)
        case .event(.authFailed): try await signInAgain(&line)
        case .event(.progress(let session, let payload)):
            if let place = place(payload), line.isOurs(payload.user) { report(.progress(session: session, place)) }
        case .event(.user(let user, let payloads, let bookmarks)):
            guard line.isOurs(user) else { return }
            let line = line
            report(.places(payloads.filter { line.isOurs($0.user) }.compactMap(place)))
            report(.bookmarks(bookmarks.compactMap { $0.bookmark(account: client.account.id) }))
        case .event(.items(let items)):
            report(.items(items.compactMap { ShelfItemID(account: client.account.id, item: $0)?.id }))
        case .event(.libraries): report(.libraries)
        }
    }

    /// The token may have expired on the way: one exchange, and if that does not help, this server wants no such login here.
    private func signInAgain(_ line: inout Line) async throws(End) {
        guard !line.hasRenewed, client.account.login == .tokens else { throw .refused }
        line.hasRenewed = true
        let refused = line.bearer
        let fresh = try await asked { () throws(ShelfError) in try await client.bearer(after: refused) }
        try await signIn(with: fresh, &line)
    }

    private func signIn(with bearer: String, _ line: inout Line) async throws(End) {
        line.bearer = bearer
        let event: JSON = ["auth", .string(bearer)]
        try await push("42" + String(decoding: event.bytes, as: UTF8.self), line)
    }

    private func poll(_ line: Line) async throws(End) -> [EnginePacket] {
        try await poll(session: line.sid, timeout: line.silence)
    }

    private func poll(session: String?, timeout: Double) async throws(End) -> [EnginePacket] {
        let body = try await answer(.poll(session: session, timeout: timeout)).body
        guard EnginePacket.isSpoken(body) else {
            throw .lost("the server has no live connection; a proxy in front of it may not pass /socket.io/")
        }
        return EnginePacket.read(body)
    }

    private func push(_ packet: String, _ line: Line) async throws(End) {
        _ = try await answer(.push(packet, session: line.sid))
    }

    /// 200 and nothing else: unlike the rest of the API this one does answer with `text/html`.
    private func answer(_ call: Call) async throws(End) -> HTTPResponse {
        let response = try await asked { () throws(ShelfError) in try await client.sendBare(call) }
        switch response.status {
        case 200: return response
        case 400: throw .lost("the server does not know the live connection any more")
        default: throw .lost("the live connection was answered with status \(response.status)")
        }
    }

    private func asked<Value: Sendable>(
        _ body: () async throws(ShelfError) -> Value
    ) async throws(End) -> Value {
        do throws(ShelfError) { return try await body() } catch {
            if error.endsLogin { throw .refused }
            throw .lost(error.description)
        }
    }

    private func place(_ payload: ProgressPayload) -> Place? {
        payload.key(account: client.account.id).map { Place(item: $0.id, payload.progress) }
    }
}

extension Place {
    public init(item: ItemID, _ progress: ShelfProgress) {
        self.init(
            item: item, position: progress.position, duration: progress.duration, isFinished: progress.isFinished,
            updated: progress.updated)
    }
}
