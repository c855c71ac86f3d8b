import DBus
import FoundationEssentials
import Testing

@testable import Control

private final class Face: ControlFace {
    let version = "1"
    var commands: [Command] = []
    func perform(_ command: Command, _ reply: Reply) { commands.append(command) }
    func login(_ request: LoginRequest, secrets pipe: Descriptor, _ reply: Reply) { commands.append(.login(request)) }
}

@Suite struct ControlTests {
    private func call(_ name: String, _ arguments: [Value]) -> [Command] {
        let face = Face()
        for case .method(let method) in controlInterface.members where method.name == name {
            guard case .later(let body) = method.body else { continue }
            body(face, arguments, Reply { _ in })
        }
        return face.commands
    }

    @Test func questionsAreMethods() {
        let names = controlInterface.members.compactMap {
            if case .method(let method) = $0 { method.name } else { nil }
        }
        #expect(ControlName.questions.subtracting(names).isEmpty)
    }

    @Test func methodsAreCommands() {
        #expect(call("Play", [.string("emma"), .string("+30")]) == [.play(what: "emma", at: "+30")])
        #expect(
            call("List", [.string(""), .string("-added"), .int32(5), .int32(2)])
                == [.list(library: "", sort: "-added", limit: 5, page: 2)])
        #expect(call("ResetSetting", [.string("a")]) == [.resetSetting(key: "a")])
        #expect(call("SetSetting", [.string("a"), .string("b")]) == [.settings(key: "a", value: "b")])
        #expect(call("Undo", [.string("")]) == [.undo(what: "")])
        #expect(call("Moves", []) == [.moves])
        #expect(call("Sleep", [.string("30m")]) == [.sleep("30m")])
        #expect(call("ForgetSpeed", []) == [.forgetSpeed])
        #expect(call("Sync", [.bool(true)]) == [.sync(retry: true)])
        #expect(call("Unsent", []) == [.unsent])
        #expect(call("Forget", [.string("s")]) == [.forget(id: "s")])
        #expect(call("Queue", []) == [.queue])
        #expect(call("QueueAdd", [.string("emma"), .bool(true)]) == [.queueAdd(what: "emma", next: true)])
        #expect(
            call("QueueAddAll", [.strings(["a", "b"]), .bool(false)]) == [.queueAddAll(["a", "b"], next: false)])
        #expect(call("QueueRemove", [.int32(2)]) == [.queueRemove(2)])
        #expect(call("QueueMove", [.int32(3), .int32(1)]) == [.queueMove(3, to: 1)])
        #expect(call("Bookmark", [.string("t")]) == [.bookmark(title: "t")])
        #expect(call("Bookmarks", [.string("emma")]) == [.bookmarks(what: "emma")])
        #expect(call("AllBookmarks", []) == [.allBookmarks])
        #expect(
            call("RenameBookmark", [.string("emma"), .int32(2), .string("t")])
                == [.renameBookmark(what: "emma", 2, title: "t")])
        #expect(call("RemoveBookmark", [.string("emma"), .int32(2)]) == [.removeBookmark(what: "emma", 2)])
        #expect(call("History", [.string(""), .int32(5)]) == [.history(what: "", limit: 5)])
        #expect(call("Stats", [.int32(7)]) == [.stats(days: 7)])
        #expect(call("QueueClear", []) == [.queueClear])
        #expect(call("Play", [.int32(1), .string("")]) == [], "a wrong type is refused before anyone is asked")
    }

    @Test func everyErrorKeepsItsExitCodeOverTheBus() {
        for kind in ControlError.Kind.allCases {
            let error = ControlError(kind, "a sentence")
            #expect(ControlError(error.busError) == error)
        }
        #expect(ControlError(BusError.failed("not ours")) == nil)
    }

    @Test func anErrorRepeatsNothingEndless() {
        let error = ControlError(
            .notFound, "there is no file \(String(repeating: "x", count: 100_000)); check the name")
        #expect(error.message.count < 1000 && error.message.hasPrefix("there is no file x"))
        #expect(error.message.hasSuffix("x; check the name"))
        let path = "there is no file /\(String(repeating: "x", count: 4094)); check the name"
        #expect(ControlError(.notFound, path).message == path)
    }

    @Test func secretsAreNotDescribed() {
        let request = LoginRequest(
            address: "https://books.example.org", user: "ida",
            secrets: LoginSecrets(password: "hush", headers: ["K": "hush"]))
        #expect(!"\(request) \(request.secrets) \(Command.login(request))".contains("hush"))
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!dumped.contains("hush"))
    }

    @Test func statusHasEveryKeyAndReadsOlderOnes() throws {
        let text = String(decoding: try JSONEncoder().encode(StatusReport()), as: UTF8.self)
        for key in [
            "state", "item", "chapter", "position", "duration", "rate", "rateOf", "volume", "sleep", "buffered",
            "unsent",
            "account", "error", "parked", "queued",
        ] { #expect(text.contains("\"\(key)\":")) }
        let old = #"{"state":"paused","position":1,"duration":2,"rate":1,"volume":1,"unsent":0}"#
        #expect(try JSONDecoder().decode(StatusReport.self, from: Data(old.utf8)).item == nil)
    }

    @Test func ofSeveralOutcomesTheOneThatNeedsTheListenerCounts() {
        func problem(_ outcomes: SyncReport.Outcome...) -> ControlError.Kind? {
            SyncReport(
                rows: outcomes.map {
                    SyncReport.Row(
                        id: "", kind: "finish", item: ItemHead(id: "", title: "", authors: [], kind: "book"),
                        account: nil, at: 0, position: nil, listened: nil, outcome: $0)
                }
            ).problem
        }
        #expect(problem() == nil)
        #expect(problem(.accepted, .accepted) == nil)
        #expect(problem(.accepted, .refused) == .failed)
        #expect(problem(.refused, .unreachable) == .unreachable)
        #expect(problem(.unreachable, .signedOut, .refused) == .notSignedIn)
    }

    @Test func whatIsLeftOfTheQueueIsSummed() {
        func row(_ duration: Double?, _ position: Double?, finished: Bool = false) -> ItemRow {
            var row = ItemRow(item: ItemHead(id: "", title: "", authors: [], kind: "book"), finished: finished)
            (row.duration, row.position) = (duration, position)
            return row
        }
        #expect(QueueReport(items: []).left == 0)
        let items = [row(100, 30), row(100, nil), row(100, 60, finished: true), row(nil, 5), row(10, 50)]
        #expect(QueueReport(items: items).left == 270)
    }
}

@Suite struct ProfileTests {
    @Test func theUsualOneHasNoName() throws {
        for environment in [[:], ["DOGEAR_PROFILE": ""]] {
            let profile = try Profile(environment: environment)
            #expect(profile == .usual && profile.folder == "dogear" && profile.bus == "org.dogear.Dogear")
        }
    }

    @Test func anotherHasAFolderAndANameOfItsOwn() throws {
        let profile = try Profile(environment: ["DOGEAR_PROFILE": "kids-2"])
        #expect(profile.folder == "dogear/profiles/kids-2" && profile.bus == "org.dogear.Dogear.kids-2")
    }

    @Test(arguments: ["", "1st", "-x", "a/b", "..", "a.b", "ä", "a b", String(repeating: "x", count: 33)])
    func whatIsNoPathAndNoBusNameIsRefused(_ name: String) {
        #expect(throws: ControlError.self) { try Profile(name) }
    }
}
