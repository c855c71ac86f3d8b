import Catalogue
import Foundation
import Glibc
import Listening
import Store
import TestSupport
import Testing

/// Words completed by the real shells at a terminal, from an index on the disk; there is no bus and no daemon.
@Suite struct CompletionTests {
    enum Shell: String, CaseIterable {
        case bash, zsh, fish
        var path: String { "/usr/bin/\(self)" }
        static var installed: [Shell] { allCases.filter { access($0.path, X_OK) == 0 } }
    }

    private let home: Program.Home
    private let program = TestSupport.Child.built("dogear")

    init() async throws {
        home = try Program.Home()
        let catalogue = try Catalogue.open(at: "\(home.path)/.cache/dogear/catalogue.sqlite")
        let touch = "touch \(home.path)/run"
        var books = [
            Shelf.book("1", "The Dog-Eared Page", by: "Dorothea Ribbon"), Shelf.book("2", "Dune: Messiah"),
            Shelf.book("3", "Oh $(\(touch)) `\(touch)` \"it's\" $HOME ; \(touch)"),
            Shelf.book("4", "Wild \u{1B}]0;own\u{7}\u{202E}Geese\nhere"), Shelf.book("5", "Zebra, one"),
            Shelf.book("6", "Zebra, two"),
        ]
        books[0].series = [SeriesPlace(name: "The Pages", sequence: "1")]
        try await Shelf.fill(catalogue, books)
        let store = try Store.open(at: "\(home.path)/.local/state/dogear/state.sqlite") { _ in }
        let item = Item(
            id: Shelf.id("1"), kind: .book, title: "The Dog-Eared Page", duration: .seconds(300), tracks: [],
            chapters: (0..<3).map {
                Chapter(title: "Part \($0)", start: .seconds(Double($0) * 100), end: .seconds(Double($0 + 1) * 100))
            })
        let place = Place(item: item.id, position: .second, duration: .seconds(300), updated: 1)
        try await store.write(
            .account(Account(id: "acc", server: "https://books.example.org", user: "ida", login: .tokens)),
            .item(item), .played(place, at: 1))
        try await store.flush()
        let bin = "\(home.path)/bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: "\(bin)/dogear", withDestinationPath: program)
        try Data().write(to: URL(fileURLWithPath: "\(home.path)/My Emma.mp3"))
        for shell in Shell.allCases {
            let script = try await Program(home: home)("--generate-completion-script", shell.rawValue)
            try script.output.write(toFile: "\(home.path)/_dogear.\(shell)", atomically: true, encoding: .utf8)
            // As it is installed: zsh reads it when it is wanted first.
            guard shell == .zsh else { continue }
            try FileManager.default.createDirectory(atPath: "\(home.path)/zsh", withIntermediateDirectories: true)
            try script.output.write(toFile: "\(home.path)/zsh/_dogear", atomically: true, encoding: .utf8)
        }
    }

    /// Types into a shell, presses Tab, and then has the shell say what its words are.
    private func completed(_ shell: Shell, _ typed: String) async throws -> [String] {
        let start: [String] =
            switch shell {
            case .bash: ["--noprofile", "--rcfile", "\(home.path)/start", "-i"]
            case .zsh: ["-i"]
            case .fish:
                [
                    "--no-config", "--init-command",
                    "source \(home.path)/_dogear.fish; function fish_prompt; echo 'ready> '; end", "-i",
                ]
            }
        try "bind 'set enable-bracketed-paste off'\nsource ~/_dogear.bash\nPS1='ready> '\n".write(
            toFile: "\(home.path)/start", atomically: true, encoding: .utf8)
        try """
        unsetopt zle_bracketed_paste prompt_sp; fpath=(~/zsh $fpath); autoload -U compinit; compinit -u -D
        bindkey -e; PS1='ready> '

        """.write(toFile: "\(home.path)/.zshrc", atomically: true, encoding: .utf8)
        let environment = [
            "HOME": home.path, "PATH": "\(home.path)/bin:/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8",
            "PWD": home.path, "ZDOTDIR": home.path,
        ]
        let said = "\(home.path)/said-\(UUID())"
        // Not written by us: a child that is being started for another test would have it open, and it could not be run.
        try Sounds.run([
            "sh", "-c", #"printf '%s' "$1" >"$2" && chmod 700 "$2""#, "sh",
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >\(said).new\nmv \(said).new \(said)\n", "\(home.path)/bin/say",
        ])
        let terminal = try PseudoTerminal(
            "/usr/bin/env", ["--chdir=\(home.path)", shell.path] + start, environment: environment, columns: 200)
        try await terminal.shows("ready>")
        terminal.type(typed + "\t")
        terminal.type(" end\u{1}say \r")
        try await terminal.until("the shell's words") { _ in FileManager.default.fileExists(atPath: said) }
        #expect(!FileManager.default.fileExists(atPath: "\(home.path)/run"))
        let lines = try String(contentsOfFile: said, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.first == "dogear" && lines.last == "end")
        return Array(lines.dropFirst().dropLast())
    }

