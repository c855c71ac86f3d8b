import EventLoop
import Testing

/// Each way to fail, alone, on each kind of request, around an hour of listening that makes all of them.
@Suite struct SingleFaults {
    @LoopActor @Test(arguments: [Endpoint.sync, .close, .local, .progress, .play, .refresh], Step.faults)
    func aloneIsSurvived(endpoint: Endpoint, fault: Fault) async throws {
        let (book, other) = (Thing.all[1], Thing.all[3])
        for times in [1, 3] {
            let steps: [Step] = [
                .fault(endpoint, fault, times: times), .open(book), .open(book), .listen(100), .tokensExpire, .pause,
                .wait(minutes: 2), .play, .listen(50), .serverRestarts, .listen(45), .stop, .finish(other),
                .open(other),
                .open(other), .listen(35), .seekToStart, .kill, .play, .listen(20), .serverRestarts, .listen(40),
                .leave,
            ]
            let verdict = try await Sequence.run(steps, seed: 1)
            #expect(
                verdict.violations.isEmpty, "\(times) \(endpoint): \(fault)\n\(verdict.log.joined(separator: "\n"))")
        }
    }
}
