internal import CGStreamer
internal import EventLoop
internal import Synchronization

/// Leaves the middle of silences out, by setting.
///
/// Works on the one pad all sound goes through, before it is slowed or sped up: what is silent is kept back, and what
/// sounds again gets a segment of its own that begins where the silence was left. So the pipeline counts right by
/// itself: its position jumps over what was left out when that moment is heard. Called on the streaming thread, under
/// the pad's stream lock; the end of a flush comes under it too.
final class Silences: Sendable {
    /// Nanoseconds: what is heard of a silence at its beginning and its end, and the least that is worth a cut.
    fileprivate static let (tail, lead, least): (UInt64, UInt64, UInt64) = (250_000_000, 150_000_000, 100_000_000)

    /// A part of a silence that is not given on, or not yet. Holds a reference.
    fileprivate struct Kept {
        let buffer: UnsafeMutablePointer<GstBuffer>
        var start: UInt64 { UInt64(buffer.pointee.pts) }
        var duration: UInt64 { UInt64(buffer.pointee.duration) }
    }

    fileprivate struct State {
        var format: SampleFormat?
        /// For how long nothing has sounded.
        var quiet: UInt64 = 0
        /// The end of the silence so far.
        var kept: [Kept] = []
        /// Where what is left out begins.
        var gap: UInt64?

        var length: UInt64 { kept.reduce(0) { $0 + $1.duration } }
    }

    private let state = Locked(State())
    private let isOn = Atomic(false)
    /// What is given on from here passes the same pad again.
    private let isReleasing = Atomic(false)
    private let segments: SegmentMap

    init(segments: SegmentMap) { self.segments = segments }

    deinit { forget() }

    /// - Returns: whether it was otherwise before: what decoders give on at one go is then to be set again.
    func set(_ isOn: Bool) -> Bool { self.isOn.exchange(isOn, ordering: .relaxed) != isOn }

    /// Tells a decoder how much sound to give on at one go: the more, the less each second costs on its way to the sound
    /// server, a sixth of what playing costs if it is a tenth of a second; frame by frame where silences are looked for.
    /// - Parameters:
    ///   - element: any.
    ///   - isAhead: of what comes to the sink nothing is heard, nor changed, for a second or two.
    func setGrain(of element: Element, isAhead: Bool) {
        guard dogear_has_property(element, "min-latency") != 0 else { return }
        // Never 0, by which it would let a frame pass those it has gathered.
        let grain: gint64 = isOn.load(ordering: .relaxed) ? 1 : isAhead ? 500_000_000 : 100_000_000
        dogear_set_int64(element, "min-latency", grain)
    }

    /// - Returns: whether the event is of our own making: nobody else needs to look at it.
    func saw(event info: UnsafeMutablePointer<GstPadProbeInfo>, on pad: UnsafeMutablePointer<GstPad>) -> Bool {
        guard let event = dogear_probe_event(info) else { return false }
        let type = dogear_event_type(event)
        // A flush comes from elsewhere, whatever is being given on.
        if type != GST_EVENT_FLUSH_START, type != GST_EVENT_FLUSH_STOP, isReleasing.load(ordering: .relaxed) {
            return true
        }
        switch type {
        // Parsers tell new tags, the bit rate among them, as often as they like.
        case GST_EVENT_FLUSH_START, GST_EVENT_TAG: break
        case GST_EVENT_FLUSH_STOP: forget()
        case GST_EVENT_CAPS:
            release(on: pad)
            state.withLock { $0.format = SampleFormat(event) }
        // What is kept comes before whatever comes after it.
        default: release(on: pad)
        }
        return false
    }

    /// - Returns: whether the buffer is kept back, with a reference of its own.
    func keeps(_ buffer: UnsafeMutablePointer<GstBuffer>, on pad: UnsafeMutablePointer<GstPad>) -> Bool {
        guard !isReleasing.load(ordering: .relaxed) else { return false }
        let isKept = isOn.load(ordering: .relaxed) && state.withLock { $0.keep(buffer) }
        if !isKept { release(on: pad) }
        return isKept
    }

