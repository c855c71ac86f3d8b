/// One D-Bus interface as a table over a face: the object that answers. SDBus makes its vtable from it, so dispatch,
/// introspection, property reads and change signals cannot drift apart, and tests call it with no bus at all.
///
/// `Face` lives on the Loop; everything here runs there.
public struct BusInterface<Face>: Sendable {
    public typealias Argument = (name: String, signature: Signature)

    public enum Member: Sendable {
        case method(Method)
        case property(Property)
        case signal(name: String, arguments: [Argument])
    }

    public struct Method: Sendable {
        public let name: String
        public let inputs: [Argument]
        public let outputs: [Argument]
        public let body: Body
    }

    public enum Body: Sendable {
        /// Answers at once, from what the Loop owns.
        case now(@Sendable (Face, [Value]) throws -> [Value])
        /// Begins work on the Loop and answers when it is done; the bus goes on meanwhile.
        case later(@Sendable (Face, [Value], Reply) -> Void)
    }

    public struct Property: Sendable {
        public let name: String
        public let signature: Signature
        public let emits: Emits
        public let get: @Sendable (Face) -> Value
        public let set: (@Sendable (Face, Value) throws -> Void)?
    }

    /// The annotation `org.freedesktop.DBus.Property.EmitsChangedSignal`.
    public enum Emits: Sendable {
        case always, never, constant
        /// Said without the new value, which may be long: whoever wants it asks.
        case invalidates
    }

    public let name: String
    public let members: [Member]

    public init(_ name: String, _ members: [Member]) {
        self.name = name
        self.members = members
    }
}

/// Where a method that answers later puts its answer, once, from any thread.
public struct Reply: Sendable {
    private let send: @Sendable (Result<[Value], BusError>) -> Void

    public init(_ send: @escaping @Sendable (Result<[Value], BusError>) -> Void) { self.send = send }
    public func callAsFunction(_ values: [Value]) { send(.success(values)) }
    public func fail(_ error: BusError) { send(.failure(error)) }
}

extension BusInterface.Member {
    public static func method(
        _ name: String, in inputs: KeyValuePairs<String, Signature> = [:],
        out outputs: KeyValuePairs<String, Signature> = [:],
        _ body: @escaping @Sendable (Face, [Value]) throws -> [Value]
    ) -> Self {
        .method(
            .init(
                name: name, inputs: inputs.map { ($0.key, $0.value) }, outputs: outputs.map { ($0.key, $0.value) },
                body: .now(body)))
    }

    public static func later(
        _ name: String, in inputs: KeyValuePairs<String, Signature> = [:],
        out outputs: KeyValuePairs<String, Signature> = [:],
        _ body: @escaping @Sendable (Face, [Value], Reply) -> Void
    ) -> Self {
        .method(
            .init(
                name: name, inputs: inputs.map { ($0.key, $0.value) }, outputs: outputs.map { ($0.key, $0.value) },
                body: .later(body)))
    }

    public static func property(
        _ name: String, _ signature: Signature, emits: BusInterface.Emits = .always,
        get: @escaping @Sendable (Face) -> Value,
        set: (@Sendable (Face, Value) throws -> Void)? = nil
    ) -> Self {
        .property(.init(name: name, signature: signature, emits: emits, get: get, set: set))
    }

    public static func signal(_ name: String, _ arguments: KeyValuePairs<String, Signature> = [:]) -> Self {
        .signal(name: name, arguments: arguments.map { ($0.key, $0.value) })
    }
}
