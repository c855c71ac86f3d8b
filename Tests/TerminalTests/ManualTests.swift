import Control
import FoundationEssentials
import Terminal
import Testing

@Suite struct ManualTests {
    /// A command as the option parser dumps it.
    private struct Said: Encodable {
        struct Flag: Encodable {
            var name: String
            var abstract: String

            init(_ name: String, _ abstract: String) { (self.name, self.abstract) = (name, abstract) }

            enum Key: CodingKey { case kind, names, valueName, abstract, isOptional, isRepeating, shouldDisplay }

            func encode(to encoder: any Encoder) throws {
                var keys = encoder.container(keyedBy: Key.self)
                try keys.encode("flag", forKey: .kind)
                try keys.encode([["kind": "long", "name": name]], forKey: .names)
                try keys.encode(name, forKey: .valueName)
                try keys.encode(abstract, forKey: .abstract)
                try keys.encode(true, forKey: .isOptional)
                try keys.encode(false, forKey: .isRepeating)
                try keys.encode(true, forKey: .shouldDisplay)
            }
        }

        var commandName: String
        var abstract = "Do it."
        var discussion = ""
        var arguments: [Flag] = []
        var subcommands: [Said] = []
    }

    private func page(_ commands: Said...) throws -> [String] {
        let dump = try JSONEncoder().encode(["command": Said(commandName: "dogear", subcommands: commands)])
        return Manual.commands(
            try JSONDecoder().decode(Manual.Program.self, from: dump).command,
            groups: [("All", commands.map(\.commandName))])
    }

    @Test func nothingThatIsSaidIsARequest() throws {
        let page = try page(
            Said(
                commandName: "go",
                discussion: """
                    Example:
                      .hidden 'x' \\n

                    .Sh not a heading. 'dogear go' goes. It's --far\\away.
                    """))
        #expect(page.contains("\\&.Sh not a heading."))
        #expect(page.contains("\\fBdogear go\\fR goes."))
        #expect(page.contains("It's \\-\\-far\\eaway."))
        #expect(page.contains("\\&.hidden \\fBx\\fR \\en"))
    }

    @Test func whatAlmostAllTakeIsToldOnce() throws {
        let json = Said.Flag("json", "Print JSON.")
        let page = try page(
            Said(commandName: "one", arguments: [json]),
            Said(commandName: "two", arguments: [json, .init("far-away", "Go on.")]),
            Said(commandName: "three", arguments: [.init("json", "Something else.")]))
        #expect(page.count { $0 == "Print JSON." } == 1)
        #expect(page.contains(".It Nm one"))
        #expect(page.contains(".It Nm two Oo Fl -far\\-away Oc"))
        #expect(page.contains(".It Nm three Oo Fl -json Oc") && page.contains("Something else."))
    }

    @Test func theirOwnCommandsFollow() throws {
        let add = Said(commandName: "add", discussion: "Example:\n  dogear queue add x")
        let page = try page(
            Said(commandName: "queue", discussion: "Example:\n  dogear queue", subcommands: [add]))
        #expect(page.filter { $0.hasPrefix(".It Nm") } == [".It Nm queue", ".It Nm queue add"])
        // That it can be typed alone is no example.
        #expect(!page.contains("dogear queue") && page.contains("dogear queue add x"))
    }

    @Test func aSettingSaysWhatItMeansAndTakes() {
        let row = SettingsReport.Row(
            key: "a.b", value: "false", default: "false", meaning: "Go on", allowed: "true, false")
        let page = Manual.settings([row])
        #expect(page.contains(".It Li a.b") && page.contains("Go on.") && page.contains("true, false; normally false."))
    }
}
