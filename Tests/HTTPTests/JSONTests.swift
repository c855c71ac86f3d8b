import HTTP
import Testing

@Suite struct JSONTests {
    @Test(arguments: [
        "", "{", "[1,]", "{\"a\"}", "{\"a\":1", "nul", "[1] 2", "\"open", "\"\\x\"", "\"\\u12\"", "+1", ".5", "--1",
        "<html>", "{a:1}", "[1 2]", "NaN",
    ]) func whatIsNotJSONIsRefused(text: String) {
        #expect(JSON(Array(text.utf8)) == nil)
    }

    @Test func readsWhatServersSend() {
        let text = #" {"a":[1,-2.5e1,true,false,null],"b":{"c":"q\"\\\/\b\f\n\r\té😀"},"b2":"\ud800x","n":1e999} "#
        let json = JSON(Array(text.utf8))
        #expect(json?["a"].elements == [1, -25, true, false, .null])
        #expect(json?["b"]["c"].string == "q\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1F600}")
        #expect(json?["b2"].string == "\u{FFFD}x")
        #expect(json?["n"].number == .greatestFiniteMagnitude)
        #expect(json?["x"]["y"] == .null && json?["a"]["x"].elements.isEmpty == true)
    }

    @Test func aTowerOfBracketsIsRefusedNotFatal() {
        #expect(JSON([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)) == nil)
    }

    @Test func moreValuesThanMemoryIsGoodForAreRefused() {
        let text = Array(#"[1,[],{"a":{}}]"#.utf8)
        #expect(JSON(text, most: 5) != nil && JSON(text, most: 4) == nil)
        let many = Array("[".utf8) + Array(repeatElement("[],".utf8, count: 2_000_000).joined()) + Array("1]".utf8)
        #expect(JSON(many) == nil)
    }

    @Test func lenientReadings() {
        #expect(JSON.string("12.5").number == 12.5 && JSON.string("abc").number == nil)
        #expect(JSON.string("nan").number == nil && JSON.string("inf").number == nil)
        #expect(JSON.number(2018).string == "2018" && JSON.number(1e300).integer == 9_007_199_254_740_991)
        #expect(JSON.string("  a \n").text == "a" && JSON.string(" ").text == nil)
        #expect(JSON.number(1).bool == true && JSON.string("false").bool == false && JSON.null.bool == nil)
    }

    @Test func writesWhatItReads() {
        let json: JSON = ["b": [1, 2.5, true, .null], "a": "q\"\\\n\u{1}é"]
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"a":"q\"\\\n\u0001é","b":[1,2.5,true,null]}"#)
        #expect(JSON(json.bytes) == json)
        #expect(JSON.number(.nan).bytes == Array("0".utf8))
    }
}
