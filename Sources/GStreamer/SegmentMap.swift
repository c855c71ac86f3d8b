internal import CGStreamer
internal import EventLoop
internal import Synchronization

/// Mends the segments on their way to scaletempo: their rate from one file to the next, and their start after a seek.
///
/// playbin opens the next file at rate 1. Seeking in it would flush the last words of the file before, so its segment
/// is given the rate here instead. What was shortened or lengthened so also moves the running time at which everything
/// later begins, until the next flush starts from nothing.
///
/// A demuxer that seeks to a page or frame before the target and says so has its segment made to start at the target,
/// and what is before it dropped: heard exactly where it was asked for.
///
/// A multiplexer of transport streams leaves the decoder a lead, 0.7 s by ffmpeg and 5 by Audiobookshelf, which hlsdemux takes for sound: the first
/// buffer of all shows how long it is, and every later segment is made to begin behind it.
final class SegmentMap: Sendable {
    /// An hour, in nanoseconds: a buffer that claims more does not know how long it is.
    static let longest: UInt64 = 3_600_000_000_000
    /// What a file claims may be more than fits: that stops at 31 years.
    private static func time(_ nanoseconds: Double) -> UInt64 { UInt64(nanoseconds.clamped(to: 0...1e18)) }

    /// What is longer was not sound in the recording either.
    private static let longestLead: UInt64 = 12_000_000_000

    /// The segment on its way, as far as it matters here: where in the file it starts, in nanoseconds.
    struct Part: Equatable {
        var start: UInt64
        var base: UInt64
        var rate: Double
    }

    private struct State {
        var rate = 1.0
        /// Of a seek whose segment has not come.
        var target: UInt64?
        /// The last segment as it came, and as it went on.
        var last: (came: Part, went: Part)?
        /// The time on buffers at which it starts.
        var zero: UInt64 = 0
        /// The running time up to which sound has come.
        var reached: UInt64 = 0
        /// Added to the times of a stream makes those on its buffers; nil: its first buffer will tell.
        var lead: UInt64? = 0
        /// The last segment as it went on, whole, and its number.
        var present: (segment: GstSegment, number: guint32)?
    }
    private let state = Locked(State())
    /// Buffers before this are not heard; 0 while there are none. Apart from the lock: it is read for each buffer.
    private let threshold = Atomic<UInt64>(0)
    /// Something that is heard has come since the file was opened or sought in.
    private let sounds = Atomic(false)
    var hasSound: Bool { sounds.load(ordering: .relaxed) }

    /// A flush seek is on its way, and brings the rate itself.
    func expect(target: UInt64, rate: Double) {
        state.withLock { state in
            state.rate = rate
            state.target = target
        }
    }

    /// A file is opened from its start at rate 1.
    /// - Parameter isLed: its times may have a lead.
    func reopen(isLed: Bool = false) {
        state.withLock { state in
            state = State()
            if isLed { state.lead = nil }
        }
        threshold.store(0, ordering: .relaxed)
        sounds.store(false, ordering: .relaxed)
    }

    /// Nothing is on its way any more: running time begins anew.
    func flushed() {
        state.withLock { state in
            state.last = nil
            state.reached = 0
            state.present = nil
        }
        threshold.store(0, ordering: .relaxed)
        sounds.store(false, ordering: .relaxed)
    }

    /// What comes is of a time that cannot be counted in.
    private func distrust() {
        state.withLock { ($0.last, $0.present, $0.target) = (nil, nil, nil) }
        threshold.store(0, ordering: .relaxed)
    }

    /// - Returns: what to go on with instead; nil to leave the segment as it is.
    func map(_ came: Part) -> Part? {
        state.withLock { state in
            var went = came
            if let last = state.last {
                // The stream before lasted this much running time at its own rate.
                let lasted = Double(came.base >= last.came.base ? came.base - last.came.base : 0)
                went.base = last.went.base &+ Self.time(lasted * last.came.rate / last.went.rate)
                went.rate = state.rate
            } else if let target = state.target, came.start < target {
                went.start = target
            }
            state.target = nil
            state.last = (came, went)
            // What is left out at its start does not last either.
            state.last?.came.base &+= Self.time(Double(went.start - came.start) / came.rate)
            return went == came ? nil : went
        }
    }

    /// The running time up to which sound is on its way to the sink; nanoseconds.
    var reached: UInt64 { state.withLock { $0.reached } }

