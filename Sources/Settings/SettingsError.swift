public import Folders

/// What is wrong with the settings, or with a change of one. Lines count from 1.
public enum SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing in the file can be used.
    case syntax(path: String, line: Int, reason: String)
    /// `where` is nil when the key was typed.
    case unknown(key: String, nearest: String?, where: FileLine?)
    case wrong(key: String, value: String, allowed: String, where: FileLine?)
    /// The key is written in a way that cannot be changed without touching what is beside it.
    case tangled(key: String, where: FileLine)
    case file(FolderError)

    public struct FileLine: Hashable, Sendable, CustomStringConvertible {
        public let path: String
        public let line: Int
        public var description: String { "\(path), line \(line)" }
    }

    public var description: String {
        switch self {
        case .syntax(let path, let line, let reason):
            "\(path), line \(line): \(reason); the defaults hold until that is mended"
        case .unknown(let key, let nearest, let place):
            prefix(place) + "there is no setting '\(key)'"
                + (nearest.map { "; did you mean '\($0)'?" } ?? "; 'dogear settings' lists them")
        case .wrong(let key, let value, let allowed, let place):
            prefix(place) + "'\(key)' cannot be \(value); allowed are: \(allowed)"
        case .tangled(let key, let place):
            "\(place): '\(key)' stands together with other settings there; change it in the file"
        case .file(let error): error.description
        }
    }

    private func prefix(_ place: FileLine?) -> String { place.map { "\($0): " } ?? "" }

    var line: Int {
        switch self {
        case .syntax(_, let line, _): line
        case .unknown(_, _, let place), .wrong(_, _, _, let place): place?.line ?? 0
        case .tangled(_, let place): place.line
        case .file: 0
        }
    }
}
