internal import CGStreamer

/// The element that pipelines read a ``Feed`` through: `dogear-feed://7` opens the feed with that number, and
/// `dogear-feed://7/hls/x/output-0.ts` what its playlist names so. It stands before GStreamer's own sources for http:
/// a playlist may name what is elsewhere.
///
/// A source of our own and not appsrc, whose queue keeps what came too late: after a seek appsrc of 1.22 may hand out
/// bytes that were meant for the place before. Here each read waits for its own answer.
enum ByteSource {
    /// Makes the element known. Once, after GStreamer is initialised.
    static func register() {
        let type = g_type_register_static_simple(
            gst_base_src_get_type(), "DogearSource", guint(MemoryLayout<GstBaseSrcClass>.size),
            { klass, _ in ByteSource.fillIn(klass!) }, guint(MemoryLayout<DogearSource>.size),
            { instance, _ in
                let source = instance!.withMemoryRebound(to: GstBaseSrc.self, capacity: 1) { $0 }
                gst_base_src_set_format(source, GST_FORMAT_BYTES)
                gst_base_src_set_blocksize(source, 1 << 14)
            }, GTypeFlags(rawValue: 0))
        var handler = GInterfaceInfo()
        handler.interface_init = { interface, _ in
            let interface = interface!.assumingMemoryBound(to: GstURIHandlerInterface.self)
            interface.pointee.get_type = { _ in GST_URI_SRC }
            interface.pointee.get_protocols = { _ in ByteSource.protocols }
            interface.pointee.get_uri = { handler in
                ByteSource.feed(UnsafeMutableRawPointer(handler)).map { g_strdup($0.uri) } ?? nil
            }
            interface.pointee.set_uri = { handler, uri, error in
                if ByteSource.open(String(cString: uri!), in: UnsafeMutableRawPointer(handler!)) { return 1 }
                // GStreamer frees one without looking.
                g_set_error_literal(
                    error, gst_uri_error_quark(), gint(GST_URI_ERROR_BAD_REFERENCE.rawValue), "it is closed")
                return 0
            }
        }
        g_type_add_interface_static(type, gst_uri_handler_get_type(), &handler)
        gst_element_register(nil, "dogearsrc", guint(GST_RANK_PRIMARY.rawValue) + 1, type)
    }

    // Set once, while the class is made.
    nonisolated(unsafe) private static var finalizeParent: (@convention(c) (UnsafeMutablePointer<GObject>?) -> Void)?

    /// NULL-terminated, kept for ever.
    nonisolated(unsafe) private static let protocols: UnsafePointer<UnsafePointer<gchar>?> = {
        let schemes = [Feed.scheme, "http", "https"]
        let list = UnsafeMutablePointer<UnsafePointer<gchar>?>.allocate(capacity: schemes.count + 1)
        for (index, scheme) in schemes.enumerated() { list[index] = UnsafePointer(g_strdup(scheme)) }
        list[schemes.count] = nil
        return UnsafePointer(list)
    }()

    private static func fillIn(_ klass: UnsafeMutableRawPointer) {
        let element = klass.assumingMemoryBound(to: GstElementClass.self)
        gst_element_class_set_metadata(
            element, "dogear's bytes", "Source/File", "Reads audio that dogear fetches", "dogear")
        gst_element_class_add_pad_template(
            element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, gst_caps_new_any()))

        let object = klass.assumingMemoryBound(to: GObjectClass.self)
        finalizeParent = object.pointee.finalize
        object.pointee.finalize = { object in
            ByteSource.keep(nil, in: UnsafeMutableRawPointer(object!))
            ByteSource.finalizeParent?(object)
        }

        let source = klass.assumingMemoryBound(to: GstBaseSrcClass.self)
        source.pointee.start = { source in ByteSource.feed(source) == nil ? 0 : 1 }
        source.pointee.is_seekable = { _ in 1 }
        source.pointee.get_size = { source, size in
            guard let length = ByteSource.feed(source)?.size else { return 0 }
            size!.pointee = guint64(length)
            return 1
        }
        source.pointee.unlock = { source in
            ByteSource.feed(source)?.set(flushing: true)
            return 1
        }
        source.pointee.unlock_stop = { source in
            ByteSource.feed(source)?.set(flushing: false)
            return 1
        }
        source.pointee.fill = { source, offset, count, buffer in
            let outcome = ByteSource.fill(buffer!, from: ByteSource.feed(source), offset: offset, count: count)
            if outcome == GST_FLOW_ERROR { ByteSource.complain(UnsafeMutableRawPointer(source!)) }
            return outcome
        }
    }

    private static func fill(
        _ buffer: UnsafeMutablePointer<GstBuffer>, from feed: Feed?, offset: guint64, count: guint
    ) -> GstFlowReturn {
        var map = GstMapInfo()
        guard let feed, gst_buffer_map(buffer, &map, GST_MAP_WRITE) != 0 else { return GST_FLOW_ERROR }
        let target = UnsafeMutableRawBufferPointer(start: map.data, count: min(Int(map.size), Int(count)))
        let outcome = feed.fill(target, from: Int64(clamping: offset))
        gst_buffer_unmap(buffer, &map)
        switch outcome {
        case .bytes(let count):
            if count < Int(map.size) { gst_buffer_resize(buffer, 0, gssize(count)) }
            return GST_FLOW_OK
        // Also where the reader failed: what came before is played out, then the failure is told.
        case .end: return GST_FLOW_EOS
        case .failed: return GST_FLOW_ERROR
        case .interrupted: return GST_FLOW_FLUSHING
        }
    }

    /// Whoever reads a flow of errors waits for the reason.
    private static func complain(_ source: UnsafeMutableRawPointer) {
        gst_element_message_full(
            source.assumingMemoryBound(to: GstElement.self), GST_MESSAGE_ERROR, dogear_resource_error(),
            gint(GST_RESOURCE_ERROR_READ.rawValue), g_strdup("what is to be played cannot be had"), nil, #file,
            #function, #line)
    }

    private static func open(_ uri: String, in source: UnsafeMutableRawPointer) -> Bool {
        guard let feed = Feed.find(uri) else { return false }
        keep(feed, in: source)
        return true
    }

    private static func feed(_ source: UnsafeMutableRawPointer?) -> Feed? {
        HandOver.take()
        guard let feed = source?.assumingMemoryBound(to: DogearSource.self).pointee.feed else { return nil }
        return Unmanaged<Feed>.fromOpaque(feed).takeUnretainedValue()
    }

    private static func keep(_ feed: Feed?, in source: UnsafeMutableRawPointer) {
        HandOver.take()
        let source = source.assumingMemoryBound(to: DogearSource.self)
        if let old = source.pointee.feed { Unmanaged<Feed>.fromOpaque(old).release() }
        source.pointee.feed = feed.map { Unmanaged.passRetained($0).toOpaque() }
        HandOver.give()
    }
}
