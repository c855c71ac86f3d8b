internal import Glibc

/// Runs `body` once, on a thread that is there for nothing else: what blocks there holds up nobody.
/// - Returns: false if there is no thread to be had.
public func onOwnThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let code = pthread_create(
        &thread, nil,
        { context in
            Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        }, work.toOpaque())
    guard code == 0 else {
        work.release()
        return false
    }
    pthread_detach(thread)
    return true
}

/// The same for one who needs the answer, but not at any price.
/// - Parameters:
///   - limits: seconds, one after the other: a process or a computer that stood still finds all of one over.
///   - instead: the answer where there is no thread to be had.
/// - Returns: nil if it is not done by then; it goes on all the same.
public func onOwnThread<Answer: Sendable>(
    waiting limits: Int..., instead: () -> Answer?, for body: @escaping @Sendable () -> Answer
) -> Answer? {
    let answer = Monitor<Answer?>(nil)
    let work: @Sendable () -> Void = {
        let result = body()
        answer.change { $0 = result }
    }
    guard onOwnThread(work) else { return instead() }
    for limit in limits {
        if let result = answer.wait(upTo: limit, for: { $0 }) { return result }
    }
    return nil
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
