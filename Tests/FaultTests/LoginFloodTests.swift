import Control
import DBus
import EventLoop
import Glibc
import Testing

@testable import Daemon

@Suite struct LoginFloodTests {
    /// Who sends the address and keeps the secrets back has a thread meanwhile.
    @LoopActor @Test func ofLoginsWithoutTheirSecretsThereAreAFewAtATime() async throws {
        let rig = try Rig(seed: 1)
        try await rig.begin()
        let (answers, answering) = AsyncStream.makeStream(of: Result<[Value], BusError>.self)
        var answer = answers.makeAsyncIterator()
        func begin() throws -> Descriptor {
            var ends: [Int32] = [-1, -1]
            // No program that another test starts meanwhile may hold it open.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            rig.service.login(
                LoginRequest(address: ""), secrets: Descriptor(owning: ends[0]), Reply { answering.yield($0) })
            return Descriptor(owning: ends[1])
        }
        var kept = try (0..<5).map { _ in try begin() }
        func isRefused(_ answer: Result<[Value], BusError>?, _ why: String) {
            guard case .failure(let error)? = answer else { return #expect(Bool(false), "\(why): \(answer as Any)") }
            #expect("\(error)".contains(why), "\(error)")
        }
        isRefused(await answer.next(), "several logins")
        kept = []
        for _ in 0..<4 { isRefused(await answer.next(), "address") }
        kept = [try begin()]
        kept = []
        isRefused(await answer.next(), "address")
        #expect(kept.isEmpty)
        await rig.end()
    }
}
