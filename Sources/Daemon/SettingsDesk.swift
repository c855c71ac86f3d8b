internal import EventLoop
internal import Listening
internal import Logging

@LoopActor final class SettingsDesk {
    let path: String
    var problems: [String] = []
    var rate: Double { 1 }
    var logLevel: Logger.Level { .info }
    var playerOptions: Player.Options { Player.Options() }
    init(path: String) { self.path = path }
    func sink(_ environment: [String: String]) -> String { environment["DOGEAR_AUDIO_SINK"] ?? "autoaudiosink" }
}
