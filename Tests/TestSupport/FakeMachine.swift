public import DBus
public import EventLoop
internal import Foundation
internal import SDBus

/// A logind and a NetworkManager on a bus of a test's own, for programs whose system bus that is.
@LoopActor public final class FakeMachine {
    public enum Event: Hashable, Sendable {
        case granted(mode: String)
        case released(mode: String)
    }

    /// What becomes of locks, in order.
    public nonisolated let events: AsyncStream<Event>
    /// What was asked for: what, who, why, mode.
    public private(set) var requests: [[String]] = []
    /// How often the state was asked for.
    public private(set) var reads = 0
    public var state: UInt32 = 70
    public var connectivity: UInt32 = 4

    private let bus: Bus
    private let feed: AsyncStream<Event>.Continuation
    private var locks: [Lock] = []

    public init(on address: String, logind: Bool = true, networkManager: Bool = true) throws(BusError) {
        (events, feed) = AsyncStream.makeStream()
        bus = try Bus(.at(address)) { _ in }
        try bus.export(logindInterface, at: "/org/freedesktop/login1", face: self as any LogindFace)
        try bus.export(networkInterface, at: "/org/freedesktop/NetworkManager", face: self as any NetworkFace)
        if logind { _ = try bus.own("org.freedesktop.login1") }
        if networkManager { _ = try bus.own("org.freedesktop.NetworkManager") }
    }

    public func close() {
        for lock in locks { lock.end() }
        bus.close()
    }

    public func prepareForSleep(_ isAboutTo: Bool) throws(BusError) {
        try bus.emit(
            "PrepareForSleep", [.bool(isAboutTo)], of: "org.freedesktop.login1.Manager",
            at: "/org/freedesktop/login1")
    }

    /// Both go and come back, as when they are restarted.
    public func restart() throws(BusError) {
        for name in ["org.freedesktop.login1", "org.freedesktop.NetworkManager"] {
            bus.release(name)
            _ = try bus.own(name)
        }
    }

    public func network(state: UInt32, connectivity: UInt32) {
        (self.state, self.connectivity) = (state, connectivity)
        bus.propertiesChanged(
            ["State", "Connectivity"], of: "org.freedesktop.NetworkManager", at: "/org/freedesktop/NetworkManager")
    }

    var stateRead: UInt32 {
        reads += 1
        return state
    }

    /// Modes of the locks that are held now.
    public var held: [String] { locks.filter(\.isHeld).map(\.mode) }

    func inhibit(_ words: [String]) throws -> Descriptor {
        requests.append(words)
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw TestFailure("no pipe") }
        let mode = words.last ?? ""
        let lock = Lock(mode: mode, descriptor: ends[0]) { [feed] in feed.yield(.released(mode: mode)) }
        locks.append(lock)
        LoopActor.add(lock)
        feed.yield(.granted(mode: mode))
        return Descriptor(owning: ends[1])
    }
}

protocol LogindFace: AnyObject {
    func inhibit(_ words: [String]) throws -> Descriptor
}

protocol NetworkFace: AnyObject {
    var stateRead: UInt32 { get }
    var connectivity: UInt32 { get }
}

extension FakeMachine: @LoopActor LogindFace, @LoopActor NetworkFace {}

private let logindInterface = BusInterface<any LogindFace>(
    "org.freedesktop.login1.Manager",
    [
        .method(
            "Inhibit", in: ["What": .string, "Who": .string, "Why": .string, "Mode": .string],
            out: ["Lock": .descriptor]
        ) { face, arguments in
            let words = try arguments.map { try $0.string() }
            return [.descriptor(try face.inhibit(words))]
        },
        .signal("PrepareForSleep", ["Start": .bool]),
    ])

private let networkInterface = BusInterface<any NetworkFace>(
    "org.freedesktop.NetworkManager",
    [
        .property("State", .uint32, get: { .uint32($0.stateRead) }),
        .property("Connectivity", .uint32, get: { .uint32($0.connectivity) }),
    ])

/// The end of a lock that logind keeps: it reads nothing but the end of it.
@LoopActor private final class Lock: LoopSource {
    let mode: String
    private(set) var isHeld = true
    private let descriptor: Int32
    private let onRelease: () -> Void

    init(mode: String, descriptor: Int32, onRelease: @escaping () -> Void) {
        self.mode = mode
        self.descriptor = descriptor
        self.onRelease = onRelease
    }

    var interest: LoopInterest? { isHeld ? LoopInterest(descriptor: descriptor, events: Int16(POLLIN)) : nil }

    func process() -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard isHeld, poll(&ready, 1, 0) > 0 else { return false }
        end()
        onRelease()
        return false
    }

    func end() {
        guard isHeld else { return }
        isHeld = false
        LoopActor.remove(self)
        close(descriptor)
    }
}
