import Foundation

@testable import StandIn

/// The stand-in's world behind the proxy, with a clock turned by hand.
final class Upstream: Sendable {
    struct Answer: Sendable {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: [UInt8]
    }

    struct Place: Sendable {
        let position: Double
        let isFinished: Bool
        /// Milliseconds since 1970, server's clock.
        let updated: Int64
    }

    /// Seconds. A real one pings more often, which tells nothing but that it is there.
    static let pingInterval = 600.0
    static let user = "lena"
    static let password = "correct horse"
    private let server: StandInServer
    private let clock: StandInClock
    private let headersAhead: Int64

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - headersAhead: what a proxy's clock, by which the answers are dated, is ahead of the server's; milliseconds.
    init(now: Int64, headersAhead: Int64 = 0) {
        self.headersAhead = headersAhead
        clock = StandInClock(milliseconds: Int(now))
        var configuration = StandInConfiguration(
            users: [StandInUser(name: Self.user, password: Self.password)], libraries: Self.libraries, clock: clock)
        configuration.basePath = ""
        // Hours pass in milliseconds; what counts requests by the minute is tested elsewhere.
        configuration.authRateLimit = 100_000
        configuration.refreshExpiry = 365 * 86400
        configuration.pingInterval = Self.pingInterval
        server = StandInServer(configuration: configuration)
    }

    func set(now: Int64) { clock.set(milliseconds: Int(now)) }

    func answer(_ method: String, _ target: String, _ headers: [String: String], _ body: [UInt8]) -> Answer {
        let call = Call(method: method, target: target, headers: headers, body: Data(body), basePath: "")
        let answer = server.answer(call)
        var bytes: [UInt8] = []
        switch answer.body {
        case .data(let data), .chunked(let data): bytes = Array(data)
        case .file, .segment, .poll, .webSocket: break
        }
        var lines = answer.headers
        lines.append(("Date", HTTPDate.text(milliseconds: clock.now + Int(headersAhead))))
        return Answer(status: answer.status, headers: lines, body: bytes)
    }

    // MARK: The live connection

    /// - Returns: its first packet.
    func openSocket() -> String {
        let session = server.openSocket()
        return packets(session) ?? ""
    }

    /// - Returns: false if the session is gone.
    func push(_ packets: String, _ session: String) -> Bool {
        guard knows(session) else { return false }
        for packet in packets.split(separator: Self.separator) { server.receive(String(packet), on: session) }
        return true
    }

    func knows(_ session: String) -> Bool { server.look { $0.sockets[session] != nil } }

    /// What waits to be told, once; nil if there is nothing.
    func packets(_ session: String) -> String? {
        let packets = server.change { $0.takePackets(session) } ?? []
        return packets.isEmpty ? nil : packets.joined(separator: String(Self.separator))
    }

    private static let separator: Character = "\u{1E}"

    // MARK: What happens there

    func restart() { server.restart() }
    func expireTokens() { server.expireAccessTokens() }
    func revoke() {
        server.revokeRefreshTokens()
        server.expireAccessTokens()
    }
    func accessToken() -> String { server.makeAccessToken(for: Self.user) }
    func refreshToken() -> String { server.makeRefreshToken(for: Self.user) }

    /// Another client writes the progress, now.
    func write(_ item: Thing, place: Double, finished: Bool) {
        var change: JSON = [
            "currentTime": .double(place), "duration": .double(item.length), "progress": .double(place / item.length),
        ]
        if finished { change = change.adding(["isFinished": true]) }
        server.setProgress(of: Self.user, item: item.item, episode: item.episode, change)
    }

    /// Another client delivers what it listened to offline.
    /// - Parameter at: milliseconds since 1970, server's clock: when it was.
    func deliver(_ item: Thing, place: Double, listened: Double, at: Int64) {
        let body: JSON = [
            "id": .string(DerivedID.random()), "libraryItemId": .string(item.item),
            "episodeId": item.episode.map { .string($0) } ?? nil,
            "mediaType": item.episode == nil ? "book" : "podcast",
            "currentTime": .double(place), "timeListening": .double(listened), "startedAt": .int(Int(at) - 1000),
            "updatedAt": .int(Int(at)), "playMethod": 3, "deviceInfo": ["deviceId": "the other one"],
            "mediaPlayer": "another",
        ]
        let headers = [
            "authorization": "Bearer \(accessToken())", "content-type": "application/json",
        ]
        _ = answer("POST", "/api/session/local", headers, Array(body.bytes))
    }

