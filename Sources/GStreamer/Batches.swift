internal import CGStreamer
internal import EventLoop
internal import Glibc

/// Between a demuxer and its decoder lies a queue of five frames: each one that the decoder takes wakes the demuxer for the
/// next, 43 times a second for AAC, which was a seventh of what playing cost. With a longer queue, and a demuxer that waits a
/// moment once there is room again, it hands on at one go all that the decoder has taken meanwhile.
struct Batches {
    /// More than a decoder takes at one go, which is half a second.
    static let frames: Int32 = 64
    /// Microseconds: longer than a decoder needs for what it takes at one go, and short, for a seek has to wait for it.
    static let pause: UInt32 = 10_000

    /// When the frame before came; microseconds, monotonic.
    private var last: Int64?

    /// - Parameters:
    ///   - now: when a frame comes; microseconds, monotonic.
    ///   - level: frames in the queue it comes to. Asked for where it matters only, for each frame passes here.
    /// - Returns: whether it is the first behind a full queue, and has time.
    mutating func comes(at now: Int64, level: @autoclosure () -> Int32) -> Bool {
        defer { last = now }
        guard let last else { return false }
        return now - last > Int64(Self.pause) && level() > Self.frames / 2
    }

    mutating func waited(until now: Int64) { last = now }

    /// - Parameter bin: a `decodebin`, before it has made its queue.
    static func lengthen(_ bin: Element) { dogear_set_int(bin, "max-size-buffers", frames) }

    /// - Parameter queue: a `multiqueue`, before a demuxer is linked to it.
    static func gather(in queue: Element) {
        typealias Added = @convention(c) (Element?, UnsafeMutablePointer<GstPad>?, UnsafeMutableRawPointer?) -> Void
        let added: Added = { _, pad, _ in
            guard let pad, gst_pad_get_direction(pad) == GST_PAD_SINK else { return }
            let batches = UnsafeMutablePointer<Batches>.allocate(capacity: 1)
            batches.initialize(to: Batches())
            gst_pad_add_probe(
                pad, GST_PAD_PROBE_TYPE_BUFFER,
                { pad, _, batches in
                    Batches.gather(at: pad!, &batches!.assumingMemoryBound(to: Batches.self).pointee)
                    return GST_PAD_PROBE_OK
                }, batches, { $0?.deallocate() })
        }
        dogear_connect(queue, "pad-added", unsafeBitCast(added, to: GCallback.self), nil)
    }

    /// On the demuxer's thread.
    private static func gather(at pad: UnsafeMutablePointer<GstPad>, _ batches: inout Batches) {
        guard batches.comes(at: Clock.monotonic, level: dogear_get_int(pad, "current-level-buffers")) else { return }
        usleep(pause)
        batches.waited(until: Clock.monotonic)
    }
}
