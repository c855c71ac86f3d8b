import Terminal
import Testing

struct WidthTests {
    @Test(arguments: [
        ("Emma", 4), ("", 0), ("日本語", 6), ("e\u{301}", 1), ("ｆｕｌｌ", 8), ("한국어", 6), ("한", 2),
        ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("…—“”×━", 6), ("שלום", 4), ("नमस्ते", 3),
    ])
    func columns(_ text: String, _ width: Int) {
        #expect(Width.of(text) == width)
    }

    @Test func cuttingNeverTakesMoreThanThereIs() {
        #expect(Width.cut("Emma", to: 4) == "Emma")
        #expect(Width.cut("Emma", to: 3) == "Em…")
        #expect(Width.cut("日本語", to: 4) == "日…")
        #expect(Width.cut("Emma Woods", to: 6) == "Emma…")
        #expect(Width.cut("Emma", to: 0).isEmpty)
    }

    @Test func paddingCountsColumns() {
        #expect(Width.pad("日本", to: 6) == "日本  ")
        #expect(Width.pad("7", to: 3, left: true) == "  7")
    }

    @Test func wrappingBreaksBetweenWords() {
        #expect(Width.wrap("handsome, clever, and rich", to: 10) == ["handsome,", "clever,", "and rich"])
        #expect(Width.wrap("incomprehensible", to: 6) == ["incomp", "rehens", "ible"])
        #expect(Width.wrap("日本語", to: 1) == ["日", "本", "語"])
    }
}
