internal import DBus
internal import EventLoop
internal import Listening
internal import SDBus

/// The connection to the computer's own bus: taken up again a while after it was lost. One that never was is left alone.
@LoopActor final class SystemBus {
    /// The first wait for a lost bus; each later one is twice as long.
    private static let firstWait = BookTime.seconds(2)
    private static let lastWait = BookTime.seconds(300)

    var onOpen: (@LoopActor (Bus) -> Void)?
    var onLost: (@LoopActor () -> Void)?
    private let address: Bus.Address
    private let time: any Timekeeper
    private let say: @LoopActor (String) -> Void
    private var bus: Bus?
    private var wait = SystemBus.firstWait
    private var timer: LoopTimer?

    init(address: Bus.Address, time: any Timekeeper, say: @escaping @LoopActor (String) -> Void) {
        self.address = address
        self.time = time
        self.say = say
    }

    var isOpen: Bool { bus != nil }

    func open() {
        do throws(BusError) {
            let bus = try Bus(address) { error in self.lost(error) }
            self.bus = bus
            onOpen?(bus)
        } catch {
            say("no system bus: \(error)")
            if timer != nil { later() }
        }
    }

    private func lost(_ error: BusError) {
        say("\(error)")
        if bus?.uniqueName != nil { wait = Self.firstWait }
        // Whoever listens on it lets go of it before it is closed.
        onLost?()
        bus?.close()
        bus = nil
        later()
    }

    private func later() {
        timer = time.timer(after: wait) { self.open() }
        wait = min(BookTime.seconds(wait.seconds * 2), Self.lastWait)
    }
}
