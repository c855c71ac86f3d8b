import Catalogue
import Foundation
import Listening
import TestSupport

/// Prints how fast the index is with libraries of so many made-up books: `catalogue-bench [COUNT...]`.
@main enum Bench {
    static func main() async throws {
        let sizes = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        for count in sizes.isEmpty ? [10, 5000, 100_000] : sizes { try await figures(count) }
    }

    static func figures(_ count: Int) async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/catalogue.sqlite"
        let catalogue = try Catalogue.open(at: path)
        let books = Shelf.books(0..<count)
        let clock = ContinuousClock()
        let filling = try await clock.measure { try await Shelf.fill(catalogue, books) }
        let again = try await clock.measure { try await Shelf.fill(catalogue, books) }
        print(
            "\(count) items: filled in \(ms(filling)) ms, read again in \(ms(again)) ms, \(size(path)) MB on the disk")
        var random = SeededNumbers(seed: 1)
        let some = (0..<50).map { _ in books.randomElement(using: &random)! }
        func words(_ book: CatalogueItem) -> [String] { Words.split(book.title + " " + book.authors[0]) }
        try await report("search, two words", some.map { words($0).suffix(2).joined(separator: " ") }, catalogue)
        try await report("search, one letter", ["a", "b", "s", "t"], catalogue)
        try await report("search, beginnings", some.map { String(words($0)[0].prefix(4)) }, catalogue)
        try await report("search, mistyped", some.map { mistype(words($0).max { $0.count < $1.count }!) }, catalogue)
        try await report("search, mistyped short", some.map { slip(words($0)[0]) }, catalogue)
        try await report("search, in every row", ["narrator", "narr 7", "narrator 12"], catalogue)
        try await report("search, nothing", ["qqqqqq", "zyxwvut abc", "12345678"], catalogue)
        try await measure("list, first page") { _ = try await catalogue.list(CatalogueQuery()) }
        for sort in CatalogueQuery.Sort.allCases {
            try await measure("list, by \(sort)") {
                var query = CatalogueQuery()
                (query.sort, query.isReversed) = (sort, true)
                _ = try await catalogue.list(query)
            }
        }
        try await measure("list, one series") {
            var query = CatalogueQuery()
            query.series = ["series 0"]
            _ = try await catalogue.list(query)
        }
        try await measure("names of authors") { _ = try await catalogue.names("author", like: "lor") }
        try await measure("latest") { _ = try await catalogue.latest(limit: 20) }
        try await measure("continue") { _ = try await catalogue.continueListening(limit: 20) }
        try await measure("snapshot") { _ = try await catalogue.snapshot() }
        let glances = some.map { String(words($0)[0].prefix(3)) }
        try await measure("completion of a word", of: glances.count) {
            for word in glances { _ = CatalogueGlance(path: path)?.titles(word, limit: 60) }
        }
        try await ViewBench.run(catalogue, words: some.prefix(10).map { words($0).suffix(2).joined(separator: " ") })
    }

    private static func mistype(_ word: String) -> String {
        var letters = Array(word)
        if letters.count > 3 { letters.swapAt(2, 3) }
        return String(letters)
    }

    /// The first letters of a word, two of them swapped.
    private static func slip(_ word: String) -> String {
        var letters = Array(word.prefix(4))
        letters.swapAt(letters.count / 2 - 1, letters.count / 2)
        return String(letters)
    }

    private static func report(_ name: String, _ queries: [String], _ catalogue: Catalogue) async throws {
        var times: [Duration] = []
        var found = 0
        for query in queries {
            for _ in 0..<3 {
                let start = ContinuousClock.now
                found += try await catalogue.search(query, limit: 20).rows.isEmpty ? 0 : 1
                times.append(.now - start)
            }
        }
        show(name, times, ", \(found * 100 / (queries.count * 3)) % with results")
    }

    /// - Parameter count: how often it is done each time.
    private static func measure(
        _ name: String, of count: Int = 1, _ body: () async throws -> Void
    ) async throws {
        var times: [Duration] = []
        for _ in 0..<10 { times.append(try await ContinuousClock().measure(body) / count) }
        show(name, times, "")
    }

    private static func show(_ name: String, _ times: [Duration], _ more: String) {
        let sorted = times.sorted()
        print("  \(name): median \(ms(sorted[sorted.count / 2])) ms, worst \(ms(sorted.last!)) ms\(more)")
    }

    static func ms(_ time: Duration) -> String { String(format: "%.2f", time / .milliseconds(1)) }

    private static func size(_ path: String) -> String {
        let bytes = ["", "-wal"].reduce(0) { sum, suffix in
            sum + ((try? FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int) ?? 0)
        }
        return String(format: "%.1f", Double(bytes) / 1e6)
    }
}
