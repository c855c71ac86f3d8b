import Catalogue
import Foundation
import Listening
import TestSupport
import Testing

@Suite struct GlanceTests {
    private struct Case: Sendable {
        let title: String
        let before: [String]
        let typed: String
        let whole: String?

        init(_ title: String, _ before: String, _ typed: String, _ whole: String?) {
            (self.title, self.typed, self.whole) = (title, typed, whole)
            self.before = Words.split(before)
        }
    }

    private static let cases: [Case] = [
        Case("The Dog-Eared Page", "", "the d", "the dog-Eared Page"),
        Case("The Dog-Eared Page", "the", "dog", "dog-Eared Page"),
        Case("The Dog-Eared Page", "the dog", "", "Eared Page"), Case("The Dog-Eared Page", "", "pa", "page"),
        Case("The Dog-Eared Page", "", "dog ear", "dog eared Page"),
        Case("The Dog-Eared Page", "", "the ", "the Dog-Eared Page"),
        Case("Élodie à Paris", "", "elo", "elodie à Paris"), Case("Ender's Game", "", "enders", "enders Game"),
        Case("Emma", "", "emma", "emma"), Case("Emma", "", "", "Emma"), Case("- rf", "", "", "rf"),
        Case("Emma", "emma", "", nil), Case("Emma", "", "mm", nil), Case("Emma", "em", "m", nil),
        Case("", "", "", nil), Case("…", "", "", nil), Case("…", "", "…", nil),
    ]

    @Test(arguments: Self.cases) private func aTitleIsGoneOnWith(_ it: Case) {
        #expect(Words.completed(it.title, after: it.before, typed: it.typed) == it.whole)
    }

    @Test func itReadsBesideTheDaemonAndWithoutIt() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/catalogue.sqlite"
            #expect(CatalogueGlance(path: path) == nil)
            #expect(!FileManager.default.fileExists(atPath: path))
            var books = [
                Shelf.book("1", "The Dog-Eared Page", by: "Dorothea Ribbon"), Shelf.book("2", "Dune: Messiah"),
            ]
            books[1].series = [SeriesPlace(name: "Dune", sequence: "2")]
            do {
                let catalogue = try Catalogue.open(at: path)
                try await Shelf.fill(catalogue, books)
                let glance = try #require(CatalogueGlance(path: path))
                #expect(glance.titles("dog", limit: 9).map(\.title) == ["The Dog-Eared Page"])
                #expect(Set(glance.titles("", limit: 9).map(\.title)) == ["The Dog-Eared Page", "Dune: Messiah"])
            }
            chmod(folder, 0o500)
            defer { chmod(folder, 0o700) }
            let glance = try #require(CatalogueGlance(path: path))
            #expect(glance.titles(idBeginning: "abs:acc/1", limit: 9).map(\.id) == [Shelf.id("1")])
            #expect(glance.libraries == ["Books"])
            #expect(glance.names("author", "rib", limit: 9) == ["Dorothea Ribbon"])
            #expect(glance.names("author", "dorothea r", limit: 9) == ["Dorothea Ribbon"])
            #expect(glance.names("author", "ibbon", limit: 9) == [])
            #expect(glance.names("series", "", limit: 9) == ["Dune"])
            #expect(glance.titles("'; DROP TABLE items; --", limit: 9) == [])
        }
    }

    @Test func anIndexOfAnotherVersionIsNone() async throws {
        try await withTemporaryFolder { folder in
            try Data("SQLite? No.".utf8).write(to: URL(fileURLWithPath: "\(folder)/catalogue.sqlite"))
            #expect(CatalogueGlance(path: "\(folder)/catalogue.sqlite") == nil)
        }
    }
}
