internal import EventLoop

/// Who asks the sink what only the sound server knows, on threads of their own: one that does not answer holds them up.
///
/// pulsesink (1.22) has one connection for all of its kind and lets go of it with the last that is closed, whoever is still
/// asking; and who asks then brings the program down.
final class Askers: Sendable {
    private let count = Monitor(0)
    /// Seconds.
    private static let limit = 1

    /// - Returns: nil if there is no answer in time.
    func ask<Answer: Sendable>(_ sink: ElementReference, _ question: @escaping @Sendable () -> Answer) -> Answer? {
        count.change { $0 += 1 }
        sink.retain()
        @Sendable func leave() {
            sink.release()
            count.change { $0 -= 1 }
        }
        return onOwnThread(
            waiting: Self.limit,
            instead: {
                leave()
                return nil
            },
            for: {
                defer { leave() }
                return question()
            })
    }

    /// Until none is left: to be called before the sink is closed.
    func wait() { count.wait { $0 == 0 ? () : nil } }
}
