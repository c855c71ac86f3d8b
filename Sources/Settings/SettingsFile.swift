internal import Folders
internal import TOMLKit

/// The text of `config.toml`: read by TOMLKit, edited line by line.
struct SettingsFile {
    let path: String
    let text: String
    /// The value of every key in it, by its whole dotted path.
    private let leaves: [String: Leaf]

    private struct Leaf: Equatable {
        let value: SettingValue?
        /// As people see it in an error.
        let shown: String
    }

    init(path: String) throws(SettingsError) {
        let bytes: [UInt8]?
        do { bytes = try PrivateFiles.read(path) } catch { throw .file(error) }
        try self.init(path: path, bytes: bytes ?? [])
    }

    init(path: String, bytes: [UInt8]) throws(SettingsError) {
        self.path = path
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw .syntax(path: path, line: Self.badLine(bytes), reason: "not text in UTF-8")
        }
        self.text = text
        if let line = Grammar.badLine(in: text) {
            throw .syntax(path: path, line: line, reason: "neither [TABLE] nor NAME = VALUE, with texts in quotes")
        }
        do {
            let table = try TOMLTable(string: text)
            var leaves: [String: Leaf] = [:]
            Self.collect(table, "", &leaves)
            self.leaves = leaves
        } catch let error as TOMLParseError {
            throw .syntax(path: path, line: error.source.begin.line, reason: error.description)
        } catch { throw .syntax(path: path, line: 1, reason: "\(error)") }
    }

    func settings() -> (settings: Settings, problems: [SettingsError]) {
        let layout = Layout(text)
        var chosen: [SettingKey: SettingValue] = [:]
        var problems: [SettingsError] = []
        for (name, leaf) in leaves {
            let place = SettingsError.FileLine(path: path, line: layout.line(of: name))
            guard let key = SettingKey(rawValue: name) else {
                problems.append(.unknown(key: name, nearest: Settings.nearest(to: name), where: place))
                continue
            }
            let kind = key.declaration.kind
            if let value = leaf.value, kind.allows(value) {
                chosen[key] = value
            } else {
                problems.append(.wrong(key: name, value: leaf.shown, allowed: "\(kind)", where: place))
            }
        }
        problems.sort { ($0.line, $0.description) < ($1.line, $1.description) }
        return (Settings(chosen: chosen), problems)
    }

    func setting(_ key: SettingKey, to value: SettingValue?) throws(SettingsError) -> Settings {
        let isFirst = text.allSatisfy(\.isWhitespace) && value != nil
        let layout = Layout(isFirst ? Self.commented : text)
        let changed =
            value.map { layout.replacing(key.parts, with: key.declaration.kind.literal($0)) }
            ?? layout.removing(key.parts)
        let place = SettingsError.FileLine(path: path, line: layout.line(of: key.rawValue))
        guard let after = try? SettingsFile(path: path, bytes: Array(changed.utf8)),
            after.leaves[key.rawValue]?.value == value,
            after.leaves.filter({ $0.key != key.rawValue }) == leaves.filter({ $0.key != key.rawValue })
        else { throw .tangled(key: key.rawValue, where: place) }
        do {
            try PrivateFiles.makeFolder(above: path)
            if changed != text { try PrivateFiles.replace(path, with: Array(changed.utf8)) }
        } catch { throw .file(error) }
        return after.settings().settings
    }

    /// What a new file begins with: every setting with its meaning, and its usual value commented out.
    static var commented: String {
        var text = """
            # The settings of dogear. 'dogear settings NAME VALUE' changes one here, and at once unless it says otherwise;
            # what is changed in this file by hand holds from the next start on at the latest. A line that is commented out
            # shows the usual value.

            """
        var section = ""
        for key in SettingKey.allCases {
            let declaration = key.declaration
            if key.parts.section != section {
                section = key.parts.section
                text += "\n[\(section)]\n"
            }
            text += "# \(declaration.meaning) (\(declaration.kind))\n"
            text += "#\(key.parts.name) = \(declaration.kind.literal(declaration.fallback))\n"
        }
        return text
    }

    private static func collect(_ table: TOMLTable, _ prefix: String, _ leaves: inout [String: Leaf]) {
        for (name, node) in table {
            let path = prefix + name
            if let inner = node.table {
                if inner.isEmpty { continue }
                collect(inner, path + ".", &leaves)
                continue
            }
            let value: SettingValue? =
                if let text = node.string { .text(text) } else if let number = node.int {
                    .number(Double(number))
                } else if let number = node.double { .number(number) } else if let flag = node.bool { .flag(flag) } else
                { nil }
            leaves[path] = Leaf(value: value, shown: shown(value, node.type))
        }
    }

    private static func shown(_ value: SettingValue?, _ type: TOMLType) -> String {
        switch value {
        case .text(let text): "the text '\(text)'"
        case .number, .flag: value.map { "\($0)" } ?? ""
        case nil: type == .array ? "a list" : "a date or time"
        }
    }

    private static func badLine(_ bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let bad = lines.firstIndex { $0.contains(0) || String(validating: $0, as: UTF8.self) == nil }
        return (bad ?? 0) + 1
    }
}
