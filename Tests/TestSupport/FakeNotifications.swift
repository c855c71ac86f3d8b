internal import DBus
public import EventLoop
internal import SDBus

/// A desktop's notifications on a bus of a test's own: remembers what is shown, and chooses when it is told to.
@LoopActor public final class FakeNotifications {
    public struct Shown: Hashable, Sendable {
        public var number: UInt32
        public var replaces: UInt32
        public var title: String
        public var body: String
        /// Keys and labels, in turn.
        public var actions: [String]
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    public private(set) var shown: [Shown] = []
    public private(set) var closed: [UInt32] = []
    /// Pressed of each notification as soon as it is shown.
    public var pressed: String?
    private let bus: Bus

    public init(on address: String) throws {
        bus = try Bus(.at(address)) { _ in }
        try bus.export(notificationsInterface, at: Self.path, face: self as any NotificationsFace)
        guard try bus.own(Self.name) else { throw BusError.failed("the name is taken") }
    }

    /// The listener presses a button.
    public func choose(_ key: String, of number: UInt32) throws {
        try bus.emit("ActionInvoked", [.uint32(number), .string(key)], of: Self.name, at: Self.path)
    }

    /// Its time is over.
    public func expire(_ number: UInt32) throws {
        try bus.emit("NotificationClosed", [.uint32(number), .uint32(1)], of: Self.name, at: Self.path)
    }

    public func leave() {
        // The bus learns of a closed connection in its own time, and another may want the name at once.
        bus.release(Self.name)
        bus.close()
    }

    fileprivate func notify(_ args: [Value]) throws -> UInt32 {
        let replaces = try args[1].uint32()
        let number = replaces == 0 ? UInt32(shown.count + 1) : replaces
        var actions: [String] = []
        for text in try args[5].array() { actions.append(try text.string()) }
        shown.append(
            Shown(
                number: number, replaces: replaces, title: try args[3].string(), body: try args[4].string(),
                actions: actions))
        if let pressed { Task { @LoopActor in try choose(pressed, of: number) } }
        return number
    }

    fileprivate func close(_ number: UInt32) throws {
        closed.append(number)
        try bus.emit("NotificationClosed", [.uint32(number), .uint32(3)], of: Self.name, at: Self.path)
    }
}

private protocol NotificationsFace: AnyObject {
    func notify(_ args: [Value]) throws -> UInt32
    func close(_ number: UInt32) throws
}

extension FakeNotifications: @LoopActor NotificationsFace {}

private let notificationsInterface = BusInterface<any NotificationsFace>(
    "org.freedesktop.Notifications",
    [
        .method(
            "Notify",
            in: [
                "Name": .string, "Replaces": .uint32, "Icon": .string, "Summary": .string, "Body": .string,
                "Actions": .strings, "Hints": .variants, "Timeout": .int32,
            ], out: ["Number": .uint32]
        ) { face, args in [.uint32(try face.notify(args))] },
        .method("CloseNotification", in: ["Number": .uint32]) { face, args in
            try face.close(try args[0].uint32())
            return []
        },
        .signal("ActionInvoked", ["Number": .uint32, "Key": .string]),
        .signal("NotificationClosed", ["Number": .uint32, "Reason": .uint32]),
    ])
