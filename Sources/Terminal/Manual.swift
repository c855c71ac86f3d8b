public import Control

/// The parts of the manual that `--help` and the settings say already, as mdoc: the page and the help are one text.
public enum Manual {
    /// A command as the option parser describes it: what of its dump of the help is needed here.
    public struct Command: Decodable, Sendable {
        public var commandName: String
        public var abstract: String?
        public var discussion: String?
        public var arguments: [Argument]?
        public var subcommands: [Command]?
    }

    /// What a command takes.
    public struct Argument: Decodable, Hashable, Sendable {
        public enum Kind: String, Decodable, Sendable { case positional, option, flag }

        public struct Name: Decodable, Hashable, Sendable {
            public enum Kind: String, Decodable, Sendable { case long, short, longWithSingleDash }
            public var kind: Kind
            public var name: String

            fileprivate var flag: String { "Fl \(kind == .long ? "-" : "")\(escaped(name))" }
        }

        public var kind: Kind
        public var abstract: String?
        public var names: [Name]?
        public var valueName: String?
        public var isOptional: Bool
        public var isRepeating: Bool
        public var shouldDisplay: Bool
    }

    /// The whole program.
    public struct Program: Decodable, Sendable {
        public var command: Command
    }

    /// The section of the commands.
    /// - Parameter groups: names of commands, in the order and under the headings of the help.
    public static func commands(_ program: Command, groups: [(heading: String, commands: [String])]) -> [String] {
        let known = program.subcommands ?? []
        let common = commonOptions(known)
        var lines = [".Sh COMMANDS", "Every command takes"]
        lines += list(common.map { item($0) })
        for group in groups {
            lines.append(".Ss \(escaped(group.heading))")
            let chosen = group.commands.flatMap { name in known.filter { $0.commandName == name } }
            lines += list(chosen.flatMap { entries($0, behind: "", common) })
        }
        return lines
    }

    /// The section of the settings.
    public static func settings(_ settings: [SettingsReport.Row]) -> [String] {
        [".Sh SETTINGS"]
            + list(
                settings.map { setting in
                    [".It Li \(escaped(setting.key))"] + prose(setting.meaning + ".")
                        + [text("\(setting.allowed); normally \(setting.usual).")]
                })
    }

    /// What almost every command takes is told once.
    private static func commonOptions(_ commands: [Command]) -> [Argument] {
        let all = commands.flatMap { $0.arguments ?? [] }.filter { $0.kind != .positional }
        let counts = Dictionary(grouping: all, by: \.self).mapValues(\.count)
        var told: Set<Argument> = []
        return all.filter { counts[$0, default: 0] * 2 > commands.count && told.insert($0).inserted }
    }

    /// A command and, behind it, those that it has itself.
    private static func entries(_ command: Command, behind: String, _ common: [Argument]) -> [[String]] {
        let name = behind + command.commandName
        let own = (command.arguments ?? []).filter { $0.shouldDisplay && !common.contains($0) }
        var lines = [".It Nm \(name)" + own.map { " " + synopsis($0) }.joined()]
        lines += prose(command.abstract ?? "")
        let (examples, paragraphs) = parted(command.discussion ?? "")
        for paragraph in paragraphs { lines += [".Pp"] + prose(paragraph) }
        let options = own.filter { $0.abstract?.isEmpty == false }
        if !options.isEmpty { lines += list(options.map { item($0) }) }
        // That it can be typed alone is no example.
        if examples != ["dogear \(name)"], !examples.isEmpty {
            lines += [".Bd -literal -offset indent"] + examples.map { text($0) } + [".Ed"]
        }
        return [lines] + (command.subcommands ?? []).flatMap { entries($0, behind: name + " ", common) }
    }

    /// The lines of the example, and the paragraphs around it.
    private static func parted(_ discussion: String) -> (examples: [String], paragraphs: [String]) {
        var examples: [String] = []
        var paragraphs: [String] = []
        for line in discussion.split(separator: "\n") where line != "Example:" {
            if line.hasPrefix("  ") {
                examples.append(String(line.dropFirst(2)))
            } else {
                paragraphs.append(String(line))
            }
        }
        return (examples, paragraphs)
    }

    private static func list(_ items: [[String]]) -> [String] {
        [".Bl -tag -width Ds"] + items.flatMap { $0 } + [".El"]
    }

    private static func item(_ argument: Argument) -> [String] {
        let forms: [String] =
            argument.kind == .positional
            ? ["Ar \(argument.valueName ?? "")"]
            : (argument.names ?? []).map { name in
                let value = argument.kind == .option ? " Ar \(escaped(argument.valueName ?? ""))" : ""
                return name.flag + value
            }
        return [".It " + forms.joined(separator: " , ")] + prose(argument.abstract ?? "")
    }

    private static func synopsis(_ argument: Argument) -> String {
        let value = "Ar \(escaped(argument.valueName ?? ""))\(argument.isRepeating ? " ..." : "")"
        if argument.kind == .positional { return argument.isOptional ? "Oo \(value) Oc" : value }
        guard let name = argument.names?.last else { return "" }
        let whole = argument.kind == .option ? "\(name.flag) \(value)" : name.flag
        return argument.isOptional || argument.isRepeating ? "Oo \(whole) Oc" : whole
    }

    /// A line for each sentence, as mdoc wants it.
    private static func prose(_ paragraph: String) -> [String] {
        var lines: [String] = []
        var rest = paragraph[...]
        while let end = rest.firstRange(of: /[.?!:]\)? (?=[A-Z'-])/) {
            lines.append(String(rest[..<end.upperBound].dropLast()))
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty { lines.append(String(rest)) }
        return lines.map(text)
    }

    /// A line of text, which no letter at its beginning makes a request. What is quoted is to be typed as it stands.
    private static func text(_ line: String) -> String {
        let marked = escaped(line).replacing(/(^|[ (])'([^']+)'(?=$|[ ,;.:)])/) {
            "\($0.output.1)\\fB\($0.output.2)\\fR"
        }
        return marked.hasPrefix(".") || marked.hasPrefix("'") ? "\\&" + marked : marked
    }

    private static func escaped(_ word: String) -> String {
        word.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    }
}
