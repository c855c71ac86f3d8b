import Testing

@testable import DBus

@Suite struct ValueTests {
    @Test(arguments: ["/", "/a", "/org/dogear/Dogear_1"]) func validPaths(text: String) {
        #expect(ObjectPath(text)?.text == text)
    }

    @Test(arguments: ["", "a", "//", "/a/", "/a-b", "/é", "/a//b"]) func invalidPaths(text: String) {
        #expect(ObjectPath(text) == nil)
    }

    @Test func anyTextBecomesAPathPart() {
        #expect(ObjectPath.encoded("abs:1-2/é_") == "abs_3a1_2d2_2f_c3_a9_5f")
        #expect(ObjectPath.encoded("") == "_")
        #expect(ObjectPath.encoded("a_b") != ObjectPath.encoded("a__b"))
    }

    @Test func signaturesOfNestedValues() {
        let value = Value.variants([
            ("a", .strings([])), ("b", .structure([.int32(1), .objectPath(ObjectPath(trusted: "/"))])),
        ])
        #expect(value.signature.text == "a{sv}")
        #expect(Value.array(value.signature, []).signature.text == "aa{sv}")
        #expect(Value.structure([.double(1), value]).signature.text == "(da{sv})")
    }

    @Test func aWrongTypeIsAnErrorThatSaysWhich() {
        #expect(throws: BusError.invalidArgs("expected a value of type 'x', got 's'")) { try Value.string("1").int64() }
    }
}
