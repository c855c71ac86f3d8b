import Control
import DBus
import Glibc
import SDBus
import Terminal

/// Says on the terminal what is waited for when an answer takes long, and takes that away when it comes. Where nobody
/// watches nothing is said.
final class Waiting: @unchecked Sendable {  // what changes is behind the mutex
    private static let patience = 2
    private let meter: Meter
    private let peer: BusClient.Peer
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var isOver = false
    private var isShown = false

    private init(_ peer: BusClient.Peer, _ meter: Meter) {
        (self.peer, self.meter) = (peer, meter)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// - Returns: nil where nobody watches.
    static func begin(_ peer: BusClient.Peer) -> Waiting? {
        let meter = Meter()
        guard meter.isShown else { return nil }
        let waiting = Waiting(peer, meter)
        var thread = pthread_t()
        let owned = Unmanaged.passRetained(waiting)
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { given in
            guard let given else { return nil }
            Unmanaged<Waiting>.fromOpaque(given).takeRetainedValue().watch()
            return nil
        }
        // It may outlive the question: signals are for who waits for them.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        if pthread_create(&thread, nil, body, owned.toOpaque()) == 0 { pthread_detach(thread) } else { owned.release() }
        return waiting
    }

    /// The answer is here: what is said from now on has the line for itself.
    func end() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        isOver = true
        if isShown { meter.end() }
    }

    private func watch() {
        sleep(UInt32(Self.patience))
        guard !over else { return }
        let text = "waiting for \(whom)…"
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !isOver else { return }
        isShown = true
        meter.show(text)
    }

    private var over: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return isOver
    }

    /// As 'dogear status' names it: paths may be private.
    private func host(_ address: String) -> String {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        return String(rest.prefix { $0 != "/" })
    }

    /// The daemon answers this at once, whatever a server does: then it is a server that keeps us waiting.
    private var whom: String {
        guard let bus = try? BusClient(),
            let answer = try? bus.call("Accounts", of: peer, start: false, within: .seconds(2)),
            let json = try? answer.first?.string(), let report = try? decode(AccountsReport.self, json)
        else { return "the daemon" }
        switch report.accounts.count {
        case 0: return "an answer"
        case 1: return Clean.line(host(report.accounts[0].server))
        default: return "the servers"
        }
    }
}
