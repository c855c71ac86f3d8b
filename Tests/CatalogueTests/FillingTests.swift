import Catalogue
import Foundation
import GRDB
import Listening
import TestSupport
import Testing

@Suite struct FillingTests {
    private let account = Shelf.account

    private func keys(_ catalogue: Catalogue) async throws -> [String] {
        var query = CatalogueQuery()
        query.limit = 1000
        return try await catalogue.list(query).rows.map { String($0.item.id.key.dropFirst(4)) }
    }

    @Test func whatIsGoneGoesAndNothingElse() async throws {
        let catalogue = try await Shelf.filled(Shelf.books(0..<500))
        var books = Shelf.books(0..<500)
        books.remove(at: 250)
        books[10].title = "Another Title"
        try await Shelf.fill(catalogue, books)
        let keys = try await keys(catalogue)
        #expect(keys.count == 499 && !keys.contains("250"))
        #expect(try await catalogue.search("another title", limit: 1).rows.first?.item.id == Shelf.id("10"))
        #expect(
            try await catalogue.search(Shelf.books(10..<11)[0].title, limit: 5).rows.allSatisfy {
                $0.item.id != Shelf.id("10")
            })
        let state = try #require(try await catalogue.states().first)
        #expect(state.items == 499 && state.total == 499 && state.isFilled)
    }

    @Test func aReadingGoesOnWhereItWas() async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/index/catalogue.sqlite"
        let books = Shelf.books(0..<300)
        do {
            let catalogue = try Catalogue.open(at: path)
            try await catalogue.setLibraries([Shelf.library], account: account)
            #expect(try await catalogue.begin(library: "books", account: account)?.offset == 0)
            #expect(
                try await catalogue.take(
                    Array(books[..<200]), library: "books", account: account, next: 200, total: 300))
        }
        let catalogue = try Catalogue.open(at: path)
        #expect(try await catalogue.begin(library: "books", account: account)?.offset == 200)
        // What was read already can be found.
        #expect(try await catalogue.states().map(\.items) == [200])
        #expect(
            try await catalogue.take(Array(books[200...]), library: "books", account: account, next: 300, total: 300))
        #expect(try await catalogue.unseen(library: "books", account: account).isSure)
        try await catalogue.end(library: "books", account: account, complete: true, at: 7)
        #expect(try await catalogue.states().first?.filled == 7)
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/index") {
            let rights = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/index/\(name)")
            #expect(rights[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func aLibraryThatChangesWhileItIsReadIsReadAgain() async throws {
        let catalogue = try await Shelf.filled(Shelf.books(0..<100))
        _ = try await catalogue.begin(library: "books", account: account)
        #expect(try await catalogue.take(Shelf.books(0..<50), library: "books", account: account, next: 50, total: 100))
        #expect(
            try await !catalogue.take(Shelf.books(51..<99), library: "books", account: account, next: 99, total: 99))
        #expect(try await keys(catalogue).count == 100)
        // The next reading begins anew.
        #expect(try await catalogue.begin(library: "books", account: account)?.offset == 0)
        // One that saw fewer than there are may not say what is gone.
        #expect(try await catalogue.take(Shelf.books(0..<98), library: "books", account: account, next: 99, total: 99))
        #expect(try await !catalogue.unseen(library: "books", account: account).isSure)
    }

    @Test func anAccountGoesWithEverything() async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/catalogue.sqlite"
        let catalogue = try Catalogue.open(at: path)
        try await Shelf.fill(catalogue, [Shelf.book("1", "Verysecretbook", by: "Hidden Author")])
        try await catalogue.setLists(
            [CatalogueList(id: "l", kind: .playlist, name: "Privatelist", items: [Shelf.id("1")])], .playlist,
            library: "books", account: account)
        try await catalogue.setProgress(
            [CataloguePlace(Place(item: Shelf.id("1"), position: .seconds(5), duration: .seconds(9), updated: 3))],
            account: account)
        try await catalogue.remove(account: account)
        #expect(try await keys(catalogue).isEmpty)
        #expect(try await catalogue.states().isEmpty)
        #expect(try await catalogue.search("verysecretbook", limit: 5).rows.isEmpty)
        #expect(try await catalogue.search("verysecretbok", limit: 5).words == ["verysecretbok"])
        #expect(try await catalogue.continueListening(limit: 5).isEmpty)
        #expect(try await catalogue.lists(.playlist, like: "privatelist").isEmpty)
    }

    @Test(arguments: ["not a database at all, and long enough to be read as one", ""])
    func aDamagedIndexIsMadeAnew(_ content: String) async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/catalogue.sqlite"
        try Data(String(repeating: content, count: 200).utf8).write(to: URL(fileURLWithPath: path))
        let catalogue = try Catalogue.open(at: path)
        try await Shelf.fill(catalogue, Shelf.books(0..<10))
        #expect(try await keys(catalogue).count == 10)
    }

    /// Of a damaged page every value may be of another type than was written.
    @Test(arguments: ["title = NULL", "authors = NULL", "duration = 'x'", "number = number"])
    func aDamagedRowEndsNothingAndTheIndexIsMadeAnew(_ damage: String) async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/catalogue.sqlite"
        let catalogue = try Catalogue.open(at: path)
        try await Shelf.fill(catalogue, Shelf.books(0..<10))
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')
                        WHERE name = 'items';
                    PRAGMA writable_schema = RESET;
                    UPDATE items SET \(damage)
                    """)
        }
        try queue.close()
        if damage == "number = number" {
            #expect(try await keys(catalogue).count == 10)
        } else {
            await #expect(throws: CatalogueError.self) { try await keys(catalogue) }
            let anew = try Catalogue.open(at: path)
            #expect(try await anew.states().isEmpty, "what is damaged is not read again")
        }
    }

    @Test func podcastsHaveTheirEpisodes() async throws {
        let catalogue = try Catalogue.inMemory()
        let library = CatalogueLibrary(account: account, id: "pods", name: "Pods", isPodcasts: true)
        let podcast = CatalogueItem(
            id: Shelf.id("pod"), kind: .podcast, title: "The Hour", episodes: 2, isPlayable: false)
        try await catalogue.setLibraries([library], account: account)
        try await catalogue.put([podcast], library: "pods", account: account)
        #expect(try await catalogue.stalePodcasts(library: "pods", account: account, limit: 9) == [podcast.id])
        let episodes = (1...2).map { number in
            CatalogueItem(
                id: Shelf.id("pod/e\(number)"), kind: .episode, title: "Episode \(number)", podcast: "The Hour",
                duration: .seconds(60), published: Int64(number))
        }
        try await catalogue.put(episodes: episodes, of: podcast.id)
        #expect(try await catalogue.stalePodcasts(library: "pods", account: account, limit: 9).isEmpty)
        #expect(try await catalogue.episodes(of: podcast.id).map(\.item.title) == ["Episode 2", "Episode 1"])
        #expect(try await catalogue.next(after: episodes[0].id)?.item.id == episodes[1].id)
        #expect(try await catalogue.latest(limit: 9).map(\.item.id) == [episodes[1].id, episodes[0].id])
        #expect(try await keys(catalogue) == ["pod"])
        try await catalogue.put(episodes: [episodes[1]], of: podcast.id)
        #expect(try await catalogue.search("episode", limit: 9).rows.map(\.item.id) == [episodes[1].id])
        try await catalogue.remove([podcast.id])
        #expect(try await catalogue.search("episode", limit: 9).rows.isEmpty)
    }
}
