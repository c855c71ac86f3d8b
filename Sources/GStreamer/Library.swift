internal import CGStreamer
internal import EventLoop
internal import Glibc

/// GStreamer itself, initialised once by whoever touches this first: on this room's own threads, never on the Loop,
/// because a first start scans every plugin.
enum Library {
    static let ready: Void = {
        gst_init(nil, nil)
        doWithoutAddresses()
        ByteSource.register()
        prefer("faad", to: "avdec_aac")
    }()

    /// For what takes milliseconds and must not hold up what plays.
    static let aside = ThreadExecutor(name: "aside", wait: Sleep())

    /// For AAC faad loads one small library where libav brings 140 along: what plays it needs a third of the memory, and a
    /// book begins 60 ms sooner. libav stays for what faad refuses, and for what it fails over.
    private static func prefer(_ element: String, to other: String) {
        // Whoever has said which one to take means it.
        guard getenv("GST_PLUGIN_FEATURE_RANK").map({ String(cString: $0).contains(element) }) != true,
            let preferred = gst_element_factory_find(element)
        else { return }
        defer { gst_object_unref(UnsafeMutableRawPointer(preferred)) }
        guard let avoided = gst_element_factory_find(other) else { return }
        defer { gst_object_unref(UnsafeMutableRawPointer(avoided)) }
        dogear_rank_above(UnsafeMutableRawPointer(preferred), UnsafeMutableRawPointer(avoided))
    }

    /// faad stops at a hole in a file that libav passes over: from now on this program does without it.
    /// - Returns: false if there is no other decoder, or that has been said before.
    static func doWithoutFaad() -> Bool {
        Health.isThere("avdec_aac") && doWithout("faad")
    }

    /// This program does not see it any more.
    /// - Returns: whether it was there.
    private static func doWithout(_ element: String) -> Bool {
        guard let factory = gst_element_factory_find(element) else { return false }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        dogear_remove_feature(UnsafeMutableRawPointer(factory))
        return true
    }

    /// GStreamer opens files, and what ``ByteSource`` gives it: no file that is really a list of addresses makes it ask a
    /// server behind our back.
    private static func doWithoutAddresses() {
        let elements = gst_registry_get_feature_list(gst_registry_get(), gst_element_factory_get_type())
        defer { gst_plugin_feature_list_free(elements) }
        var next = elements
        while let node = next {
            if dogear_is_remote(node.pointee.data) != 0 { dogear_remove_feature(node.pointee.data) }
            next = node.pointee.next
        }
    }
}

typealias Element = UnsafeMutablePointer<GstElement>

func asGObject(_ element: Element) -> UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
}

/// A property that is text; nil where it has none.
func text(_ name: String, of object: UnsafeMutableRawPointer) -> String? {
    guard let text = dogear_get_string(object, name) else { return nil }
    defer { g_free(text) }
    return String(cString: text)
}

/// Keeps an element alive; GStreamer counts references atomically and lets any thread query and change properties.
struct ElementReference: @unchecked Sendable {  // what we call on it is thread-safe in GStreamer
    let element: Element

    init(borrowing element: Element) { self.element = element }
    func retain() { gst_object_ref(element) }
    func release() { gst_object_unref(element) }
}
