import HTTP
import Listening
import TestSupport
import Testing

@testable import Audiobookshelf

/// A server that answers with damaged recordings: whatever comes, it is a value or a sentence, never a crash.
@Suite struct MutationTests {
    @Test func damagedAnswersNeverCrash() async throws {
        var random = SeededNumbers(seed: 20_261_121)
        let names = [
            "lib-01-libraries", "lib-05-items-page-1", "lib-28-recent-episodes", "item-01-expanded-progress",
            "item-04-podcast-expanded", "play-02-multifile", "me-01-me-with-progress", "prog-30-items-in-progress",
            "auth-02-login-return-tokens", "boot-04-status", "local-07-all",
        ]
        let fixtures = try names.map { try Fixture($0).body.bytes }
        for round in 0..<3000 {
            let bytes = mutated(fixtures[round % fixtures.count], &random)
            guard let json = JSON(bytes) else { continue }
            if round % 16 == 0 { #expect(JSON(json.bytes) == json) }
            read(json)
        }
    }

    @Test func damagedValuesNeverCrash() throws {
        var random = SeededNumbers(seed: 7)
        for name in [
            "item-01-expanded-progress", "play-02-multifile", "me-01-me-with-progress", "lib-28-recent-episodes",
        ] {
            let body = try Fixture(name).body
            for _ in 0..<60 { read(replaced(body, &random)) }
        }
    }

    @Test func aWholeConversationOfNonsense() async throws {
        let item = try #require(ShelfItemID(account: accountID, item: "x"))
        let device = ShelfDevice(id: "d", version: "1")
        let fixture = try Fixture("item-01-expanded-progress").body
        var random = SeededNumbers(seed: 99)
        for _ in 0..<40 {
            let answer = replaced(fixture, &random)
            let shelf = try client(FakeTransport { _ in .json(answer) })
            _ = await failure { () throws(ShelfError) in _ = try await shelf.play(item, device: device, mimeTypes: []) }
            _ = await failure { () throws(ShelfError) in _ = try await shelf.details(item) }
            _ = await failure { () throws(ShelfError) in _ = try await shelf.continueListening() }
            _ = await failure { () throws(ShelfError) in _ = try await shelf.search("x") }
        }
    }

    private func read(_ json: JSON) {
        let elements = json["results"].elements + json["libraryItems"].elements + json["episodes"].elements + [json]
        for element in elements {
            if let item = ItemPayload(element) {
                _ = ShelfRow(item, account: accountID, progress: [:])
                for episode in item.episodes {
                    _ = ShelfRow(episode, item: item.id, podcast: item.metadata, account: "a", progress: [:])
                }
                _ = Timeline.repaired(chapters: item.chapters, duration: item.duration)
            }
            _ = EpisodePayload(element)
        }
        _ = StatusPayload(json)
        _ = try? LoginPayload(json, "x")
        if let play = try? PlayPayload(json, "x") {
            let audio = Audio.stream(AudioStream(url: ""))
            let tracks = play.tracks.map { Track(start: $0.start, duration: $0.duration, audio: audio) }
            _ = Item(
                id: ItemID(source: "abs", key: "x"), kind: .book, title: "", tracks: tracks, chapters: play.chapters)
        }
        if let user = try? UserPayload(json, "x") { _ = user.progress.map(\.progress.position) }
    }

    /// A few bytes changed, taken out, put in, or the end cut off.
    private func mutated(_ bytes: [UInt8], _ random: inout SeededNumbers) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: at)
            case 2: bytes.insert(contentsOf: Array("999999999999999999999".utf8), at: at)
            case 3: bytes.insert(contentsOf: Array("null".utf8), at: at)
            default: bytes.removeSubrange((bytes.count - at / 50)...)
            }
        }
        return bytes
    }

    /// Some values replaced by ones of another kind or size.
    private func replaced(_ json: JSON, _ random: inout SeededNumbers) -> JSON {
        let strange: [JSON] = [
            .null, true, "", "nan", "-1", -1, 1e308, -1e308, 0.1, [], [:], "\u{0}\u{202E}", [.null], ["id": .null],
            .string(String(repeating: "<", count: 300)), "&#x110000;",
        ]
        if Int.random(in: 0..<12, using: &random) == 0 { return strange.randomElement(using: &random) ?? .null }
        switch json {
        case .array(let elements): return .array(elements.map { replaced($0, &random) })
        case .object(let fields):
            return .object(
                Dictionary(
                    fields.sorted { $0.key < $1.key }.map { ($0.key, replaced($0.value, &random)) },
                    uniquingKeysWith: { $1 }))
        default: return json
        }
    }
}
