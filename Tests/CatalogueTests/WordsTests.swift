import Listening
import Testing

@testable import Catalogue

@Suite struct WordsTests {
    @Test(arguments: [
        ("The Hobbit", ["the", "hobbit"]), ("Élodie Grünwald", ["elodie", "grunwald"]),
        ("Ægir & Østen", ["aegir", "osten"]),
        ("straße", ["strasse"]), ("Łódź", ["lodz"]), ("Hitchhiker's Guide", ["hitchhikers", "guide"]),
        ("O’Brien", ["obrien"]), ("e\u{301}te\u{301}", ["ete"]), ("ΑΘΉΝΑ", ["αθηνα"]), ("Ёлка", ["елка"]),
        ("三体 2", ["三", "体", "2"]), ("Nguyễn", ["nguyen"]), ("\u{1B}[31mred\u{7}", ["31mred"]), ("", []), ("--\"'*", []),
    ])
    func wordsAreFolded(_ text: String, _ words: [String]) { #expect(Words.split(text) == words) }

    @Test func initialsAreFoundTogether() {
        #expect(Words.indexed(["J. R. R. Tolkien"]) == "j r r tolkien jrr")
        #expect(Words.indexed(["Plan B"]) == "plan b")
    }

    @Test(arguments: [
        ("hobbit", "hobit", 1), ("tolkien", "tolkein", 1), ("tolkien", "toklein", 2), ("same", "same", 0),
        ("abcd", "abdc", 1), ("short", "sho", 2), ("abcdef", "ghijkl", nil), ("austen", "austin", 1),
    ])
    func mistakesAreCounted(_ a: String, _ b: String, _ distance: Int?) {
        #expect(Spelling.distance(a, b, limit: 2) == distance)
        #expect(Spelling.distance(b, a, limit: 2) == distance)
    }

    @Test func oneMistakeApartMeansAVariantInCommon() {
        for other in ["hobbit", "obbit", "hobit", "hobbitt", "hobbut", "ohbbit", "hobbti"] {
            #expect(!Typos.variants("hobbit").isDisjoint(with: Typos.variants(other)), "\(other)")
        }
    }

    @Test(arguments: [
        (["hobit"], ["hobbit"]), (["the", "hobit"], ["the", "hobbit"]), (["tol", "hobbitt"], ["tol", "hobbit"]),
        (["hobb"], nil), (["xyzzyx"], nil), (["hobit", "xyzzyx"], nil), (["hot"], nil), (["1984"], nil), ([], nil),
    ])
    func whatIsMistypedIsMeant(_ words: [String], _ meant: [String]?) {
        #expect(Words.meant(by: words, among: ["the", "hobbit", "tolkien", "1985"]) == meant)
        #expect(Words.meant(by: words, among: []) == nil)
    }

    @Test func onlySoMuchIsAsked() {
        #expect(Words.asked(String(repeating: "word ", count: 1_000_000)).count == 12)
        #expect(Words.asked(String(repeating: "x", count: 1_000_000)) == [String(repeating: "x", count: 500)])
    }

    @Test func wholeWordsCount() {
        #expect(Words.whole(["stephen", "king"], ["king", "ste"]) == 1)
        #expect(Words.whole(["the", "stephen", "king"], ["stephen", "king"]) == 3)
        #expect(Words.whole(["stephen", "fry", "king"], ["stephen", "king"]) == 2)
        #expect(Words.whole(["kingsley"], ["king"]) == 0)
    }

    @Test func fits() {
        let fit = { (title: String, wanted: String) in
            Words.fit(title: Words.split(title), others: ["tolkien"], Words.split(wanted))
        }
        #expect(fit("The Hobbit", "the hobbit") == 4)
        #expect(fit("The Hobbit", "the hob") == 3)
        #expect(fit("The Hobbit", "hob the") == 2)
        #expect(fit("The Hobbit", "tolk hobbit") == 1)
        #expect(fit("The Hobbit", "dune") == 0)
        #expect(fit("The Hobbit", "") == 0)
    }
}
