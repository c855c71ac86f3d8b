import Terminal
import Testing

@Suite struct CompletionTests {
    @Test(arguments: [
        (#"The\ Dog"#, "The Dog"), (#""The Do"#, "The Do"), (#"'it is'"#, "it is"), (#"'O'\''Brien'"#, "O'Brien"),
        (#""a\"b\c""#, #"a"b\c"#), ("plain", "plain"), ("", ""), (#"end\"#, "end"),
    ])
    func quotesAreTakenAway(typed: String, meant: String) {
        #expect(Completion.unquoted(typed) == meant)
    }

    @Test func optionsAndTheirValuesAreNoWords() {
        let words = ["dogear", "--profile", "kids", "play", "--at", "chapter:2", "the", "--json", #""dog"#]
        let line = Completion.Line(words, 8, for: .bash)
        #expect(line.before == ["play", "the"] && line.typed == "dog" && line.profile == "kids")
        #expect(Completion.Line(["dogear", "play", "--", "-x", "y"], 4, for: .bash).before == ["play", "-x"])
        #expect(Completion.Line(["dogear", "play"], 2, for: .zsh).typed == "")
        #expect(Completion.Line([], 0, for: .zsh).before == [])
    }

    @Test func eachShellGetsTextAndNothingToRun() {
        let candidates = [Completion.Candidate("it's $(date): x", "by: me\n\u{1B}[31mred\u{202E}")]
        #expect(Completion.lines(candidates, for: .bash) == [#"'it'\''s $(date): x'"#])
        #expect(Completion.lines(candidates, for: .zsh) == [#"it's $(date)\: x:by: me [31mred"#])
        #expect(Completion.lines(candidates, for: .fish) == ["it's $(date): x\tby: me [31mred"])
    }

    @Test func whatIsNotShownAsItIsIsNotOffered() {
        let odd = ["a\nb", "\u{1B}]0;x\u{7}", "a\u{202E}b", "", " x", "a\tb"].map { Completion.Candidate($0) }
        for shell in Completion.Shell.allCases { #expect(Completion.lines(odd, for: shell) == []) }
        let twice = [Completion.Candidate("Emma", "1"), Completion.Candidate("Emma", "2")]
        #expect(Completion.lines(twice, for: .bash) == ["'Emma'"])
    }
}
