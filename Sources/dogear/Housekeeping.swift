import ArgumentParser
import Control
import DBus
import Terminal

struct Settings: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show or change settings.",
        discussion: """
            Example:
              dogear settings
              dogear settings playback.rate
              dogear settings playback.rate 1.2
              dogear settings playback.rate --default

            Without a value it shows what is, what it usually is, what it means and what is allowed. They are kept in \
            dogear/config.toml in your configuration folder. What is changed here takes effect at once, but for \
            audio.sink and cache.audio-size; these, and what you write into the file, do with the next start of the \
            daemon at the latest. What you write there stays. The first change makes that file, with what each setting means.
            """)

    @Argument(help: "Which one; all without.", completion: .settingNames)
    var key: String?

    @Argument(help: "Its new value.", completion: .settingValues)
    var value: [String] = []

    @Flag(name: .customLong("default"), help: "Back to what it usually is.")
    var isReset = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard isReset else { return }
        if key == nil { throw ValidationError("--default needs a setting: dogear settings playback.rate --default") }
        if !value.isEmpty { throw ValidationError("give a value or --default, not both") }
    }

    func perform() throws {
        let link = try Link()
        let json: String
        if let key, isReset {
            json = try link.ask("ResetSetting", .string(key))
        } else if let key, !value.isEmpty {
            json = try link.ask("SetSetting", .string(key), .string(value.joined(separator: " ")))
        } else if let key {
            json = try link.ask("GetSetting", .string(key))
        } else {
            json = try link.ask("Settings")
        }
        for problem in try decode(SettingsReport.self, json).problems { complain(problem) }
        try show(json, output, as: SettingsReport.self) { $0.lines(on: $1) }
    }
}

struct Doctor: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check that everything dogear needs is there.",
        discussion: """
            Example:
              dogear doctor

            Looks at the session bus and how it starts the daemon, the keyring, decoders, the disk, and of each account \
            the server, its certificate, the login and the clock; then at what was not sent. The sound output is opened, \
            without a sound, unless something plays. Each finding says what to do. Exit code 1 when something is wrong.
            """)

    @OptionGroup var output: OutputOptions

    func perform() throws {
        let json = try ask()
        try show(json, output, as: DoctorReport.self) { $0.lines(on: $1) }
        if try decode(DoctorReport.self, json).checks.contains(where: { $0.outcome == .bad }) {
            throw ExitCode.failure
        }
    }

    /// The daemon answers how it stands from memory, whatever else it does.
    private static let patience = Duration.seconds(10)

    /// Without a daemon to ask, or one that does not answer, that is the finding.
    private func ask() throws -> String {
        do {
            let link = try Link()
            _ = try link.ask("Status", within: Self.patience)
            return try link.ask("Doctor")
        } catch let error as ControlError {
            return try encode(
                DoctorReport(checks: [.init("daemon", .bad, "it cannot be asked", advice: error.message)]))
        }
    }
}

struct RunAsDaemon: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Be the player in the background; the other commands start it when needed.",
        discussion: """
            Example:
              dogear daemon

            D-Bus, systemd and the other commands start it; it is rarely begun by hand. Ends on SIGTERM or Ctrl-C, after \
            it has saved your place. Under systemd it logs to the journal, \
            else to standard error.
            """)

    @Flag(help: "Write the log to standard error as JSON, one object in each line.")
    var json = false

    func perform() throws {
        throw ExitCode(runDaemon(jsonLog: json))
    }
}
