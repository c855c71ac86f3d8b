import EventLoop
import HTTP
import Listening
import Testing

@testable import Audiobookshelf

private let device = ShelfDevice(id: "device-1", version: "0.1.0", model: "laptop")
private let session = "2bbe4e8b-9267-43ab-ac98-e362d692e5cb"

@Suite struct PlayingTests {
    /// The recorded item and session, on a server that has the public urls or not.
    private func transport(
        _ item: String, _ play: String, publicTracks: HTTPResponse = .text("", type: "audio/mpeg"),
        _ journal: Journal = Journal()
    ) throws -> FakeTransport {
        let (item, play) = (try Fixture(item).response, try Fixture(play).response)
        return FakeTransport(journal) { request in
            if request.method == "HEAD" { return publicTracks }
            if request.method == "POST" { journal.note(String(decoding: request.body ?? [], as: UTF8.self)) }
            return request.method == "POST" ? play : item
        }
    }

    private func id(_ item: String, _ episode: String? = nil) throws -> ShelfItemID {
        try #require(ShelfItemID(account: accountID, item: item, episode: episode))
    }

    @Test func aBookOfManyFiles() async throws {
        let journal = Journal()
        let shelf = try client(transport("item-03-multifile-expanded", "play-02-multifile", journal), hasHeaders: true)
        let book = try id("7e282bdf-7e87-4950-b8c0-ba04eb687de7")
        let open = try await shelf.play(book, device: device, mimeTypes: ["audio/mpeg"])
        #expect(open.id == session && open.place == .seconds(21))
        #expect(open.item.title == "Notes from the Orchard" && open.item.kind == .book && open.item.id == book.id)
        #expect(open.item.authors == ["Jonas Reed"] && open.item.narrators == ["Ada Voice", "Bo Voice"])
        #expect(open.item.tracks.count == 7 && open.item.chapters.count == 7 && open.item.published == "2018")
        #expect(abs(open.item.duration.seconds - 1353.743672) < 0.001)
        #expect(open.item.url == nil, "the address of somebody's server is shown to nobody")
        guard case .stream(let stream) = open.item.tracks[1].audio else { return #expect(Bool(false)) }
        #expect(stream.url == "\(server)/public/session/\(session)/track/2" && stream.transcoding == nil)
        #expect(stream.headers == ["X-Proxy": "open"])
        let identities = open.item.tracks.map { track -> String? in
            if case .stream(let stream) = track.audio { stream.identity } else { nil }
        }
        #expect(identities[0] == "\(book.id.key)/16417746/1542708/1795223402526")
        #expect(Set(identities).count == 7)
        #expect(
            journal.lines.contains(
                #"{"deviceInfo":{"clientName":"Dogear","clientVersion":"0.1.0","deviceId":"device-1","manufacturer":"Linux","model":"laptop"},"forceDirectPlay":false,"forceTranscode":false,"mediaPlayer":"dogear","supportedMimeTypes":["audio/mpeg"]}"#
            ))
        _ = try await shelf.play(book, device: device, mimeTypes: [])
        #expect(journal.lines.count { $0.hasPrefix("HEAD") } == 1)
    }

