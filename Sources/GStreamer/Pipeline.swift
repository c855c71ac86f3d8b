internal import CGStreamer
internal import EventLoop
internal import Glibc
internal import Listening

/// Sole owner of one playbin: made for a load, stopped and freed with it, driven only on the gstreamer thread.
///
/// The older playbin, because playbin3 asks for the next file as soon as a short one is downloaded, long before it is
/// heard. Video is off: a cover would be decoded for nobody.
final class Pipeline {
    let outlet: Outlet
    private let playbin: Element
    private let sink: Element
    /// The playbin's.
    private var filter: Element
    private let volumeElement: Element
    private let fader: Element
    private let door: Door
    let loudness: Loudness
    /// Nil until it is needed: with it every sample becomes a float, a tenth of what playing costs. Nil for good where no
    /// limiter is installed: louder without one would be distorted.
    private var booster: (gain: Element, limiter: Element)?
    private(set) var boost = 0.0
    private var mayBoost = true
    /// Boosted since the last ``rewind()``, and only after the next one louder.
    var isToBeBoosted: Bool { boost > 0 && booster == nil && mayBoost && Health.canBoost }
    private let ears: Ears
    private let post: @Sendable (Note, UInt64) -> Void
    /// A sound server that does not answer has it: see ``inTime(_:)``.
    private var isStuck = false
    /// Played at another rate since the last ``rewind()``.
    private var hasStretched = false
    /// Also for the thread that opens its sink.
    private let closed = Locked(false)
    private var isClosed: Bool { closed.withLock { $0 } }
    private let askers = Askers()
    /// The clock that is watched; only compared.
    private var watched: UnsafeMutablePointer<GstClock>?
    private var clockWatch = ClockWatch()
    /// Nanoseconds.
    private static let clockLimit: GstClockTime = 200_000_000
    /// What the output's clock said when the pipeline came to stand, and when that was: microseconds, monotonic.
    private var standing: (clock: GstClockTime, at: Int64)?
    /// What is open was told to play.
    private(set) var hasPlayed = false
    /// So late nobody hears that it is, and what was just told to play and to pause nobody expects sooner; nanoseconds.
    private static let tolerableDelays: (unplayed: GstClockTime, played: GstClockTime) = (50_000_000, 500_000_000)

    init(
        sink description: String, needle: Needle, crate: Crate, post: @escaping @Sendable (Note, UInt64) -> Void
    ) throws(EngineFailure) {
        _ = Library.ready
        guard let playbin = gst_element_factory_make("playbin", nil) else {
            throw .missingDecoder(what: "playbin", package: "gstreamer1.0-plugins-base")
        }
        gst_object_ref_sink(playbin)
        // The floating references of these two become the playbin's.
        guard let filter = Self.bin("scaletempo name=\(Self.tempo)") else {
            gst_object_unref(playbin)
            throw .missingDecoder(what: "scaletempo", package: "gstreamer1.0-plugins-good")
        }
        // At the sink's door: a second of sound lies before it, in a queue of the playbin's.
        let volumes = "volume name=dogear-volume ! volume name=dogear-fader ! audioconvert ! "
        guard let sink = Self.bin(volumes + description) else {
            gst_object_unref(playbin)
            gst_object_unref(filter)
            throw .noSink(reason: "the audio sink '\(description)' cannot be made; check the setting audio.sink")
        }
        Self.keepTime(in: sink)
        self.playbin = playbin
        self.sink = sink
        self.filter = filter
        self.post = post
        volumeElement = Self.part("dogear-volume", of: sink)!
        fader = Self.part("dogear-fader", of: sink)!
        outlet = Outlet(pipeline: ElementReference(borrowing: playbin))
        loudness = Loudness(scale: ElementReference(borrowing: volumeElement))
        door = Door(outlet: outlet, fader: ElementReference(borrowing: fader))
        ears = Ears(
            needle: needle, outlet: outlet, sink: ElementReference(borrowing: sink), loudness: loudness,
            door: door, crate: crate, post: post)

        gst_util_set_object_arg(asGObject(playbin), "flags", "audio")
        // Also for what is never shown: playbin would open a display to see what could be.
        dogear_set_object(playbin, "video-sink", gst_element_factory_make("fakesink", nil))
        dogear_set_object(playbin, "text-sink", gst_element_factory_make("fakesink", nil))
        dogear_set_object(playbin, "audio-filter", filter)
        dogear_set_object(playbin, "audio-sink", sink)
        listen()
        listen(filter: filter)
    }

