/// Where dogear keeps its things, by the XDG Base Directory Specification: a private home is a private dogear.
public struct Paths: Hashable, Sendable {
    /// Absolute, each ending in the same folder.
    public let config: String
    public let state: String
    public let cache: String
    public let data: String
    /// In memory, until the session ends, whatever becomes of the process; nil: there is none.
    public let runtime: String?

    /// Reads `XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `XDG_CACHE_HOME` and `XDG_DATA_HOME`, else folders under `HOME`, and
    /// `XDG_RUNTIME_DIR`. As the specification says, a value that is not an absolute path is taken as not set. Touches
    /// no file.
    /// - Parameter own: dogear's folder in each of them.
    /// - Throws: ``FolderError/noHome`` if a variable is missing and `HOME` does not help.
    public init(environment: [String: String], own: String = "dogear") throws(FolderError) {
        func folder(_ variable: String, _ fallback: String) throws(FolderError) -> String {
            if let value = environment[variable], value.hasPrefix("/") { return Self.join(value, own) }
            guard let home = environment["HOME"], home.hasPrefix("/") else { throw .noHome(variable: variable) }
            return Self.join(home, "\(fallback)/\(own)")
        }
        config = try folder("XDG_CONFIG_HOME", ".config")
        state = try folder("XDG_STATE_HOME", ".local/state")
        cache = try folder("XDG_CACHE_HOME", ".cache")
        data = try folder("XDG_DATA_HOME", ".local/share")
        // In a Flatpak's all but this folder ends with the process.
        let app = environment["FLATPAK_ID"].map { "app/\($0)/\(own)" }
        runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? Self.join($0, app ?? own) : nil }
    }

    public var configFile: String { "\(config)/config.toml" }
    public var database: String { "\(state)/state.sqlite" }
    public var lock: String { "\(state)/lock" }
    /// Of a daemon that neither systemd nor D-Bus started.
    public var log: String { "\(state)/dogear.log" }
    public var catalogue: String { "\(cache)/catalogue.sqlite" }
    public var covers: String { "\(cache)/covers" }
    public var audio: String { "\(cache)/audio" }

    /// Where programs find what is installed for all of them: the listener's own folder, then the shared ones.
    public static func shared(_ environment: [String: String]) -> [String] {
        let own = (try? Paths(environment: environment, own: "").data).map { [$0] } ?? []
        let others = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        return (own + others.split(separator: ":").map(String.init)).filter { $0.hasPrefix("/") }
    }

    public static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}

/// What went wrong with a folder or file of dogear's own, and what to do about it.
public enum FolderError: Error, Hashable, Sendable, CustomStringConvertible {
    case noHome(variable: String)
    /// `reason` as the C library words it.
    case unusable(path: String, reason: String)
    case full(path: String)

    /// From a failed system call.
    public init(path: String, code: Int32) {
        self =
            code == diskFull || code == quotaExceeded
            ? .full(path: path) : .unusable(path: path, reason: text(of: code))
    }

    public var description: String {
        switch self {
        case .noHome(let variable):
            "neither \(variable) nor HOME holds an absolute path, so dogear has no place for its files; set one of them"
        case .unusable(let path, let reason):
            """
            cannot use \(path): \(reason); make it yours to read and write, or name another place in the \
            XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME or XDG_DATA_HOME it belongs to
            """
        case .full(let path): "no space left to write \(path); free some and try again"
        }
    }
}
