/// An optional that is written as null, not left out, so that readers of the JSON find every key.
@propertyWrapper
public struct OrNull<Wrapped: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    public var wrappedValue: Wrapped?

    public init(wrappedValue: Wrapped?) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Wrapped.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension KeyedDecodingContainer {
    /// A key that an older daemon does not send reads as null.
    public func decode<W>(_ type: OrNull<W>.Type, forKey key: Key) throws -> OrNull<W> {
        try decodeIfPresent(type, forKey: key) ?? OrNull(wrappedValue: nil)
    }
}
