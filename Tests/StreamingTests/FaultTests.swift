import EventLoop
import HTTP
import Listening
import TestSupport
import Testing

@testable import Streaming

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct FaultTests {
    private let file = noise(300_000)

    @Test(arguments: [
        Remote.Fault.cut(after: 5000), .cut(after: 0), .reset(after: 5000), .reset(after: 0), .stall(after: 5000),
        .stall(after: 0), .silence, .status("500 Internal Server Error"), .status("502 Bad Gateway"),
        .status("503 Service Unavailable", ["Retry-After": "3600"]), .status("429 Too Many Requests"),
        .status("429 Too Many Requests", ["Retry-After": "1"]), .status("302 Found", ["Location": "/login"]), .page,
        .tooMuch, .elsewhere, .status("206 Partial Content"),
    ])
    func eachFaultIsSurvived(fault: Remote.Fault) async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { $0 == 0 || $0 == 2 ? fault : .none }
            let reader = shelf(folder, restless).reader(of: remote.stream())
            #expect(try await reader.all() == file)
            #expect(try await reader.size() == 300_000)
        }
    }

    @Test func whatWasCutGoesOnAtTheRightByte() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { $0 == 1 ? .cut(after: 1234) : .none }
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.all() == file)
            let asked = remote.asked.compactMap(\.self)
            #expect(asked[1].lowerBound + 1234 == asked[2].lowerBound)
        }
    }

    @Test(arguments: 0..<12) func anyFaultsAndAnyReadsGiveTheFile(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            let random = Locked(numbers(seed))
            let remote = try Remote(file, etag: seed.isMultiple(of: 2) ? "\"1\"" : nil) { _ in
                random.withLock { random in
                    let place = Int.random(in: 0..<100_000, using: &random)
                    return switch Int.random(in: 0..<24, using: &random) {
                    case 0..<5: .cut(after: place / 4)
                    case 5..<9: .reset(after: place / 4)
                    case 9: place < 10_000 ? .stall(after: place) : .none
                    case 10: .status("503 Service Unavailable")
                    case 11: .status("429 Too Many Requests", ["Retry-After": "0"])
                    case 12: .page
                    case 13: .elsewhere
                    case 14: .tooMuch
                    case 15 where seed > 8: .wholeCut(after: place)
                    default: .none
                    }
                }
            }
            let shelf = shelf(folder, limit: seed.isMultiple(of: 3) ? 0 : 1 << 30, restless)
            try await withThrowingTaskGroup { group in
                for number in 0..<2 {
                    group.addTask { [file] in
                        var random = numbers(seed &* 31 &+ UInt64(number))
                        let reader = shelf.reader(of: remote.stream())
                        #expect(try await reader.size() == Int64(file.count))
                        var place = 0
                        for _ in 0..<40 {
                            if Int.random(in: 0..<3, using: &random) == 0 {
                                place = .random(in: 0..<file.count, using: &random)
                            }
                            let count = Int.random(in: 1..<20_000, using: &random)
                            let end = min(place + count, file.count)
                            let bytes = try await reader.read(at: Int64(place), count: count)
                            #expect(bytes == Array(file[place..<end]))
                            place = end
                        }
                        #expect(try await reader.all() == file)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func aServerThatWasAwayIsFoundAgain() async throws {
        try await withTemporaryFolder { folder in
            let first = try Remote(file)
            let reader = shelf(folder).reader(of: first.stream())
            let size = try await reader.size()
            first.breaks { _ in .reset(after: 0) }
            async let bytes = reader.read(at: size - 1000, count: 1000)
            let seen = first.asked.count
            try await until("more requests") { first.asked.count > seen + 3 }
            first.server.stop()
            try await until("a server that is gone") {
                let response = try? await transport.send(HTTPRequest("GET", first.server.address))
                return response == nil
            }
            let second = try Remote(file, port: first.server.port)
            #expect(try await bytes == Array(file.suffix(1000)))
            #expect(!second.asked.isEmpty)
        }
    }

    @Test(arguments: [
        ("404 Not Found", EngineFailure.notFound), ("410 Gone", .notFound), ("401 Unauthorized", .refused),
        ("403 Forbidden", .refused),
    ])
    func aRefusalMeetsOnlyWhoNeedsMore(status: String, failure: EngineFailure) async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let shelf = shelf(folder)
            let reader = shelf.reader(of: remote.stream())
            _ = try await reader.read(at: 0, count: 100)
            try await until("what was read") { reader.available(from: 0) >= 200_000 }
            remote.breaks { _ in .status(status) }
            await #expect(throws: failure) { try await reader.read(at: 299_000, count: 10) }
            #expect(try await reader.read(at: 50_000, count: 10_000) == Array(file[50_000..<60_000]))
            #expect(try await reader.size() == 300_000)
            let asked = remote.asked.count
            await #expect(throws: failure) { try await reader.read(at: 299_000, count: 10) }
            #expect(remote.asked.count <= asked + 2)
            // Another session opens the door again, also for the reader that is there.
            remote.breaks { _ in .none }
            let other = shelf.reader(of: remote.stream(path: "/another/session"))
            #expect(try await other.read(at: 299_000, count: 10) == Array(file[299_000..<299_010]))
            #expect(try await reader.all() == file)
        }
    }

    @Test func aServerThatGivesOnlyAPartIsNotAskedWithoutEnd() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { _ in .contrary }
            var limits = hasty
            limits.patience = 0.2
            limits.delays = [0.1]
            let reader = shelf(folder, limits).reader(of: remote.stream())
            await #expect(throws: EngineFailure.self) { _ = try await reader.size() }
            // Three at once, then no more than one for each delay.
            #expect(remote.asked.count < 12, "\(remote.asked.count) requests")
        }
    }

    @Test func theLastWordOfAnEarlierSessionIsNotThisOnes() async throws {
        try await withTemporaryFolder { folder in
            let doors = Doors()
            let shelf = StreamShelf(transport: doors, folder: folder, limit: 0, limits: hasty)
            let earlier = shelf.reader(of: AudioStream(url: "http://h/old", identity: "a"))
            let first = Task { try await earlier.read(at: 0, count: 3) }
            try await until("a request") { doors.hasAsked.withLock { $0 } }
            let reader = shelf.reader(of: AudioStream(url: "http://h/new", identity: "a"))
            #expect(try await reader.read(at: 2, count: 1) == [3])
            #expect(try await first.value == [1, 2, 3])
        }
    }

    @Test func aServerWithoutRangesIsReadOnce() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { _ in .whole }
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.size() == 300_000)
            #expect(try await reader.read(at: 290_000, count: 100) == Array(file[290_000..<290_100]))
            #expect(try await reader.all() == file)
            #expect(remote.asked.count == 1)
        }
    }

    @Test func aServerWithoutRangesThatCutsIsReadOnFromTheStart() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { .wholeCut(after: 100_000 * ($0 + 1)) }
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.all() == file)
            #expect(remote.asked.count == 3)
        }
    }

    @Test func aFileOfUnknownSizeIsReadToItsEnd() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { _ in .unsized }
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.size() == 300_000)
            #expect(try await reader.all() == file)
            #expect(remote.asked.count == 1)
        }
    }

    @Test func anEndThatMayBeABreakIsOneOnceItIsFoundTwice() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { .unframed(after: min(300_000, 120_000 * ($0 + 1))) }
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.size() == 300_000)
            #expect(try await reader.all() == file)
            #expect(remote.asked.count == 4)
        }
    }

    @Test func whatHasNoEndIsNotWaitedFor() async throws {
        try await withTemporaryFolder { folder in
            let radio = try Remote(file) { _ in .unframed(after: 300_000, broadcast: true) }
            await #expect(throws: endless) { try await shelf(folder).reader(of: radio.stream()).size() }
            let remote = try Remote(file) { _ in .unframed(after: 300_000) }
            var limits = hasty
            limits.largestUnsized = 200_000
            await #expect(throws: endless) { try await shelf(folder, limits).reader(of: remote.stream("b")).size() }
            limits = hasty
            limits.ahead = 100_000
            let nowhere = shelf("/dev/null/none", limits).reader(of: remote.stream())
            await #expect(throws: unmeasured) { try await nowhere.size() }
        }
    }

    /// A radio that does not say that it is one.
    @Test func whatComesNoFasterThanItIsHeardIsNotWaitedFor() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { _ in .unending(after: 50_000) }
            var limits = hasty
            limits.patience = 2
            let begin = ContinuousClock.now
            await #expect(throws: endless) { try await shelf(folder, limits).reader(of: remote.stream()).size() }
            #expect(ContinuousClock.now - begin < .seconds(limits.measuring / 2))
        }
    }

    private let endless = EngineFailure.other(
        reason: "127.0.0.1 sends a broadcast, or something else without an end: dogear plays what has one")
    private let unmeasured = EngineFailure.other(
        reason: "127.0.0.1 does not say how much it sends, and the disk has no room to find out")

    @Test(arguments: [0, 1, 2]) func anotherFileUnderTheSameNameIsReadAnew(kind: Int) async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file, etag: kind == 0 ? "\"1\"" : nil)
            remote.change { if kind == 1 { $0.modified = "Mon, 02 Nov 2026 10:00:00 GMT" } }
            let reader = shelf(folder).reader(of: remote.stream())
            _ = try await reader.read(at: 0, count: 1000)
            reader.close()
            let other = noise(kind == 2 ? 299_999 : 300_000, seed: 9)
            remote.change {
                $0.bytes = other
                if kind == 0 { $0.etag = "\"2\"" }
                if kind == 1 { $0.modified = "Mon, 02 Nov 2026 11:00:00 GMT" }
            }
            let again = shelf(folder).reader(of: remote.stream())
            _ = try await again.read(at: 299_990, count: 5)
            #expect(try await again.size() == Int64(other.count))
            #expect(try await again.all() == other)
        }
    }

    /// The connection stays, so that only the silence tells.
    @Test func whoWaitsDoesNotWaitForSilence() async throws {
        try await withTemporaryFolder { folder in
            var limits = hasty
            limits.idle = 600
            limits.silence = 0.05
            let remote = try Remote(file) { number in
                number < 2 ? .silence : number < 6 && number % 2 == 0 ? .stall(after: 5000) : .none
            }
            let reader = shelf(folder, limits).reader(of: remote.stream())
            #expect(try await reader.all() == file)
            #expect(remote.asked.count > 4)
        }
    }

    @Test func withoutAnyAnswerTheSizeIsGivenUp() async throws {
        try await withTemporaryFolder { folder in
            var limits = hasty
            limits.patience = 3
            let stream = AudioStream(url: "http://127.0.0.1:9/secret?token=x", identity: "a")
            let reader = shelf(folder, limits).reader(of: stream)
            await #expect(throws: EngineFailure.unreachable(reason: "cannot reach 127.0.0.1: Connection refused")) {
                try await reader.size()
            }
            let portal = try Remote(file) { _ in .page }
            await #expect(
                throws: EngineFailure.unreachable(
                    reason: "127.0.0.1 answers with a web page instead of audio")
            ) {
                try await shelf(folder, limits).reader(of: portal.stream("b")).size()
            }
        }
    }

    @Test func aServerThatIsAwayIsNotHammered() async throws {
        await withTemporaryFolder { folder in
            let broken = Broken(.unreachable(host: "h", reason: "Connection refused"))
            var limits = StreamLimits()
            limits.patience = 1
            let shelf = StreamShelf(transport: broken, folder: folder, limit: 0, limits: limits)
            let reader = shelf.reader(of: AudioStream(url: "https://h/"))
            await #expect(throws: EngineFailure.unreachable(reason: "cannot reach h: Connection refused")) {
                try await reader.size()
            }
            // Three: at once, and after 0.25 and 0.5 seconds.
            #expect((1...8).contains(broken.tries.withLock { $0 }))
            // Looked for often enough that one that comes back is noticed within three seconds.
            #expect(limits.connect <= 3 && limits.delays.allSatisfy { $0 <= 1.5 })
        }
    }

    @Test(arguments: [
        (TransportError.certificate(host: "h", reason: "expired"), 1), (.tls(host: "h", reason: "no TLS"), 3),
        (.badURL, 1),
    ])
    func whatNoRetryMendsIsSaid(error: TransportError, tries: Int) async throws {
        await withTemporaryFolder { folder in
            let broken = Broken(error)
            let shelf = StreamShelf(transport: broken, folder: folder, limit: 0, limits: hasty)
            let reader = shelf.reader(of: AudioStream(url: "https://h/"))
            await #expect(throws: EngineFailure.unreachable(reason: "\(error)")) { try await reader.size() }
            #expect(broken.tries.withLock { $0 } == tries)
        }
    }
}

