import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(10))) struct ThreadTests {
    private let naps = Sleep()
    private let thread: ThreadExecutor

    init() { thread = ThreadExecutor(name: "test", wait: naps) }

    @Test func timersRunOnTheThreadInTheOrderOfTheirTime() async {
        let (fired, feed) = AsyncStream<Int>.makeStream()
        let (naps, thread) = (self.naps, self.thread)
        thread.run {
            _ = naps.timer(after: .milliseconds(30)) { feed.yield(thread.isOnThread ? 3 : -3) }
            let cancelled = naps.timer(after: .milliseconds(20)) { feed.yield(2) }
            _ = naps.timer(after: .milliseconds(10)) {
                feed.yield(1)
                // What a timer brings in is not left lying.
                thread.run { feed.yield(10) }
            }
            _ = naps.timer(after: .zero) { feed.yield(0) }
            cancelled.cancel()
        }
        #expect(await fired.prefix(4).reduce(into: []) { $0.append($1) } == [0, 1, 10, 3])
        thread.end()
    }

    /// Each at its own time, whoever came first.
    @Test func aSoonerOneComesFirst() async {
        let (fired, feed) = AsyncStream<Int>.makeStream()
        let (naps, thread) = (self.naps, self.thread)
        thread.run { _ = naps.timer(after: .seconds(3600)) { feed.yield(2) } }
        thread.run { _ = naps.timer(after: .milliseconds(1)) { feed.yield(1) } }
        #expect(await fired.first { _ in true } == 1)
        thread.end()
    }

    @Test func itEndsWhenAllIsDone() async throws {
        let (done, feed) = AsyncStream<Int>.makeStream()
        var executor: ThreadExecutor? = ThreadExecutor(name: "ends", wait: Sleep())
        weak let last = executor
        for number in 0..<100 { executor?.run { feed.yield(number) } }
        executor?.end()
        executor = nil
        #expect(await done.prefix(100).reduce(0) { $0 + $1 } == 4950)
        // Its thread has it until it ends.
        while last != nil { await Task.yield() }
    }

    @Test func anAnswerThatComesTooLateIsNotWaitedFor() async {
        #expect(onOwnThread(waiting: 60, instead: { nil }, for: { 7 }) == 7)
        // Also one that is no answer.
        #expect(onOwnThread(waiting: 60, instead: { nil }, for: { nil as Int? }) == .some(nil))
        let gate = Monitor(false)
        let (ended, feed) = AsyncStream<Int>.makeStream()
        let work: @Sendable () -> Int = {
            gate.wait { $0 ? () : nil }
            feed.yield(1)
            return 1
        }
        let late = onOwnThread(waiting: 1, 1, instead: { nil }, for: work)
        #expect(late == nil)
        gate.change { $0 = true }
        #expect(await ended.first { _ in true } == 1, "it goes on all the same")
    }
}
