internal import CGStreamer
internal import EventLoop
internal import Listening
internal import Synchronization

/// What has come to the sink's door: behind it lies what the sink has ahead of what is heard. What fades does so here, each
/// buffer as loud as it is to be when it is heard.
///
/// Told on the sink's streaming thread, asked from any.
final class Door: Sendable {
    private let outlet: Outlet
    /// Scales samples beside the volume, which is the listener's. Held.
    private let fader: ElementReference
    private let state = Locked(State())
    private let time = Atomic<UInt64>(0)

    private struct State {
        var segment: GstSegment?
        var isLast = false
        /// Since then: microseconds, monotonic.
        var fading: (course: Fading, since: Int64)?
    }

    init(outlet: Outlet, fader: ElementReference) {
        self.outlet = outlet
        self.fader = fader
        fader.retain()
    }

    deinit { fader.release() }

    /// The running time up to which sound has come; nanoseconds.
    var reached: UInt64 { time.load(ordering: .relaxed) }

    /// From the next buffer on; nil: full.
    func set(_ fading: Fading?) {
        state.withLock { state in
            state.fading = fading.map { ($0, Clock.monotonic) }
            if fading == nil { dogear_set_double(fader.element, "volume", 1) }
        }
    }

    var isFading: Bool { state.withLock { $0.fading != nil } }

    /// Nothing more comes: what lies behind the door is all that is left to be heard.
    var isLast: Bool { state.withLock { $0.isLast } }

    func sawEnd() { state.withLock { $0.isLast = true } }

    func saw(_ segment: GstSegment) { state.withLock { ($0.segment, $0.isLast) = (segment, false) } }

    func flushed() {
        state.withLock { ($0.segment, $0.isLast) = (nil, false) }
        time.store(0, ordering: .relaxed)
    }

    func saw(_ buffer: UnsafeMutablePointer<GstBuffer>) {
        let (start, duration) = (UInt64(buffer.pointee.pts), UInt64(buffer.pointee.duration))
        guard start < .max / 4, duration < SegmentMap.longest else { return }
        let state = self.state.withLock { $0 }
        guard var segment = state.segment else { return }
        func running(_ time: UInt64) -> UInt64 {
            UInt64(gst_segment_to_running_time(&segment, GST_FORMAT_TIME, guint64(time)))
        }
        let (begin, end) = (running(start), running(start + duration))
        if end < .max / 2 { time.store(end, ordering: .relaxed) }
        guard let (course, since) = state.fading else { return }
        var lag: Int64 = 0
        if begin < .max / 2, let now = outlet.runningTime, begin > now { lag = Int64((begin - now) / 1000) }
        let left = course.left - BookTime(microseconds: Clock.monotonic - since + lag)
        self.state.withLock { state in
            // Taken away meanwhile: nobody would make it loud again.
            guard state.fading != nil else { return }
            dogear_set_double(fader.element, "volume", course.gain(left: left))
        }
    }
}
