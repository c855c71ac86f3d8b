internal import Listening

/// Why a path cannot be listened to, with the next step.
public enum LocalFilesError: Error, Hashable, Sendable, CustomStringConvertible {
    case notFound(path: String)
    case forbidden(path: String)
    case noAudio(folder: String)
    case tooMuch(folder: String)
    case tooDeep(folder: String)
    case empty(path: String)
    /// A device, a pipe or a socket.
    case notRegular(path: String)
    /// Its bytes are no text: with U+FFFD in their place.
    case unnameable(path: String)
    case unreadable(path: String, reason: String)
    /// Names of other files, and no sound.
    case list(path: String)
    case missingDecoder(path: String, what: String, package: String?)

    public var description: String {
        switch self {
        case .notFound(let path): "there is no file or folder \(path); check the name"
        case .forbidden(let path): "\(path) may not be read; check its permissions (ls -l) and those of its folder"
        case .noAudio(let folder):
            "there is no audio file in \(folder); dogear looks for \(AudioName.endings.joined(separator: " "))"
        case .tooMuch(let folder): "there is far more in \(folder) than one book; name the folder of the book itself"
        case .tooDeep(let folder):
            "\(folder) lies more than \(AudioFiles.deepest) folders deep; move it up, or name the folder of the book itself"
        case .notRegular(let path): "\(path) is no file that could be played; name an audio file or a folder"
        case .empty(let path): "\(path) is empty; copy or download it again"
        case .unnameable(let path):
            "the name of \(path) is not UTF-8, as it has to be; rename it, for example with convmv"
        case .unreadable(let path, let reason):
            "\(path) cannot be played: \(reason); if another player can, please report it"
        case .list(let path):
            "\(path) is a list of files, which dogear does not read; name the files themselves, or their folder"
        case .missingDecoder(let path, let what, let package?):
            "\(path) needs the \(what); install it with 'sudo apt install \(package)'"
        case .missingDecoder(let path, let what, nil):
            "\(path) needs the \(what), which no package of GStreamer's that dogear knows has"
        }
    }
}

extension LocalFilesError {
    /// The rest of a book can be played without it, and nothing but another file would mend it.
    var isOfOneFile: Bool {
        switch self {
        case .empty, .notRegular, .unreadable, .list, .unnameable, .tooDeep: true
        case .notFound, .forbidden, .noAudio, .tooMuch, .missingDecoder: false
        }
    }
}

extension [LocalFilesError] {
    /// What is missing in a book, in one sentence; nil where nothing is.
    public var remark: String? {
        guard let first else { return nil }
        return count == 1 ? "left out: \(first)" : "\(count) files are left out; the first: \(first)"
    }
}
