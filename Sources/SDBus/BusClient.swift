internal import CSystemd
public import DBus
internal import Glibc

/// A blocking connection to the session bus, for a program that asks and leaves. Not for the Loop: every call waits.
public final class BusClient {
    /// An object of another program, seen through one of its interfaces.
    public struct Peer: Hashable, Sendable {
        public var name: String
        public var path: String
        public var interface: String

        public init(name: String, path: String, interface: String) {
            self.name = name
            self.path = path
            self.interface = interface
        }

        fileprivate static let driver = Peer(
            name: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
    }

    /// What ``next(within:)`` reports of a watched peer.
    public enum Event: Hashable, Sendable {
        /// A signal of the peer's interface, with its arguments.
        case signal(String, [Value])
        /// The peer's name has a (new) owner.
        case appeared
        /// The peer's name has no owner any more.
        case left
    }

    /// The name of the error thrown when there is no session bus, or none that answers.
    public static let noBus = "org.freedesktop.DBus.Error.NoServer"

    private let bus: OpaquePointer
    private var watched: Peer?

    /// Connects to the bus of this login session.
    /// - Throws: ``noBus``, with a sentence.
    public init() throws(BusError) {
        var opened: OpaquePointer?
        let code = sd_bus_open_user(&opened)
        guard code >= 0, let opened else {
            throw BusError(Self.noBus, code == -ENOMEDIUM ? "no session bus" : "no session bus (\(reason(code)))")
        }
        bus = opened
    }

    deinit { sd_bus_flush_close_unref(bus) }

    /// Calls a method and waits for its answer.
    /// - Parameters:
    ///   - start: lets the bus start the peer when it does not run.
    /// - Throws: the error the peer or the bus answered, by its name.
    public func call(
        _ member: String, of peer: Peer, _ arguments: [Value] = [], start: Bool = true,
        within limit: Duration = .seconds(120)
    ) throws(BusError) -> [Value] {
        var made: OpaquePointer?
        try check(
            sd_bus_message_new_method_call(bus, &made, peer.name, peer.path, peer.interface, member), "call \(member)")
        defer { sd_bus_message_unref(made) }
        guard let message = made else { throw .failed("out of memory") }
        try check(sd_bus_message_set_auto_start(message, start ? 1 : 0), "call \(member)")
        for argument in arguments { try Coding.append(argument, to: message) }

        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var answer: OpaquePointer?
        let code = sd_bus_call(bus, message, limit.wholeMicroseconds, &error, &answer)
        defer { sd_bus_message_unref(answer) }
        guard code >= 0, let answer else {
            guard let name = error.name else { throw .failed(reason(code)) }
            throw BusError(String(cString: name), error.message.map { String(cString: $0) } ?? reason(code))
        }
        return try Coding.readAll(answer)
    }

    /// Whether anyone has this name now.
    public func hasOwner(_ name: String) throws(BusError) -> Bool {
        try call("NameHasOwner", of: .driver, [.string(name)], within: .seconds(10)).first?.bool() ?? false
    }

    /// From now on ``next(within:)`` tells of the peer's signals, and of its coming and leaving.
    public func watch(_ peer: Peer) throws(BusError) {
        watched = peer
        let rules = [
            "type='signal',sender='\(peer.name)',path='\(peer.path)',interface='\(peer.interface)'",
            "type='signal',sender='\(Peer.driver.name)',path='\(Peer.driver.path)',member='NameOwnerChanged'"
                + ",arg0='\(peer.name)'",
        ]
        for rule in rules { _ = try call("AddMatch", of: .driver, [.string(rule)], within: .seconds(10)) }
    }

    /// Waits for the next event of the watched peer.
    /// - Returns: nil when none came in time.
    /// - Throws: ``noBus`` when the bus went away.
    public func next(within limit: Duration = .microseconds(Int64.max)) throws(BusError) -> Event? {
        let clock = ContinuousClock()
        let began = clock.now
        while true {
            var received: OpaquePointer?
            let progress = sd_bus_process(bus, &received)
            guard progress >= 0 else { throw BusError(Self.noBus, "the session bus is gone") }
            if let message = received {
                defer { sd_bus_message_unref(message) }
                if let event = try event(message) { return event }
            }
            if progress > 0 { continue }
            let left = limit - (clock.now - began)
            guard left > .zero else { return nil }
            let code = sd_bus_wait(bus, left.wholeMicroseconds)
            guard code >= 0 || code == -EINTR else { throw BusError(Self.noBus, "the session bus is gone") }
        }
    }

    private func event(_ message: OpaquePointer) throws(BusError) -> Event? {
        guard let peer = watched, let member = sd_bus_message_get_member(message) else { return nil }
        if sd_bus_message_is_signal(message, Peer.driver.interface, "NameOwnerChanged") > 0 {
            let texts = try Coding.readAll(message)
            guard texts.count == 3, texts[0] == .string(peer.name) else { return nil }
            return texts[2] == .string("") ? .left : .appeared
        }
        guard sd_bus_message_is_signal(message, peer.interface, nil) > 0 else { return nil }
        return .signal(String(cString: member), try Coding.readAll(message))
    }
}

private func reason(_ code: Int32) -> String { String(cString: strerror(-code)) }

extension Duration {
    /// What sd-bus takes: 0 would mean its own default, so at least 1.
    fileprivate var wholeMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds < 1_000_000_000 else { return .max }
        return max(1, UInt64(max(0, seconds)) * 1_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000_000)
    }
}