    /// What only writes or swallows takes sound as fast as it comes: a book would be over in a second, and heard by nobody.
    /// One sink that keeps to the clock is enough; where there is none, all do.
    private static func keepTime(in sink: Element) {
        func sinks() -> UnsafeMutablePointer<GstIterator>? { gst_bin_iterate_sinks(asBin(sink)) }
        var isTimed = false
        visit(sinks(), &isTimed) { value, isTimed in
            guard let part = g_value_get_object(value), dogear_has_property(part, "sync") != 0 else { return }
            if dogear_get_bool(part, "sync") != 0 { isTimed!.assumingMemoryBound(to: Bool.self).pointee = true }
        }
        if isTimed { return }
        visit(sinks(), nil) { value, _ in
            guard let part = g_value_get_object(value), dogear_has_property(part, "sync") != 0 else { return }
            dogear_set_bool(part, "sync", 1)
        }
    }

    /// Comes while nothing is open.
    private func addBooster() {
        let chain = "scaletempo name=\(Self.tempo) ! volume name=dogear-boost ! rglimiter name=dogear-limiter"
        guard let filter = Self.bin(chain), let gain = Self.part("dogear-boost", of: filter),
            let limiter = Self.part("dogear-limiter", of: filter)
        else {
            // Asked again, it would be opened anew for ever.
            mayBoost = false
            return
        }
        booster = (gain, limiter)
        self.filter = filter
        listen(filter: filter)
        dogear_set_object(playbin, "audio-filter", filter)
        applyBoost()
    }

    private static let tempo = "dogear-tempo"

    /// Comes while nothing is open. scaletempo (1.22, and 1.26 still) frees its queue as it stops but counts on what was in
    /// it: in a smaller format it crashes on that at once, in the same one a blink of garbage is heard.
    private func renewTempo() {
        guard let old = Self.part(Self.tempo, of: filter), let new = gst_element_factory_make("scaletempo", Self.tempo)
        else { return }
        defer { gst_object_unref(old) }
        let bin = Self.asBin(filter)
        gst_element_set_state(old, GST_STATE_NULL)
        gst_bin_remove(bin, old)
        gst_bin_add(bin, new)
        if let booster { gst_element_link(new, booster.gain) } else { Self.show("src", of: new, on: filter) }
        Self.show("sink", of: new, on: filter)
        gst_element_sync_state_with_parent(new)
    }

    /// The bin's pad of this name is that of `part` from now on.
    private static func show(_ name: String, of part: Element, on bin: Element) {
        guard let pad = gst_element_get_static_pad(bin, name), let inner = gst_element_get_static_pad(part, name)
        else { return }
        gst_ghost_pad_set_target(UnsafeMutableRawPointer(pad).assumingMemoryBound(to: GstGhostPad.self), inner)
        gst_object_unref(inner)
        gst_object_unref(pad)
    }

    private static func part(_ name: String, of bin: Element) -> Element? {
        gst_bin_get_by_name(Self.asBin(bin), name)
    }

    private static func bin(_ description: String) -> Element? {
        var error: UnsafeMutablePointer<GError>?
        let bin = gst_parse_bin_from_description(description, 1, &error)
        g_clear_error(&error)
        return bin
    }

    private static let events = GstPadProbeType(
        rawValue: GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue)
    private static let holdable = GstPadProbeType(
        rawValue: GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_BLOCK.rawValue)
    private static let buffers = GstPadProbeType(rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue)

