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

/// Wants what it is told to, and says when that has come.
@LoopActor private final class ChangingSource: LoopSource {
    var interest: LoopInterest?
    let feed: AsyncStream<Int16>.Continuation

    init(_ interest: LoopInterest?, _ feed: AsyncStream<Int16>.Continuation) {
        self.interest = interest
        self.feed = feed
    }

    func process() -> Bool {
        guard let now = interest else { return false }
        var set = pollfd(fd: now.descriptor, events: now.events, revents: 0)
        guard poll(&set, 1, 0) == 1 else { return false }
        interest = nil
        feed.yield(set.revents)
        return false
    }
}

@Suite(.serialized) struct LoopTests {
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

    /// The kernel forgets what is closed, and the next that is opened has its number.
    @Test @LoopActor func aNumberThatIsUsedAgainIsHeard() async {
        let (bytes, feed) = AsyncStream<UInt8>.makeStream()
        let (came, says) = AsyncStream<Int16>.makeStream()
        var iterator = bytes.makeAsyncIterator()
        var byte: UInt8 = 7
        let first = PipeSource(feed)
        LoopActor.add(first)
        #expect(write(first.ends[1], &byte, 1) == 1)
        #expect(await iterator.next(isolation: LoopActor.shared) == 7)
        LoopActor.remove(first)
        for end in first.ends { close(end) }
        // One that is closed by a library, as a bus is that is lost, is only known by its interest.
        let second = PipeSource(feed)
        let silent = ChangingSource(LoopInterest(descriptor: second.ends[0], events: Int16(POLLIN)), says)
        LoopActor.add(silent)
        #expect(write(second.ends[1], &byte, 1) == 1)
        var signs = came.makeAsyncIterator()
        #expect(await signs.next(isolation: LoopActor.shared) == Int16(POLLIN))
        for end in second.ends { close(end) }
        let third = PipeSource(feed)
        LoopActor.add(third)
        byte = 8
        #expect(write(third.ends[1], &byte, 1) == 1)
        #expect(await iterator.next(isolation: LoopActor.shared) == 8)
        for source in [silent, third] as [any LoopSource] { LoopActor.remove(source) }
        for end in third.ends { close(end) }
    }

    @Test @LoopActor func whatIsWantedOfADescriptorMayChange() async {
        let (came, says) = AsyncStream<Int16>.makeStream()
        var signs = came.makeAsyncIterator()
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let source = ChangingSource(LoopInterest(descriptor: ends[0], events: Int16(POLLIN)), says)
        LoopActor.add(source)
        var byte: UInt8 = 7
        #expect(write(ends[1], &byte, 1) == 1)
        for wanted in [POLLIN, POLLOUT, POLLIN, POLLIN | POLLOUT].map(Int16.init) {
            source.interest = LoopInterest(descriptor: ends[0], events: wanted)
            #expect(await signs.next(isolation: LoopActor.shared) == wanted)
        }
        LoopActor.remove(source)
        for end in ends { close(end) }
    }

    /// Standard input may be one.
    @Test @LoopActor func aFileIsReadyAtAnyTime() async throws {
        let (came, says) = AsyncStream<Int16>.makeStream()
        var signs = came.makeAsyncIterator()
        let descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        let source = ChangingSource(nil, says)
        LoopActor.add(source)
        for _ in 0..<3 {
            source.interest = LoopInterest(descriptor: descriptor, events: Int16(POLLIN))
            #expect(await signs.next(isolation: LoopActor.shared) == Int16(POLLIN))
        }
        LoopActor.remove(source)
        close(descriptor)
    }

    @Test func jobsFromManyThreadsAllRun() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 { group.addTask { @LoopActor in count.withLock { $0 += 1 } } }
        }
        #expect(count.withLock { $0 } == 1000)
    }
}
