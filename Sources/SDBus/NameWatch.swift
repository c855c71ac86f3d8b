public import EventLoop

/// Whether anybody on a bus answers to a name; hears when that changes.
@LoopActor public final class NameWatch {
    private static let driver = "org.freedesktop.DBus"
    private var match: SignalMatch?

    /// - Parameter onChange: told of every new owner, of none, and of what is so at first.
    public init(_ name: String, on bus: Bus, onChange: @escaping @LoopActor (Bool) -> Void) {
        match = try? bus.match(
            sender: Self.driver, interface: Self.driver, member: "NameOwnerChanged", first: name
        ) { [weak self] values, _ in
            guard self?.match != nil, values.count == 3 else { return }
            onChange(values[2] != .string(""))
        }
        // In its order with the changes: an older answer must not be the last word.
        bus.hasOwner(name) { [weak self] isThere in if self?.match != nil { onChange(isThere) } }
    }

    public func cancel() {
        match?.cancel()
        match = nil
    }
}
