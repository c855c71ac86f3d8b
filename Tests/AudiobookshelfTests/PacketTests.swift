import HTTP
import Listening
import Testing

@testable import Audiobookshelf

/// Packets of the live connection, as recorded and as nobody should send them.
@Suite struct PacketTests {
    private func read(_ text: String) -> [EnginePacket] { EnginePacket.read(Array(text.utf8)) }

    @Test func aRecordedConversation() throws {
        var packets: [EnginePacket] = []
        for step in try Fixture("socket-03-progress-events").json["steps"].elements {
            let body = step["response"].elements.compactMap(\.string).joined(separator: "\u{1e}")
            packets += read(body)
        }
        #expect(packets.first == .open(sid: "r76RMyKzlh2WZMUAAAAE", silence: 45))
        #expect(packets.dropFirst().first == .connected)
        let events = packets.compactMap { if case .event(let event) = $0 { event } else { nil } }
        let lena = "e25f6560-9b73-4c8c-bc58-5a03bd7ab5fc"
        #expect(events.first == .welcome(user: lena))
        let told = events.compactMap { event in
            if case .progress(let session, let payload) = event { (session, payload) } else { nil }
        }
        #expect(told.map { $0.1.progress.position.seconds } == [777, 30, 790])
        #expect(told.first?.0 == "4197a3cd-03f3-47fd-a04c-3a928be62340")
        #expect(told.map { $0.1.episode } == [nil, "78240709-bf76-458f-a886-9a1295514a68", nil])
        #expect(told.first?.1.progress.updated == 1_795_223_986_142)
        let users = events.compactMap { if case .user(lena, let payloads, _) = $0 { payloads } else { nil } }
        #expect(users.map(\.count) == [2, 2] && (users.joined() + told.map(\.1)).allSatisfy { $0.user == lena })
        #expect(users.first?.map(\.progress.isFinished) == [true, false])
    }

    @Test(arguments: [
        "", "\u{1e}\u{1e}", "9", "x", "4", "42", "42[", "42[\"", "42[\"init", "42{}", "42[1,2]", "0", "0{}",
        "0{\"sid\":\"\"}",
        "0{\"sid\":\"a b\"}", "0[]", "43[]", "42[\"user_item_progress_updated\"]",
        "42[\"user_item_progress_updated\",{\"data\":{}}]", "42[\"user_item_progress_updated\",{\"data\":[1]}]",
        "42[\"author_updated\",{\"id\":\"x\"}]", "42/admin,[\"init\",{}]", "6", "3",
    ])
    func nonsenseIsLeftOut(text: String) { #expect(read(text) == []) }

    @Test(arguments: [
        (#"["item_added",{"id":"x","media":{}}]"#, ["x"]), (#"["item_removed",{"id":"x","libraryId":"l"}]"#, ["x"]),
        (#"["items_updated",[{"id":"x"},{"no":1},{"id":"y"}]]"#, ["x", "y"]), (#"["items_added",7]"#, []),
        (#"["item_updated",null]"#, []), (#"["episode_added",{"id":"e","libraryItemId":"x"}]"#, ["x"]),
    ])
    func whatChangedInTheLibrariesIsNamed(text: String, items: [String]) {
        #expect(read("42" + text) == [.event(.items(items))])
    }

    @Test func whatElseChangedIsOneSign() {
        #expect(read(#"42["playlist_updated",{"id":"p"}]"#) == [.event(.libraries)])
    }

    @Test func aLongSessionNameIsNone() {
        #expect(read("0{\"sid\":\"\(String(repeating: "a", count: 129))\"}") == [])
    }

    @Test func brokenBytesAreLeftOut() {
        #expect(EnginePacket.read([0x34, 0x32, 0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d, 0x1e, 0x32]) == [.ping])
    }

    @Test func numbersWithoutSenseBecomeSane() {
        #expect(
            read("0{\"sid\":\"a\",\"pingInterval\":1e300,\"pingTimeout\":-5}") == [.open(sid: "a", silence: 300.1)])
        let event = #"42["user_updated",{"mediaProgress":[{"libraryItemId":"i","currentTime":"abc"},7,null]}]"#
        guard case .event(.user(nil, let payloads, _))? = read(event).first else {
            Issue.record("not read")
            return
        }
        #expect(payloads.map(\.progress.position) == [.zero])
    }

    @Test func ofAFloodOnlyTheFirstAreRead() {
        #expect(read(Array(repeating: "2", count: 100_000).joined(separator: "\u{1e}")).count == 256)
    }
}
