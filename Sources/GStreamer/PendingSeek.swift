internal import CGStreamer
internal import EventLoop

/// A seek that is pushed on a thread of its own, because a demuxer may wait for a server in the middle of it: the
/// gstreamer thread must hear the next command meanwhile.
final class PendingSeek: @unchecked Sendable {  // the monitor hands the event out once; pads are GStreamer's to lock
    private enum State { case prepared, running, over }

    private let pad: UnsafeMutablePointer<GstPad>
    private let event: UnsafeMutablePointer<GstEvent>
    private let state = Monitor(State.prepared)

    /// - Parameters: both are owned from here on.
    init(pad: UnsafeMutablePointer<GstPad>, event: UnsafeMutablePointer<GstEvent>) {
        self.pad = pad
        self.event = event
    }

    deinit {
        if state.withLock({ $0 == .prepared }) { gst_event_unref(event) }
        gst_object_unref(pad)
    }

    /// - Returns: false if it was refused; true also when it was cancelled before.
    func push() -> Bool {
        let isWanted = state.withLock { state in
            guard state == .prepared else { return false }
            state = .running
            return true
        }
        guard isWanted else { return true }
        defer { state.change { $0 = .over } }
        return gst_pad_push_event(pad, event) != 0
    }

    /// Does not let it begin; one that has begun is waited for. The feed it reads from is closed by then.
    func cancel() {
        let isOver = state.withLock { state in
            if state == .prepared {
                gst_event_unref(event)
                state = .over
            }
            return state == .over
        }
        guard !isOver else { return }
        state.wait { $0 == .over ? () : nil }
    }
}

/// The thread that seeks are pushed on.
actor Seeker {
    static let shared = Seeker()
    private static let thread = ThreadExecutor(name: "seeker", wait: Sleep())
    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.thread.asUnownedSerialExecutor() }

    func push(_ seek: PendingSeek) -> Bool { seek.push() }
}
