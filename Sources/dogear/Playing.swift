import ArgumentParser
import Control
import DBus
import Launchers
import Listening
import Machine
import SDBus
import Terminal

struct Play: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play something, or go on with what was listened to last.",
        discussion: """
            Example:
              dogear play
              dogear play the hobbit
              dogear play ~/Audiobooks/Emma --at chapter:3
              dogear play 1.mp3 2.mp3 3.mp3
              dogear play https://example.org/lectures/1.mp3

            Playing goes on from your place unless --at says otherwise; that in a file or at an address is kept on this \
            computer only. Of a podcast the episode plays that was begun last, else the one behind the newest that was \
            heard to its end. When words fit several titles equally well \
            they are listed and you are asked; where nobody can be asked their ids are listed instead. Of several files, \
            folders or addresses the first plays and the others come next in the queue.
            """)

    @Argument(help: .whatToPlay, completion: .what())
    var what: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Where to begin: 12:30, 1h30m, 50%, chapter:7, bookmark:2, +30 or -30.", valueName: "place"),
        completion: .place)
    var at: String?

    @Flag(help: "Tell in a notification of the desktop, too, why it does not play: for menus and keys.")
    var notify = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let at, Jump(at) == nil { throw ValidationError(Jump.explanation(of: at)) }
    }

    func perform() throws {
        do { try play() } catch let error as ControlError where notify {
            tell(error)
            throw error
        }
    }

    /// Where nobody shows notifications nothing comes of it. The daemon takes its notices away when they are over, and knows
    /// whether they are wanted.
    private func tell(_ error: ControlError) {
        if (try? Link().ask("Tell", .string(error.message), within: .seconds(5))) != nil { return }
        let notice = Notice("", title: "Dogear cannot play that", body: Clean.sentence(error.message))
        let desktop = BusClient.Peer(name: Notifier.name, path: Notifier.path, interface: Notifier.name)
        let arguments = notice.arguments(inPlaceOf: 0, icon: LauncherName.icon, desktopEntry: LauncherName.icon)
        _ = try? BusClient().call("Notify", of: desktop, arguments, within: .seconds(5))
    }

    private func play() throws {
        let link = try Link()
        let chosen = try Finder(link: link).findAll(what)
        var status = try link.ask(notify ? "Choose" : "Play", .string(chosen[0]), .string(at ?? ""))
        var isWhole = true
        if chosen.count > 1 {
            isWhole = try Queue.add(Array(chosen.dropFirst()), next: true, over: link).isWhole
            status = try link.ask("Status")
        }
        try show(status, output, as: StatusReport.self) { $0.lines(on: $1) }
        if !isWhole { throw ExitCode.failure }
    }
}

/// Commands without arguments that answer with the status.
protocol PlayerKey: DogearCommand {
    static var member: String { get }
    var output: OutputOptions { get }
}

extension PlayerKey {
    func perform() throws {
        try show(try Link().ask(Self.member), output, as: StatusReport.self) { $0.lines(on: $1) }
    }
}

struct Pause: PlayerKey {
    static let member = "Pause"
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause.", discussion: "Example:\n  dogear pause")
    @OptionGroup var output: OutputOptions
}

struct Toggle: PlayerKey {
    static let member = "Toggle"
    static let configuration = CommandConfiguration(
        commandName: "toggle",
        abstract: "Pause what plays, or go on.", discussion: "Example:\n  dogear toggle")
    @OptionGroup var output: OutputOptions
}

struct Stop: PlayerKey {
    static let member = "Stop"
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop and keep the place.",
        discussion: "Example:\n  dogear stop\n\n'dogear play' goes on from there.")
    @OptionGroup var output: OutputOptions
}

struct Next: PlayerKey {
    static let member = "Next"
    static let configuration = CommandConfiguration(
        commandName: "next",
        abstract: "Go to the next chapter.",
        discussion: """
            Example:
              dogear next

            From the last chapter it goes on to what waits in the queue. An item without chapters goes by the queue, and \
            where that is empty too by a skip forward. The setting playback.next chooses. Where nothing is next it says so \
            and exits with 2.
            """)
    @OptionGroup var output: OutputOptions
}

