import Foundation
import StandIn

/// The library of the recordings: same ids, sizes and durations, but files full of nothing.
struct ContractLibrary: Sendable {
    let folder: String
    let libraries: [StandInLibrary]
    /// Every id in it.
    let ids: Set<String>

    /// Makes the files that `Fixtures/library` describes in a new temporary folder.
    init() throws {
        let fixtures = Bundle.module.resourceURL!.appending(path: "Fixtures/library")
        let home = FileManager.default.temporaryDirectory.appending(path: "standin-\(UUID().uuidString)")
        let sizes = try JSON(parsing: Data(contentsOf: fixtures.appending(path: "sizes.json")))
        for path in sizes.keys {
            let file = home.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let size = sizes[path]?.integer ?? 0
            // The one book that is transcoded must be audio; the others are holes of the right size.
            let head = path.hasSuffix(".flac") ? Self.silence(bytes: size) : Data()
            try head.write(to: file)
            guard truncate(file.path, size) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
        try FileManager.default.copyItem(
            at: fixtures.appending(path: "library.json"), to: home.appending(path: "library.json"))
        folder = home.path
        let text = try String(contentsOf: home.appending(path: "library.json"), encoding: .utf8)
        ids = Set(text.matches(of: #/[0-9a-f]{8}-[0-9a-f-]{27}/#).map { String($0.output) })
        libraries = try StandInLibrary.load(folder: home.path)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// The head of a WAV file, 8 kHz mono 16 bit, whose zeros fill the rest of that many bytes.
    static func silence(bytes: Int) -> Data {
        func little(_ number: Int, _ width: Int) -> Data { Data((0..<width).map { UInt8(number >> ($0 * 8) & 0xFF) }) }
        let format = little(16, 4) + little(1, 2) + little(1, 2) + little(8000, 4) + little(16000, 4)
        return Data("RIFF".utf8) + little(bytes - 8, 4) + Data("WAVEfmt ".utf8) + format + little(2, 2) + little(16, 2)
            + Data("data".utf8) + little(bytes - 44, 4)
    }

    /// The accounts of the recordings. The names of two of them are not in any recording.
    static let users: [StandInUser] = {
        func user(_ name: String, _ kind: StandInUser.Kind, _ password: String) -> StandInUser {
            StandInUser(name: name, password: password, kind: kind)
        }
        var inactive = user("inactive", .user, "in-1")
        inactive.isActive = false
        var noDownload = user("nodl", .user, "nodl-1")
        noDownload.mayDownload = false
        var restricted = user("restricted", .user, "restricted-1")
        restricted.libraries = ["680d24b5-6685-485c-b70d-f0f3a5a0428d"]
        let lena = StandInUser(name: "lena", password: "listen-1", id: "e25f6560-9b73-4c8c-bc58-5a03bd7ab5fc")
        return [
            user("root", .root, "rootpass1"), lena, user("guest", .guest, "guest-1"), noDownload, restricted, inactive,
        ]
    }()
}
