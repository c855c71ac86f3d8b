import EventLoop
import HTTP
import Listening
import Testing

@testable import Audiobookshelf

private let books = "e038225c-28c8-4cca-b5d9-6afeda736d3e"
private let podcasts = "680d24b5-6685-485c-b70d-f0f3a5a0428d"

@Suite struct BrowsingTests {
    @Test func libraries() async throws {
        let libraries = try await client(replay("lib-01-libraries")).libraries()
        #expect(libraries.map(\.name) == ["Books", "Podcasts"])
        #expect(libraries.map(\.isPodcasts) == [false, true])
        #expect(libraries[0].id == books)
    }

    @Test func aPageOfBooks() async throws {
        let transport = try replay("lib-05-items-page-1", "me-01-me-with-progress")
        let page = try await client(transport).items(library: books, PageRequest(page: 1, limit: 3))
        #expect(page.total == 11 && page.page == 1 && !page.rows.isEmpty)
        let row = try #require(page.rows.first { $0.title == "The Winter Bell" })
        #expect(row.authors == ["Mara Ellison"] && row.narrators == ["Edwin Speak"] && row.kind == .book)
        #expect(row.series == [SeriesPlace(name: "Harbour Tales", sequence: "3")])
        #expect(row.duration == .seconds(401.303) && row.isPlayable && row.added == 1_795_223_560_841)
    }

    @Test func podcastsAreRowsThatCannotBePlayed() async throws {
        let transport = try replay("lib-15-podcast-items", "me-01-me-with-progress")
        let page = try await client(transport).items(library: podcasts, PageRequest())
        #expect(page.rows.map(\.kind) == [.podcast, .podcast] && page.rows.allSatisfy { !$0.isPlayable })
        #expect(page.rows[0].episodeCount == 8 && page.rows[0].progress == nil)
    }

