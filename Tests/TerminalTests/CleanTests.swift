import Terminal
import Testing

struct CleanTests {
    @Test(arguments: [
        ("Emma", "Emma"), ("a\u{1B}[31mred\u{7}", "a [31mred"), ("one\r\n\ttwo", "one two"),
        ("\u{202E}evil\u{202C} title\u{200F}", "evil title"), ("\u{9B}2J", "2J"), ("👩‍👩‍👧 ok", "👩‍👩‍👧 ok"), ("", ""),
        ("  padded \n", "padded"),
    ])
    func titlesCannotSteerTheTerminal(_ given: String, _ shown: String) {
        #expect(Clean.line(given) == shown)
    }

    @Test func paragraphsStayParagraphs() {
        #expect(Clean.sentence("it is gone") == "It is gone.")
        #expect(Clean.sentence("http://h/x.mp3 says 404") == "http://h/x.mp3 says 404.")
        #expect(Clean.sentence("abs:1/2 is not there") == "abs:1/2 is not there.")
        #expect(Clean.sentence("left out: all") == "Left out: all.")
        #expect(Clean.leftToRight("'\u{5D0}' is gone") == "\u{200E}'\u{5D0}' is gone")
        #expect(Clean.leftToRight("it is gone") == "it is gone")
        #expect(Clean.isolated("\u{5D0}") == "\u{2068}\u{5D0}\u{2069}" && Clean.isolated("Ada") == "Ada")
        #expect(Clean.paragraphs("One.\n\n\n\u{1B}Two.\n") == ["One.", "", "Two."])
    }

    @Test func jsonKeepsItsMeaning() {
        #expect(Clean.json("{\"t\":\"a\u{9B}b\u{202E}c\"}") == "{\"t\":\"a\\u009bb\\u202ec\"}")
    }
}
