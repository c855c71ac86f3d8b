internal import CGStreamer
internal import EventLoop
internal import Synchronization

/// What has come to the sink's door: behind it lies what the sink has ahead of what is heard.
///
/// Told on the sink's streaming thread, asked from any.
final class Door: Sendable {
    private let segment = Locked<GstSegment?>(nil)
    private let time = Atomic<UInt64>(0)

    /// The running time up to which sound has come; nanoseconds.
    var reached: UInt64 { time.load(ordering: .relaxed) }

    func saw(_ segment: GstSegment) { self.segment.withLock { $0 = segment } }

    func flushed() {
        segment.withLock { $0 = nil }
        time.store(0, ordering: .relaxed)
    }

    func saw(_ buffer: UnsafeMutablePointer<GstBuffer>) {
        let (start, duration) = (UInt64(buffer.pointee.pts), UInt64(buffer.pointee.duration))
        guard start < .max / 4, duration < SegmentMap.longest else { return }
        let running = segment.withLock { segment -> UInt64? in
            guard var segment else { return nil }
            return UInt64(gst_segment_to_running_time(&segment, GST_FORMAT_TIME, guint64(start + duration)))
        }
        if let running, running < .max / 2 { time.store(running, ordering: .relaxed) }
    }
}
