internal import EventLoop
internal import Listening

/// Those who wait until an account's server has answered, or all have.
@LoopActor final class Drains {
    private struct Drain {
        let account: String?
        let done: CheckedContinuation<Void, Never>
    }
    private var waiting: [Int: Drain] = [:]
    private var count = 0

    /// Returns when ``settle(where:)`` says so, or after `limit`.
    /// - Parameter account: nil: all.
    func wait(for account: String?, limit: BookTime, _ time: any Timekeeper) async {
        count += 1
        let number = count
        let timer = time.timer(after: limit) { self.waiting.removeValue(forKey: number)?.done.resume() }
        await withCheckedContinuation { waiting[number] = Drain(account: account, done: $0) }
        timer.cancel()
    }

    /// - Parameter isOver: told of an account; nil: of all.
    func settle(where isOver: (String?) -> Bool = { _ in true }) {
        let over = waiting.filter { isOver($0.value.account) }
        for number in over.keys { waiting[number] = nil }
        for drain in over.values { drain.done.resume() }
    }
}