    /// The times of what has come so far are too late by a lead: a seek to where it is puts them right.
    var isLate: Bool { state.withLock { ($0.lead ?? 0) > 0 && $0.present?.segment.start == $0.present?.segment.time } }

    private func saw(buffer: UnsafeMutablePointer<GstBuffer>) {
        let (start, duration) = (UInt64(buffer.pointee.pts), UInt64(buffer.pointee.duration))
        guard start < .max / 4, duration < Self.longest else { return }
        state.withLock { state in
            guard let last = state.last?.went, start + duration > state.zero else { return }
            state.reached = last.base &+ Self.time(Double(start + duration - state.zero) / last.rate)
            if state.lead == nil { state.lead = min(start - min(start, state.zero), Self.longestLead) }
        }
    }

    func saw(event info: UnsafeMutablePointer<GstPadProbeInfo>) {
        guard let event = dogear_probe_event(info) else { return }
        switch dogear_event_type(event) {
        case GST_EVENT_FLUSH_STOP: flushed()
        case GST_EVENT_SEGMENT:
            var segment = GstSegment()
            gst_event_copy_segment(event, &segment)
            guard segment.format == GST_FORMAT_TIME, segment.rate > 0 else { return }
            guard segment.isBelievable else { return distrust() }
            let number = gst_event_get_seqnum(event)
            let went = map(Part(start: UInt64(segment.time), base: UInt64(segment.base), rate: segment.rate))
            let lead = guint64(state.withLock { $0.lead } ?? 0)
            if lead > 0 {
                segment.start += lead
                segment.position = segment.start
                threshold.store(UInt64(segment.start), ordering: .relaxed)
            }
            if let went {
                if went.start > segment.time {
                    // Times on buffers and times in the stream differ by what an edit list cuts off.
                    segment.start += guint64(went.start) - segment.time
                    segment.time = guint64(went.start)
                    segment.position = segment.start
                    threshold.store(UInt64(segment.start), ordering: .relaxed)
                }
                segment.rate = went.rate
                segment.base = guint64(went.base)
            }
            state.withLock { [segment] state in
                state.zero = UInt64(segment.start)
                state.present = (segment, number)
            }
            guard went != nil || lead > 0, let changed = gst_event_new_segment(&segment) else { return }
            gst_event_set_seqnum(changed, number)
            dogear_probe_replace_event(info, changed)
        default: break
        }
    }

    /// What was to be heard from `from` on is heard from `to` on, at the running time of `from`: the times on the buffers,
    /// in nanoseconds.
    /// - Returns: the segment that says so; nil if there is none to be cut.
    func cut(from: UInt64, to: UInt64) -> UnsafeMutablePointer<GstEvent>? {
        state.withLock { state -> UnsafeMutablePointer<GstEvent>? in
            guard let (segment, number) = state.present, var last = state.last, from >= segment.start, to > from
            else { return nil }
            let start = UInt64(segment.start)
            func running(_ time: UInt64, _ rate: Double) -> UInt64 { Self.time(Double(time - start) / rate) }
            last.went.base = UInt64(segment.base) &+ running(from, segment.rate)
            var cut = segment
            cut.base = guint64(last.went.base)
            cut.time = guint64(UInt64(segment.time) + to - start)
            cut.start = guint64(to)
            cut.position = guint64(to)
            // What follows is counted from here, on both sides.
            last.came.base &+= running(to, last.came.rate)
            state.last = last
            state.zero = to
            state.present = (cut, number)
            guard let event = gst_event_new_segment(&cut) else { return nil }
            gst_event_set_seqnum(event, number)
            return event
        }
    }

    /// Whether the buffer ends before the target of the seek that brought it.
    func isBeforeTarget(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> Bool {
        guard let buffer = dogear_probe_buffer(info) else { return false }
        saw(buffer: buffer)
        let target = threshold.load(ordering: .relaxed)
        guard target > 0 else {
            sounds.store(true, ordering: .relaxed)
            return false
        }
        let (start, duration) = (UInt64(buffer.pointee.pts), UInt64(buffer.pointee.duration))
        // Without times (all ones) it cannot be told, and is heard.
        if start < target, duration < target, start + duration <= target { return true }
        threshold.store(0, ordering: .relaxed)
        sounds.store(true, ordering: .relaxed)
        return false
    }
}

extension GstSegment {
    /// A file states the times of its edits as it likes, and its rates.
    var isBelievable: Bool {
        let year: GstClockTime = 366 * 86_400 * 1_000_000_000
        return time < year && start < year && base < year && (1 / 64...64).contains(rate * applied_rate)
    }
}
