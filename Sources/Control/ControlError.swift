public import DBus

/// Why a command failed: a sentence that says what to do next, and the kind that decides the exit code.
public struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Raw values are the exit codes of the command line.
    public enum Kind: Int32, Hashable, Sendable, CaseIterable {
        case failed = 1
        case notFound = 2
        case notSignedIn = 3
        case unreachable = 4
        case usage = 64
    }

    public let kind: Kind
    public let message: String

    /// - Parameter message: of one that repeats something endless, the middle is left out.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        let isEndless = message.utf8.count > Self.longest
        self.message = isEndless ? "\(message.prefix(300)) … \(message.suffix(300))" : message
    }

    /// Bytes: the longest path, and sentences around it.
    private static let longest = 6000

    public var description: String { message }

    private static let names: [Kind: String] = [
        .failed: "Failed", .notFound: "NotFound", .notSignedIn: "NotSignedIn", .unreachable: "Unreachable",
        .usage: "Usage",
    ]

    /// As it goes over the bus: `org.dogear.Error.…`.
    public var busError: BusError { BusError("org.dogear.Error.\(Self.names[kind]!)", message) }

    /// - Returns: nil if the error is not one of dogear's own.
    public init?(_ error: BusError) {
        guard let kind = Kind.allCases.first(where: { ControlError($0, "").busError.name == error.name }) else {
            return nil
        }
        self.init(kind, error.message)
    }
}
