internal import Listening

/// Every setting there is, and the only place where one is declared: reading, checking, writing, the list and the
/// errors all go by this table.
public enum SettingKey: String, CaseIterable, Hashable, Sendable {
    case track = "playback.track"
    case next = "playback.next"
    case previous = "playback.previous"
    case stop = "playback.stop"
    case skipForward = "playback.skip-forward"
    case skipBack = "playback.skip-back"
    case rate = "playback.rate"
    case resumeRewind = "playback.resume-rewind"
    case pauseForOthers = "playback.pause-for-others"
    case boost = "playback.boost"
    case skipSilence = "playback.skip-silence"
    case queueEnd = "queue.end"
    case sleepFade = "sleep.fade"
    case sleepRewind = "sleep.rewind"
    case sleepExtend = "sleep.extend"
    case sleepAgain = "sleep.again"
    case sink = "audio.sink"
    case inhibitSleep = "system.inhibit-sleep"
    case notifications = "system.notifications"
    case audioSize = "cache.audio-size"
    case logLevel = "log.level"

    public var declaration: Declaration {
        switch self {
        case .track:
            Declaration(.choice(TrackUnit.self), .text("chapter"), "What desktop players see as a track")
        case .next:
            Declaration(
                .choice(NextStep.self), .text("chapter"),
                "What the next key goes to: a chapter and then the queue, a skip forward, or the queue at once")
        case .previous:
            Declaration(
                .choice(PreviousStep.self), .text("same"),
                "What the previous key goes to: the same kind of thing as the next key, or one of its own")
        case .stop:
            Declaration(.choice(StopStep.self), .text("keep"), "Whether playing after a stop goes on or begins again")
        case .skipForward: Declaration(.seconds(1...600), .number(30), "How far a skip forward goes")
        case .skipBack: Declaration(.seconds(1...600), .number(15), "How far a skip back goes")
        case .rate:
            Declaration(
                .number(Player.rates), .number(1),
                "The speed of items that have none of their own, nor of their series or podcast"
            )
        case .resumeRewind:
            Declaration(.flag, .flag(true), "Go back a little when playing goes on, by how long the pause was")
        case .pauseForOthers:
            Declaration(.flag, .flag(false), "Pause when another media player of the desktop begins to play")
        case .boost:
            Declaration(
                .decibels(0...12), .number(0),
                "How much louder than it was recorded; peaks are held down, nothing clips")
        case .skipSilence:
            Declaration(.flag, .flag(false), "Cut silences short: of a longer one less than half a second is heard")
        case .queueEnd:
            Declaration(
                .choice(QueueEnd.self), .text("stop"),
                "What follows when the queue has run out: nothing, or the next of the series or podcast")
        case .sleepFade:
            Declaration(
                .seconds(0...300), .number(20), "How long the sound fades before the sleep timer ends; 0: not at all")
        case .sleepRewind:
            Declaration(
                .choice(SleepRewind.self), .text("fade"),
                "Where the place is after the sleep timer: where the sound began to fade, or where it ended")
        case .sleepExtend:
            Declaration(
                .seconds(60...14_400), .number(900), "By how much a key while the sound fades puts the sleep timer off")
        case .sleepAgain:
            Declaration(
                .flag, .flag(false), "Playing on after the sleep timer has ended sets the same timer again")
        case .inhibitSleep:
            Declaration(
                .flag, .flag(false),
                "Keep the computer awake while something plays; the screen may go dark, closing the lid still suspends")
        case .notifications:
            Declaration(
                .flag, .flag(true),
                "Show a notification when a server wants a new login, has not got what was heard for a day, the sleep "
                    + "timer is about to end, or playing ends in an error or is long in coming")
        case .sink:
            Declaration(
                .text, .text(""),
                "A GStreamer element to play through, from the next start on; empty for the desktop's own output")
        case .audioSize:
            Declaration(
                .megabytes(0...1_000_000), .number(1024),
                "How much audio of servers to keep, from the next start on; 0 for none beyond what is being read")
        case .logLevel: Declaration(.choice(LogLevel.self), .text("info"), "The least important messages to log")
        }
    }

    /// What stands before the first dot, and behind it.
    var parts: (section: String, name: String) {
        let parts = rawValue.split(separator: ".", maxSplits: 1)
        return (String(parts[0]), String(parts[1]))
    }
}

