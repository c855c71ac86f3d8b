import Catalogue
import Control
import Foundation
import Screen
import Terminal
import TestSupport
import View

/// The terminal view over an index: from a key that is pressed to the bytes that the terminal gets. What the daemon does
/// between them is done here, all but the way over the bus.
struct ViewBench {
    private let catalogue: Catalogue
    private let colors = Colors(environment: ["TERM": "xterm-256color"])
    private var state = ViewState(
        size: Size(columns: 120, rows: 40), surface: Surface(columns: nil, styled: false, isASCII: false, now: 0),
        pictures: .none)
    private var shown: Frame?
    private var now: Int64 = 0

    private init(_ catalogue: Catalogue) { self.catalogue = catalogue }

    static func run(_ catalogue: Catalogue, words: [String]) async throws {
        var bench = ViewBench(catalogue)
        try await bench.take(.appeared)
        try await bench.press([.text("3")])
        print("  view, a key in the library: \(try await bench.measured(Array(repeating: [.down], count: 200)))")
        let pages = Array(repeating: [Key.pageDown], count: 200)
        print("  view, a page further: \(try await bench.measured(pages))")
        try await bench.press([.text("/")])
        let letters = words.flatMap { word in word.map { [Key.text($0)] } + [[.control("u")]] }
        print("  view, a letter of a search, with what it finds: \(try await bench.measured(letters))")
    }

    /// Each with what the index answers to it.
    private mutating func measured(_ presses: [[Key]]) async throws -> String {
        var times: [Duration] = []
        var bytes: [Int] = []
        for keys in presses {
            let start = ContinuousClock.now
            bytes.append(try await press(keys))
            times.append(.now - start)
        }
        times.sort()
        bytes.sort()
        let (middle, last) = (times.count / 2, times.count * 99 / 100)
        return "median \(Bench.ms(times[middle])) ms, 99 of 100 within \(Bench.ms(times[last])) ms, "
            + "\(bytes[bytes.count / 2]) bytes (median), \(bytes.last ?? 0) at most"
    }

    @discardableResult
    private mutating func press(_ keys: [Key]) async throws -> Int {
        var bytes = 0
        for key in keys { bytes += try await take(.input(.key(key))) }
        return bytes
    }

    /// - Returns: bytes for the terminal, of all frames until nothing more is asked.
    @discardableResult
    private mutating func take(_ event: ViewEvent) async throws -> Int {
        var bytes = 0
        var events = [event]
        while !events.isEmpty {
            now += 1
            let requests = state.handle(events.removeFirst(), at: now)
            let frame = state.draw(at: now).frame
            bytes += Changes.picture(from: shown, to: frame).utf8.count
            bytes += Changes.from(shown, to: frame, colors: colors).utf8.count
            shown = frame
            for case .ask(let question) in requests {
                events.append(.answered(question, .success(try await answer(question))))
            }
        }
        return bytes
    }

    private func answer(_ question: Question) async throws -> String {
        switch question {
        case .libraries:
            let row = LibrariesReport.Row(id: "books", name: "Books", mediaType: "book", account: "ada@example.org")
            return try json(LibrariesReport(libraries: [row]))
        case .browse(let request):
            var query = CatalogueQuery()
            query.sort = CatalogueQuery.Sort(rawValue: request.sort)
            (query.limit, query.offset) = (request.limit, (request.page - 1) * request.limit)
            let page = try await catalogue.list(query)
            return try json(ListReport(items: page.rows.map(row), total: page.total, page: request.page))
        case .search(let words):
            return try json(ListReport(items: try await catalogue.search(words, limit: 100).rows.map(row)))
        case .continued, .latest: return try json(ListReport(items: []))
        case .queue: return try json(QueueReport(items: []))
        case .settings: return try json(SettingsReport(settings: [], problems: []))
        case .logs: return try json(LogsReport(records: []))
        case .status, .chapters, .show, .act: return try json(StatusReport())
        }
    }

    private func row(_ row: CatalogueRow) -> ItemRow {
        let item = row.item
        var shown = ItemRow(
            item: ItemHead(id: item.id.description, title: item.title, authors: item.authors, kind: item.kind.rawValue))
        shown.duration = item.duration.seconds
        return shown
    }

    private func json(_ report: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
    }
}