    @Test func listsThatDependOnProgressGoAroundTheServersMemory() async throws {
        let urls = Locked<[String]>([])
        let transport = FakeTransport { request in
            if request.path.hasSuffix("/items") { urls.withLock { $0.append(request.query) } }
            return request.path.hasSuffix("/me") ? .json(["username": "lena"]) : .json(["results": []])
        }
        let client = try client(transport)
        _ = try await client.items(library: "x", PageRequest(limit: 0, sort: "addedAt", isDescending: true))
        _ = try await client.items(library: "x", PageRequest(filter: .init(group: "progress", value: "in-progress")))
        #expect(
            urls.withLock { $0 } == [
                "limit=1&page=0&minified=1&sort=addedAt&desc=1",
                "limit=50&page=0&minified=1&filter=progress.aW4tcHJvZ3Jlc3M%3D&fresh=1795223600000",
            ])
    }

    @Test func continueListeningIsInOrderAndWithoutWhatIsHidden() async throws {
        let transport = try replay("prog-30-items-in-progress", "me-01-me-with-progress")
        let rows = try await client(transport).continueListening()
        #expect(rows.map(\.title) == ["Untagged Recording", "Episode 5: Orchard", "Two Discs"])
        #expect(rows[1].kind == .episode && rows[1].podcast == "The Loopback Hour")

        let recorded = try Fixture("prog-30-items-in-progress").response
        let hiding: JSON = [
            "username": "lena",
            "mediaProgress": [
                [
                    "libraryItemId": "43e78a88-c44d-4ec7-b3ea-55149094c045", "currentTime": 10,
                    "hideFromContinueListening": true,
                ]
            ],
        ]
        let hidden = try client(FakeTransport { $0.path.hasSuffix("/me") ? .json(hiding) : recorded })
        #expect(try await !hidden.continueListening().contains { $0.title == "Untagged Recording" })
    }

    @Test func latestMixesEpisodesAndBooks() async throws {
        let journal = Journal()
        let fixtures = try [
            "lib-01-libraries", "lib-28-recent-episodes", "me-01-me-with-progress", "lib-05-items-page-1",
        ]
        .map { try Fixture($0).response }
        let transport = FakeTransport(journal) { request in
            switch request.path.split(separator: "/").last {
            case "libraries": fixtures[0]
            case "recent-episodes": fixtures[1]
            case "me": fixtures[2]
            default: request.path.contains(books) ? fixtures[3] : .text("Not Found", status: 404)
            }
        }
        let rows = try await client(transport).latest(limit: 4)
        #expect(rows.count == 4 && rows.map(\.kind).contains(.book) && rows.map(\.kind).contains(.episode))
        let episode = try #require(rows.first { $0.kind == .episode })
        #expect(episode.title == "Feed Episode 3: End" && episode.podcast == "Feed Radio")
        #expect(episode.published == 1_773_734_400_000 && episode.duration == .seconds(102.426122))
        #expect(episode.id.key.hasSuffix("/35b37484-ac08-4ec3-90f7-36ac677d443a"))
    }

    @Test func searchFindsBooksSeriesAndEpisodesOnce() async throws {
        let transport = try replay(
            "lib-01-libraries", "lib-18-search-book", "lib-19-search-podcast", "me-01-me-with-progress")
        let rows = try await client(transport).search(" harbour ")
        #expect(rows.contains { $0.title == "The Tide Clock" } && rows.contains { $0.title == "The Winter Bell" })
        #expect(rows.contains { $0.title == "Episode 2: Lantern" && $0.kind == .episode })
        #expect(Set(rows.map(\.id)).count == rows.count)
        #expect(try await client(transport).search("  ").isEmpty)
    }

    @Test func detailsOfABookAPodcastAndAnEpisode() async throws {
        let book = try #require(ShelfItemID(account: accountID, item: "e5f6d6b7-e059-4b34-b996-c83b1448fe67"))
        let transport = try replay("item-01-expanded-progress", "item-04-podcast-expanded", "me-01-me-with-progress")
        let details = try await client(transport).details(book)
        #expect(details.row.title == "The Tide Clock" && details.chapters.count == 10 && details.trackCount == 1)
        #expect(details.summary == "A clock on a harbour wall runs with the tide." && details.published == "2021")
        #expect(details.row.progress?.position == .seconds(450))

        let podcast = try #require(ShelfItemID(account: accountID, item: "c50ec295-17b3-440b-83f6-c00f39becba7"))
        let shown = try await client(transport).details(podcast)
        #expect(shown.row.kind == .podcast && !shown.episodes.isEmpty)
        let days: [Int64] = shown.episodes.map { $0.published ?? 0 }
        #expect(days == days.sorted(by: >))
        let episode = try #require(ShelfItemID(shown.episodes[0].id))
        let one = try await client(transport).details(episode)
        #expect(one.row.id == episode.id && one.row.podcast == "The Loopback Hour")
        #expect(one.summary?.contains("<") == false && one.published?.hasPrefix("20") == true)

        let gone = try #require(ShelfItemID(account: accountID, item: podcast.item, episode: "gone"))
        #expect(
            await failure { () throws(ShelfError) in _ = try await shelf(transport).details(gone) }
                == .notFound(what: gone.id.description))
    }

    @Test func oneDamagedElementDoesNotLoseTheList() async throws {
        let transport = FakeTransport { request in
            if request.path.hasSuffix("/me") { return .json(["username": "lena", "mediaProgress": ["x", ["a": 1]]]) }
            return .json([
                "total": "7",
                "results": [
                    .null, "x", [:], ["id": "a/../b"],
                    ["id": "good", "media": ["duration": "12.5", "numTracks": "1"]],
                    ["id": 5, "media": ["duration": -7, "metadata": ["title": 1984, "authorName": .null]]],
                    ["id": "huge", "addedAt": 1e300, "media": ["duration": 1e300, "numTracks": 1e300]],
                ],
            ])
        }
        let page = try await client(transport).items(library: "x", PageRequest())
        #expect(page.rows.map(\.title) == ["Untitled", "1984", "Untitled"] && page.total == 7)
        #expect(page.rows[0].duration == .seconds(12.5) && page.rows[1].duration == .zero)
    }

    @Test func whatIsMissingIsNamed() async throws {
        let transport = FakeTransport { $0.path.hasSuffix("/me") ? .json(["username": "lena"]) : .json([:]) }
        let client = try client(transport)
        #expect(
            await failure { () throws(ShelfError) in _ = try await client.libraries() }
                == .missing(field: "libraries", endpoint: "GET /api/libraries"))
        #expect(
            await failure { () throws(ShelfError) in _ = try await client.items(library: "x", PageRequest()) }
                == .missing(field: "results", endpoint: "GET /api/libraries/:id/items"))
    }

    @Test func truncatedJSONAndWebPagesAreToldApart() async throws {
        let cut = try client(FakeTransport { _ in .text(#"{"libraries":[{"id""#, type: "application/json") })
        #expect(
            await failure { () throws(ShelfError) in _ = try await cut.libraries() }
                == .unreadable(endpoint: "GET /api/libraries"))
        let page = try client(FakeTransport { _ in .page })
        #expect(
            await failure { () throws(ShelfError) in _ = try await page.libraries() }
                == .notAudiobookshelf(server: server))
    }

    private func shelf(_ transport: FakeTransport) throws(ShelfError) -> ShelfClient {
        do { return try client(transport) } catch { throw .cancelled }
    }
}
