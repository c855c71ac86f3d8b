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

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
