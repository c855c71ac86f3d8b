internal import CGStreamer
internal import EventLoop

/// What came of opening a sink for a look.
public enum SinkTrial: Hashable, Sendable {
    /// It can be played on now.
    case opened
    /// It writes or swallows sound: there is nothing to be opened.
    case needless
    /// Something else has it for itself.
    case busy
    /// A sound server that has nothing to play it on: it takes no sound.
    case withoutDevice
    case failed(reason: String)
}

extension GStreamerEngine {
    /// Opens the sink and closes it again, without a sound. On a thread of its own: a sound server that does not answer
    /// holds that for half a minute.
    public static func tryOut(sink: String) async -> SinkTrial {
        await withCheckedContinuation { continuation in
            let isBegun = onOwnThread { continuation.resume(returning: Trial.of(sink)) }
            if !isBegun { continuation.resume(returning: .failed(reason: "there is no thread to open it on")) }
        }
    }
}

private enum Trial {
    static func of(_ sink: String) -> SinkTrial {
        guard let bin = GStreamerEngine.make(sink: sink) else { return .failed(reason: "it cannot be made") }
        let bus = gst_bus_new()
        gst_element_set_bus(bin, bus)
        defer {
            gst_element_set_state(bin, GST_STATE_NULL)
            gst_element_set_bus(bin, nil)
            gst_object_unref(bus)
            gst_object_unref(bin)
        }
        guard leaveOutFiles(in: bin) else { return .needless }
        let isOpen = gst_element_set_state(bin, GST_STATE_READY) != GST_STATE_CHANGE_FAILURE
        if let complaint = complaint(on: bus, sink: bin) {
            return complaint.isBusy ? .busy : .failed(reason: complaint.reason)
        }
        guard isOpen else { return .failed(reason: "it does not say why") }
        return takesSound(bin) ? .opened : .withoutDevice
    }

    /// A file may be the one that is being written: opened, it would be empty.
    /// - Returns: whether there is anything else.
    private static func leaveOutFiles(in bin: Element) -> Bool {
        let elements = gst_bin_iterate_elements(UnsafeMutableRawPointer(bin).assumingMemoryBound(to: GstBin.self))
        defer { gst_iterator_free(elements) }
        var hasAudio = false
        gst_iterator_foreach(
            elements,
            { item, hasAudio in
                guard let element = g_value_get_object(item)?.assumingMemoryBound(to: GstElement.self) else { return }
                if dogear_is_audio_sink(element) != 0 {
                    hasAudio?.assumingMemoryBound(to: Bool.self).pointee = true
                } else if dogear_is_sink(element) != 0 {
                    gst_element_set_locked_state(element, 1)
                }
            }, &hasAudio)
        return hasAudio
    }

    private static func complaint(on bus: UnsafeMutablePointer<GstBus>?, sink: Element) -> Complaint? {
        while let message = gst_bus_pop(bus) {
            defer { gst_message_unref(message) }
            if case .complaint(let complaint) = Note(message, sink: sink, pipeline: sink) { return complaint }
        }
        return nil
    }

    private static func takesSound(_ bin: Element) -> Bool {
        guard let entrance = gst_element_get_static_pad(bin, "sink") else { return false }
        defer { gst_object_unref(entrance) }
        guard let caps = gst_pad_query_caps(entrance, nil) else { return false }
        defer { gst_caps_unref(caps) }
        return gst_caps_is_empty(caps) == 0
    }
}
