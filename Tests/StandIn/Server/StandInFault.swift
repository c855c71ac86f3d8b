/// How the stand-in is to fail a request.
public enum StandInFault: Sendable {
    /// Answers with this status and text, without acting.
    case status(
        Int, body: String = "", contentType: String? = "text/plain; charset=utf-8", headers: [String: String] = [:])
    /// Acts, then closes half-way through the body.
    case truncated
    /// Closes the connection without acting and without a byte of answer.
    case dropBefore
    /// Acts, then closes the connection without a byte of answer.
    case dropAfter
    /// Acts and sends this many bytes of the body, then closes.
    case cut(afterBytes: Int)
    /// Acts and sends this many bytes of the body, then nothing until the gate opens, then closes.
    case silent(afterBytes: Int, StandInGate)
    /// Waits at the gate before acting; then all goes on as usual.
    case hold(StandInGate)

    /// What an expired token gets: 401 without a content type.
    public static let unauthorized = StandInFault.status(401, body: "Unauthorized", contentType: nil)
    public static let notFound = StandInFault.status(404, body: "Not Found")
    public static let serverError = StandInFault.status(500, body: "Internal Server Error")

    /// 429 with `Retry-After` in seconds.
    public static func tooManyRequests(retryAfter seconds: Int) -> StandInFault {
        .status(
            429, body: #"{"error":"Too many authentication requests"}"#, contentType: "application/json; charset=utf-8",
            headers: ["Retry-After": "\(seconds)"])
    }

    /// A page where JSON was expected, as proxies and captive portals send it.
    public static func html(status: Int = 200) -> StandInFault {
        .status(status, body: "<html><body>Sign in to continue</body></html>", contentType: "text/html; charset=utf-8")
    }
}

/// Holds requests until a test lets them go, and tells the test when they have come.
public final class StandInGate: Sendable {
    private let state = Locked((isOpen: false, arrived: 0))
    private let bell = Doorbell()

    public init() {}

    /// How many requests have reached the gate.
    public var arrived: Int { state.withLock { $0.arrived } }

    /// Lets every request through, now and later.
    public func release() {
        state.withLock { $0.isOpen = true }
        bell.ring()
    }

    /// Suspends until that many requests have reached the gate.
    public func waitForArrivals(_ count: Int = 1) async { await bell.wait { self.arrived >= count } }

    func pass() async {
        state.withLock { $0.arrived += 1 }
        bell.ring()
        await bell.wait { self.state.withLock { $0.isOpen } }
    }
}

/// Wakes tasks that wait for a condition. Nothing here polls: a condition is looked at once per ring.
final class Doorbell: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Void, Never>
    }
    private let state = Locked((next: 0, rings: 0, waiters: [Waiter]()))

    func ring() {
        let waiting = state.withLock { state in
            state.rings += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiting { waiter.continuation.resume() }
    }

    /// Returns when the condition holds, or when the task is cancelled.
    func wait(until condition: () -> Bool) async {
        while !Task.isCancelled {
            let seen = state.withLock { $0.rings }
            if condition() { return }
            await nextRing(after: seen)
        }
    }

    private func nextRing(after seen: Int) async {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isLate = state.withLock { state in
                    // A ring between the look at the condition and now must not be slept through.
                    guard state.rings == seen, !Task.isCancelled else { return true }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return false
                }
                if isLate { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}

/// Faults that wait for their requests.
struct FaultList: Sendable {
    struct Entry: Sendable {
        let id: Int
        let fault: StandInFault
        let method: String?
        let pattern: [Substring]
        var left: Int
    }
    private var entries: [Entry] = []
    private var next = 0

    mutating func add(_ fault: StandInFault, method: String?, path: String, times: Int) -> Int {
        next += 1
        let pattern = path.split(separator: "/")
        entries.append(Entry(id: next, fault: fault, method: method, pattern: pattern, left: times))
        return next
    }

    mutating func remove(_ id: Int?) { entries.removeAll { id == nil || $0.id == id } }

    /// The first fault meant for a request; it counts as used.
    mutating func take(_ call: Call) -> StandInFault? {
        guard let index = entries.firstIndex(where: { $0.left > 0 && $0.matches(call) }) else { return nil }
        entries[index].left -= 1
        let fault = entries[index].fault
        if entries[index].left == 0 { entries.remove(at: index) }
        return fault
    }
}

extension FaultList.Entry {
    fileprivate func matches(_ call: Call) -> Bool {
        guard method == nil || method == call.method else { return false }
        if pattern.last == "**" {
            return call.segments.count >= pattern.count - 1
                && isSame(pattern.dropLast(), call.segments.prefix(pattern.count - 1))
        }
        return call.segments.count == pattern.count && isSame(pattern[...], call.segments[...])
    }

    private func isSame(_ pattern: ArraySlice<Substring>, _ segments: ArraySlice<String>) -> Bool {
        zip(pattern, segments).allSatisfy { $0 == "*" || $0 == $1 }
    }
}
