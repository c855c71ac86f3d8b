internal import Synchronization

/// What one thread makes and GStreamer then gives to another is in order already, by locks of GLib's own. Saying it once
/// more here lets ThreadSanitizer know, which cannot see into GLib: so every race it still reports is one.
enum HandOver {
    private static let given = Atomic<UInt>(0)

    /// After the last change, before GStreamer is given it.
    static func give() { given.wrappingAdd(1, ordering: .releasing) }

    /// Before the first look at what came out of GStreamer.
    static func take() { _ = given.load(ordering: .acquiring) }
}
