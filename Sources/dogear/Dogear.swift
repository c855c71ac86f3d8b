import ArgumentParser
import Control
import EventLoop
import Glibc
import Listening
import Settings
import Terminal

@main
struct Dogear: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "dogear",
        abstract: "Plays audiobooks and podcasts, from an Audiobookshelf server and from files, and keeps your place.",
        discussion: """
            Example:
              dogear login https://books.example.org
              dogear play the hobbit
              dogear seek -30

            'dogear' alone on a terminal is a view to look around, listen and steer in; 'dogear --plain' is the same in \
            lines, for screen readers.

            Everything plays in the background: close the terminal, use the media keys. Times are 90, 15m, 1h30m or \
            1:02:03; places are +30, -1:00, 12:30, 50%, chapter:7 or bookmark:2. WHAT is words to search for, an id, a \
            file, a folder or an address.

            --profile NAME, in front of a command or behind it, acts on another dogear of yours; DOGEAR_PROFILE in the \
            environment does the same.

            Exit codes: 0 done, 1 failed, 2 nothing found, 3 not signed in, 4 server not reachable, 64 wrong usage.
            """,
        version: "dogear \(dogearBuild)",
        groupedSubcommands: [
            CommandGroup(
                name: "Listening",
                subcommands: [
                    Play.self, Pause.self, Toggle.self, Stop.self, Next.self, Previous.self, Seek.self, Undo.self,
                    Queue.self, Status.self, ShowView.self, Chapters.self, Speed.self, Volume.self, SetSleep.self,
                ]),
            CommandGroup(
                name: "Finding",
                subcommands: [
                    Continue.self, Latest.self, Libraries.self, List.self, Search.self, Show.self,
                ]),
            CommandGroup(
                name: "Remembering", subcommands: [MakeBookmark.self, Bookmarks.self, History.self, Stats.self]),
            CommandGroup(name: "Progress", subcommands: [Finish.self, Unfinish.self, Restart.self, Sync.self]),
            CommandGroup(name: "Accounts", subcommands: [Login.self, Logout.self, Accounts.self]),
            CommandGroup(
                name: "Housekeeping", subcommands: [Settings.self, Doctor.self, Logs.self, RunAsDaemon.self]),
        ])

    /// Named here for the help; ``main()`` takes it out wherever it stands.
    @Option(
        help: ArgumentHelp(
            "Act on another dogear of yours, with accounts, places and a daemon of its own.", valueName: "name"))
    var profile: String?

    func perform() throws {
        guard Terminals.areThere else { return say(overview) }
        try ShowView.show(plain: false)
    }

    /// The program's start: the profile is taken out, and places such as `-30` are put behind `--`, for to the parser they look like options.
    static func main() {
        usePool()
        // Swift reads them from /proc, and without it takes them for none: no command may pass for done that was not read.
        guard !CommandLine.arguments.isEmpty else {
            complain(
                "cannot read what is asked for: /proc/self/cmdline is not readable here; mount /proc, or let everybody "
                    + "into it, and try again"
            )
            Glibc.exit(ControlError.Kind.failed.rawValue)
        }
        var (profile, rest) = Terminal.Arguments.takingProfile(Array(CommandLine.arguments.dropFirst()))
        if let profile {
            do throws(ControlError) { _ = try Profile(profile) } catch {
                exit(withError: ValidationError(error.message))
            }
            setenv(Profile.variable, profile, 1)
        }
        // The bus and systemd wait for this one: making a parser of every command takes longer than all else it begins with.
        if rest == ["daemon"] { Glibc.exit(runDaemon(jsonLog: false)) }
        // Somebody waits for this one with a finger on Tab: only the parser of the command that is begun is made.
        if rest.count > 1, rest[0] == "---completion", let command = command(named: rest[1]) {
            return command.main(["---completion"] + rest.dropFirst(2))
        }
        if rest.first == "--generate-completion-script", rest.count == 2,
            let shell = Completion.Shell(rawValue: rest[1])
        {
            return say(
                Completion.script(completionScript(for: CompletionShell(rawValue: rest[1]) ?? .bash), for: shell))
        }
        if rest == ["--generate-manual"] {
            do { return say(try manual().joined(separator: "\n")) } catch { exit(withError: error) }
        }
        if rest.first == "help", rest.count > 1, !rest[1].hasPrefix("-"), rest[1] != "help",
            command(named: rest[1]) == nil
        {
            refuse(rest[1])
        }
        if rest.first == "--plain" { rest.insert("view", at: 0) }
        rest = Terminal.Arguments.guardingFiles(Terminal.Arguments.guardingJumps(rest))
        // So with what is typed right; what is not, and the help, is a matter for the whole parser.
        guard let name = rest.first, !name.hasPrefix("-"), name != "help" else { return main(rest) }
        // Of this the whole parser would only count what it did not expect.
        guard let type = command(named: name) else { refuse(name) }
        guard var command = try? type.parseAsRoot(Array(rest.dropFirst())) else { return main(rest) }
        do { try command.run() } catch { exit(withError: error) }
    }

    private static func refuse(_ name: String) -> Never {
        let meant =
            synonyms[name.lowercased()]
            ?? Spelling.nearest(to: name.lowercased(), among: configuration.subcommands.map { $0._commandName })
        exit(
            withError: ValidationError(
                "there is no command '\(Clean.line(name.prefix(60)))'"
                    + (meant.map { "; did you mean 'dogear \($0)'?" } ?? "")))
    }

    /// What other players call it.
    private static let synonyms = [
        "resume": "play", "start": "play", "open": "play", "unpause": "play", "play-pause": "toggle",
        "playpause": "toggle", "skip": "seek +30", "forward": "seek +30", "rewind": "seek -30", "back": "seek -30",
        "replay": "seek -30", "jump": "seek", "goto": "seek", "position": "seek", "prev": "previous", "rate": "speed",
        "timer": "sleep", "info": "show", "details": "show", "episodes": "show", "find": "search", "config": "settings",
        "set": "settings", "get": "settings", "new": "latest", "recent": "continue", "begun": "continue",
        "books": "list", "podcasts": "list", "ls": "list", "note": "bookmark", "mark": "bookmark", "read": "finish",
        "done": "finish", "played": "finish", "unread": "unfinish", "reset": "restart", "signin": "login",
        "signout": "logout", "refresh": "libraries --refresh", "scan": "libraries --refresh", "log": "logs",
        "check": "doctor", "statistics": "stats", "version": "--version", "tui": "view", "ui": "view",
    ]

    /// Every command's configuration says its name: to make one from that of its type takes casts of 0.2 ms for each.
    private static func command(named name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0._commandName == name }
    }

    /// The sections of the manual that this program knows best.
    private static func manual() throws -> [String] {
        Manual.commands(
            try decode(Manual.Program.self, _dumpHelp()).command,
            groups: configuration.groupedSubcommands.map { group in
                (heading: group.name, commands: group.subcommands.map { $0._commandName })
            })
            + Manual.settings(
                SettingKey.allCases.map { key in
                    let usual = "\(key.declaration.fallback)"
                    return SettingsReport.Row(
                        key: key.rawValue, value: usual, default: usual, meaning: key.declaration.meaning,
                        allowed: "\(key.declaration.kind)")
                })
    }
}
