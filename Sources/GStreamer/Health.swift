internal import CGStreamer

enum Health {
    /// Louder than it was recorded takes a limiter.
    static let canBoost: Bool = {
        Library.ready
        return isThere("rglimiter")
    }()

    static func isThere(_ element: String) -> Bool {
        guard let factory = gst_element_factory_find(element) else { return false }
        gst_object_unref(UnsafeMutableRawPointer(factory))
        return true
    }
}

/// What the doctor asks of the GStreamer that is installed.
extension GStreamerEngine {
    /// A kind of audio that cannot be played here, and the Debian package that helps.
    public struct Missing: Hashable, Sendable {
        public let what: String
        public let package: String
    }

    /// For each kind of audio the elements of which any one will do.
    private static let needs: [(what: String, package: String, elements: [String])] = [
        ("m4b and m4a files", "gstreamer1.0-plugins-good", ["qtdemux"]),
        ("AAC", "gstreamer1.0-libav", ["avdec_aac", "faad", "fdkaacdec"]),
        ("mp3", "gstreamer1.0-plugins-good", ["mpg123audiodec", "avdec_mp3", "mad"]),
        ("opus", "gstreamer1.0-plugins-base", ["opusdec", "avdec_opus"]),
        ("ogg vorbis", "gstreamer1.0-plugins-base", ["vorbisdec", "avdec_vorbis"]),
        ("flac", "gstreamer1.0-plugins-good", ["flacdec", "avdec_flac"]),
        ("transcoded streams (HLS)", "gstreamer1.0-plugins-bad", ["hlsdemux"]),
        ("other speeds without other pitch", "gstreamer1.0-plugins-good", ["scaletempo"]),
    ]

    public static func missing() -> [Missing] {
        Library.ready
        return needs.filter { need in !need.elements.contains(where: Health.isThere) }
            .map { Missing(what: $0.what, package: $0.package) }
    }

    /// Whether sound can be made louder than it was recorded without distorting it.
    public static var canBoost: Bool { Health.canBoost }

    /// - Returns: a bin of such a sink, the caller's to unref; nil if it cannot be made.
    static func make(sink: String) -> Element? {
        Library.ready
        // Without this a description with an element that is missing makes a bin without it.
        guard let bin = gst_parse_bin_from_description_full(sink, 1, nil, GST_PARSE_FLAG_FATAL_ERRORS, nil) else {
            return nil
        }
        gst_object_ref_sink(bin)
        return bin
    }

    /// Whether such a sink can be made, and sound led into it; it is not opened, for it may be in use.
    public static func canMake(sink: String) -> Bool {
        guard let bin = make(sink: sink) else { return false }
        defer { gst_object_unref(bin) }
        guard let entrance = gst_element_get_static_pad(bin, "sink") else { return false }
        gst_object_unref(entrance)
        return true
    }
}