    /// What is kept back is not heard any more: what comes next is of another stream.
    func forget() {
        let kept = state.withLock { state in
            defer { (state.kept, state.gap, state.quiet) = ([], nil, 0) }
            return state.kept
        }
        for part in kept { gst_buffer_unref(part.buffer) }
    }

    private func release(on pad: UnsafeMutablePointer<GstPad>) {
        let (kept, gap) = state.withLock { state in
            defer { (state.kept, state.gap) = ([], nil) }
            return (state.kept, state.gap)
        }
        guard let first = kept.first else { return }
        isReleasing.store(true, ordering: .relaxed)
        if let gap, let segment = segments.cut(from: gap, to: first.start) { gst_pad_send_event(pad, segment) }
        for part in kept { gst_pad_chain(pad, part.buffer) }
        isReleasing.store(false, ordering: .relaxed)
    }
}

extension Silences.State {
    /// Of a buffer that sounds, false; the silence before it is over then.
    fileprivate mutating func keep(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
        let duration = UInt64(buffer.pointee.duration)
        guard let format, UInt64(buffer.pointee.pts) < .max / 2, duration < SegmentMap.longest, format.isSilent(buffer)
        else {
            quiet = 0
            return false
        }
        quiet += duration
        guard quiet > Silences.tail else { return false }
        kept.append(Silences.Kept(buffer: gst_buffer_ref(buffer)))
        var length = length
        while let first = kept.first, length - first.duration >= Silences.lead + (gap == nil ? Silences.least : 0) {
            gap = gap ?? first.start
            length -= first.duration
            gst_buffer_unref(first.buffer)
            kept.removeFirst()
        }
        return true
    }
}

/// What samples look like, of the formats that scaletempo takes.
private struct SampleFormat {
    private enum Kind { case int16, float, double }

    /// -46 dB, over 10 ms: breath and the noise of a room are less, the softest consonants are more.
    private static let threshold = 0.005
    private let kind: Kind
    /// Of all channels, in 10 ms.
    private let window: Int

    /// - Parameter event: of caps; nil for other formats.
    init?(_ event: UnsafeMutablePointer<GstEvent>) {
        var caps: UnsafeMutablePointer<GstCaps>?
        gst_event_parse_caps(event, &caps)
        guard let caps, let structure = gst_caps_get_structure(caps, 0) else { return nil }
        var rate: gint = 0
        var channels: gint = 0
        guard gst_structure_get_int(structure, "rate", &rate) != 0, rate > 0,
            gst_structure_get_int(structure, "channels", &channels) != 0, channels > 0,
            let format = gst_structure_get_string(structure, "format")
        else { return nil }
        switch String(cString: format) {
        case "S16LE": kind = .int16
        case "F32LE": kind = .float
        case "F64LE": kind = .double
        default: return nil
        }
        window = max(1, Int(rate) / 100) * Int(channels)
    }

    func isSilent(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
        if dogear_buffer_is_gap(buffer) != 0 { return true }
        var map = GstMapInfo()
        guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return false }
        defer { gst_buffer_unmap(buffer, &map) }
        let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
        return switch kind {
        case .int16: isSilent(bytes.assumingMemoryBound(to: Int16.self)) { Double($0) / 32768 }
        case .float: isSilent(bytes.assumingMemoryBound(to: Float.self)) { Double($0) }
        case .double: isSilent(bytes.assumingMemoryBound(to: Double.self)) { $0 }
        }
    }

    private func isSilent<Sample>(_ samples: UnsafeBufferPointer<Sample>, _ value: (Sample) -> Double) -> Bool {
        var from = 0
        while from < samples.count {
            let to = min(samples.count, from + window)
            var sum = 0.0
            for index in from..<to {
                let sample = value(samples[index])
                sum += sample * sample
            }
            if sum > Self.threshold * Self.threshold * Double(to - from) { return false }
            from = to
        }
        return true
    }
}