    private func listen() {
        let context = Unmanaged.passRetained(ears).toOpaque()  // taken back in `close`
        HandOver.give()
        let bus = gst_element_get_bus(playbin)
        gst_bus_set_sync_handler(
            bus,
            { _, message, context in
                Ears.of(context).hear(message!)
                gst_message_unref(message)
                return GST_BUS_DROP
            }, context, nil)
        gst_object_unref(bus)

        typealias Signal = @convention(c) (Element?, UnsafeMutableRawPointer?) -> Void
        let aboutToFinish: Signal = { _, context in Ears.of(context).aboutToFinish() }
        dogear_connect(playbin, "about-to-finish", unsafeBitCast(aboutToFinish, to: GCallback.self), context)
        typealias Changed = @convention(c) (Element?, Element?, Element?, UnsafeMutableRawPointer?) -> Void
        let added: Changed = { _, _, element, context in Ears.of(context).added(element!) }
        dogear_connect(playbin, "deep-element-added", unsafeBitCast(added, to: GCallback.self), context)
        let removed: Changed = { _, _, element, context in Ears.of(context).removed(element!) }
        dogear_connect(playbin, "deep-element-removed", unsafeBitCast(removed, to: GCallback.self), context)

        probe(sink, Self.holdable, context) { pad, info, context in
            guard let event = dogear_probe_event(info), Ears.of(context).isToWait(event, at: pad!) else {
                return GST_PAD_PROBE_PASS
            }
            // Until what it has got is heard; it takes no more then, and what comes stays here until the next opening.
            gst_pad_send_event(pad, gst_event_new_eos())
            return GST_PAD_PROBE_OK
        }
        probe(sink, Self.events, context) { pad, info, context in
            if let event = dogear_probe_event(info) { Ears.of(context).sawAtSink(event, on: pad!) }
            return GST_PAD_PROBE_OK
        }
        probe(sink, Self.buffers, context) { _, info, context in
            if let buffer = dogear_probe_buffer(info) { Ears.of(context).door.saw(buffer) }
            return GST_PAD_PROBE_OK
        }
    }

    private func listen(filter: Element) {
        let context = Unmanaged.passUnretained(ears).toOpaque()
        probe(filter, Self.events, context) { pad, info, context in
            let ears = Ears.of(context)
            if !ears.silences.saw(event: info!, on: pad!) { ears.segments.saw(event: info!) }
            return GST_PAD_PROBE_OK
        }
        probe(filter, Self.buffers, context) { pad, info, context in
            let ears = Ears.of(context)
            ears.stir()
            if ears.segments.isBeforeTarget(info!) { return GST_PAD_PROBE_DROP }
            guard let buffer = dogear_probe_buffer(info) else { return GST_PAD_PROBE_OK }
            return ears.silences.keeps(buffer, on: pad!) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
        }
    }

    private func probe(
        _ element: Element, _ events: GstPadProbeType, _ context: UnsafeMutableRawPointer,
        _ callback: @escaping GstPadProbeCallback
    ) {
        guard let pad = gst_element_get_static_pad(element, "sink") else { return }
        gst_pad_add_probe(pad, events, callback, context, nil)
        gst_object_unref(pad)
    }

    static func set(path: String, on playbin: Element) {
        guard let uri = g_filename_to_uri(path, nil, nil) else { return }
        dogear_set_string(playbin, "uri", uri)
        g_free(uri)
    }

    static func set(_ feed: Feed, on playbin: Element) { dogear_set_string(playbin, "uri", feed.uri) }

    /// Whether its clock has, since the device was opened. It has to be asked as long as that is not yet so.
    func clockHasRunAway() -> Bool {
        guard let clock = gst_element_get_clock(playbin) else { return false }
        defer { gst_object_unref(clock) }
        if clock != watched {
            watched = clock
            clockWatch = ClockWatch()
        }
        let asked = Clock.monotonic
        let time = gst_clock_get_time(clock)
        return clockWatch.hasRunAway(UInt64(time), asked: asked, answered: Clock.monotonic)
    }

    /// Of the output, if it has one of its own.
    private var outputClock: GstClockTime? {
        guard let clock = gst_element_provide_clock(sink) else { return nil }
        defer { gst_object_unref(clock) }
        let time = gst_clock_get_time(clock)
        return time < .max / 2 ? time : nil
    }

    /// Whether what was opened, and of which nothing has been heard yet, would be heard as much later as it has stood here:
    /// PulseAudio's client (16.1) counts on before a stream's first sound, and back to nothing with it. It has to be opened
    /// anew then.
    var hasStoodTooLong: Bool {
        let tolerableDelay = hasPlayed ? Self.tolerableDelays.played : Self.tolerableDelays.unplayed
        guard let standing, let now = outputClock, now > standing.clock + tolerableDelay else { return false }
        // A clock that only comes to rest late has not gone on with the time.
        return Int64(now - standing.clock) / 1000 > (Clock.monotonic - standing.at) / 2
    }

