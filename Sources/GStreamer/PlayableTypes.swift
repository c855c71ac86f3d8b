internal import CGStreamer

/// The MIME types that GStreamer can play as it is installed here.
public enum PlayableTypes {
    /// Media types of the desktop and of the web, with the container and the codecs that GStreamer must know for them:
    /// the container, where there is one, and any one of the codecs.
    private static let table: [(types: [String], container: String?, codecs: [String])] = [
        (["audio/mpeg", "audio/mp3", "audio/x-mp3"], nil, ["audio/mpeg, mpegversion=(int)1, layer=(int)3"]),
        (["audio/mp4", "audio/x-m4a", "audio/x-m4b"], "video/quicktime", ["audio/mpeg, mpegversion=(int)4"]),
        (["audio/aac"], nil, ["audio/mpeg, mpegversion=(int)4"]),
        (["audio/flac", "audio/x-flac"], nil, ["audio/x-flac"]),
        (["audio/ogg"], "application/ogg", ["audio/x-vorbis", "audio/x-opus"]),
        (["audio/x-vorbis+ogg"], "application/ogg", ["audio/x-vorbis"]),
        (["audio/opus", "audio/x-opus+ogg"], "application/ogg", ["audio/x-opus"]),
        (["audio/x-speex+ogg"], "application/ogg", ["audio/x-speex"]),
        (["audio/wav", "audio/x-wav"], "audio/x-wav", []),
        (["audio/x-aiff"], "audio/x-aiff", []),
        (["audio/webm"], "audio/webm", ["audio/x-vorbis", "audio/x-opus"]),
        (["audio/x-matroska"], "audio/x-matroska", ["audio/x-vorbis", "audio/x-opus"]),
        (["audio/x-ms-wma"], "video/x-ms-asf", ["audio/x-wma"]),
        (["audio/x-wavpack"], nil, ["audio/x-wavpack"]),
        (["audio/x-musepack"], nil, ["audio/x-musepack"]),
        (["audio/ac3"], nil, ["audio/x-ac3"]),
        (["audio/AMR"], nil, ["audio/AMR"]),
    ]

    /// What a usual installation plays: for before ``all()`` has answered.
    public static let usual = table.prefix(12).flatMap(\.types)

    /// Looks through the registry, on a thread of its own.
    public static func all() async -> [String] { await Asker().all() }

    private actor Asker {
        nonisolated var unownedExecutor: UnownedSerialExecutor { Library.aside.asUnownedSerialExecutor() }

        func all() -> [String] { PlayableTypes.look() }
    }

    private static func look() -> [String] {
        _ = Library.ready
        let demuxers = gst_element_factory_list_get_elements(dogear_type_demuxer(), GST_RANK_MARGINAL)
        let decoders = gst_element_factory_list_get_elements(dogear_type_decoder(), GST_RANK_MARGINAL)
        defer {
            gst_plugin_feature_list_free(demuxers)
            gst_plugin_feature_list_free(decoders)
        }
        var types: [String] = []
        for row in table {
            if let container = row.container, !knows([container], demuxers) { continue }
            if row.codecs.isEmpty || knows(row.codecs, decoders) { types += row.types }
        }
        return types
    }

    /// Any one of them.
    static func knows(_ media: [String], _ factories: UnsafeMutablePointer<GList>?) -> Bool {
        for text in media {
            guard let caps = gst_caps_from_string(text) else { continue }
            defer { gst_caps_unref(caps) }
            let fitting = gst_element_factory_list_filter(factories, caps, GST_PAD_SINK, 0)
            defer { gst_plugin_feature_list_free(fitting) }
            if fitting != nil { return true }
        }
        return false
    }
}