struct Previous: PlayerKey {
    static let member = "Previous"
    static let configuration = CommandConfiguration(
        commandName: "previous",
        abstract: "Go to the start of the chapter; within its first seconds, to the one before.",
        discussion: """
            Example:
              dogear previous

            From the start of the first chapter it goes back to what was played before from the queue. An item without \
            chapters goes by the queue, and where that is empty too by a skip back. The setting playback.previous chooses.
            """)
    @OptionGroup var output: OutputOptions
}

struct Seek: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "seek",
        abstract: "Jump forward, back, or to a place.",
        discussion: """
            Example:
              dogear seek +30          # half a minute forward
              dogear seek -1:00        # a minute back
              dogear seek 1:02:03      # to that place in the whole book
              dogear seek 50%
              dogear seek chapter:7
              dogear seek bookmark:2   # as 'dogear bookmarks' lists them
            """)

    @Argument(help: "+30, -1:00, 12:30, 1h30m, 50%, chapter:7 or bookmark:2.", completion: .place)
    var jump: String

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if Jump(jump) == nil { throw ValidationError(Jump.explanation(of: jump)) }
    }

    func perform() throws {
        try show(try Link().ask("Seek", .string(jump)), output, as: StatusReport.self) { $0.lines(on: $1) }
    }
}

struct Chapters: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "chapters",
        abstract: "List the chapters of what plays, or of something else.",
        discussion: "Example:\n  dogear chapters\n  dogear chapters the hobbit")

    @Argument(help: .whatElsePlays, completion: .what())
    var what: [String] = []

    @OptionGroup var output: OutputOptions

    func perform() throws {
        let link = try Link()
        let chosen = try Finder(link: link).find(what)
        try show(try link.ask("Chapters", .string(chosen)), output, as: ChaptersReport.self) { $0.lines(on: $1) }
    }
}

struct Speed: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "speed",
        abstract: "Show or set the speed, 0.5 to 3; voices keep their pitch.",
        discussion: """
            Example:
              dogear speed 1.25
              dogear speed +0.1
              dogear speed default

            A speed is kept for the item, and for its series or podcast too: what of that has no speed of its own plays at \
            the one chosen last. 'default' forgets both, so that the setting playback.rate holds. Without an argument it \
            says whose speed it is.
            """)

    @Argument(help: "0.5 to 3, a change such as +0.1 or -0.1, or default.", completion: .list(["default"]))
    var speed: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let speed, speed != "default", Amount(speed: speed) == nil {
            throw ValidationError("'\(Clean.line(speed))' is no speed: it goes from 0.5 to 3, or +0.1, -0.1, default")
        }
    }

    func perform() throws {
        let link = try Link()
        if speed == "default" {
            return try show(try link.ask("ForgetSpeed"), output, as: StatusReport.self) { report, _ in
                [report.speedLine]
            }
        }
        let amount = speed.flatMap { Amount(speed: $0) }
        let text =
            switch amount {
            case .to(let rate): try link.ask("Speed", .double(rate))
            case .by(let change): try link.ask("ChangeSpeed", .double(change))
            case nil: try link.ask("Status")
            }
        try show(text, output, as: StatusReport.self) { report, _ in
            [amount == nil ? report.speedLine : Figures.speed(report.rate)]
        }
    }
}

struct Volume: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "volume",
        abstract: "Show or set the volume, as the desktop's mixer counts it.",
        discussion: """
            Example:
              dogear volume 40%
              dogear volume -10%

            It is kept. Where sound goes to PulseAudio or PipeWire it is that of dogear in the desktop's mixer, which \
            counts by ear: 10% here are 46% there. The setting playback.boost makes everything louder than it was \
            recorded and holds the peaks down, so that nothing clips; playback.skip-silence cuts silences short, and the place moves along.
            """)

    @Argument(help: "0% to 100%, 0 to 1, or a change such as +10% or -10%.")
    var volume: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let volume, Amount(volume: volume) == nil {
            throw ValidationError("'\(Clean.line(volume))' is no volume: it goes from 0% to 100% (or 0 to 1), or +10%")
        }
    }

    func perform() throws {
        let link = try Link()
        let text =
            switch volume.flatMap({ Amount(volume: $0) }) {
            case .to(let level): try link.ask("Volume", .double(level))
            case .by(let change): try link.ask("ChangeVolume", .double(change))
            case nil: try link.ask("Status")
            }
        try show(text, output, as: StatusReport.self) { report, _ in [Figures.percent(report.volume)] }
    }
}
