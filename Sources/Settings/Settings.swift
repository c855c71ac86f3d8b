public import Listening

/// What the listener has chosen in `config.toml`; every value is one that the table allows.
public struct Settings: Hashable, Sendable {
    private var chosen: [SettingKey: SettingValue]

    /// The defaults.
    public init() { chosen = [:] }

    init(chosen: [SettingKey: SettingValue]) { self.chosen = chosen }

    public subscript(key: SettingKey) -> SettingValue { chosen[key] ?? key.declaration.fallback }

    public var track: TrackUnit { choice(.track, .chapter) }
    public var next: NextStep { choice(.next, .chapter) }
    public var previous: PreviousStep { choice(.previous, .same) }
    public var stop: StopStep { choice(.stop, .keep) }
    public var skipForward: BookTime { .seconds(number(.skipForward)) }
    public var skipBack: BookTime { .seconds(number(.skipBack)) }
    public var rate: Double { number(.rate) }
    public var resumeRewind: Bool { self[.resumeRewind] == .flag(true) }
    /// Decibels.
    public var boost: Double { number(.boost) }
    public var skipsSilence: Bool { self[.skipSilence] == .flag(true) }
    public var sleepFade: BookTime { .seconds(number(.sleepFade)) }
    public var sleepRewinds: Bool { choice(.sleepRewind, SleepRewind.fade) == .fade }
    public var sleepExtend: BookTime { .seconds(number(.sleepExtend)) }
    public var sleepAgain: Bool { self[.sleepAgain] == .flag(true) }
    public var queueEnd: QueueEnd { choice(.queueEnd, .stop) }
    public var pauseForOthers: Bool { self[.pauseForOthers] == .flag(true) }
    public var inhibitSleep: Bool { self[.inhibitSleep] == .flag(true) }
    public var notifications: Bool { self[.notifications] == .flag(true) }
    /// A GStreamer element description; nil for the automatic one.
    public var sink: String? {
        guard case .text(let text) = self[.sink], !text.isEmpty else { return nil }
        return text
    }
    /// Bytes of audio to keep.
    public var audioSize: Int64 { Int64(number(.audioSize)) << 20 }
    public var logLevel: LogLevel { choice(.logLevel, .info) }

    private func number(_ key: SettingKey) -> Double {
        guard case .number(let number) = self[key] else { return 0 }
        return number
    }

    private func choice<Choice: RawRepresentable<String>>(_ key: SettingKey, _ fallback: Choice) -> Choice {
        guard case .text(let text) = self[key] else { return fallback }
        return Choice(rawValue: text) ?? fallback
    }

    /// All settings in the order of the table.
    public func list() -> [SettingRow] {
        SettingKey.allCases.map { key in
            SettingRow(key: key, value: self[key], isDefault: self[key] == key.declaration.fallback)
        }
    }

    /// Reads the file; a missing one means the defaults.
    /// - Returns: what can be used, with the default for each setting that cannot, and everything that is wrong, in the
    ///   order of the file's lines.
    public static func load(_ path: String) -> (settings: Settings, problems: [SettingsError]) {
        do throws(SettingsError) {
            return try SettingsFile(path: path).settings()
        } catch { return (Settings(), [error]) }
    }

    /// Writes one setting into the file and leaves everything else in it as it is, comments and order too. The file is
    /// replaced in one step, 0600, in a folder that is made 0700.
    /// - Parameters:
    ///   - key: as in the table, `playback.rate`.
    ///   - text: as typed; nil takes the setting out of the file, so that the default holds.
    /// - Returns: the settings as the file now has them.
    /// - Throws: if the key or value is not in the table, if the file has an error of syntax or cannot be written, or if
    ///   the change would disturb what stands beside it. The file is then as it was.
    public static func set(_ key: String, to text: String?, in path: String) throws(SettingsError) -> Settings {
        let known = try Self.key(key)
        let kind = known.declaration.kind
        let value = text.flatMap(kind.value(typed:))
        if let text, value == nil { throw .wrong(key: key, value: "'\(text)'", allowed: "\(kind)", where: nil) }
        return try SettingsFile(path: path).setting(known, to: value)
    }

    /// - Throws: where there is none of this name, with what was meant, most likely.
    public static func key(_ name: String) throws(SettingsError) -> SettingKey {
        guard let key = SettingKey(rawValue: name) else {
            throw .unknown(key: name, nearest: nearest(to: name), where: nil)
        }
        return key
    }

    /// The key that was meant, most likely: the only one of its section that is called like that, few letters off, or one
    /// whose section was forgotten.
    static func nearest(to key: String) -> String? {
        if let point = key.lastIndex(of: "."), case let part = key[point...].dropFirst(), part.count > 3 {
            let alike = SettingKey.allCases.filter {
                $0.rawValue.hasPrefix(key[...point]) && $0.parts.name.contains(part)
            }
            if alike.count == 1 { return alike[0].rawValue }
        }
        if let near = Spelling.nearest(to: key, among: SettingKey.allCases.map(\.rawValue)) { return near }
        let name = Spelling.nearest(to: key, among: SettingKey.allCases.map(\.parts.name))
        return SettingKey.allCases.first { $0.parts.name == name }?.rawValue
    }
}

/// One line of the list of settings.
public struct SettingRow: Hashable, Sendable {
    public let key: SettingKey
    public let value: SettingValue
    public let isDefault: Bool
}
