import Foundation

/// The table in `COVERAGE.md`: each recording, and by which story it is replayed or why it is not.
struct Coverage: Sendable {
    enum Fate: Sendable, Equatable {
        case replayed(story: String)
        case not(reason: String)
    }

    let fates: [(name: String, fate: Fate)]

    init() throws {
        let file = Bundle.module.resourceURL!.appending(path: "COVERAGE.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        fates = text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| "), cells.count == 2, cells[0] != "recording" else { return nil }
            if cells[1].hasPrefix("replayed: ") { return (cells[0], .replayed(story: String(cells[1].dropFirst(10)))) }
            return (cells[0], .not(reason: cells[1].replacing(#/^not: /#, with: "")))
        }
    }

    /// The recordings of a story in the order in which they were made.
    func recordings(of story: String) throws -> [Recording] {
        try fates.filter { $0.fate == .replayed(story: story) }.map { try Recording($0.name) }
            .sorted { ($0.recordedAt, $0.name) < ($1.recordedAt, $1.name) }
    }
}