    /// Changes that lead down to the sound server: one that does not answer keeps who asks for half a minute at a time,
    /// which the gstreamer thread does not wait for.
    /// - Returns: nil if it is not over in time. `stuck` is on its way then, and nothing but to close this is of any use.
    private func inTime<Result: Sendable>(_ change: @escaping @Sendable (Element) -> Result) -> Result? {
        guard !isStuck else { return nil }
        let playbin = ElementReference(borrowing: playbin)
        playbin.retain()
        let make: @Sendable () -> Result = {
            defer { playbin.release() }
            return change(playbin.element)
        }
        let result = onOwnThread(waiting: Self.changeLimit, 1, instead: make, for: make)
        if result == nil {
            isStuck = true
            post(.stuck, 0)
        }
        return result
    }

    /// Seconds: more than a device far away needs to wake up.
    private static let changeLimit = 4

    /// Lets go of the file it is in; the audio device stays open, unless its clock has run away or the way to it changes.
    func rewind() {
        let isToClose = clockHasRunAway() || isToBeBoosted
        let askers = askers
        let lower: @Sendable (Element) -> Void = { playbin in
            if isToClose { askers.wait() }
            Self.lower(playbin, to: isToClose ? GST_STATE_NULL : GST_STATE_READY)
        }
        guard inTime(lower) != nil else { return }
        if isToBeBoosted { addBooster() } else if hasStretched { renewTempo() }
        hasStretched = false
        watched = nil
        standing = nil
        hasPlayed = false
        ears.silences.forget()
    }

    /// The way down leads playbin (1.22) through states that it asks of all its parts: a file that followed another and could
    /// not be opened has to come up for that, cannot, and nothing stops.
    fileprivate static func lower(_ playbin: Element, to state: GstState) {
        guard gst_element_set_state(playbin, state) == GST_STATE_CHANGE_FAILURE else { return }
        visit(gst_bin_iterate_elements(asBin(playbin)), nil) { value, _ in
            let part = g_value_get_object(value)!.assumingMemoryBound(to: GstElement.self)
            guard part.pointee.current_state.rawValue < GST_STATE_PAUSED.rawValue else { return }
            gst_element_set_locked_state(part, 1)
            gst_element_set_state(part, GST_STATE_NULL)
        }
        gst_element_set_state(playbin, state)
    }

