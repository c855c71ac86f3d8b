import Foundation
import TestSupport
import Testing

/// What the service manager hears of the daemon.
@Suite struct ServiceTests {
    @Test func itIsReadyAndGoesOnSayingThatItIsAlive() async throws {
        let extra = ["NOTIFY_SOCKET": "HOME_/n", "WATCHDOG_USEC": "400000"]
        try await House.with(keyring: .absent, extra: extra) { house in
            let words = try NotifySocket(at: "\(house.home)/n")
            let daemon = try await house.daemon()
            try await words.until("ready") { $0.contains("READY=1") }
            for number in 1...3 { try await words.until("alive, \(number)") { $0 == "WATCHDOG=1" } }
            daemon.send(SIGTERM)
            _ = await daemon.end()
        }
    }
}

/// Where systemd would listen: sd_notify(3).
private final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let words: AsyncStream<String>

    init(at path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw TestFailure("no socket at \(path): \(String(cString: strerror(errno)))") }
        self.descriptor = descriptor
        let (words, continuation) = AsyncStream.makeStream(of: String.self)
        self.words = words
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &bytes, bytes.count, 0)
                guard count > 0 else { break }
                continuation.yield(String(decoding: bytes[..<count], as: UTF8.self))
            }
            continuation.finish()
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    func until(_ what: String, _ fits: (String) -> Bool) async throws {
        for await word in words where fits(word) { return }
        throw TestFailure("it never said that it is \(what)")
    }
}
