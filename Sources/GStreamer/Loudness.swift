internal import CGStreamer
internal import EventLoop
internal import Glibc
internal import Synchronization

/// Where the listener's volume is applied: by PulseAudio, if all sound goes there, which then may be given seconds of it
/// ahead and is woken, and wakes us, a few times a second only. Otherwise in the samples on their way to the sinks.
///
/// Called on the gstreamer thread and on GStreamer's own.
final class Loudness: Sendable {
    /// Microseconds: what PulseAudio is given ahead, and in what portions.
    private static let patient: (ahead: gint64, portion: gint64) = (2_000_000, 500_000)
    /// What pulsesink asks for by itself.
    private static let usual: (ahead: gint64, portion: gint64) = (200_000, 10_000)

    /// A server may still say the volume from before one that was set so long ago; microseconds.
    private static let settling: Int64 = 200_000

    /// Scales samples. Held: sinks are taken out while a pipeline is freed, too.
    private let scale: ElementReference
    private let state: Locked<State>
    /// How many are telling the sound server something: what it says of itself meanwhile is no news.
    private let tellers = Atomic(0)

    private struct Sink {
        let element: ElementReference
        /// It has a volume of its own.
        let isServer: Bool
    }

    private struct State {
        /// As mixers count it.
        var volume: Double
        /// Of the volumes we have set.
        var number: UInt64 = 0
        /// When the last of them was: microseconds, monotonic.
        var setAt: Int64 = 0
        var mixed: Double?
        /// The stream is a new one: see ``begin()``.
        var isNew = false
        /// Where the sound ends; held.
        var sinks: [Sink] = []

        /// The one place where all of it ends, if that has a volume of its own.
        var server: ElementReference? {
            guard sinks.count == 1, let sink = sinks.first, sink.isServer else { return nil }
            return sink.element
        }
    }

    init(scale: ElementReference) {
        self.scale = scale
        scale.retain()
        state = Locked(State(volume: 1))
    }

    deinit {
        for sink in state.withLock({ $0.sinks }) { sink.element.release() }
        scale.release()
    }

    /// All sound goes to PulseAudio.
    var isServed: Bool { state.withLock { $0.server != nil } }

    /// The sound server's; nil: the usual one.
    var address: String? {
        let server = state.withLock { state in
            state.server?.retain()
            return state.server
        }
        defer { server?.release() }
        return server.flatMap { text("server", of: $0.element) }
    }

    /// The mixer's, where that was moved after the last volume we have set.
    var mixed: Double? { state.withLock { $0.mixed } }

    /// - Parameter volume: 0 to 1, as mixers count it: half of it is heard as half as loud.
    func set(_ volume: Double) {
        change { state in
            state.volume = volume
            state.number += 1
            state.setAt = Clock.monotonic
            state.mixed = nil
        }
    }

    /// A new stream begins. PipeWire gives it the volume that it remembers, whatever it is told with it: ours is said again
    /// until that is over, and no other taken for the listener's.
    func begin() { state.withLock { $0.isNew = true } }

    /// - Returns: false if there is nothing to insist on.
    func insist(isLast: Bool) -> Bool {
        guard state.withLock({ $0.isNew && $0.server != nil }) else { return false }
        change { if isLast { $0.isNew = false } }
        return true
    }

    /// - Parameter isServer: it is a pulsesink.
    /// - Returns: false if it is known.
    func added(_ sink: Element, isServer: Bool) -> Bool {
        var isNew = false
        change { state in
            guard !state.sinks.contains(where: { $0.element.element == sink }) else { return }
            let reference = ElementReference(borrowing: sink)
            reference.retain()
            state.sinks.append(Sink(element: reference, isServer: isServer))
            isNew = true
        }
        return isNew
    }

    func removed(_ sink: Element) {
        var old: Sink?
        change { state in
            guard let index = state.sinks.firstIndex(where: { $0.element.element == sink }) else { return }
            old = state.sinks.remove(at: index)
        }
        old?.element.release()
    }

    /// Applies what comes of it.
    private func change(_ body: (inout State) -> Void) {
        tellers.add(1, ordering: .relaxed)
        defer { tellers.subtract(1, ordering: .relaxed) }
        let (volume, sinks, server) = state.withLock { state in
            body(&state)
            for sink in state.sinks { sink.element.retain() }
            return (state.volume, state.sinks, state.server)
        }
        let gain = Self.gain(of: volume)
        dogear_set_double(scale.element, "volume", server == nil ? gain : 1)
        for sink in sinks {
            if sink.isServer { tell(sink.element.element, isAlone: server != nil, gain: gain) }
            sink.element.release()
        }
    }

    private func tell(_ server: Element, isAlone: Bool, gain: Double) {
        let (from, to) = isAlone ? (Self.usual, Self.patient) : (Self.patient, Self.usual)
        // Whoever wrote something else into the setting for the sink means it.
        if dogear_get_int64(server, "buffer-time") == from.ahead,
            dogear_get_int64(server, "latency-time") == from.portion
        {
            dogear_set_int64(server, "buffer-time", to.ahead)
            dogear_set_int64(server, "latency-time", to.portion)
        }
        dogear_set_double(server, "volume", isAlone ? gain : 1)
    }

    /// The sound server's volume may have been changed with a mixer. Asks the sound server.
    /// - Returns: the volume, and how many of ours came before; nil if it is ours.
    func heard() -> (volume: Double, after: UInt64)? {
        let (number, server) = state.withLock { state in
            let isSettled = !state.isNew && Clock.monotonic - state.setAt > Self.settling
            let server = isSettled ? state.server : nil
            server?.retain()
            return (state.number, server)
        }
        defer { server?.release() }
        // Asked for after the number: then one that is being set now has not been counted yet, or is told of here.
        guard let server, tellers.load(ordering: .relaxed) == 0 else { return nil }
        // It counts in 65536 steps: 57 % comes as 0.569992.
        let volume = (cbrt(dogear_get_double(server.element, "volume")) * 10_000).rounded() / 10_000
        return isOurs(volume) ? nil : (volume, number)
    }

    /// - Returns: false if the listener has chosen another since.
    func take(_ volume: Double, after number: UInt64) -> Bool {
        guard !isOurs(volume) else { return false }
        return state.withLock { state in
            guard state.number == number else { return false }
            state.volume = volume
            state.mixed = volume
            return true
        }
    }

    /// What samples are multiplied by: the cube, as PulseAudio has it, so that its mixers show the number that is shown here.
    private static func gain(of volume: Double) -> Double { volume * volume * volume }

    /// Sound servers count in steps.
    private func isOurs(_ volume: Double) -> Bool { abs(state.withLock { $0.volume } - volume) < 0.002 }
}
