internal import Glibc

/// A file descriptor that travels in a message: closed when nobody holds it any more, as with a message nobody reads.
public final class Descriptor: Hashable, Sendable {
    public let number: Int32

    /// - Parameter number: of an open one, which nobody else closes.
    public init(owning number: Int32) { self.number = number }

    deinit { if number >= 0 { close(number) } }

    public static func == (a: Descriptor, b: Descriptor) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