    @Test(arguments: [HTTPResponse.text("Not Found", status: 404), .page])
    func aServerWithoutPublicURLsWantsTheToken(answer: HTTPResponse) async throws {
        let shelf = try client(transport("item-03-multifile-expanded", "play-02-multifile", publicTracks: answer))
        let open = try await shelf.play(id("7e282bdf-7e87-4950-b8c0-ba04eb687de7"), device: device, mimeTypes: [])
        guard case .stream(let stream) = open.item.tracks[0].audio else { return #expect(Bool(false)) }
        #expect(stream.url.hasPrefix("\(server)/api/items/7e282bdf") && !stream.url.contains("?"))
        #expect(stream.headers == ["Authorization": "Bearer KEY"])
        let identity = try #require(stream.identity)
        #expect(!identity.contains("KEY") && !identity.contains(server), "the same however it is fetched")
        #expect(identity.contains("/7e282bdf-7e87-4950-b8c0-ba04eb687de7/16417746/"))
    }

    /// A place in a book of another length would be told to the server as the listener's.
    @Test(arguments: [
        ([0], nil, true), ([3], nil, true), ([3], 0, false), ([3, 4], nil, false), ([0, 1, 2, 3, 4, 5, 6], 0, false),
    ])
    func aLostLengthIsWhatTheOthersLeaveOrTheBookIsNotPlayed(lost: [Int], whole: Double?, isPlayed: Bool) async throws {
        guard case .object(var answer) = try Fixture("play-02-multifile").body,
            case .array(var tracks) = answer["audioTracks"]
        else { return #expect(Bool(false)) }
        let durations = tracks.map { $0["duration"].number ?? 0 }
        for index in lost {
            guard case .object(var track) = tracks[index] else { return #expect(Bool(false)) }
            track["duration"] = index % 2 == 0 ? 0 : -5
            tracks[index] = .object(track)
        }
        answer["audioTracks"] = .array(tracks)
        if let whole { answer["duration"] = .number(whole) }
        let (item, play) = (try Fixture("item-03-multifile-expanded").response, HTTPResponse.json(.object(answer)))
        let shelf = try client(
            FakeTransport { request in
                request.method == "HEAD" ? .text("", type: "audio/mpeg") : request.method == "POST" ? play : item
            })
        let book = try id("7e282bdf-7e87-4950-b8c0-ba04eb687de7")
        guard isPlayed else {
            let error = await failure { () throws(ShelfError) in
                _ = try await shelf.play(book, device: device, mimeTypes: [])
            }
            #expect(error?.category == .failed && error?.description.contains("scan the item again") == true)
            return
        }
        let open = try await shelf.play(book, device: device, mimeTypes: [])
        for (track, duration) in zip(open.item.tracks, durations) {
            #expect(abs(track.duration.seconds - duration) < 0.01)
        }
    }

    @Test func anEpisode() async throws {
        let episode = try id("c50ec295-17b3-440b-83f6-c00f39becba7", "90d470d5-8764-4779-924d-96d6b717f215")
        let shelf = try client(transport("item-04-podcast-expanded", "play-03-episode"))
        let open = try await shelf.play(episode, device: device, mimeTypes: ["audio/mpeg"])
        #expect(open.item.kind == .episode && open.item.title == "Episode 2: Lantern")
        #expect(open.item.podcast == "The Loopback Hour" && open.item.authors == ["Loopback Radio"])
        #expect(open.item.published == "2024-02-15" && open.item.chapters.isEmpty && open.progress == nil)
        #expect(open.item.summary == "Episode 2 description, with markup.")
    }

    @Test func aTranscodeIsAPlaylist() async throws {
        let journal = Journal()
        let shelf = try client(transport("item-01-expanded-progress", "play-06-unsupported-mime-transcode", journal))
        let open = try await shelf.play(id("e5f6d6b7"), device: device, mimeTypes: [])
        guard case .stream(let stream) = open.item.tracks[0].audio else { return #expect(Bool(false)) }
        #expect(stream.transcoding != nil && stream.headers.isEmpty && stream.identity == nil)
        #expect(stream.url == "\(server)/hls/8b2f05f4-c46f-4556-91ee-39125eef8573/output.m3u8")
        #expect(!journal.lines.contains { $0.hasPrefix("HEAD") })
    }

    /// It names one track, and its item all the files that are in it.
    @Test func aTranscodeKnowsWhereItsFilesBegin() throws {
        guard case .object(var answer) = try Fixture("play-06-unsupported-mime-transcode").body else {
            return #expect(Bool(false))
        }
        func transcoding() throws -> Transcoding? { try PlayPayload(.object(answer), "play").transcoding }
        #expect(try transcoding()?.joints == [])
        answer["libraryItem"] = try Fixture("item-03-multifile-expanded").body
        let joints = try #require(try transcoding()).joints
        answer["startTime"] = 70.5
        #expect(try transcoding()?.delay == .seconds(4.5))
        answer["startTime"] = 29
        #expect(try transcoding()?.delay == .zero)
        let direct = try PlayPayload(try Fixture("play-02-multifile").body, "play")
        #expect(!joints.isEmpty && joints == direct.tracks.dropFirst().map(\.start) && direct.transcoding == nil)
    }

    @Test func anOldServersSession() async throws {
        let shelf = try client(transport("item-01-expanded-progress", "old-v2.25.1-10-play"), .legacy)
        let open = try await shelf.play(id("e5f6d6b7"), device: device, mimeTypes: ["audio/flac"])
        #expect(open.item.tracks.count == 1)
        #expect(open.progress?.position == .seconds(300.5) || open.progress != nil)
    }

    @Test func whatCannotBePlayedIsNotAskedFor() async throws {
        let journal = Journal()
        let ebook = try client(transport("item-07-ebook-only", "play-09-ebook-only", journal))
        let error = await failure { () throws(ShelfError) in
            _ = try await ebook.play(try known("1d248273-9aeb-416e-bd53-83e500400d9d"), device: device, mimeTypes: [])
        }
        #expect(error == .notPlayable(reason: "'Only Paper' has only an e-book on the server, nothing to listen to"))
        #expect(!journal.lines.contains { $0.hasPrefix("POST") })
    }

    @Test func aPodcastIsPlayedByItsEpisodes() async throws {
        let journal = Journal()
        let inner = try transport("item-04-podcast-expanded", "play-03-episode", journal)
        let me = try Fixture("me-01-me-with-progress").response
        let shelf = try client(
            FakeTransport { request throws(TransportError) in
                if request.path.hasSuffix("/api/me") { return me }
                return try await inner.send(request)
            })
        let open = try await shelf.play(
            try known("c50ec295-17b3-440b-83f6-c00f39becba7"), device: device, mimeTypes: [])
        #expect(open.item.kind == .episode && open.item.podcast != nil)
        #expect(journal.lines.contains { $0.hasPrefix("POST") && $0.contains("/play/") }, "\(journal.lines)")
    }

    @Test(arguments: [
        // Of four, oldest first: b(egun), f(inished), n(ever).
        ("nnnn", false, 3), ("nnnn", true, 0), ("bnnn", false, 0), ("fbnn", true, 1), ("fnnn", false, 1),
        ("nfnn", false, 2), ("nnnf", false, 2), ("nnnf", true, 0), ("ffff", false, nil), ("bfbn", true, 2),
        ("", false, nil),
    ])
    func ofAPodcastTheNextIsFound(_ states: String, _ isSerial: Bool, _ next: Int?) {
        let states = Array(states)
        let episodes = states.indices.compactMap {
            EpisodePayload(["id": .string("\($0)"), "publishedAt": .number(Double($0 + 1))])
        }
        let found = EpisodePayload.next(
            of: episodes.reversed(),
            { episode in
                let number = Int(episode.id)!
                guard states[number] != "n" else { return nil }
                return ShelfProgress(
                    position: .seconds(5), duration: .seconds(9), isFinished: states[number] == "f",
                    updated: Int64(number))
            }, isSerial: isSerial)
        #expect(found?.id == next.map { "\($0)" })
    }

    @Test func aGoneItemIsNotFound() async throws {
        let shelf = try client(replay())
        let error = await failure { () throws(ShelfError) in
            _ = try await shelf.play(try known("gone"), device: device, mimeTypes: [])
        }
        #expect(error == .notFound(what: "abs:\(accountID)/gone") && error?.category == .notFound)
    }

    @Test func coversArePicturesOrNothing() async throws {
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2]
        let asked = Locked("")
        let shelf = try client(
            FakeTransport { request in
                asked.withLock { $0 = request.url }
                return HTTPResponse(status: 200, body: jpeg)
            })
        #expect(try await shelf.cover(of: id("a")) == jpeg)
        #expect(asked.withLock { $0 } == "\(server)/api/items/a/cover?width=600&format=jpeg")
        #expect(try await client(FakeTransport { _ in .page }).cover(of: id("a")) == nil)
        #expect(try await client(replay()).cover(of: id("a")) == nil)
    }

    private func known(_ item: String) throws(ShelfError) -> ShelfItemID {
        guard let id = ShelfItemID(account: accountID, item: item) else { throw .cancelled }
        return id
    }
}
