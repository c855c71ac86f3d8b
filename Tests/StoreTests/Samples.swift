import Foundation
import GRDB
import Listening
import Testing

@testable import Store

let emma = ItemID(source: "abs", key: "4d7a/li_emma")
let ulysses = ItemID(source: "file", key: "9e107d9d")

func place(_ item: ItemID, _ seconds: Double, updated: Int64 = 1) -> Place {
    Place(item: item, position: .seconds(seconds), duration: .seconds(3600), updated: updated)
}

func stretch(_ id: String, _ item: ItemID = emma, listened: Double = 0, started: Int64 = 1) -> Stretch {
    var stretch = Stretch(
        id: id, item: item, started: started, startPlace: .zero, duration: .seconds(3600), delivery: .open)
    stretch.listened = .seconds(listened)
    return stretch
}

func item(_ id: ItemID, _ title: String = "Emma") -> Item {
    Item(id: id, kind: .book, title: title, duration: .seconds(3600), tracks: [])
}

func account(_ id: String, user: String = "jane") -> Account {
    Account(id: id, server: "https://books.example.org/abs", user: user, login: .tokens)
}

/// Writes over the first page of a table, behind SQLite's back.
func spoil(_ table: String, of path: String) async throws {
    let page = try await DatabaseQueue(path: path).read { db in
        try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table])
    }
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: UInt64(try #require(page) - 1) * 4096)
    try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
    try file.close()
}

extension Store {
    func unsent() async throws -> [Stretch] { try await stretches().filter(\.isUnsent) }
    func stretch(_ id: String) async throws -> Stretch? { try await stretches().first { $0.id == id } }
    func rate(of item: ItemID) async throws -> Double? { try await rate(among: [item])?.rate }
}
