import Catalogue
import Listening
import TestSupport
import Testing

@Suite struct SearchTests {
    private static let items: [CatalogueItem] = {
        var hobbit = Shelf.book("1", "The Hobbit", by: "J. R. R. Tolkien")
        hobbit.narrators = ["Rob Inglis"]
        var ring = Shelf.book("2", "The Fellowship of the Ring", by: "J. R. R. Tolkien")
        ring.series = [SeriesPlace(name: "The Lord of the Rings", sequence: "1")]
        return [
            hobbit, ring, Shelf.book("3", "About the Hobbit", by: "Somebody Else"),
            Shelf.book("4", "Emma", by: "Jane Austen"), Shelf.book("5", "Ein Café in Zürich", by: "Élodie Grünwald"),
            Shelf.book("6", "Emma and the Hobbitons", by: "Austin Powers"),
            Shelf.book("7", "AND OR NOT NEAR", by: "title: \"quoted\" * ^"),
            Shelf.book("8", "1984", by: "George Orwell"),
            Shelf.book("9", "\u{1B}]0;evil\u{7}Escape \u{202E}Artist", by: "M. Arks"),
        ]
    }()

    private func found(_ words: String, limit: Int = 20) async throws -> [String] {
        let catalogue = try await Shelf.filled(Self.items)
        return try await catalogue.search(words, limit: limit).rows.map { String($0.item.id.key.dropFirst(4)) }
    }

    @Test(arguments: [
        ("the hobbit", ["1", "3"]), ("hobbit", ["1", "3", "6"]), ("hobb", ["1", "3", "6"]), ("emma", ["4", "6"]),
        ("tolkien hobbit", ["1"]), ("jrr tolkien", ["1", "2"]), ("lord of the rings", ["2"]), ("inglis", ["1"]),
        ("cafe zurich", ["5"]), ("CAFÉ", ["5"]), ("grunwald", ["5"]), ("gruenwald", ["5"]),
        // Mistyped.
        ("hobit", ["1", "3"]), ("tolkein", ["1", "2"]), ("toklein", ["1", "2"]), ("emma austn", ["4"]),
        ("the hobbitt", ["1", "3"]), ("orwel 1984", ["8"]),
        // In short words, which may be beginnings: letters swapped, or one of them wrong.
        ("hte hobbit", ["1", "3"]), ("ohb", ["1", "3", "6"]), ("hpb", ["1", "3", "6"]), ("xmma", ["4", "6"]),
        ("meam", []), ("emam", ["4", "6"]), ("riny", ["2"]), ("rob ingls", ["1"]), ("zxq", []),
        // Both words exist, but not together.
        ("jane austin", ["4"]),
        // Syntax is words.
        ("and or not near", ["7"]), ("NEAR(", ["7"]), ("title:", ["7"]), ("\"quoted\" *", ["7"]), ("hobbit AND", ["6"]),
        ("^", []), ("\"", []), ("", []), ("--", []), ("escape artist", ["9"]), ("1985", []),
    ])
    func finds(_ words: String, _ keys: [String]) async throws {
        let found = try await found(words)
        #expect(Array(found.prefix(keys.count)) == keys, "\(found)")
        if keys.isEmpty { #expect(found.isEmpty) }
    }

    @Test func whatWasMeantIsTold() async throws {
        let catalogue = try await Shelf.filled(Self.items)
        #expect(try await catalogue.search("tolkein", limit: 5).words == ["tolkien"])
        #expect(try await catalogue.search("Tolkien", limit: 5).words == ["tolkien"])
    }

    @Test func noTextBreaksIt() async throws {
        let catalogue = try await Shelf.filled(Self.items)
        for text in [
            String(repeating: "a ", count: 5000), String(repeating: "x", count: 100_000), "\0", "' OR 1=1 --",
            "a\" OR \"b",
            "💥", "\u{1F}\u{1E}", "%_", "{title} : x", "-hobbit", "col:hobbit",
        ] {
            _ = try await catalogue.search(text, limit: 5)
            _ = try await catalogue.names("author", like: text)
            _ = try await catalogue.lists(.collection, like: text)
        }
    }

    @Test func wholeNamesComeFirstAmongMany() async throws {
        let many = (0..<1000).map { number in
            var book = Shelf.book("m\(number)", "Book", by: "Author \(number + 100)")
            book.narrators = ["Narrator 1"]
            return book
        }
        let catalogue = try await Shelf.filled(many + [Shelf.book("one", "Book", by: "Author 1")])
        #expect(try await catalogue.search("author 1", limit: 5).rows.first?.item.authors == ["Author 1"])
    }

    @Test func theWholeTitleComesFirstAmongMany() async throws {
        let many = (0..<1000).map { Shelf.book("m\($0)", "Dune \($0)") } + [Shelf.book("dune", "Dune")]
        let catalogue = try await Shelf.filled(many)
        let rows = try await catalogue.search("dune", limit: 20).rows
        #expect(rows.count == 20)
        #expect(rows.first?.item.title == "Dune")
        #expect(try await catalogue.search("dune 77", limit: 20).rows.first?.item.title == "Dune 77")
    }

    @Test func everyBookOfALargeLibraryIsFound() async throws {
        let books = Shelf.books(0..<2000)
        let catalogue = try await Shelf.filled(books)
        for number in stride(from: 0, to: 2000, by: 97) {
            let book = books[number]
            let rows = try await catalogue.search("\(book.title) \(book.authors[0])", limit: 10).rows
            #expect(rows.contains { $0.item.id == book.id }, "\(book.title)")
        }
    }
}
