internal import CGStreamer

/// Why a picture could not be made.
public struct DrawingError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

public enum Drawing {
    private static let pipeline =
        "giostreamsrc name=in ! typefind ! rsvgdec ! videoconvert ! pngenc snapshot=true ! giostreamsink name=out"

    /// Draws an SVG document as PNG. Blocks while it draws: not for the Loop.
    public static func png(svg: [UInt8]) throws(DrawingError) -> [UInt8] {
        Library.ready
        for name in ["rsvgdec", "pngenc", "giostreamsrc", "typefind", "videoconvert"] {
            guard let factory = gst_element_factory_find(name) else {
                throw DrawingError(
                    description:
                        "PNG needs GStreamer's '\(name)', which is not installed; a name that ends in .svg works")
            }
            gst_object_unref(UnsafeMutableRawPointer(factory))
        }
        guard let element = gst_parse_launch(pipeline, nil) else {
            throw failed
        }
        defer {
            gst_element_set_state(element, GST_STATE_NULL)
            gst_object_unref(element)
        }
        let bytes = svg.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        let input = g_memory_input_stream_new_from_bytes(bytes)
        let output = g_memory_output_stream_new_resizable()
        g_bytes_unref(bytes)
        defer {
            g_object_unref(input)
            g_object_unref(output)
        }
        try give(input, to: "in", of: element)
        try give(output, to: "out", of: element)
        gst_element_set_state(element, GST_STATE_PLAYING)
        let isDone = isDone(element)
        gst_element_set_state(element, GST_STATE_NULL)
        let png = output!.withMemoryRebound(to: GMemoryOutputStream.self, capacity: 1) { stream in
            let count = Int(g_memory_output_stream_get_data_size(stream))
            guard count > 0, let data = g_memory_output_stream_get_data(stream) else { return [UInt8]() }
            return Array(UnsafeRawBufferPointer(start: data, count: count))
        }
        // A document that breaks off ends without a word of error.
        guard isDone, !png.isEmpty else { throw failed }
        return png
    }

    private static var failed: DrawingError {
        DrawingError(description: "the picture could not be drawn as PNG; a name that ends in .svg works")
    }

    private static func give(_ stream: UnsafeMutableRawPointer?, to name: String, of element: Element)
        throws(DrawingError)
    {
        let child = element.withMemoryRebound(to: GstBin.self, capacity: 1) { gst_bin_get_by_name($0, name) }
        guard let child, let stream else { throw failed }
        dogear_set_object(child, "stream", stream)
        gst_object_unref(child)
    }

    /// It is a matter of milliseconds; the limit only bounds a hang.
    private static func isDone(_ element: Element) -> Bool {
        guard let bus = gst_element_get_bus(element) else { return false }
        defer { gst_object_unref(bus) }
        let kinds = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
        guard let message = gst_bus_timed_pop_filtered(bus, 60_000_000_000, kinds) else { return false }
        defer { gst_message_unref(message) }
        return dogear_message_type(message) == GST_MESSAGE_EOS
    }
}