public enum TrackUnit: String, CaseIterable, Hashable, Sendable { case chapter, item }
public enum NextStep: String, CaseIterable, Hashable, Sendable { case chapter, skip, queue }
public enum PreviousStep: String, CaseIterable, Hashable, Sendable { case same, chapter, skip, queue }
public enum StopStep: String, CaseIterable, Hashable, Sendable { case keep, restart }
public enum QueueEnd: String, CaseIterable, Hashable, Sendable { case stop, next }
public enum SleepRewind: String, CaseIterable, Hashable, Sendable { case fade, none }
public enum LogLevel: String, CaseIterable, Hashable, Sendable { case debug, info, notice, warning, error }

public struct Declaration: Hashable, Sendable {
    public let kind: SettingKind
    public let fallback: SettingValue
    /// One line, for people.
    public let meaning: String

    init(_ kind: SettingKind, _ fallback: SettingValue, _ meaning: String) {
        self.kind = kind
        self.fallback = fallback
        self.meaning = meaning
    }
}

public enum SettingValue: Hashable, Sendable, CustomStringConvertible {
    case text(String)
    case number(Double)
    case flag(Bool)

    /// As the command line takes and shows it.
    public var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .flag(let flag): "\(flag)"
        }
    }
}

public enum SettingKind: Hashable, Sendable, CustomStringConvertible {
    case choice([String])
    case seconds(ClosedRange<Int>)
    case megabytes(ClosedRange<Int>)
    case decibels(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case flag
    case text

    static func choice<Choice: CaseIterable & RawRepresentable<String>>(_ type: Choice.Type) -> SettingKind {
        .choice(type.allCases.map(\.rawValue))
    }

    /// The allowed values, for people.
    public var description: String {
        switch self {
        case .choice(let words): words.joined(separator: ", ")
        case .seconds(let range): "\(range.lowerBound) to \(range.upperBound) seconds"
        case .megabytes(let range): "\(range.lowerBound) to \(range.upperBound) megabytes"
        case .decibels(let range): "\(range.lowerBound) to \(range.upperBound) decibels"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .flag: "true, false"
        case .text: "any text on one line"
        }
    }

    /// Values to choose from; of numbers those at both ends, and the usual one.
    public func examples(_ fallback: SettingValue) -> [String] {
        func ends(_ low: Double, _ high: Double) -> [String] {
            [fallback, .number(low), .number(high)].map(\.description)
        }
        return switch self {
        case .choice(let words): words
        case .seconds(let range), .megabytes(let range), .decibels(let range):
            ends(Double(range.lowerBound), Double(range.upperBound))
        case .number(let range): ends(range.lowerBound, range.upperBound)
        case .flag: ["true", "false"]
        case .text: []
        }
    }

    func allows(_ value: SettingValue) -> Bool {
        switch (self, value) {
        case (.choice(let words), .text(let word)): words.contains(word)
        case (.seconds(let range), .number(let number)), (.megabytes(let range), .number(let number)):
            Int(exactly: number).map(range.contains) ?? false
        case (.decibels(let range), .number(let number)):
            (Double(range.lowerBound)...Double(range.upperBound)).contains(number)
        case (.number(let range), .number(let number)): range.contains(number)
        case (.flag, .flag): true
        case (.text, .text(let text)): !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }
        case (.choice, _), (.seconds, _), (.megabytes, _), (.decibels, _), (.number, _), (.flag, _), (.text, _): false
        }
    }

    /// What was typed on a command line.
    /// - Returns: nil if it is not allowed.
    func value(typed text: String) -> SettingValue? {
        let value: SettingValue? =
            switch self {
            case .choice, .text: .text(text)
            case .seconds: (Double(text) ?? TimeText.parse(text)?.seconds).map { .number($0) }
            case .megabytes, .decibels, .number: Double(text).map { .number($0) }
            case .flag:
                ["true": true, "yes": true, "on": true, "false": false, "no": false, "off": false][text]
                    .map { .flag($0) }
            }
        return value.flatMap { allows($0) ? $0 : nil }
    }

    /// As it is written in the file. Only for what is allowed.
    func literal(_ value: SettingValue) -> String {
        switch (self, value) {
        case (.number, .number(let number)): "\(number)"
        case (_, .text(let text)):
            "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
        case (_, .number), (_, .flag): "\(value)"
        }
    }
}
