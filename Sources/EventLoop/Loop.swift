internal import CSystemd
internal import Glibc
public import Listening

/// The Loop: the one thread that owns the bus connection, the machines and the timers, and answers every property read.
/// Nothing that may block runs here.
@globalActor public actor LoopActor {
    public static let shared = LoopActor()
    private static let poller = Poller()
    static let executor = ThreadExecutor(name: "loop", wait: poller)

    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// For C callbacks that sd-bus makes on the Loop's thread, outside any Swift job.
    public static func assumeIsolated<Result: Sendable>(_ body: @LoopActor () throws -> Result) rethrows -> Result {
        // Several times for each call on the bus, where the runtime's own check would be felt.
        executor.checkIsolated()
        return try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: (() throws -> Result).self)() }
    }

    /// Runs `body` on the Loop: now if this is its thread, else as soon as it gets to it.
    public static func onLoop(_ body: @escaping @LoopActor @Sendable () -> Void) {
        if executor.isOnThread { assumeIsolated(body) } else { Task { @LoopActor in body() } }
    }

    /// Calls the source's `process` whenever its descriptor is ready or its time has come, until it is removed.
    @LoopActor public static func add(_ source: any LoopSource) { poller.add(source) }
    @LoopActor public static func remove(_ source: any LoopSource) { poller.remove(source) }

    /// Calls `body` on the Loop once, `after` has passed. Precise to a millisecond; costs nothing while it waits.
    @LoopActor public static func timer(after: BookTime, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        poller.timer(at: Clock.monotonic + max(0, after.microseconds), body)
    }
}

/// Reads this computer's clocks, for the edges: the machines are given what it says.
public enum Clock {
    public static var now: Moment {
        let monotonic = monotonic
        let asleep = read(CLOCK_BOOTTIME) / 1000 - monotonic
        return Moment(monotonic: monotonic, wall: read(CLOCK_REALTIME) / 1_000_000, asleep: asleep)
    }

    /// Microseconds, as in ``now``, where the others are not needed.
    public static var monotonic: Int64 { nanoseconds / 1000 }

    /// Of CLOCK_MONOTONIC.
    static var nanoseconds: Int64 { read(CLOCK_MONOTONIC) }

    /// For `poll`: from now on, an hour at most, and 0 if it has come.
    /// - Parameter deadline: nanoseconds of CLOCK_MONOTONIC.
    static func milliseconds(until deadline: Int64) -> Int32 {
        Int32((deadline - nanoseconds + 999_999).clamped(to: 0...3_600_000_000_000) / 1_000_000)
    }

    /// Nanoseconds.
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Something with a descriptor that the Loop polls.
@LoopActor public protocol LoopSource: AnyObject {
    /// What to poll for now, asked once before each sleep; nil takes no part in this round.
    var interest: LoopInterest? { get }
    /// Does what is due. Called when the descriptor is ready, when the time has come, and once when added.
    /// - Returns: true to be called again before the Loop sleeps: there is more to do.
    func process() -> Bool
}

public struct LoopInterest: Sendable {
    public let descriptor: Int32
    /// Of poll(2): POLLIN, POLLOUT.
    public let events: Int16
    /// Microseconds of CLOCK_MONOTONIC, or nil for no time limit.
    public let deadline: Int64?

    public init(descriptor: Int32, events: Int16, deadline: Int64? = nil) {
        self.descriptor = descriptor
        self.events = events
        self.deadline = deadline
    }
}

/// One pending call. Dropping the last reference leaves it pending; `cancel` ends it.
@LoopActor public final class LoopTimer {
    /// Microseconds of the clock it was made for.
    public let deadline: Int64
    private(set) var body: (@LoopActor () -> Void)?

    public init(deadline: Int64, body: @escaping @LoopActor () -> Void) {
        self.deadline = deadline
        self.body = body
    }

    public func cancel() { body = nil }
    public var isPending: Bool { body != nil }

