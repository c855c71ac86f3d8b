import DBus
import Synchronization
import Testing

@testable import Launchers

/// The tables of the launchers, called with no bus at all.
@Suite struct LaunchersTests {
    @Test func aShellIsGivenIdsAndThenWhatToShow() throws {
        let face = Shelf()
        let ids = try call(searchProviderInterface, "GetInitialResultSet", face, [.strings(["tide", "book"])])
        #expect(ids == [.strings(["abs:a/1", "abs:a/2", "abs:a/3"])])
        #expect(face.asked == ["tide book"])
        let metas = try call(searchProviderInterface, "GetResultMetas", face, [.strings(["abs:a/2", "abs:a/gone"])])
        #expect(
            metas == [
                .array(
                    .variants,
                    [
                        .variants([
                            ("id", .string("abs:a/2")), ("name", .string("Ebb")), ("description", .string("Bo")),
                            ("icon", .structure([.string("themed"), .variant(.strings(["org.dogear.Dogear"]))])),
                        ])
                    ])
            ])
    }

    @Test func aCoverIsAFile() throws {
        let metas = try call(searchProviderInterface, "GetResultMetas", Shelf(), [.strings(["abs:a/1"])])
        let meta = try #require(try metas.first?.array().first?.dictionary())
        #expect(
            meta.first { $0.key == "icon" }?.value
                == .structure([.string("file"), .variant(.string("file:///covers/1.jpg"))]))
    }

    @Test func whatIsChosenPlays() throws {
        let face = Shelf()
        #expect(
            try call(searchProviderInterface, "ActivateResult", face, [.string("abs:a/2"), .strings([]), .uint32(0)])
                == [])
        #expect(try call(searchProviderInterface, "LaunchSearch", face, [.strings(["x"]), .uint32(0)]) == [])
        #expect(try call(runnerInterface, "Run", face, [.string("abs:a/9"), .string("")]) == [])
        #expect(face.chosen == ["abs:a/2", "best of x", "abs:a/9"])
    }

    @Test func matchesGetLessRelevant() throws {
        let rows = try #require(try call(runnerInterface, "Match", Shelf(), [.string("x")]).first?.array())
        let relevances = rows.map { row -> Double in
            guard case .structure(let members) = row, case .double(let relevance) = members[4] else { return 0 }
            return relevance
        }
        #expect(relevances.count == 3 && relevances == relevances.sorted(by: >) && relevances[2] > 0)
        guard case .structure(let first) = rows[0], case .structure(let second) = rows[1] else { return }
        #expect(first[0] == .string("abs:a/1") && first[2] == .string("/covers/1.jpg") && first[3] == .int32(100))
        // A program whose whole name was typed goes before a book that only begins so.
        #expect(second[3] == .int32(30))
        #expect(rows[0].signature.text == "(sssida{sv})")
    }

    /// KRunner asks these of every program as it comes up.
    @Test func whatAsksForNothingIsHeardOf() throws {
        let face = Shelf()
        for name in ["Actions", "Config", "Teardown"] { _ = try call(runnerInterface, name, face, []) }
        #expect(face.greetings == 3 && face.asked.isEmpty)
    }

    /// Of more it says how many there are, and there is no window to show those in.
    @Test func aShellIsGivenNoMoreThanItShows() throws {
        let face = Shelf(count: 9)
        let ids = try call(searchProviderInterface, "GetInitialResultSet", face, [.strings(["tide"])])
        #expect(try ids.first?.strings().count == 5)
        #expect(try call(runnerInterface, "Match", face, [.string("x")]).first?.array().count == 9)
    }

    @Test func whatIsNoTextIsRefused() throws {
        #expect(throws: BusError.self) {
            try call(searchProviderInterface, "GetInitialResultSet", Shelf(), [.array(.int32, [.int32(1)])])
        }
    }

    private func call(
        _ table: BusInterface<any LauncherFace>, _ name: String, _ face: Shelf, _ arguments: [Value]
    ) throws -> [Value] {
        for case .method(let method) in table.members where method.name == name {
            switch method.body {
            case .now(let body): return try body(face, arguments)
            case .later(let body):
                let answer = Mutex<Result<[Value], BusError>?>(nil)
                body(face, arguments, Reply { result in answer.withLock { $0 = result } })
                return try #require(answer.withLock { $0 }).get()
            }
        }
        throw BusError.failed("no method \(name)")
    }

    private final class Shelf: LauncherFace {
        var asked: [String] = []
        var chosen: [String] = []
        var greetings = 0
        private var results = [
            LauncherResult(id: "abs:a/1", title: "Tide", detail: "Ada", cover: "/covers/1.jpg", closeness: .whole),
            LauncherResult(id: "abs:a/2", title: "Ebb", detail: "Bo", cover: nil, closeness: .beginning),
            LauncherResult(id: "abs:a/3", title: "The Ebb", detail: "Bo", cover: nil, closeness: .some),
        ]

        init() {}

        init(count: Int) {
            results = (0..<count).map {
                LauncherResult(id: "abs:a/\($0)", title: "Tide", detail: "Ada", cover: nil, closeness: .some)
            }
        }

        func greet() { greetings += 1 }

        func find(_ words: String, limit: Int, _ answer: @escaping @Sendable ([LauncherResult]) -> Void) {
            asked.append(words)
            answer(Array(results.prefix(limit)))
        }

        func look(_ ids: [String], _ answer: @escaping @Sendable ([LauncherResult]) -> Void) {
            answer(results.filter { ids.contains($0.id) })
        }

        func choose(_ id: String) { chosen.append(id) }
        func choose(best words: String) { chosen.append("best of \(words)") }
    }
}