/// Says no at one address, late, and gives bytes at the other.
private final class Doors: StreamingTransport {
    private final class Bytes: HTTPBody {
        private let rest: Locked<[UInt8]?>

        init(_ bytes: [UInt8]) { rest = Locked(bytes) }
        func cancel() {}
        func next() async throws(TransportError) -> [UInt8]? {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }

    let hasAsked = Locked(false)
    let isOver = Locked(false)

    func stream(_ request: HTTPRequest) async throws(TransportError) -> StreamedResponse {
        guard request.path == "/new" else {
            hasAsked.withLock { $0 = true }
            while !isOver.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
            return StreamedResponse(head: HTTPResponse(status: 404), body: Bytes([]))
        }
        isOver.withLock { $0 = true }
        try? await Task.sleep(for: .milliseconds(100))
        let head = HTTPResponse(status: 200, headers: [HTTPHeader("Content-Length", "3")])
        return StreamedResponse(head: head, body: Bytes([1, 2, 3]))
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse { throw .badURL }
}

/// Fails always in the same way.
private final class Broken: StreamingTransport {
    let tries = Locked(0)
    private let error: TransportError

    init(_ error: TransportError) { self.error = error }

    func stream(_ request: HTTPRequest) async throws(TransportError) -> StreamedResponse {
        tries.withLock { $0 += 1 }
        throw error
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse { throw error }
}
