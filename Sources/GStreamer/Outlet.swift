internal import CGStreamer
internal import EventLoop

/// Where the sound leaves a pipeline, which knows how much of it has been heard. From any thread.
///
/// The sink that keeps to the clock is asked, not the whole pipeline: of several sinks the one that is furthest would
/// answer, which may be one that only writes, and is in another file already or still. It takes half the time, too.
final class Outlet: Sendable {
    /// Kept alive by whoever asks.
    let pipeline: ElementReference
    /// Held.
    private let sink = Locked<ElementReference?>(nil)

    init(pipeline: ElementReference) { self.pipeline = pipeline }

    deinit { sink.withLock { $0 }?.release() }

    /// A sink has come into the pipeline.
    func added(_ element: Element) {
        guard dogear_has_property(element, "sync") != 0, dogear_get_bool(element, "sync") != 0 else { return }
        sink.withLock { sink in
            guard sink == nil else { return }
            sink = ElementReference(borrowing: element)
            sink?.retain()
        }
    }

    func removed(_ element: Element) {
        let old = sink.withLock { sink -> ElementReference? in
            guard let old = sink, old.element == element else { return nil }
            sink = nil
            return old
        }
        old?.release()
    }

    /// Nanoseconds of the file being heard, or nil while nothing can say.
    var filePosition: Int64? {
        let sink = self.sink.withLock { sink in
            sink?.retain()
            return sink
        }
        defer { sink?.release() }
        var position: gint64 = -1
        let element = (sink ?? pipeline).element
        guard gst_element_query_position(element, GST_FORMAT_TIME, &position) != 0, position >= 0 else { return nil }
        return Int64(position)
    }

    /// Nanoseconds of sound since the last flush, or nil while nothing can say.
    var runningTime: UInt64? {
        let element = pipeline.element
        // What stands has got that far; by the clock it would go on.
        let time =
            dogear_is_playing(element) != 0
            ? gst_element_get_current_running_time(element) : gst_element_get_start_time(element)
        return time < .max / 2 ? UInt64(time) : nil
    }
}
