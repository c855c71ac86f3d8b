import FlyingFox
import FlyingSocks
public import Foundation

/// An Audiobookshelf server for tests and the demo: on 127.0.0.1, in this process, with real state.
///
/// It answers as the recorded real servers do; `Tests/StandInTests` replays the recordings against it. Everything a
/// test may want to see or to force is in the extensions ``progress(of:item:episode:)`` and following.
public final class StandInServer: Sendable {
    public let configuration: StandInConfiguration
    private let world: Locked<World>
    private let faults = Locked(FaultList())
    private let log = Locked([StandInRequest]())
    private let running = Locked<(server: HTTPServer, task: Task<Void, any Error>)?>(nil)
    let bell = Doorbell()

    public init(configuration: StandInConfiguration) {
        self.configuration = configuration
        world = Locked(World(configuration))
    }

    /// Starts to listen.
    /// - Returns: the address, such as `http://127.0.0.1:40123`, without a slash at its end.
    /// - Throws: a socket error when the port is taken.
    @discardableResult
    public func start() async throws -> String {
        let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: configuration.port)
        let connection = Connection(server: self)
        let server = HTTPServer(
            // Held requests may wait as long as their test does.
            config: .init(address: address, timeout: 3600, sharedRequestReplaySize: 16_000_000, logger: .disabled),
            handler: ClosureHTTPHandler { try await connection.handle($0) })
        // A port that is taken ends `run` at once; waiting for it to listen would take a whole timeout.
        let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        let task = Task {
            do {
                try await server.run()
            } catch {
                outcome.yield(.failure(error))
                throw error
            }
        }
        let listening = Task {
            try await server.waitUntilListening()
            outcome.yield(.success(()))
        }
        for await first in outcomes {
            listening.cancel()
            try first.get()
            break
        }
        running.withLock { $0 = (server, task) }
        guard case .ip4(_, let port)? = await server.listeningAddress else { throw SocketError.unsupportedAddress }
        return "http://127.0.0.1:\(port)"
    }

    /// Stops listening and closes every connection.
    public func stop() async {
        let current = running.withLock { running in
            defer { running = nil }
            return running
        }
        await current?.server.stop()
        current?.task.cancel()
        _ = await current?.task.result
    }

    // MARK: For the connections

    /// Writes a request into the log and finds the fault that is meant for it.
    func note(_ call: Call) -> StandInFault? {
        log.withLock { $0.append(StandInRequest(call)) }
        bell.ring()
        return faults.withLock { $0.take(call) }
    }

    func answer(_ call: Call) -> Answer { change { $0.answer(call) } }

    /// Changes the world and wakes whoever waits for events.
    func change<Result>(_ body: (inout World) -> Result) -> Result {
        let result = world.withLock(body)
        bell.ring()
        return result
    }

    func look<Result>(_ body: (World) -> Result) -> Result { world.withLock { body($0) } }

    // MARK: Faults and requests

    /// Makes the next requests fail.
    /// - Parameters:
    ///   - method: such as `POST`; `nil` for any.
    ///   - path: without the base path; `*` stands for one part, `**` at the end for any rest: `/api/session/*/sync`.
    ///   - times: how many requests; `Int.max` for all.
    /// - Returns: a number for ``clearFault(_:)``.
    @discardableResult
    public func fail(_ fault: StandInFault, method: String? = nil, path: String, times: Int = 1) -> Int {
        faults.withLock { $0.add(fault, method: method, path: path, times: times) }
    }

    public func clearFault(_ id: Int) { faults.withLock { $0.remove(id) } }
    public func clearFaults() { faults.withLock { $0.remove(nil) } }

    /// Every request so far, failed ones too, in the order they came.
    public var requests: [StandInRequest] { log.withLock { $0 } }
    public func forgetRequests() { log.withLock { $0 = [] } }

    /// Suspends until a request came that fits, those before this call included.
    public func waitForRequest(_ fits: @Sendable (StandInRequest) -> Bool) async {
        await bell.wait { self.requests.contains(where: fits) }
    }
}

/// A request as it came in.
public struct StandInRequest: Sendable {
    public var method: String
    /// As sent: with base path, percent-encoded, without the query.
    public var path: String
    public var query: String
    /// Names in lower case.
    public var headers: [String: String]
    public var body: Data

    init(_ call: Call) {
        (method, path, query, headers, body) = (call.method, call.path, call.rawQuery, call.headers, call.bodyBytes)
    }
}
