import Glibc
import Testing

@testable import EventLoop

@Suite struct PoolTests {
    /// What a task prefers runs all of it that belongs to no actor, and its naps.
    private func onPool<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await Task(executorPreference: pool) { await body() }.value
    }

    private let pool = Pool(usual: 1)

    @Test func whatOneThreadIsGivenRunsInItsOrder() async {
        let (order, feed) = AsyncStream<Int>.makeStream()
        for number in 0..<500 { Task(executorPreference: pool) { feed.yield(number) } }
        var expected = 0
        for await number in order {
            #expect(number == expected)
            expected += 1
            if expected == 500 { break }
        }
    }

    /// Two that end together are run side by side, in any order.
    @Test func eachNapEndsByItselfAndNoneTooSoon() async {
        let (ended, feed) = AsyncStream<Int>.makeStream()
        let begin = ContinuousClock.now
        for milliseconds in [130, 110, 150, 120, 140] {
            Task(executorPreference: pool) {
                try await Task.sleep(until: begin + .milliseconds(milliseconds), clock: .continuous)
                #expect(ContinuousClock.now >= begin + .milliseconds(milliseconds))
                feed.yield(milliseconds)
            }
        }
        var all: Set<Int> = []
        for await milliseconds in ended {
            all.insert(milliseconds)
            if all.count == 5 { break }
        }
    }

    @Test func aNapUntilLongAgoEndsAtOnce() async throws {
        try await Task(executorPreference: pool) { try await Task.sleep(for: .seconds(-10_000_000_000)) }.value
    }

    @Test func aNapThatIsGivenUpEndsAtOnce() async {
        let begin = ContinuousClock.now
        let nap = Task(executorPreference: pool) { try await Task.sleep(for: .seconds(3600)) }
        nap.cancel()
        await #expect(throws: CancellationError.self) { try await nap.value }
        #expect(ContinuousClock.now - begin < .seconds(60))
    }

    /// Those that are blocked keep nobody from being run.
    @Test func moreThreadsComeWhenAllAreBlocked() async {
        let gate = Gate()
        let blocked = (0..<20).map { _ in Task(executorPreference: pool) { gate.pass() } }
        // Ends only if it is run beside them.
        #expect(await onPool { true })
        gate.open()
        for task in blocked { await task.value }
    }

    /// A default actor and a group go back and forth between threads.
    @Test func nothingIsLostAmongManyTasks() async {
        actor Count {
            var value = 0
            func add() { value += 1 }
        }
        let count = Count()
        await onPool {
            await withTaskGroup { group in
                for number in 0..<500 {
                    group.addTask {
                        if number % 7 == 0 { try? await Task.sleep(for: .microseconds(number)) }
                        await count.add()
                    }
                }
            }
        }
        #expect(await count.value == 500)
    }
}

/// Blocks threads until it is opened.
private final class Gate: Sendable {
    private let isOpen = Monitor(false)
    func pass() { _ = isOpen.wait { $0 ? true : nil } }
    func open() { isOpen.change { $0 = true } }
}
