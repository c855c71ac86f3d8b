internal import CSystemd
public import DBus
public import EventLoop
internal import Glibc

/// One connection to a message bus, owned by the Loop: exports, names, signals, calls.
@LoopActor public final class Bus: LoopSource {
    public enum Address: Sendable {
        case session
        case system
        /// Of the form `unix:path=…`.
        case at(String)
        /// One end of a socketpair, for tests with no bus in between: both ends speak directly.
        case peer(Int32, isServer: Bool)
    }

    let raw: OpaquePointer
    private var exports: [(export: Export, slot: OpaquePointer)] = []
    private var lost: (@LoopActor (BusError) -> Void)?
    private let name: String

    /// Connects and takes its place on the Loop.
    ///
    /// - Parameter onLost: called once when the connection ends; nothing is sent or received after that.
    public init(_ address: Address, onLost: @escaping @LoopActor (BusError) -> Void) throws(BusError) {
        raw = try Self.open(address)
        if case .system = address { name = "system bus" } else { name = "session bus" }
        lost = onLost
        LoopActor.add(self)
    }

    private static func open(_ address: Address) throws(BusError) -> OpaquePointer {
        var raw: OpaquePointer?
        do throws(BusError) {
            switch address {
            case .session: try check(sd_bus_open_user(&raw), "no session bus")
            case .system: try check(sd_bus_open_system(&raw), "no system bus")
            case .at(let text):
                try check(sd_bus_new(&raw), "bus")
                try check(sd_bus_set_address(raw, text), "bus address")
                try check(sd_bus_set_bus_client(raw, 1), "bus")
                try check(sd_bus_start(raw), "bus")
            case .peer(let descriptor, let isServer):
                try check(sd_bus_new(&raw), "bus")
                try check(sd_bus_set_fd(raw, descriptor, descriptor), "bus")
                try check(isServer ? sd_bus_set_server(raw, 1, sd_id128_t()) : sd_bus_set_anonymous(raw, 0), "bus")
                try check(sd_bus_start(raw), "bus")
            }
        } catch {
            sd_bus_unref(raw)
            throw error
        }
        return raw!
    }

    /// Sends what is queued and leaves the bus.
    public func close() {
        LoopActor.remove(self)
        for (_, slot) in exports { sd_bus_slot_unref(slot) }
        exports = []
        lost = nil
        sd_bus_flush_close_unref(raw)
    }

    /// What this connection is called on the bus: `:1.42`. Nil before it has been let in.
    public var uniqueName: String? {
        var name: UnsafePointer<CChar>?
        guard sd_bus_is_ready(raw) > 0, sd_bus_get_unique_name(raw, &name) >= 0 else { return nil }
        return name.map { String(cString: $0) }
    }

    // MARK: The Loop

    public var interest: LoopInterest? {
        (lastTurn, turn) = (turn, 0)
        let descriptor = sd_bus_get_fd(raw)
        guard lost != nil, descriptor >= 0 else { return nil }
        var limit = UInt64.max
        sd_bus_get_timeout(raw, &limit)
        return LoopInterest(
            descriptor: descriptor,
            events: isBehind ? Int16(POLLOUT) : Int16(truncatingIfNeeded: sd_bus_get_events(raw)),
            deadline: limit == .max ? nil : Int64(clamping: limit))
    }

    /// Messages that the bus has not taken yet.
    var waiting: Int {
        var count: UInt64 = 0
        return sd_bus_get_n_queued_write(raw, &count) < 0 ? 0 : Int(count)
    }

    /// More than the programs of a desktop ever ask for at once.
    static let mostWaiting = 256

    /// No more calls are read until the bus has taken their answers: what a flood leaves would be kept in memory, where
    /// libsystemd moves all of it by one place for each message that goes.
    private var isBehind: Bool { waiting > Self.mostWaiting }

    /// Messages since the Loop slept, and those of the turn before.
    private var turn = 0
    private var lastTurn = 0
    /// Counts messages that came alone.
    private var alone: UInt8 = 0

    /// Messages mostly come one by one, and looking for another costs a call to the kernel, which the Loop's own wait
    /// does as well. Where they come in a row, it is found out soon.
    private var comesAlone: Bool {
        // One that closes has more to do, and no descriptor to be woken by.
        guard turn == 1, lastTurn == 1, sd_bus_is_ready(raw) > 0 else { return false }
        alone &+= 1
        return alone % 16 != 0
    }

    public func process() -> Bool {
        let code = sd_bus_process(raw, nil)
        // A dead connection says so once; after that its descriptor is gone and poll would sleep for ever.
        if code < 0, let lost {
            self.lost = nil
            lost(.failed("the \(name) is gone: \(String(cString: strerror(-code)))"))
        }
        guard code > 0, !isBehind else { return false }
        turn += 1
        return !comesAlone
    }

    // MARK: Objects and signals

    /// Serves an interface at a path, for as long as the connection lasts.
    public func export<Face>(_ interface: BusInterface<Face>, at path: String, face: Face) throws(BusError) {
        let export = Export(interface, face: face)
        var slot: OpaquePointer?
        try check(
            sd_bus_add_object_vtable(
                raw, &slot, path, interface.name, export.vtable, nil),
            "export \(interface.name)")
        exports.append((export, slot!))
    }

    /// Sends PropertiesChanged with the present values, which libsystemd reads through the interface's own getters.
    public func propertiesChanged(_ names: [String], of interface: String, at path: String) {
        guard !names.isEmpty else { return }
        let texts = names.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var list = texts + [nil]
        _ = sd_bus_emit_properties_changed_strv(raw, path, interface, &list)
    }

    public func emit(_ signal: String, _ values: [Value], of interface: String, at path: String) throws(BusError) {
        var message: OpaquePointer?
        try check(sd_bus_message_new_signal(raw, &message, path, interface, signal), "signal")
        let held = Message(consuming: message!)
        for value in values { try Coding.append(value, to: held.raw) }
        try check(sd_bus_send(raw, held.raw, nil), "signal")
    }

    // MARK: Names

    /// Takes a name, at once or not at all.
    /// - Returns: false if somebody else has it.
    public func own(_ name: String) throws(BusError) -> Bool {
        let code = sd_bus_request_name(raw, name, 0)
        if code == -EEXIST { return false }
        if code == -EALREADY { return true }
        try check(code, "own \(name)")
        return true
    }

    public func release(_ name: String) { _ = sd_bus_release_name(raw, name) }
}
