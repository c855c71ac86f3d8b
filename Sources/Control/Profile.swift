/// One of several dogears of the same user: with folders, accounts, places and a daemon of its own.
public struct Profile: Hashable, Sendable {
    /// The variable of the environment that names it, for commands and the daemon alike.
    public static let variable = "DOGEAR_PROFILE"
    /// The one without a name.
    public static let usual = Profile()

    /// Nil for the usual one.
    public let name: String?

    private init() { name = nil }

    /// - Parameter name: a letter, then up to 31 letters, digits, `-` and `_`: it becomes part of paths and of names on
    ///   the bus.
    /// - Throws: a sentence, if it is not.
    public init(_ name: String) throws(ControlError) {
        let isValid =
            name.first?.isLetter == true && name.utf8.count <= 32
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        guard isValid else {
            throw ControlError(
                .usage,
                "a profile is named with a letter and up to 31 letters, digits, '-' and '_'; 'kids' would be one")
        }
        self.name = name
    }

    /// - Parameter environment: without the variable, or with an empty one, it is the usual one.
    public init(environment: [String: String]) throws(ControlError) {
        guard let name = environment[Self.variable], !name.isEmpty else {
            self = .usual
            return
        }
        try self.init(name)
    }

    /// Where its files are, below each of the XDG folders.
    public var folder: String { name.map { "dogear/profiles/\($0)" } ?? "dogear" }

    /// Its daemon's name on the session bus.
    public var bus: String { name.map { "\(ControlName.bus).\($0)" } ?? ControlName.bus }
}