    private static func asBin(_ element: Element) -> UnsafeMutablePointer<GstBin> {
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstBin.self)
    }

    /// Each at least once: from the start again where some came or went meanwhile. Frees the iterator.
    private static func visit(
        _ parts: UnsafeMutablePointer<GstIterator>?, _ context: UnsafeMutableRawPointer?,
        _ body: GstIteratorForeachFunction
    ) {
        defer { gst_iterator_free(parts) }
        while gst_iterator_foreach(parts, body, context) == GST_ITERATOR_RESYNC { gst_iterator_resync(parts) }
    }

    var isSinkClosed: Bool { dogear_is_closed(sink) != 0 }

    /// On a thread of its own. What goes wrong is said as all the pipeline says. Comes after ``rewind()``.
    /// - Parameter done: told whether it is open.
    func openSink(_ done: @escaping @Sendable (Bool) -> Void) {
        let sink = ElementReference(borrowing: sink)
        sink.retain()
        // Before the playbin has taken it in, it has nowhere to say what is wrong.
        let isAlone = sink.element.pointee.object.parent == nil
        if isAlone {
            let bus = gst_element_get_bus(playbin)
            gst_element_set_bus(sink.element, bus)
            gst_object_unref(bus)
        }
        let closed = closed
        let open: @Sendable () -> Void = {
            let isOpen = gst_element_set_state(sink.element, GST_STATE_READY) != GST_STATE_CHANGE_FAILURE
            // The pipeline may have been freed before this came to it.
            if closed.withLock({ $0 }) { gst_element_set_state(sink.element, GST_STATE_NULL) }
            if isAlone { gst_element_set_bus(sink.element, nil) }
            sink.release()
            done(isOpen)
        }
        if !onOwnThread(open) { done(false) }
    }

    /// Opens one file from its start, paused, at rate 1. Comes after ``rewind()``.
    /// - Returns: false if that failed at once.
    func open(path: String) -> Bool {
        loudness.begin()
        ears.segments.reopen()
        Self.set(path: path, on: playbin)
        return goUp()
    }

    /// The same for a stream.
    func open(_ feed: Feed) -> Bool {
        loudness.begin()
        ears.segments.reopen(isLed: feed.isPlaylist)
        Self.set(feed, on: playbin)
        return goUp()
    }

    private func goUp() -> Bool {
        inTime { gst_element_set_state($0, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE } ?? true
    }

    /// Moves in the file it is in.
    ///
    /// Accurate in every format: without that flag mp3 and flac land up to a minute off while claiming to be there.
    /// That makes their parsers read everything up to the target, which is why streams of these are opened at a cut;
    /// m4b, opus and ogg seek with one or a few reads.
    /// - Returns: false if it was refused.
    func seek(to offset: BookTime, rate: Double) -> Bool {
        guard let seek = prepareSeek(to: offset, rate: rate) else { return false }
        return inTime { _ in seek.push() } ?? true
    }

    /// The same in two steps: a demuxer may have to read before it is there, and the thread that pushes waits for that.
    func prepareSeek(to offset: BookTime, rate: Double) -> PendingSeek? {
        let target = max(0, offset.nanoseconds)
        hasStretched = hasStretched || rate != 1
        ears.segments.expect(target: UInt64(target), rate: rate)
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
        let event = gst_event_new_seek(
            rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, gint64(target), GST_SEEK_TYPE_NONE, -1)
        // From the one pad all sound goes through: sent to the pipeline it would go up once for each sink that the
        // description of the sink names, and oggdemux refuses the second.
        guard let event, let pad = gst_element_get_static_pad(sink, "sink") else { return nil }
        return PendingSeek(pad: pad, event: event)
    }

    /// Something that is heard has come since the file was opened or sought in.
    var hasSound: Bool { ears.segments.hasSound }

    /// See ``Ears/stirs``.
    var stirs: UInt64 { ears.stirs }

    /// See ``SegmentMap/isLate``.
    var isLate: Bool { ears.segments.isLate }

    /// How much longer there will be sound if nothing more is read.
    var supply: BookTime {
        let now = gst_element_get_current_running_time(playbin)
        return now < .max / 2 ? Self.time(from: UInt64(now), until: ears.segments.reached) : .zero
    }

    /// How much later what comes to the sink now will be heard.
    var lag: BookTime { outlet.runningTime.map { Self.time(from: $0, until: door.reached) } ?? .zero }

    /// All that is left to be heard lies in the sink.
    var isLast: Bool { door.isLast }

    /// What is open says that it can be moved in.
    var isSeekable: Bool {
        let query = gst_query_new_seeking(GST_FORMAT_TIME)
        defer { gst_query_unref(query) }
        var seekable: gboolean = 0
        guard gst_element_query(playbin, query) != 0 else { return false }
        gst_query_parse_seeking(query, nil, &seekable, nil, nil)
        return seekable != 0
    }

    private static func time(from now: UInt64, until reached: UInt64) -> BookTime {
        BookTime(microseconds: reached > now ? Int64((reached - now) / 1000) : 0)
    }

    /// A pause that comes after a seek and before the clock runs again waits for that, a millisecond or so: GStreamer would
    /// otherwise take the time since the last start as already heard, and leave that much of the sound out. Where no
    /// data comes the clock does not run; then nothing has been heard.
    func set(playing: Bool) {
        guard !playing else {
            hasPlayed = true
            standing = nil
            _ = inTime { gst_element_set_state($0, GST_STATE_PLAYING) }
            return
        }
        _ = inTime { playbin in
            var state = GST_STATE_NULL
            var pending = GST_STATE_NULL
            let result = gst_element_get_state(playbin, &state, &pending, Self.clockLimit)
            gst_element_set_state(playbin, GST_STATE_PAUSED)
            if result == GST_STATE_CHANGE_ASYNC, pending == GST_STATE_PLAYING { gst_element_set_start_time(playbin, 0) }
        }
        if standing == nil { standing = outputClock.map { ($0, Clock.monotonic) } }
    }

    // What failed is closed, and may still be told of a volume or a fade before it is let go.

    func set(volume: Double) {
        guard !isClosed else { return }
        loudness.set(volume.clamped(to: 0...1))
    }

    func set(fading: Fading?) {
        guard !isClosed else { return }
        let wasFading = door.isFading
        door.set(fading)
        if wasFading != (fading != nil) { setGrain() }
    }

    func set(skipsSilence: Bool) {
        if ears.silences.set(skipsSilence), !isClosed { setGrain() }
    }

    /// See ``Ears/setGrain(of:)``: for what is there already.
    func setGrain() {
        Self.visit(gst_bin_iterate_recurse(Self.asBin(playbin)), Unmanaged.passUnretained(ears).toOpaque()) {
            value, ears in
            Ears.of(ears).setGrain(of: g_value_get_object(value)!.assumingMemoryBound(to: GstElement.self))
        }
    }

    /// - Parameter boost: decibels. Peaks are bent down so that nothing clips; without a boost nothing is touched.
    func set(boost: Double) {
        self.boost = boost
        if !isClosed { applyBoost() }
    }

    private func applyBoost() {
        guard let booster else { return }
        dogear_set_double(booster.gain, "volume", pow(10, boost.clamped(to: 0...12) / 20))
        dogear_set_bool(booster.limiter, "enabled", boost > 0 ? 1 : 0)
    }

    /// See ``Ears/forget(device:)``.
    func forget(device name: String) -> Bool { ears.forget(device: name) }

    func recalculateLatency() {
        guard !isClosed else { return }
        gst_bin_recalculate_latency(Self.asBin(playbin))
    }
    var hasAudio: Bool { dogear_get_int(playbin, "n-audio") > 0 }

    /// A thread is on its way into the sink. What is being opened waits for nothing else then.
    var isHeldUpBySink: Bool {
        guard !isClosed, let pad = gst_element_get_static_pad(sink, "sink") else { return false }
        defer { gst_object_unref(pad) }
        return dogear_is_entered(sink, pad) != 0
    }

    /// Whether the output says what it can play: it asks the sound server, on whichever thread wants to know, and that may
    /// be the one that opens the file.
    var sinkAnswers: Bool {
        guard !isClosed else { return true }
        guard !isStuck else { return false }
        let sink = ElementReference(borrowing: sink)
        let answer: Void? = askers.ask(sink) {
            if let pad = gst_element_get_static_pad(sink.element, "sink") {
                if let caps = gst_pad_query_caps(pad, nil) { gst_caps_unref(caps) }
                gst_object_unref(pad)
            }
        }
        return answer != nil
    }

    /// See ``Loudness/heard()``; nil also where the sound server does not answer.
    func heardVolume() -> (volume: Double, after: UInt64)? {
        guard !isClosed, !isStuck else { return nil }
        let loudness = loudness
        return askers.ask(ElementReference(borrowing: sink)) { loudness.heard() } ?? nil
    }

    /// Seconds.
    private static let closingLimit = 1

    /// Stops it, waits until none of its threads runs, frees it. Once.
    ///
    /// A sound server that does not answer holds its threads up, for half a minute at a time. The gstreamer thread does
    /// not wait for that, and the pipeline is freed when it is over.
    /// - Parameter isHeldUp: it is known to be.
    func close(isHeldUp: Bool = false) {
        guard !isClosed else { return }
        closed.withLock { $0 = true }
        let parts = [volumeElement, fader] + (booster.map { [$0.gain, $0.limiter] } ?? [])
        let remains = Remains(playbin: playbin, sink: sink, parts: parts, ears: ears, askers: askers)
        if !isHeldUp {
            _ = onOwnThread(waiting: Self.closingLimit, instead: remains.free, for: remains.free)
        } else if !onOwnThread(remains.free) {
            remains.free()
        }
    }

    deinit { close() }
}

/// What is left to free of a pipeline.
private struct Remains: @unchecked Sendable {  // nobody else has it any more
    let playbin: Element
    let sink: Element
    let parts: [Element]
    let ears: Ears
    let askers: Askers

    func free() {
        askers.wait()
        Pipeline.lower(playbin, to: GST_STATE_NULL)
        // It may never have come into the playbin, and still be on its way.
        gst_element_set_state(sink, GST_STATE_NULL)
        let bus = gst_element_get_bus(playbin)
        gst_bus_set_sync_handler(bus, nil, nil, nil)
        gst_object_unref(bus)
        // Who asks where it is may have it for a moment longer, and be the one that frees it.
        let ears = Unmanaged.passUnretained(ears)
        g_signal_handlers_disconnect_matched(playbin, G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, ears.toOpaque())
        for element in parts { gst_object_unref(element) }
        gst_object_unref(playbin)
        ears.release()
    }
}
