/// One thing that a launcher shows among its results.
public struct LauncherResult: Hashable, Sendable {
    /// What is given back when it is chosen.
    public var id: String
    public var title: String
    /// The people or the podcast, and how far it was heard.
    public var detail: String
    /// Absolute path of a picture; nil shows dogear's own icon.
    public var cover: String?
    public var closeness: Closeness

    /// How much of the title was typed.
    public enum Closeness: Hashable, Sendable { case whole, beginning, some }

    public init(id: String, title: String, detail: String, cover: String?, closeness: Closeness) {
        self.id = id
        self.title = title
        self.detail = detail
        self.cover = cover
        self.closeness = closeness
    }
}

/// Who finds and plays for a launcher: the daemon, on the Loop. Answers come from what is known here, never from a
/// network: while people type nobody waits.
public protocol LauncherFace: AnyObject {
    /// A launcher has come up, and nobody has typed anything yet.
    func greet()
    /// Calls `answer` with the best results first; with none where there is nothing to search.
    func find(_ words: String, limit: Int, _ answer: @escaping @Sendable ([LauncherResult]) -> Void)
    /// The same for ids that were found before; those that are gone are left out.
    func look(_ ids: [String], _ answer: @escaping @Sendable ([LauncherResult]) -> Void)
    /// Plays it.
    func choose(_ id: String)
    /// Plays what fits best.
    func choose(best words: String)
}

public enum LauncherName {
    /// Both are served under the control name, so that the bus starts the daemon for them.
    public static let search = "/org/dogear/Dogear/SearchProvider"
    public static let runner = "/org/dogear/Dogear/KRunner"
    public static let icon = "org.dogear.Dogear"
    /// As many as KRunner shows.
    static let most = 10
    /// As many as GNOME Shell shows: of more it says how many there are, and there is no window to show those in.
    static let mostInShell = 5
}
