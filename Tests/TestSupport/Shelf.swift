public import Catalogue
public import Listening

/// Made-up libraries: words of syllables, so that there are as many different ones as people have.
public enum Shelf {
    public static let account = "acc"
    public static let library = CatalogueLibrary(account: account, id: "books", name: "Books", isPodcasts: false)
    private static let syllables = [
        "ba", "lor", "mi", "ten", "ra", "shu", "kel", "vo", "ni", "dra", "fen", "gol", "hu", "jas", "pe", "quin", "sto",
        "thal", "wyn", "zor", "cle", "bri", "amp", "ell", "ono",
    ]

    public static func id(_ key: String) -> ItemID { ItemID(source: "abs", key: "\(account)/\(key)") }

    public static func book(_ key: String, _ title: String, by author: String = "Ada Ebb") -> CatalogueItem {
        CatalogueItem(id: id(key), kind: .book, title: title, authors: [author], duration: .seconds(3600), added: 1)
    }

    /// - Parameter range: numbers of books; the same number is always the same book.
    public static func books(_ range: Range<Int>) -> [CatalogueItem] {
        range.map { number in
            var random = SeededNumbers(seed: UInt64(number))
            func word() -> String {
                (0..<Int.random(in: 2...3, using: &random)).map { _ in
                    syllables.randomElement(using: &random) ?? ""
                }.joined()
            }
            let author = "\(word().capitalized) \(word().capitalized)"
            var book = book(
                "\(number)", (0..<Int.random(in: 1...5, using: &random)).map { _ in word() }.joined(separator: " "),
                by: author)
            book.narrators = ["Narrator \(number % 50)"]
            book.genres = ["Genre \(number % 10)"]
            book.added = Int64(number) * 1000
            if number % 3 == 0 {
                book.series = [SeriesPlace(name: "Series \(number / 30)", sequence: "\(number / 3 % 10 + 1)")]
            }
            return book
        }
    }

    /// A catalogue with these items in one library that is read from end to end.
    public static func filled(_ items: [CatalogueItem]) async throws -> Catalogue {
        let catalogue = try Catalogue.inMemory()
        try await fill(catalogue, items)
        return catalogue
    }

    public static func fill(_ catalogue: Catalogue, _ items: [CatalogueItem]) async throws {
        try await catalogue.setLibraries([library], account: account)
        _ = try await catalogue.begin(library: "books", account: account)
        for start in stride(from: 0, to: items.count, by: 200) {
            let page = Array(items[start..<min(items.count, start + 200)])
            _ = try await catalogue.take(
                page, library: "books", account: account, next: start + page.count, total: items.count)
        }
        try await catalogue.remove(try await catalogue.unseen(library: "books", account: account).items)
        try await catalogue.end(library: "books", account: account, complete: true, at: 1)
    }
}

extension String {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
