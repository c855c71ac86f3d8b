internal import CGStreamer
internal import Listening

/// How GStreamer itself fetches over HTTP: transcoded streams, each a playlist and many segments.
enum Network {
    /// Seconds of silence from a server after which a read is given up.
    static let timeout: Int32 = 20

    /// Prepares one souphttpsrc, before it opens anything.
    static func prepare(_ source: Element, for stream: AudioStream) {
        dogear_set_string(source, "user-agent", "dogear/0.1")
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
        guard !stream.headers.isEmpty, isSameOrigin(source, stream),
            let headers = gst_structure_new_empty("extra-headers")
        else { return }
        // They would go along to whatever host a redirect names.
        dogear_set_bool(source, "automatic-redirect", 0)
        for (name, value) in stream.headers { dogear_structure_set_string(headers, name, value) }
        dogear_set_structure(source, "extra-headers", headers)
        gst_structure_free(headers)
    }

    /// A playlist may name segments on other servers: those get no header of ours.
    private static func isSameOrigin(_ source: Element, _ stream: AudioStream) -> Bool {
        guard let location = dogear_get_string(source, "location") else { return false }
        defer { g_free(location) }
        return origin(String(cString: location)) == origin(stream.url)
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
