/// What the name of a file says of it.
public enum AudioName {
    public static let endings = [
        "m4b", "m4a", "mp3", "opus", "ogg", "oga", "flac", "wav", "aac", "mp4", "m4p", "mka", "webm", "wma", "aiff",
        "aif", "ac3", "ape", "wv", "mpc", "spx",
    ]

    private static let lists = ["m3u", "m3u8", "pls", "cue", "xspf", "asx"]

    public static func isAudio(_ name: String) -> Bool { endings.contains(ending(name)) }

    /// It names files, and holds none.
    public static func isList(_ name: String) -> Bool { lists.contains(ending(name)) }

    /// In lower case, without the dot; empty if there is none.
    public static func ending(_ path: String) -> String {
        guard let dot = path.lastIndex(of: ".") else { return "" }
        return path[path.index(after: dot)...].lowercased()
    }
}
