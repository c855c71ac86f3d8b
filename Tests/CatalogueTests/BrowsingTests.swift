import Catalogue
import Listening
import TestSupport
import Testing

@Suite struct BrowsingTests {
    private func list(_ catalogue: Catalogue, _ change: (inout CatalogueQuery) -> Void) async throws -> [String] {
        var query = CatalogueQuery()
        change(&query)
        return try await catalogue.list(query).rows.map { String($0.item.id.key.dropFirst(4)) }
    }

    private func place(_ key: String, _ seconds: Double, finished: Bool = false, updated: Int64) -> Place {
        Place(
            item: Shelf.id(key), position: .seconds(seconds), duration: .seconds(3600), isFinished: finished,
            updated: updated)
    }

    private func three() async throws -> Catalogue {
        var one = Shelf.book("1", "Élan", by: "Zoe Zed")
        one.authors.append("Ada Ebb")
        one.series = [SeriesPlace(name: "Tides", sequence: "10")]
        one.released = "1999"
        one.added = 3
        var two = Shelf.book("2", "dune", by: "Bo Flow")
        two.series = [SeriesPlace(name: "Tides", sequence: "2.5")]
        two.narrators = ["C. Current"]
        two.duration = .seconds(10)
        two.added = 2
        var three = Shelf.book("3", "Fog", by: "Ada Ebb")
        three.series = [SeriesPlace(name: "Tides")]
        three.genres = ["Sea"]
        return try await Shelf.filled([one, two, three])
    }

    @Test func sorts() async throws {
        let catalogue = try await three()
        #expect(try await list(catalogue) { _ in } == ["2", "1", "3"])
        #expect(try await list(catalogue) { $0.sort = .added } == ["3", "2", "1"])
        #expect(try await list(catalogue) { ($0.sort, $0.isReversed) = (.added, true) } == ["1", "2", "3"])
        #expect(try await list(catalogue) { $0.sort = .author } == ["3", "2", "1"])
        #expect(try await list(catalogue) { $0.sort = .duration }.first == "2")
        #expect(try await list(catalogue) { $0.sort = .published }.last == "1")
        #expect(try await list(catalogue) { ($0.limit, $0.offset) = (1, 1) } == ["1"])
    }

    @Test func filters() async throws {
        let catalogue = try await three()
        #expect(try await catalogue.names("author", like: "ada ebb") == ["ada ebb"])
        #expect(try await catalogue.names("author", like: "EBB") == ["ada ebb"])
        #expect(try await catalogue.names("author", like: "nobody").isEmpty)
        #expect(try await catalogue.names("author", like: "").isEmpty)
        #expect(try await list(catalogue) { $0.authors = ["ada ebb"] } == ["1", "3"])
        #expect(try await list(catalogue) { ($0.authors, $0.genres) = (["ada ebb"], ["sea"]) } == ["3"])
        #expect(try await list(catalogue) { $0.narrators = ["c current"] } == ["2"])
        // In the order of the series; what has no number comes last.
        #expect(try await list(catalogue) { $0.series = ["tides"] } == ["2", "1", "3"])
        #expect(try await catalogue.next(after: Shelf.id("2"))?.item.id == Shelf.id("1"))
        #expect(try await catalogue.next(after: Shelf.id("3")) == nil)
        // Of what goes on by itself nothing is heard twice.
        let finished = CataloguePlace(
            Place(item: Shelf.id("1"), position: .seconds(9), duration: .seconds(9), isFinished: true, updated: 9))
        try await catalogue.setProgress([finished], account: Shelf.account)
        #expect(try await catalogue.next(after: Shelf.id("2"), isNew: true) == nil)
        #expect(try await catalogue.next(after: Shelf.id("2"))?.item.id == Shelf.id("1"))
    }

    @Test func listsKeepTheirOrder() async throws {
        let catalogue = try await three()
        let list = CatalogueList(
            id: "c1", kind: .collection, name: "Short ones", items: ["3", "1", "gone"].map(Shelf.id))
        try await catalogue.setLists([list], .collection, library: "books", account: Shelf.account)
        let number = try await catalogue.lists(.collection, like: "short")
        #expect(number.count == 1)
        #expect(try await self.list(catalogue) { $0.lists = number } == ["3", "1"])
        #expect(try await catalogue.lists(.playlist, like: "short").isEmpty)
        try await catalogue.setLists([], .collection, library: "books", account: Shelf.account)
        #expect(try await catalogue.lists(.collection, like: "c1").isEmpty)
    }

    @Test func progress() async throws {
        let catalogue = try await three()
        try await catalogue.setProgress(
            [
                CataloguePlace(place("1", 100, updated: 5)), CataloguePlace(place("2", 10, finished: true, updated: 6)),
                CataloguePlace(place("3", 7, updated: 9), isHidden: true),
            ], account: Shelf.account)
        #expect(try await catalogue.continueListening(limit: 9).map(\.item.id) == [Shelf.id("1")])
        #expect(try await list(catalogue) { $0.unfinished = true } == ["1", "3"])
        #expect(try await catalogue.latest(limit: 9).map(\.item.id) == [Shelf.id("1"), Shelf.id("3")])
        // An older place changes nothing, a newer one does.
        try await catalogue.note([place("1", 1, updated: 4), place("2", 3, updated: 7)])
        let rows = try await catalogue.continueListening(limit: 9)
        #expect(rows.map(\.item.id) == [Shelf.id("2"), Shelf.id("1")])
        #expect(rows.map(\.place?.position) == [.seconds(3), .seconds(100)])
        let snapshot = try await catalogue.snapshot(limit: 2)
        #expect(snapshot.continueListening.map(\.title) == ["dune", "Élan"])
        #expect(snapshot.libraries.map(\.name) == ["Books"])
        #expect(snapshot.libraries[0].newest.map(\.id) == [Shelf.id("1"), Shelf.id("2")])
    }
}
