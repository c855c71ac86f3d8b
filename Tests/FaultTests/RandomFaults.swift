import EventLoop
import Foundation
import Testing

/// The keeping of the place under every fault: dogear's own machines, journal and client against the stand-in, in time
/// turned by hand.
///
/// `DOGEAR_FAULT_SEQUENCES=N` runs so many random sequences, `DOGEAR_FAULT_SEED=S` exactly one. Several processes can
/// share them: `DOGEAR_FAULT_SHARE=1/2` runs every second one, `2/2` the others.
@Suite struct RandomFaults {
    @LoopActor @Test func whateverHappensNothingIsLost() async throws {
        let environment = ProcessInfo.processInfo.environment
        let length = environment["DOGEAR_FAULT_STEPS"].flatMap { Int($0) } ?? 50
        if let seed = environment["DOGEAR_FAULT_SEED"].flatMap({ UInt64($0) }) {
            return try await judge(seed, length)
        }
        let count = UInt64(environment["DOGEAR_FAULT_SEQUENCES"].flatMap { Int($0) } ?? 500)
        let first = environment["DOGEAR_FAULT_FIRST"].flatMap { UInt64($0) } ?? 1
        let (share, shares) = Self.share(environment["DOGEAR_FAULT_SHARE"])
        var seeds = (first..<first + count).filter { $0 % shares == share }.makeIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                if let seed = seeds.next() { group.addTask { try await judge(seed, length) } }
            }
            while try await group.next() != nil {
                if let seed = seeds.next() { group.addTask { try await judge(seed, length) } }
            }
        }
    }

    private static func share(_ text: String?) -> (UInt64, UInt64) {
        let parts = (text ?? "").split(separator: "/").compactMap { UInt64($0) }
        guard parts.count == 2, 1...parts[1] ~= parts[0] else { return (0, 1) }
        return (parts[0] - 1, parts[1])
    }

    /// Each of these went wrong once.
    @LoopActor
    @Test(
        arguments: [
            1271, 2297, 2375, 2451, 2489, 2802, 2851, 2916, 2943, 3053, 3281, 3415, 3656, 3903, 4301, 4406, 4452,
            4709, 4851, 5001, 5156, 5320, 5379, 5465, 5727, 5776, 6049, 6286, 6573, 6604, 6610, 6922, 7181, 7341, 8152,
            9006,
        ] as [UInt64])
    func whatWasMendedStaysSo(_ seed: UInt64) async throws {
        try await judge(seed, 50)
    }

    private func judge(_ seed: UInt64, _ length: Int) async throws {
        let steps = Step.sequence(seed: seed, count: length)
        let verdict = try await Sequence.run(steps, seed: seed)
        if verdict.violations.isEmpty { return }
        let isTrimmed = ProcessInfo.processInfo.environment["DOGEAR_FAULT_TRIM"] != "0"
        let shortest = isTrimmed ? try await shrink(steps, seed) : nil
        let (kept, last) = shortest ?? (steps, verdict)
        Issue.record(
            """
            seed \(seed): \(verdict.violations.joined(separator: "; "))
            in \(kept.count) of \(steps.count) steps: \(last.violations.joined(separator: "; "))
            \(last.log.joined(separator: "\n"))
            Again with: DOGEAR_FAULT_SEED=\(seed) packaging/test --filter FaultTests
            """)
    }

    /// Leaves out what is not needed for it to go wrong.
    private func shrink(_ steps: [Step], _ seed: UInt64) async throws -> ([Step], Sequence.Verdict)? {
        var kept = steps
        var found: Sequence.Verdict?
        var size = kept.count / 2
        while size > 0 {
            var start = 0
            while start < kept.count {
                var fewer = kept
                fewer.removeSubrange(start..<min(start + size, fewer.count))
                let verdict = try await Sequence.run(fewer, seed: seed)
                if verdict.violations.isEmpty {
                    start += size
                } else {
                    kept = fewer
                    found = verdict
                }
            }
            size /= 2
        }
        return found.map { (kept, $0) }
    }
}
