import Foundation
import StandIn

/// One request and the answer of the real server, from `Fixtures/recordings`.
struct Recording: Sendable {
    var name: String
    /// Milliseconds since 1970.
    var recordedAt: Int
    /// What was cut out of the body before it was stored; empty when nothing was.
    var trimmed: String
    var request: JSON
    var response: JSON

    static let folder = Bundle.module.resourceURL!.appending(path: "Fixtures/recordings").path

    static let names: [String] =
        (try? FileManager.default.contentsOfDirectory(atPath: folder))
        .map { $0.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted() } ?? []

    static func json(_ name: String) throws -> JSON {
        try JSON(parsing: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).json")))
    }

    init(_ name: String) throws {
        let json = try Self.json(name)
        self.name = name
        recordedAt = json["recordedAtMs"]?.integer ?? 0
        trimmed = (json["response"]?["trimmed"] ?? json["trimmed"])?.text ?? ""
        request = json["request"] ?? nil
        response = json["response"] ?? nil
    }

    var status: Int { response["status"]?.integer ?? 0 }

    func header(_ name: String) -> String? { response["headers"]?[name]?.text }
}
