import EventLoop
import Listening
import TestSupport
import Testing

@testable import GStreamer

/// What one source element reads.
@Suite struct FeedTests {
    /// What is taken from the reader in one block counts as being ahead until it is asked for.
    @Test func whatIsAheadShrinksWithEveryQuestion() async throws {
        let size = 200_000
        let file = StreamFile(reader: GatedBytes([UInt8](repeating: 7, count: size)), duration: .seconds(200))
        let feed = Feed(Opening(whole: file, size: Int64(size), reachesAll: true)) { _ in }
        defer { feed.close() }
        // A thread of its own blocks there, as GStreamer's do.
        let ahead: [Double] = await withCheckedContinuation { done in
            let isBegun = onOwnThread {
                var target = [UInt8](repeating: 0, count: 1000)
                done.resume(
                    returning: stride(from: 0, to: 150_000, by: 1000).map { offset in
                        _ = target.withUnsafeMutableBytes { feed.fill($0, from: Int64(offset)) }
                        return feed.ahead?.seconds ?? -1
                    })
            }
            if !isBegun { done.resume(returning: []) }
        }
        #expect(ahead.count == 150)
        for (number, seconds) in ahead.enumerated() { #expect(abs(seconds - Double(199 - number)) < 0.001) }
    }
}
