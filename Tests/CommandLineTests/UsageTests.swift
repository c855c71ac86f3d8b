import Testing

/// What the program says before it needs anybody: help, version, wrong usage, no bus.
struct UsageTests {
    let dogear: Program

    init() throws { dogear = Program(home: try Program.Home()) }

    static let commands = [
        "login", "logout", "accounts", "status", "play", "pause", "toggle", "stop", "next", "previous", "seek",
        "chapters", "speed", "volume", "sleep", "continue", "latest", "libraries", "list", "search", "show", "finish",
        "unfinish", "restart", "undo", "bookmark", "bookmarks", "history", "stats", "sync", "queue", "queue add",
        "queue remove", "queue move", "queue clear",
        "settings", "doctor", "logs", "daemon",
    ]

    @Test func aloneItGivesAnOverview() async throws {
        let outcome = try await dogear()
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("dogear play [WORDS]"))
        #expect(outcome.errors.isEmpty)
    }

    @Test func theViewIsToldOfInTheHelp() async throws {
        let outcome = try await dogear("view", "--help")
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("Example:\n  dogear view") && outcome.output.contains("--plain"))
        let plain = try await dogear("--plain", "--help")
        #expect(plain.output == outcome.output)
    }

    @Test func version() async throws {
        let outcome = try await dogear("--version")
        #expect(outcome.code == 0)
        #expect(outcome.output == "dogear 0.1.0\n")
    }

    @Test(arguments: commands) func everyCommandHasHelpWithAnExampleAndJSON(_ command: String) async throws {
        let outcome = try await dogear(command.split(separator: " ").map(String.init) + ["--help"])
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("Example:\n  dogear \(command)"))
        #expect(outcome.output.contains("--json"))
    }

    @Test func theManualHasEveryCommandAndSetting() async throws {
        let outcome = try await dogear("--generate-manual")
        #expect(outcome.code == 0)
        let page = Set(outcome.output.split(separator: "\n"))
        for command in Self.commands + ["view"] {
            #expect(page.contains { $0 == ".It Nm \(command)" || $0.hasPrefix(".It Nm \(command) ") }, "\(command)")
        }
        for setting in ["playback.skip\\-silence", "queue.end", "log.level"] {
            #expect(page.contains(".It Li \(setting)"))
        }
        // What the help of one command says, the page says too.
        #expect(page.contains("The last 50 moves are kept."))
    }

    @Test(arguments: [
        ["bogus"], ["seek"], ["seek", "soon"], ["seek", "-5x"], ["speed", "9"], ["speed", "fast"], ["volume", "101%"],
        ["volume", "-x"], ["list", "--sort", "colour"], ["list", "--limit", "0"], ["list", "--page", "-1"],
        ["search"], ["search", " "], ["play", "--at", "noon"], ["logs", "--level", "loud"], ["pause", "now"],
        ["login"], ["login", "books.example.org"], ["login", "books.example.org", "--password-stdin"],
        ["login", "https://ada:pw@books.example.org"], ["login", "books.example.org", "--openid"],
        ["login", "books.example.org", "--password-stdin", "--api-key-stdin"],
        ["login", "books.example.org", "--user", "ada", "--password-stdin", "--header", "nonsense"],
        ["sync", "now"], ["sync", "--yes"], ["sync", "--retry", "--forget", "x"],
        ["queue", "add"], ["queue", "remove"], ["queue", "remove", "first"], ["queue", "move", "1"],
        ["queue", "shuffle"], ["sleep", "soon"], ["sleep", "0"], ["sleep", "25h"], ["sleep", "chapter:0"],
        ["sleep", "chapter:x"], ["sleep", "+"], ["sleep", "30m", "off"],
        ["bookmark", ""], ["bookmark", " "], ["bookmarks", "--all", "emma"],
        ["bookmarks", "--rename", "1"], ["bookmarks", "--rename", "first", "x"], ["bookmarks", "--rename", "0", "x"],
        ["bookmarks", "--remove", "0"], ["bookmarks", "--remove", "1", "--rename", "1", "x"],
        ["bookmarks", "--all", "--remove", "1"], ["bookmarks", "--newest", "--remove", "1"],
        ["bookmarks", "--markdown", "--json"], ["bookmarks", "--force"],
        ["bookmarks", "--output", "marks"], ["bookmarks", "--output", "marks.txt"],
        ["bookmarks", "--remove", "1", "--markdown"], ["history", "--limit", "0"], ["history", "--limit", "9999"],
        ["stats", "--days", "0"], ["stats", "--days", "-3"], ["stats", "--days", "99999"], ["stats", "--days", "week"],
        ["stats", "--output", "year"], ["stats", "--output", "year.jpg"], ["stats", "--force"],
        ["seek", "+10%"], ["volume", "+10"], ["help", "bogus"], ["seek", "bookmark:0"], ["seek", "bookmark:x"],
    ])
    func wrongUsageIs64(_ arguments: [String]) async throws {
        let outcome = try await dogear(arguments)
        #expect(outcome.code == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("Usage: dogear"))
    }

    @Test(arguments: [["bogus"], ["bogus", "x"], ["help", "bogus"]])
    func whatIsNoCommandIsNamed(_ arguments: [String]) async throws {
        #expect(try await dogear(arguments).errors.contains("there is no command 'bogus'"))
    }

    @Test(arguments: [
        ("paly", "play"), ("pasue", "pause"), ("serch", "search"), ("Resume", "play"), ("rewind", "seek -30"),
        ("version", "--version"), ("help bok-marks", "bookmarks"),
    ])
    func whatWasMeantIsSaid(_ typed: String, _ meant: String) async throws {
        let outcome = try await dogear(typed.split(separator: " ").map(String.init))
        #expect(outcome.code == 64 && outcome.errors.contains("did you mean 'dogear \(meant)'?"), "\(outcome)")
    }

    @Test func aHeaderIsNotRepeatedInTheError() async throws {
        let outcome = try await dogear(
            "login", "books.example.org", "--user", "ada", "--password-stdin", "--header", "hunter2")
        #expect(!outcome.errors.contains("hunter2"))
    }

    @Test(arguments: [["status"], ["play"], ["seek", "-30"], ["seek", "--", "-1:00"], ["seek", "--json", "-.5"]])
    func withoutASessionBusItSaysWhatToDo(_ arguments: [String]) async throws {
        let outcome = try await dogear(arguments)
        #expect(outcome.code == 1)
        #expect(outcome.output.isEmpty)
        #expect(
            outcome.errors == "dogear: no session bus; log in to a desktop, or run: dbus-run-session -- bash\n")
    }

    @Test func theDoctorReportsAMissingBus() async throws {
        let outcome = try await dogear("doctor")
        #expect(outcome.code == 1)
        #expect(outcome.output.hasPrefix("✗ daemon: "))
        #expect(outcome.output.contains("dbus-run-session"))
    }

    @Test func completionScripts() async throws {
        for shell in ["bash", "zsh", "fish"] {
            let outcome = try await dogear("--generate-completion-script", shell)
            #expect(outcome.code == 0)
            #expect(outcome.output.contains("chapters"))
        }
    }
}
