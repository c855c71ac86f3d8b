internal import Control
internal import GStreamer
extension Service { func changeSettings(_ key: String, _ value: String?) async throws(ControlError) -> SettingsReport { SettingsReport(settings: [], problems: []) } }
extension GStreamerEngine {
  static func missingDecoders() -> [(what: String, package: String)] { [] }
  static func canMake(sink: String) -> Bool { true }
}