    // MARK: What is known there

    func place(of item: Thing) -> Place? {
        server.progress(of: Self.user, item: item.item, episode: item.episode).map {
            Place(position: $0.currentTime ?? -1, isFinished: $0.isFinished, updated: Int64($0.lastUpdate))
        }
    }

    /// Seconds of listening told by dogear.
    func listened(to item: Thing) -> Double {
        rows.filter { $0.itemID == item.item && $0.episodeID == item.episode && $0.mediaPlayer.text != "another" }
            .reduce(0) { $0 + $1.timeListening }
    }

    /// One line for each row of the history.
    var history: [(id: String, line: String)] {
        rows.map { row in
            let open = server.look { world in world.open.contains { $0.id == row.id } }
            return (
                row.id,
                "\(row.id.prefix(8)) \(row.itemID.suffix(2)) \(row.timeListening) s at \(row.currentTime?.number ?? -1) \(open ? "open" : "")"
            )
        }
    }

    var openSessions: [StandInSession] { server.openSessions(of: Self.user) }

    private var rows: [PlaySession] { server.look { $0.history } }

    private static let libraries: [StandInLibrary] = {
        func audio(_ name: String, _ seconds: Double) -> StandInAudio {
            let file = StandInFile(
                path: nil, name: "\(name).mp3", ino: "\(DerivedID.fnv(name.utf8) % 1_000_000)", size: 1000, modified: 0)
            return StandInAudio(file: file, duration: seconds, mimeType: "audio/mpeg", codec: "mp3")
        }
        let books = Thing.all.filter { $0.episode == nil }.map { thing in
            var item = StandInItem(id: thing.item, title: thing.name, relPath: thing.name, addedAt: 1_700_000_000_000)
            item.authors = ["A. Thor"]
            item.audio = [audio(thing.name + "1", thing.length / 2), audio(thing.name + "2", thing.length / 2)]
            item.chapters = thing.chapters.enumerated().map { number, start in
                let end = number + 1 < thing.chapters.count ? thing.chapters[number + 1] : thing.length
                return StandInChapter(start: start, end: end, title: "Chapter \(number + 1)")
            }
            return item
        }
        let episodes = Thing.all.filter { $0.episode != nil }
        var podcast = StandInItem(
            id: episodes[0].item, title: "The Hour", relPath: "The Hour", addedAt: 1_700_000_000_000)
        podcast.authors = ["P. Caster"]
        podcast.podcast = StandInPodcast(
            episodes: episodes.enumerated().map { number, thing in
                StandInEpisode(
                    id: thing.episode!, title: thing.name, publishedAt: 1_700_000_000_000 + number,
                    audio: audio(thing.name, thing.length))
            })
        return [
            StandInLibrary(name: "Books", mediaType: .book, items: StandInItems(books), id: "l1"),
            StandInLibrary(name: "Podcasts", mediaType: .podcast, items: StandInItems([podcast]), id: "l2"),
        ]
    }()
}

/// One thing to listen to. Each has a length of its own, by which the engine's tracks tell which it is.
struct Thing: Hashable, Sendable {
    let name: String
    let item: String
    var episode: String?
    /// Seconds.
    let length: Double
    var chapters: [Double] = []

    var id: String { "abs:\(Thing.account)/\(item)" + (episode.map { "/\($0)" } ?? "") }

    static let account = "aaaaaaaa-0000-4000-8000-000000000000"
    static let all = [
        Thing(
            name: "Saga", item: "b0000000-0000-4000-8000-000000000001", length: 3600,
            chapters: [0, 300, 900, 1000, 1800, 2700]),
        Thing(name: "Novella", item: "b0000000-0000-4000-8000-000000000002", length: 800),
        Thing(name: "Sketch", item: "b0000000-0000-4000-8000-000000000003", length: 90, chapters: [0, 40]),
        Thing(
            name: "Echo", item: "b0000000-0000-4000-8000-000000000004",
            episode: "e0000000-0000-4000-8000-000000000001", length: 620),
        Thing(
            name: "Delta", item: "b0000000-0000-4000-8000-000000000004",
            episode: "e0000000-0000-4000-8000-000000000002", length: 1240),
    ]

    static func of(length: Double) -> Thing? { all.first { abs($0.length - length) < 0.01 } }
}
