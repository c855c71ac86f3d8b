import StandIn
import Testing

@Suite struct CoverageTests {
    @Test func everyRecordingIsInTheTableOnce() throws {
        let listed = try Coverage().fates.map(\.name)
        #expect(listed.sorted() == Recording.names)
        #expect(Recording.names.count > 300)
    }

    @Test func whatIsLeftOutSaysWhy() throws {
        let stories: Set<String> = ["main", "expiry", "base", "old-v2.25.1", "old-v2.30.0", "socket"]
        for (name, fate) in try Coverage().fates {
            switch fate {
            case .replayed(let story): #expect(stories.contains(story), "\(name)")
            case .not(let reason): #expect(reason.count > 5, "\(name)")
            }
        }
    }

    @Test func theSocketStoryIsTold() throws {
        let listed = try Coverage().fates.filter { $0.fate == .replayed(story: "socket") }.map(\.name)
        #expect(listed == SocketTests.spoken)
    }

    @Test func recordingsHoldNoTokens() throws {
        for name in Recording.names {
            let text = String(decoding: try Recording.json(name).bytes, as: UTF8.self)
            // A real token begins with a base 64 brace.
            #expect(!text.contains("eyJ"), "\(name)")
        }
    }
}

/// The comparison must be able to fail, or the contract test says nothing.
@Suite struct ShapeTests {
    private let shape = Shape(learningFrom: [["a": 1, "b": nil, "c": [["d": "x"]]], ["a": nil, "b": nil, "c": []]])

    @Test func aMissingKeyIsFound() {
        #expect(shape.differences(expected: ["a": 1, "e": 2], actual: ["a": 1]) == [".e: missing"])
    }

    @Test func anExtraKeyIsFound() {
        #expect(shape.differences(expected: ["a": 1], actual: ["a": 1, "e": 2]) == [".e: not in the recording"])
    }

    @Test func aWrongTypeIsFound() {
        let found = shape.differences(expected: ["c": [["d": "x"]]], actual: ["c": [["d": 5]]])
        #expect(found == [".c[0].d: string expected, number found"])
    }

    @Test func nullStandsForATypeOnlyWhereBothWereRecorded() {
        #expect(shape.differences(expected: ["a": nil], actual: ["a": 3]) == [])
        #expect(shape.differences(expected: ["b": nil], actual: ["b": 3]) == [".b: null expected, number found"])
    }

    @Test func aWrongElementInALongerListIsFound() {
        let found = shape.differences(expected: [["d": "x"]], actual: [["d": "y"], ["d": true]])
        #expect(found == ["[1].d: string expected, bool found"])
    }

    @Test func aComparedValueIsFound() {
        var shape = shape
        shape.comparedValues = ["currentTime"]
        let found = shape.differences(expected: ["currentTime": 12], actual: ["currentTime": 12.5])
        #expect(found.count == 1)
        #expect(shape.differences(expected: ["currentTime": 12], actual: ["currentTime": 12.0]) == [])
    }
}
