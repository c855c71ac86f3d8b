import Listening

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

extension Store {
    func unsent() async throws -> [Stretch] { try await stretches().filter(\.isUnsent) }
    func stretch(_ id: String) async throws -> Stretch? { try await stretches().first { $0.id == id } }
    func rate(of item: ItemID) async throws -> Double? { try await rate(among: [item])?.rate }
}