    /// Whoever keeps the timers calls this when their time has come.
    public func fire() {
        let body = self.body
        self.body = nil
        body?()
    }
}

/// The Loop's wait: for the sources' descriptors, the nearest deadline as its limit. A turn allocates nothing: every call
/// on the bus is one.
final class Poller: ThreadWait, @unchecked Sendable {  // all but `wakeup` is only touched on the Loop's thread
    private struct Slot {
        let source: any LoopSource
        /// What is watched for it.
        var descriptor: Int32?
        /// Asked for in this turn, as is what follows.
        var interest: LoopInterest?
        var isReady = false
    }

    private let wakeup = Wakeup()
    private let watch = Watch()
    private var slots: [Slot] = []
    private var fresh: [any LoopSource] = []
    /// By deadline; a cancelled one goes when its time has come, or when all before it are gone.
    private var timers: [LoopTimer] = []
    /// Counts what has changed the places.
    private var removals = 0

    func add(_ source: any LoopSource) {
        slots.append(Slot(source: source))
        fresh.append(source)
    }

    func remove(_ source: any LoopSource) {
        slots.removeAll { slot in
            guard slot.source === source else { return false }
            if let descriptor = slot.descriptor { watch.leave(descriptor) }
            return true
        }
        fresh.removeAll { $0 === source }
        removals += 1
    }

    @LoopActor func timer(at deadline: Int64, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        let timer = LoopTimer(deadline: deadline, body: body)
        let place = timers.firstIndex { $0.deadline > deadline } ?? timers.endIndex
        timers.insert(timer, at: place)
        return timer
    }

    func begin() { watch.watch(wakeup.descriptor, for: Int16(POLLIN)) }
    func wake() { wakeup.wake() }

    func wait(drain: @Sendable () -> Void) {
        LoopActor.assumeIsolated { turn(drain) }
    }

    @LoopActor private func turn(_ drain: @Sendable () -> Void) {
        let due = fresh
        fresh = []
        for source in due { process(source, drain) }
        runTimers(drain)
        var deadline = fresh.isEmpty ? timers.first?.deadline : 0
        for index in slots.indices {
            let interest = slots[index].source.interest
            slots[index].interest = interest
            slots[index].isReady = false
            // Before any other is watched, which may have the number by now.
            if let old = slots[index].descriptor, old != interest?.descriptor {
                watch.leave(old)
                slots[index].descriptor = nil
            }
            if let limit = interest?.deadline { deadline = min(deadline ?? limit, limit) }
        }
        for index in slots.indices {
            guard let interest = slots[index].interest else { continue }
            watch.watch(interest.descriptor, for: interest.events)
            slots[index].descriptor = interest.descriptor
        }
        let before = removals
        watch.wait(until: deadline)
        // No closures here and below: the runtime would make sure of the Loop in each.
        for descriptor in watch.ready {
            if descriptor == wakeup.descriptor { wakeup.clear() }
            for index in slots.indices where slots[index].descriptor == descriptor { slots[index].isReady = true }
        }
        drain()
        for index in slots.indices {
            // Where one has gone, the others are looked at anew.
            guard removals == before else { return }
            if slots[index].isReady || isDue(slots[index].interest?.deadline) { process(slots[index].source, drain) }
        }
    }

    @LoopActor private func process(_ source: any LoopSource, _ drain: @Sendable () -> Void) {
        for _ in 0..<Self.mostTurns {
            // What runs between two calls may take the source away.
            guard polls(source) else { return }
            let more = source.process()
            drain()
            if !more { return }
        }
        if !fresh.contains(where: { $0 === source }) { fresh.append(source) }
    }

    /// So often in a row; then it is the turn of timers and of all others.
    private static let mostTurns = 1000

    private func polls(_ source: any LoopSource) -> Bool {
        for slot in slots where slot.source === source { return true }
        return false
    }

    @LoopActor private func runTimers(_ drain: @Sendable () -> Void) {
        while let first = timers.first, first.body == nil || isDue(first.deadline) {
            timers.removeFirst()
            first.fire()
            drain()
        }
    }

    private func isDue(_ deadline: Int64?) -> Bool {
        if let deadline { deadline <= Clock.monotonic } else { false }
    }
}
