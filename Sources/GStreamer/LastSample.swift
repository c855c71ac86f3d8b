internal import CGStreamer

/// What a pipeline that ends by itself leaves in its sink.
enum LastSample {
    /// Runs the pipeline, and blocks until it has ended.
    /// - Parameters:
    ///   - line: as gst-launch takes it, with elements of the names "source" and "sink"; the last is a fakesink.
    ///   - property: of the source, which becomes `value`.
    ///   - limit: nanoseconds it may take.
    ///   - take: makes something of the sample's caps and bytes.
    /// - Returns: nil where the pipeline fails, takes too long or leaves nothing.
    static func of<Answer>(
        _ line: String, _ property: String, _ value: String, limit: GstClockTime,
        take: (_ caps: UnsafePointer<GstStructure>, _ bytes: UnsafeBufferPointer<UInt8>) -> Answer?
    ) -> Answer? {
        Library.ready
        guard let pipeline = gst_parse_launch(line, nil) else { return nil }
        defer {
            gst_element_set_state(pipeline, GST_STATE_NULL)
            gst_object_unref(pipeline)
        }
        let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
        guard let source = gst_bin_get_by_name(bin, "source") else { return nil }
        defer { gst_object_unref(source) }
        guard let sink = gst_bin_get_by_name(bin, "sink") else { return nil }
        defer { gst_object_unref(sink) }
        dogear_set_string(source, property, value)
        guard let bus = gst_element_get_bus(pipeline) else { return nil }
        defer { gst_object_unref(bus) }
        gst_element_set_state(pipeline, GST_STATE_PLAYING)
        let wanted = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
        guard let message = gst_bus_timed_pop_filtered(bus, limit, wanted) else { return nil }
        defer { gst_message_unref(message) }
        guard dogear_message_type(message) == GST_MESSAGE_EOS, let sample = dogear_last_sample(sink) else { return nil }
        defer { gst_sample_unref(sample) }
        guard let caps = gst_sample_get_caps(sample), let structure = gst_caps_get_structure(caps, 0),
            let buffer = gst_sample_get_buffer(sample)
        else { return nil }
        var map = GstMapInfo()
        guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
        defer { gst_buffer_unmap(buffer, &map) }
        return take(structure, UnsafeBufferPointer(start: map.data, count: Int(map.size)))
    }
}
