internal import CGStreamer
internal import EventLoop

/// Carries the rate over from one file to the next.
///
/// playbin opens the next file at rate 1. Seeking in it would flush the last words of the file before, so its segment
/// is given the rate on the way to scaletempo instead. What was shortened or lengthened so also moves the running time
/// at which everything later begins, until the next flush starts from nothing.
final class SegmentMap: Sendable {
    private struct State {
        var rate = 1.0
        /// The last segment as it came, and its base as it went on.
        var last: (base: UInt64, rate: Double, goneRate: Double, goneBase: UInt64)?
    }
    private let state = Locked(State())

    /// For the segments to come. The gstreamer thread sets it with each seek, which brings it too.
    func setRate(_ rate: Double) { state.withLock { $0.rate = rate } }

    /// Nothing is on its way any more: running time begins anew.
    func reset() { state.withLock { $0.last = nil } }

    /// - Returns: rate and base to go on with, or nil to leave the segment as it is.
    func map(base: UInt64, rate: Double) -> (rate: Double, base: UInt64)? {
        state.withLock { state in
            let wanted = state.last == nil ? rate : state.rate
            var goneBase = base
            if let last = state.last {
                // The stream before lasted this much running time at its own rate.
                let lasted = Double(base >= last.base ? base - last.base : 0)
                goneBase = last.goneBase + UInt64(lasted * last.rate / last.goneRate)
            }
            state.last = (base, rate, wanted, goneBase)
            return wanted == rate && goneBase == base ? nil : (wanted, goneBase)
        }
    }

    func sawBeforeFilter(_ info: UnsafeMutablePointer<GstPadProbeInfo>) {
        guard let event = dogear_probe_event(info) else { return }
        switch dogear_event_type(event) {
        case GST_EVENT_FLUSH_STOP: reset()
        case GST_EVENT_SEGMENT:
            var segment = GstSegment()
            gst_event_copy_segment(event, &segment)
            guard segment.format == GST_FORMAT_TIME,
                let (rate, base) = map(base: UInt64(segment.base), rate: segment.rate)
            else { return }
            segment.rate = rate
            segment.base = guint64(base)
            guard let changed = gst_event_new_segment(&segment) else { return }
            gst_event_set_seqnum(changed, gst_event_get_seqnum(event))
            dogear_probe_replace_event(info, changed)
        default: break
        }
    }
}
