internal import Control
internal import EventLoop
internal import GStreamer
internal import Listening
internal import Logging
internal import Settings

/// The listener's settings as the daemon uses them: read at start, changed by command, in force at once.
@LoopActor final class SettingsDesk {
    let path: String
    private var settings: Settings
    private(set) var problems: [String]
    private var writing: Task<Void, Never>?

    init(path: String) {
        self.path = path
        let (settings, problems) = Settings.load(path)
        self.settings = settings
        self.problems = problems.map(\.description)
    }

    var rate: Double { settings.rate }
    /// Decibels.
    var boost: Double { settings.boost }
    var sound: SoundOptions { SoundOptions(boost: settings.boost, skipsSilence: settings.skipsSilence) }
    var logLevel: Logger.Level { Logger.Level(rawValue: settings.logLevel.rawValue) ?? .info }

    /// What is next in a series or podcast follows when the queue has run out.
    var goesOn: Bool { settings.queueEnd == .next }
    var pauseForOthers: Bool { settings.pauseForOthers }
    var inhibitSleep: Bool { settings.inhibitSleep }
    var notifications: Bool { settings.notifications }
    /// Bytes.
    var audioSize: Int64 { settings.audioSize }

    /// For tests and headless machines the environment goes before the setting.
    func sink(_ environment: [String: String]) -> String {
        if let sink = environment["DOGEAR_AUDIO_SINK"], !sink.isEmpty { return sink }
        return settings.sink ?? "autoaudiosink"
    }

    var playerOptions: Player.Options {
        var options = Player.Options()
        options.chaptersAsTracks = settings.track == .chapter
        options.next = Player.Options.Step(rawValue: settings.next.rawValue) ?? .chapter
        options.previous = Player.Options.Step(rawValue: settings.previous.rawValue) ?? options.next
        options.skipForward = settings.skipForward
        options.skipBack = settings.skipBack
        options.stopRestarts = settings.stop == .restart
        options.resumeRewind = settings.resumeRewind
        options.sleepFade = settings.sleepFade
        options.sleepRewinds = settings.sleepRewinds
        options.sleepExtend = settings.sleepExtend
        options.sleepsAgain = settings.sleepAgain
        return options
    }

    /// What the file says now, whoever wrote it.
    /// - Returns: what is wrong with it, and whether it is what holds.
    func look() async -> (problems: [String], isInForce: Bool) {
        let (path, before) = (path, writing)
        let (found, problems) = await Task.detached {
            await before?.value
            return Settings.load(path)
        }.value
        return (problems.map(\.description), found == settings)
    }

    /// - Parameter key: empty for all.
    func report(_ key: String) throws(ControlError) -> SettingsReport {
        let wanted: SettingKey?
        do throws(SettingsError) { wanted = key.isEmpty ? nil : try Settings.key(key) } catch {
            throw ControlError(.usage, "\(error)")
        }
        let rows = settings.list().filter { $0.key == wanted ?? $0.key }
        return SettingsReport(settings: rows.map(Self.row), problems: problems)
    }

    /// - Parameter value: nil: as it usually is.
    func set(_ key: String, _ value: String?) async throws(ControlError) {
        do throws(SettingsError) {
            (settings, problems) = try await written(key, value).get()
        } catch {
            switch error {
            case .unknown, .wrong: throw ControlError(.usage, "\(error)")
            case .syntax, .tangled, .file: throw ControlError(.failed, "\(error)")
            }
        }
    }

    /// Not on the Loop, which a disk that has to wake up would hold; one after the other, as each reads what is there.
    private func written(
        _ key: String, _ value: String?
    ) async -> Result<(settings: Settings, problems: [String]), SettingsError> {
        let (path, before) = (path, writing)
        let work = Task.detached {
            await before?.value
            return Result { () throws(SettingsError) in
                let settings = try Settings.set(key, to: value, in: path)
                return (settings: settings, problems: Settings.load(path).problems.map(\.description))
            }
        }
        writing = Task { _ = await work.value }
        return await work.value
    }

    private static func row(_ row: SettingRow) -> SettingsReport.Row {
        let declaration = row.key.declaration
        return SettingsReport.Row(
            key: row.key.rawValue, value: "\(row.value)", default: "\(declaration.fallback)",
            meaning: declaration.meaning, allowed: "\(declaration.kind)")
    }
}

extension Service {
    /// - Parameter value: nil: as it usually is.
    func changeSetting(_ key: String, _ value: String?) async throws(ControlError) -> SettingsReport {
        if let value, !value.isEmpty, key == SettingKey.sink.rawValue {
            // Not on the Loop: a first look scans every plugin.
            guard await Task.detached(operation: { GStreamerEngine.canMake(sink: value) }).value else {
                throw ControlError(
                    .usage,
                    "GStreamer has no output '\(value)' here; 'gst-inspect-1.0 | grep sink' lists what there is, and "
                        + "--default goes back to the desktop's own")
            }
        }
        try await settings.set(key, value)
        Log.shared.level = settings.logLevel
        send(.options(settings.playerOptions))
        engine.setSound(settings.sound)
        // What has a speed of its own keeps it.
        if key == SettingKey.rate.rawValue, rateKey == nil { send(.rate(settings.rate, isChosen: false)) }
        surroundings?.adopt()
        return try settings.report(key)
    }
}
