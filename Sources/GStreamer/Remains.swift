internal import CGStreamer
internal import EventLoop

/// What is left to free of a pipeline.
struct Remains: @unchecked Sendable {  // nobody else has it any more
    let playbin: Element
    let sink: Element
    let parts: [Element]
    let ears: Ears

    /// Seconds.
    private static let limit = 1

    /// Silences it, as it is.
    /// - Returns: false if the sound server does not answer: then it is silent when that does.
    func stand() -> Bool {
        // It may be freed while this is still on its way out.
        let playbin = ElementReference(borrowing: playbin)
        playbin.retain()
        return inTime {
            gst_element_set_state(playbin.element, GST_STATE_PAUSED)
            playbin.release()
        }
    }

    /// See ``Pipeline/close(isHeldUp:)``.
    func free(isHeldUp: Bool) {
        if !isHeldUp { _ = inTime { free() } } else if !onOwnThread({ free() }) { free() }
    }

    /// - Returns: false if it is done later.
    private func inTime(_ body: @escaping @Sendable () -> Void) -> Bool {
        let isDone = Monitor(false)
        let isBegun = onOwnThread {
            body()
            isDone.change { $0 = true }
        }
        guard isBegun else {
            body()
            return true
        }
        return isDone.wait(upTo: Self.limit) { $0 ? () : nil } != nil
    }

    private func free() {
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
