internal import EventLoop
public import Listening

/// What an engine reported, to be waited for. A limit only bounds a hang: nothing is ever slept for.
public final class Reports: Sendable {
    private struct State {
        var all: [EngineReport] = []
        var wentOn = 0
        var read = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var tickets = 0
    }
    private let state = Locked(State())

    public init() {}

    /// But for `.wentOn`, which comes of much and says that nothing has changed.
    public var all: [EngineReport] { state.withLock { $0.all } }
    /// How often that was said.
    public var wentOn: Int { state.withLock { $0.wentOn } }

    @Sendable public func add(_ report: EngineReport) {
        let waiting = state.withLock { state in
            if report.word == .wentOn { state.wentOn += 1 } else { state.all.append(report) }
            defer { state.waiting = [:] }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// The next report of this load that has not been returned yet.
    public func next(_ load: LoadID, within limit: Duration = .seconds(120 * Sanitizer.patience)) async throws
        -> EngineReport.Word
    {
        while true {
            let report = state.withLock { state -> EngineReport? in
                guard state.read < state.all.count else { return nil }
                state.read += 1
                return state.all[state.read - 1]
            }
            if let report {
                if report.load == load { return report.word }
            } else if await !more(within: limit) {
                throw Silence()
            }
        }
    }

    /// The next report that is not about buffering.
    public func nextWord(_ load: LoadID) async throws -> EngineReport.Word {
        while true {
            let word = try await next(load)
            if case .buffering = word { continue }
            return word
        }
    }

    private func more(within limit: Duration) async -> Bool {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        let clock = Task {
            try await Task.sleep(for: limit)
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: false)
        }
        defer { clock.cancel() }
        return await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.read < state.all.count { return true }
                state.waiting[ticket] = continuation
                return false
            }
            if isThere { continuation.resume(returning: true) }
        }
    }

    public struct Silence: Error, CustomStringConvertible {
        public init() {}
        public var description: String { "the engine said nothing more" }
    }
}
