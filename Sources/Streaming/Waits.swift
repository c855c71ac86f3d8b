internal import Listening

/// Callers that wait for something of a file, each resumed once.
@StreamingActor final class Waits<Value: Sendable> {
    struct Wait {
        let number: Int
        let reader: Int
        let range: Range<Int64>
        let continuation: CheckedContinuation<Result<Value, EngineFailure>, Never>
    }

    private(set) var list: [Wait] = []
    private var lastNumber = 0

    /// - Parameter begun: called once the wait is in the list.
    func wait(_ reader: Int, for range: Range<Int64>, begun: (Int) -> Void) async -> Result<Value, EngineFailure> {
        lastNumber += 1
        let number = lastNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: .failure(.ended)) }
                list.append(Wait(number: number, reader: reader, range: range, continuation: continuation))
                begun(number)
            }
        } onCancel: {
            Task { @StreamingActor in self.end(number, .failure(.ended)) }
        }
    }

    func end(_ number: Int, _ result: Result<Value, EngineFailure>) {
        guard let index = list.firstIndex(where: { $0.number == number }) else { return }
        list.remove(at: index).continuation.resume(returning: result)
    }

    func end(reader: Int) {
        for wait in list where wait.reader == reader { end(wait.number, .failure(.ended)) }
    }

    func end(all result: Result<Value, EngineFailure>) {
        for wait in list { end(wait.number, result) }
    }
}

extension EngineFailure {
    /// What a reader is told that was closed, or whose task was cancelled.
    static let ended = EngineFailure.unreachable(reason: "the reading was ended")
}
