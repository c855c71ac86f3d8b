internal import CGStreamer
internal import EventLoop
internal import Listening
internal import Synchronization

/// What one pipeline calls back into, on whichever of its threads. Everything it needs is here and safe to touch there;
/// the pipeline's owner lets go of it only after the pipeline has stopped.
final class Ears: Sendable {
    let needle: Needle
    let segments = SegmentMap()
    let door: Door
    let silences: Silences
    let loudness: Loudness
    private let post: @Sendable (Note, UInt64) -> Void
    private let sink: ElementReference
    private let outlet: Outlet
    /// What the sound server last said it plays through.
    private let device = Locked<String?>(nil)
    private let stirred = Atomic<UInt64>(0)
    /// How often something of a file on disk has been read, or decoded.
    var stirs: UInt64 { stirred.load(ordering: .relaxed) }
    /// Before a new segment counts as begun. Only touched on the sink's streaming thread.
    private let buffersToCome = Atomic(0)
    /// Where the bytes of streams come from.
    private let crate: Crate

    init(
        needle: Needle, outlet: Outlet, sink: ElementReference, loudness: Loudness, door: Door,
        crate: Crate, post: @escaping @Sendable (Note, UInt64) -> Void
    ) {
        self.needle = needle
        self.outlet = outlet
        self.sink = sink
        self.loudness = loudness
        self.door = door
        self.crate = crate
        self.post = post
        silences = Silences(segments: segments)
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> Ears {
        HandOver.take()
        return Unmanaged<Ears>.fromOpaque(context!).takeUnretainedValue()
    }

    func stir() { stirred.add(1, ordering: .relaxed) }

    func hear(_ message: UnsafeMutablePointer<GstMessage>) {
        let stamp = needle.stamp
        guard let note = Note(message, sink: sink.element, pipeline: outlet.pipeline.element) else { return }
        post(note, stamp)
    }

    /// The current file is read to its end, and about a second of it is left to be heard: name the next.
    func aboutToFinish() {
        // What a reader failed over is played out and no further.
        guard crate.feed?.failure == nil else { return }
        // Not while the place is held: the Loop would wait for the disk with it.
        let last = needle.lastTrack
        let isBroken = crate.stamps.isBroken(last)
        let breaksOff = crate.stamps.breaksOff(last)
        let isGone = crate.stamps.isGone(last + 1)
        let next = needle.handOver(
            unless: { track, position in
                // Let it run out, the end of it decides.
                if breaksOff { return true }
                // Of a stream that stops this early the connection broke.
                guard needle.reel.isStream(track) || isBroken else { return false }
                return needle.reel.isCutShort(track, at: position + .seconds(10))
            },
            if: { track in !isGone && (!needle.reel.isStream(track) || crate.isReady(track)) })
        guard let next else { return }
        if let feed = crate.feedFromStart(of: next) {
            Pipeline.set(feed, on: outlet.pipeline.element)
        } else if case .file(let path) = needle.reel.tracks[next].audio {
            crate.stamps.note(next)
            Pipeline.set(path: path, on: outlet.pipeline.element)
        }
    }

    func added(_ element: Element) {
        guard let factory = dogear_factory_name(element) else { return }
        if dogear_is_sink(element) != 0, gst_object_has_as_ancestor(asObject(element), asObject(sink.element)) != 0 {
            outlet.added(element)
            let isServer = String(cString: factory) == "pulsesink"
            if loudness.added(element, isServer: isServer), isServer {
                watch(element)
                present(element)
            }
        }
        // A hole in a file is passed over. One of a minute and more is an end that nobody should be sent to.
        if dogear_has_property(element, "max-errors") != 0 { dogear_set_int(element, "max-errors", Self.longestHole) }
        setGrain(of: element)
        switch String(cString: factory) {
        case "filesrc": watch(reading: element)
        case "decodebin": Batches.lengthen(element)
        case "multiqueue": Batches.gather(in: element)
        case "typefind":
            if let type = crate.feed?.type { gst_util_set_object_arg(asGObject(element), "force-caps", type) }
        default: break
        }
    }

    /// What fades does so buffer by buffer, and of a stream as little as can be is held back.
    func setGrain(of element: Element) {
        silences.setGrain(of: element, isAhead: loudness.isServed && crate.feed == nil && !door.isFading)
    }

    /// A parser may have to read much of a file on a slow disk before anything comes of it.
    private func watch(reading source: Element) {
        guard let pad = gst_element_get_static_pad(source, "src") else { return }
        gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, _, context in
                Ears.of(context).stir()
                return GST_PAD_PROBE_OK
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        gst_object_unref(pad)
    }

    private static let desktopEntry = "org.dogear.Dogear"

    /// Mixers show us by this; of the binary's name they know no icon.
    private func present(_ server: Element) {
        guard let properties = gst_structure_new_empty("props") else { return }
        defer { gst_structure_free(properties) }
        dogear_structure_set_string(properties, "application.name", "Dogear")
        dogear_structure_set_string(properties, "application.id", Self.desktopEntry)
        dogear_structure_set_string(properties, "application.icon_name", Self.desktopEntry)
        dogear_set_structure(server, "stream-properties", properties)
    }

    /// Frames of some 20 ms.
    private static let longestHole: Int32 = 3000

    func removed(_ element: Element) {
        // playbin takes it for a later file again, and may bring it up before it says for which: see
        // ``Complaint/isOfNoFile``. Better with none than with one that was heard.
        if dogear_factory_name(element).map({ String(cString: $0) }) == "uridecodebin" {
            dogear_set_string(element, "uri", nil)
        }
        guard dogear_is_sink(element) != 0 else { return }
        outlet.removed(element)
        loudness.removed(element)
    }

    /// Headphones that are gone must not let the speakers blare: the sound server moves the stream to what is left. And
    /// mixers change its volume.
    private func watch(_ sink: Element) {
        // One that was taken out and put back is watched already.
        guard g_object_get_data(asGObject(sink), "dogear-watched") == nil else { return }
        let context = Unmanaged.passUnretained(self).toOpaque()
        g_object_set_data(asGObject(sink), "dogear-watched", context)
        typealias Notify =
            @convention(c) (Element?, UnsafeMutablePointer<GParamSpec>?, UnsafeMutableRawPointer?) -> Void
        let device: Notify = { sink, _, context in Ears.of(context).deviceMayHaveChanged(of: sink!) }
        let volume: Notify = { _, _, context in Ears.of(context).volumeMayHaveChanged() }
        for (property, notify) in [("current-device", device), ("volume", volume)] {
            dogear_connect(sink, "notify::\(property)", unsafeBitCast(notify, to: GCallback.self), context)
        }
    }

    /// On the sink's streaming thread.
    private func volumeMayHaveChanged() {
        guard let (volume, number) = loudness.heard() else { return }
        post(.volume(volume, after: number), needle.stamp)
    }

    /// Whether that was where the sound went; wherever it goes now, that is no news then.
    func forget(device name: String) -> Bool {
        device.withLock { device in
            guard device == name else { return false }
            device = nil
            return true
        }
    }

    /// On the sink's streaming thread.
    private func deviceMayHaveChanged(of sink: Element) {
        guard let now = text("current-device", of: sink) else { return }
        let before = device.withLock { device in
            defer { device = now }
            return device
        }
        if let before, before != now { post(.moved(from: before), needle.stamp) }
    }

    /// The first sound after a flush: the pipeline itself says so in a moment, except when it forgets to.
    private func soundComes() {
        let stamp = needle.stamp
        let post = self.post
        Task {
            try? await Task.sleep(for: .milliseconds(200))
            post(.sounds, stamp)
        }
    }

    /// A file of another format than the one before. For a new format the sink begins its stream anew, and what lies in the
    /// old one, up to two seconds, would not be heard: the old file is ended here instead, and the next one opened after it.
    /// So it is where the setting for the sink keeps to one format, too: what comes of that is not known here.
    func isToWait(_ event: UnsafeMutablePointer<GstEvent>, at pad: UnsafeMutablePointer<GstPad>) -> Bool {
        guard dogear_event_type(event) == GST_EVENT_CAPS, needle.isAnnounced,
            let old = gst_pad_get_current_caps(pad)
        else { return false }
        defer { gst_caps_unref(old) }
        var new: UnsafeMutablePointer<GstCaps>?
        gst_event_parse_caps(event, &new)
        guard gst_caps_is_equal(old, new) == 0 else { return false }
        // What came last may have been a single buffer.
        isThrough()
        return true
    }

    func sawAtSink(_ event: UnsafeMutablePointer<GstEvent>, on pad: UnsafeMutablePointer<GstPad>) {
        switch dogear_event_type(event) {
        case GST_EVENT_SEGMENT: sawSegment(event, on: pad)
        case GST_EVENT_FLUSH_STOP:
            needle.flushed()
            door.flushed()
            gst_pad_add_probe(
                pad, GST_PAD_PROBE_TYPE_BUFFER,
                { _, _, context in
                    Ears.of(context).soundComes()
                    return GST_PAD_PROBE_REMOVE
                }, Unmanaged.passUnretained(self).toOpaque(), nil)
        case GST_EVENT_STREAM_START: needle.streamBegins()
        case GST_EVENT_EOS: door.sawEnd()
        default: break
        }
    }

    /// The next file, or what comes behind a silence that was left out.
    private func sawSegment(_ event: UnsafeMutablePointer<GstEvent>, on pad: UnsafeMutablePointer<GstPad>) {
        var segment = GstSegment()
        gst_event_copy_segment(event, &segment)
        door.saw(segment)
        guard segment.format == GST_FORMAT_TIME, segment.isBelievable,
            needle.segmentBegins(
                base: UInt64(segment.base), start: Int64(segment.time), rate: segment.rate * segment.applied_rate)
        else { return }
        // With the second buffer at the door the first one is through.
        let isWatched = buffersToCome.exchange(2, ordering: .relaxed) > 0
        guard !isWatched else { return }
        let buffers = GstPadProbeType(
            rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue)
        gst_pad_add_probe(
            pad, buffers,
            { _, _, context in
                let ears = Ears.of(context)
                if ears.buffersToCome.subtract(1, ordering: .relaxed).newValue > 0 { return GST_PAD_PROBE_OK }
                ears.isThrough()
                return GST_PAD_PROBE_REMOVE
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
    }

    /// What has come to the sink's door is in the sink.
    private func isThrough() {
        crate.settle(on: needle.letThrough())
        post(.jumps, needle.stamp)
    }
}
