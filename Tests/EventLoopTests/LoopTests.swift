import Glibc
import Listening
import Testing

@testable import EventLoop

/// A pipe whose other end the test writes to.
@LoopActor private final class PipeSource: LoopSource {
    let ends: [Int32]
    var heard: [UInt8] = []
    let feed: AsyncStream<UInt8>.Continuation

    init(_ feed: AsyncStream<UInt8>.Continuation) {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        self.ends = ends
        self.feed = feed
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    }

    var interest: LoopInterest? { LoopInterest(descriptor: ends[0], events: Int16(POLLIN)) }

    func process() -> Bool {
        var byte: UInt8 = 0
        guard read(ends[0], &byte, 1) == 1 else { return false }
        feed.yield(byte)
        return true
    }
}

/// Always has more to do.
@LoopActor private final class BusySource: LoopSource {
    let ends = PipeSource(AsyncStream<UInt8>.makeStream().continuation).ends
    let turns: AsyncStream<Int>.Continuation
    private var calls = 0

    init(_ turns: AsyncStream<Int>.Continuation) { self.turns = turns }

    /// Asked for once in each turn. Due at once, as a bus is that has read ahead.
    var interest: LoopInterest? {
        turns.yield(calls)
        calls = 0
        return LoopInterest(descriptor: ends[0], events: Int16(POLLIN), deadline: 0)
    }

    func process() -> Bool {
        calls += 1
        return true
    }
}

@Suite struct LoopTests {
    @Test @LoopActor func whoAlwaysHasMoreKeepsNoTimerFromFiring() async {
        let (turns, feed) = AsyncStream<Int>.makeStream()
        let source = BusySource(feed)
        LoopActor.add(source)
        await withCheckedContinuation { done in
            _ = LoopActor.timer(after: .seconds(0.01)) { done.resume() }
        }
        var most = 0
        var count = 0
        for await calls in turns {
            most = max(most, calls)
            count += 1
            if count > 20 { break }
        }
        LoopActor.remove(source)
        #expect(most <= 4000, "the turns grow")
    }

    @Test @LoopActor func timersFireInTheOrderOfTheirTime() async {
        let (fired, feed) = AsyncStream<Int>.makeStream()
        _ = LoopActor.timer(after: .seconds(0.03)) { feed.yield(3) }
        let cancelled = LoopActor.timer(after: .seconds(0.02)) { feed.yield(2) }
        _ = LoopActor.timer(after: .seconds(0.01)) { feed.yield(1) }
        _ = LoopActor.timer(after: .zero) { feed.yield(0) }
        cancelled.cancel()
        var order: [Int] = []
        for await number in fired {
            order.append(number)
            if order.count == 3 { break }
        }
        #expect(order == [0, 1, 3])
    }

    @Test func whatRunsOnTheLoopIsOnItsThread() async {
        let thread = await Task { @LoopActor in pthread_self() }.value
        let again: pthread_t = await withCheckedContinuation { done in
            LoopActor.onLoop { done.resume(returning: pthread_self()) }
        }
        #expect(thread == again)
        #expect(await Task { @LoopActor in LoopActor.executor.isOnThread }.value)
    }

    @Test @LoopActor func jobsThatAlwaysBringOthersKeepNothingElseFromHappening() async {
        var isDue = false
        let timer = LoopActor.timer(after: .seconds(0.01)) { isDue = true }
        func goOn() { if !isDue { Task { @LoopActor in goOn() } } }
        goOn()
        while !isDue { await Task.yield() }
        #expect(!timer.isPending)
    }

    @Test @LoopActor func aDescriptorIsHeardUntilItIsRemoved() async {
        let (bytes, feed) = AsyncStream<UInt8>.makeStream()
        let source = PipeSource(feed)
        LoopActor.add(source)
        var sent: [UInt8] = [1, 2, 3]
        #expect(write(source.ends[1], &sent, 3) == 3)
        var iterator = bytes.makeAsyncIterator()
        for expected in sent { #expect(await iterator.next(isolation: LoopActor.shared) == expected) }
        LoopActor.remove(source)
        #expect(write(source.ends[1], &sent, 1) == 1)
        // A turn of the Loop later it is still unread.
        await withCheckedContinuation { done in _ = LoopActor.timer(after: .zero) { done.resume() } }
        var byte: UInt8 = 0
        #expect(read(source.ends[0], &byte, 1) == 1)
        #expect(byte == 1)
    }

    @Test func jobsFromManyThreadsAllRun() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 { group.addTask { @LoopActor in count.withLock { $0 += 1 } } }
        }
        #expect(count.withLock { $0 } == 1000)
    }
}
