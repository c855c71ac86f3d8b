public import EventLoop
public import SDBus

/// What the computer around the player is about to do, or has just done.
public enum MachineSign: Hashable, Sendable {
    /// It sleeps as soon as ``Machine/delaysSleep`` is false, and a few seconds from now whatever that is.
    case willSleep
    case woke
    /// There is a network again, or more of it than before: what waits for a server may be tried.
    case networkIsBack
}

/// The computer around the player: logind's sleep and the network. Where there is no system bus, no logind or no
/// NetworkManager nothing comes of what is asked here, and nothing fails.
@LoopActor public final class Machine {
    /// Who is there, for the doctor.
    public struct Facts: Hashable, Sendable {
        public var hasLogind: Bool
        public var hasNetworkManager: Bool
        /// The kernel tells of new addresses and routes, in NetworkManager's place.
        public var watchesRoutes: Bool
    }

    private let connection: SystemBus
    private let logind: Logind
    private let network: NetworkManager
    private let routes: RouteWatch

    /// - Parameters:
    ///   - say: lines for the log of those who look for faults.
    public init(
        bus: Bus.Address = .system, time: any Timekeeper = RealTime(), say: @escaping @LoopActor (String) -> Void,
        onSign: @escaping @LoopActor (MachineSign) -> Void
    ) {
        connection = SystemBus(address: bus, time: time, say: say)
        logind = Logind(say: say) { onSign($0 ? .willSleep : .woke) }
        network = NetworkManager { onSign(.networkIsBack) }
        routes = RouteWatch(time: time, say: say) { onSign(.networkIsBack) }
    }

    /// Connects, and from now on tells what happens. Waits for nothing.
    public func begin() {
        network.onPresence = { [routes] isThere in isThere ? routes.end() : routes.begin() }
        connection.onOpen = { [logind, network] bus in
            logind.begin(on: bus)
            network.begin(on: bus)
        }
        connection.onLost = { [logind, network, routes] in
            logind.end()
            network.end()
            routes.begin()
        }
        connection.open()
        if !connection.isOpen { routes.begin() }
    }

    /// Before it sleeps the computer waits until this is false again, at most for the time logind is set to wait.
    public var delaysSleep: Bool {
        get { logind.wanted.contains(.delay) }
        set { logind.want(.delay, newValue) }
    }

    /// The computer does not go to sleep by itself or when asked to; closing the lid still does it, unless logind is
    /// set to heed this there too.
    public var preventsSleep: Bool {
        get { logind.wanted.contains(.block) }
        set { logind.want(.block, newValue) }
    }

    public var facts: Facts {
        Facts(hasLogind: logind.isThere, hasNetworkManager: network.isThere, watchesRoutes: routes.isWatching)
    }
}