    @Test(arguments: Shell.installed)
    func titlesAreOneWord(_ shell: Shell) async throws {
        #expect(try await completed(shell, "dogear play the\\ d") == ["play", "the dog-Eared Page"])
        #expect(try await completed(shell, "dogear queue add dune") == ["queue", "add", "dune: Messiah"])
        #expect(try await completed(shell, "dogear show the dog-e") == ["show", "the", "dog-eared Page"])
        #expect(try await completed(shell, "dogear finish --json zeb") == ["finish", "--json", "zebra, "])
    }

    @Test(arguments: Shell.installed)
    func whatATitleSaysIsNotRun(_ shell: Shell) async throws {
        let words = try await completed(shell, "dogear play oh")
        #expect(words.last?.hasPrefix("oh $(touch ") == true && words.last?.contains("`touch ") == true)
        #expect(words.last?.hasSuffix("\"it's\" $HOME ; touch \(home.path)/run") == true)
        let quoted = try await completed(shell, "dogear play 'oh")
        #expect(quoted.last == words.last)
        #expect(try await completed(shell, "dogear play \"oh").last == words.last)
        #expect(try await completed(shell, "dogear play wil") == ["play", "wild ]0;own Geese here"])
    }

    @Test(arguments: Shell.installed)
    func placesSettingsAccountsAndNames(_ shell: Shell) async throws {
        #expect(try await completed(shell, "dogear seek chap") == ["seek", "chapter:"])
        #expect(try await completed(shell, "dogear play --at bookm") == ["play", "--at", "bookmark:"])
        #expect(try await completed(shell, "dogear settings playback.ra") == ["settings", "playback.rate"])
        #expect(
            try await completed(shell, "dogear settings playback.next sk") == ["settings", "playback.next", "skip"])
        #expect(try await completed(shell, "dogear logout i") == ["logout", "ida@books.example.org"])
        #expect(try await completed(shell, "dogear list Bo") == ["list", "Books"])
        #expect(try await completed(shell, "dogear list --author dor") == ["list", "--author", "dorothea Ribbon"])
        #expect(try await completed(shell, "dogear show abs:acc/2") == ["show", "abs:acc/2"])
    }

    @Test(arguments: Shell.installed)
    func filesAreFoundToo(_ shell: Shell) async throws {
        #expect(try await completed(shell, "dogear play ./My") == ["play", "./My Emma.mp3"])
        #expect(try await completed(shell, "dogear play My") == ["play", "My Emma.mp3"])
        #expect(try await completed(shell, "dogear play ~/My") == ["play", "\(home.path)/My Emma.mp3"])
    }

    /// Chapters are offered with their titles where a shell shows them.
    @Test func chaptersAreThoseOfWhatPlays() async throws {
        let arguments = ["---completion", "seek", "--", "positional@0", "2", "0", "dogear", "seek", ""]
        let outcome = try await Program(home: home)(arguments)
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(outcome.output.hasPrefix("'chapter:1'\n'chapter:2'\n'chapter:3'\n'bookmark:'\n"))
    }

    @Test func withNothingOnTheDiskNothingIsOfferedAndNothingMade() async throws {
        let empty = try Program.Home()
        for (command, argument) in [("play", "positional@0"), ("logout", "positional@0"), ("list", "--series")] {
            let outcome = try await Program(home: empty)(
                ["---completion", command, "--", argument, "2", "0", "dogear", command, ""])
            #expect(outcome.code == 0 && outcome.errors == "" && outcome.output.allSatisfy(\.isNewline))
        }
        let made = try FileManager.default.subpathsOfDirectory(atPath: empty.path)
        #expect(!made.contains { $0.contains("dogear") }, "\(made)")
    }
}
