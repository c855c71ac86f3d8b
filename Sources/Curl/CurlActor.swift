internal import CCurl
internal import EventLoop

/// The Curl thread: owns the multi handle and every transfer, sleeps in `curl_multi_poll`.
@globalActor actor CurlActor {
    static let shared = CurlActor()
    static let multi = Multi()
    private static let executor = ThreadExecutor(name: "curl", wait: MultiWait(multi: multi))

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// For C callbacks that libcurl makes on this thread, outside any Swift job.
    static func assumeIsolated<Result: Sendable>(_ body: @CurlActor () throws -> Result) rethrows -> Result {
        shared.preconditionIsolated()
        return try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: (() throws -> Result).self)() }
    }
}

/// Runs the transfers that are due, then sleeps until a socket, a time limit or another thread wants something. With
/// nothing under way libcurl has no time limits either, and the thread sleeps its hour.
private final class MultiWait: ThreadWait {
    private let multi: Multi

    init(multi: Multi) { self.multi = multi }

    func begin() {}
    func wake() { curl_multi_wakeup(multi.handle) }

    func wait(drain: @Sendable () -> Void) {
        CurlActor.assumeIsolated { [multi] in multi.perform() }
        drain()
        curl_multi_poll(multi.handle, nil, 0, 3_600_000, nil)
    }
}

/// Sole owner of the multi handle and of the transfers in it. Lives as long as the process.
final class Multi: Sendable {
    /// Only `curl_multi_wakeup`, which libcurl allows from any thread, is called off the Curl thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer
    /// TLS sessions of earlier connections, so that a new one to the same server need not begin from nothing. Without
    /// locks: only the Curl thread has handles.
    nonisolated(unsafe) let share: UnsafeMutableRawPointer?
    @CurlActor private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    @CurlActor private var handles: [UInt64: UnsafeMutableRawPointer] = [:]
    @CurlActor private var lastNumber: UInt64 = 0
    /// Streams that wait until another of their host ends, oldest first.
    @CurlActor private var queue: [Transfer] = []

    /// Connections to one host: for requests, which are soon over, and for streams, which are not.
    private static let forRequests = 8
    private static let forStreams = 8
    /// Connections above this number, of all hosts, are closed as soon as nobody uses them. libcurl closes idle ones for
    /// no other reason, and a server should not hold sixteen for one listener.
    private static let kept = 6

    init() {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let handle = curl_multi_init() else { preconditionFailure("no memory for libcurl") }
        self.handle = handle
        share = curl_share_init()
        if let share { dogear_share_sessions(share) }
        dogear_multi_setopt_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, Self.forRequests + Self.forStreams)
        dogear_multi_setopt_long(handle, CURLMOPT_MAXCONNECTS, Self.kept)
    }

    @CurlActor func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    @CurlActor func add(_ transfer: Transfer, number: UInt64) {
        transfer.number = number
        if transfer.isStream && streams(to: transfer.authority) >= Self.forStreams {
            queue.append(transfer)
        } else {
            start(transfer)
        }
    }

    @CurlActor private func start(_ transfer: Transfer) {
        let easy = transfer.easy.handle
        do throws(CurlError) {
            try transfer.listen()
            try transfer.easy.set(CURLOPT_SHARE, share)
        } catch {
            return transfer.receiver.end(.unreachable(host: transfer.host, reason: error.text))
        }
        let code = curl_multi_add_handle(handle, easy)
        guard code == CURLM_OK else {
            let reason = String(cString: curl_multi_strerror(code))
            return transfer.receiver.end(.unreachable(host: transfer.host, reason: reason))
        }
        transfers[easy] = transfer
        handles[transfer.number] = easy
    }

    @CurlActor func cancel(_ number: UInt64) {
        if let easy = handles[number] {
            remove(easy)?.receiver.end(.cancelled)
        } else if let index = queue.firstIndex(where: { $0.number == number }) {
            queue.remove(at: index).receiver.end(.cancelled)
        }
    }

    /// Goes on with a stream that its receiver made wait.
    @CurlActor func resume(_ number: UInt64) {
        guard let easy = handles[number] else { return }
        transfers[easy]?.resume()
    }

    @CurlActor private func streams(to authority: String) -> Int {
        transfers.values.count { $0.isStream && $0.authority == authority }
    }

    @CurlActor func perform() {
        var running: Int32 = 0
        curl_multi_perform(handle, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            remove(easy)?.complete(code)
        }
    }

    @discardableResult
    @CurlActor private func remove(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        curl_multi_remove_handle(handle, easy)
        guard let transfer = transfers.removeValue(forKey: easy) else { return nil }
        handles[transfer.number] = nil
        // One that cannot be started leaves its place to the next.
        while transfer.isStream, streams(to: transfer.authority) < Self.forStreams,
            let next = queue.firstIndex(where: { $0.authority == transfer.authority })
        { start(queue.remove(at: next)) }
        return transfer
    }
}
