internal import CGStreamer
internal import Listening

/// How GStreamer itself fetches over HTTP: transcoded streams, each a playlist and many segments.
enum Network {
    /// Seconds of silence from a server after which a read is given up.
    static let timeout: Int32 = 20

    /// Prepares one souphttpsrc, before it opens anything.
    static func prepare(_ source: Element, for stream: AudioStream) {
        dogear_set_string(source, "user-agent", "dogear")
        dogear_set_int(source, "timeout", timeout)
        dogear_set_int(source, "retries", 3)
        dogear_set_bool(source, "iradio-mode", 0)
        if let caFile = stream.caFile {
            // Without the file nothing is trusted that the system does not trust: the connection fails, as it should.
            var error: UnsafeMutablePointer<GError>?
            if let database = g_tls_file_database_new(caFile, &error) {
                dogear_set_object(source, "tls-database", UnsafeMutableRawPointer(database))
                g_object_unref(UnsafeMutableRawPointer(database))
            }
            g_clear_error(&error)
        }
        guard !stream.headers.isEmpty, let pad = gst_element_get_static_pad(source, "src") else { return }
        let pass = Pass(stream)
        pass.show(on: source)
        // hlsdemux uses a source for one segment after the other; this comes before it asks for the next.
        gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { pad, info, context in
                guard dogear_event_type(dogear_probe_event(info)) == GST_EVENT_STREAM_START,
                    let source = gst_pad_get_parent_element(pad)
                else { return GST_PAD_PROBE_OK }
                Unmanaged<Pass>.fromOpaque(context!).takeUnretainedValue().show(on: source)
                gst_object_unref(source)
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(pass).toOpaque(), { Unmanaged<Pass>.fromOpaque($0!).release() })
        gst_object_unref(pad)
    }

    /// The headers of a stream, for its own server alone: a playlist may name segments on others.
    private final class Pass {
        private let origin: String
        private let headers: [String: String]

        init(_ stream: AudioStream) {
            origin = Network.origin(stream.url)
            headers = stream.headers
        }

        /// Where `source` is about to ask its server, or to ask another.
        func show(on source: Element) {
            let location = dogear_get_string(source, "location")
            defer { g_free(location) }
            let isOwn = location.map { Network.origin(String(cString: $0)) } == origin
            // They would go along to whatever host a redirect names.
            dogear_set_bool(source, "automatic-redirect", isOwn ? 0 : 1)
            let shown = isOwn ? gst_structure_new_empty("extra-headers") : nil
            defer { if shown != nil { gst_structure_free(shown) } }
            if let shown { for (name, value) in headers { dogear_structure_set_string(shown, name, value) } }
            dogear_set_structure(source, "extra-headers", shown)
        }
    }

    /// Scheme, host and port, as written.
    static func origin(_ url: String) -> String {
        // http: / (nothing) / host:port / path…
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
        return parts.joined(separator: "/").prefix { $0 != "?" && $0 != "#" }.lowercased()
    }
}

func asGObject(_ element: Element) -> UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
}
