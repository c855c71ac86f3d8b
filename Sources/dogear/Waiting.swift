import Control
import DBus
import EventLoop
import Glibc
import SDBus
import Terminal

/// Says on the terminal what is waited for when an answer takes long, and takes that away when it comes. Where nobody
/// watches nothing is said.
final class Waiting: @unchecked Sendable {  // the meter is only touched with the state
    private static let patience = 2
    private let meter: Meter
    private let peer: BusClient.Peer
    private let state = Locked((isOver: false, isShown: false))

    private init(_ peer: BusClient.Peer, _ meter: Meter) { (self.peer, self.meter) = (peer, meter) }

    /// - Returns: nil where nobody watches.
    static func begin(_ peer: BusClient.Peer) -> Waiting? {
        let meter = Meter()
        guard meter.isShown else { return nil }
        let waiting = Waiting(peer, meter)
        // It may outlive the question: signals are for who waits for them.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        _ = onOwnThread { waiting.watch() }
        return waiting
    }

    /// The answer is here: what is said from now on has the line for itself.
    func end() {
        state.withLock { state in
            state.isOver = true
            if state.isShown { meter.end() }
        }
    }

    private func watch() {
        sleep(UInt32(Self.patience))
        guard !state.withLock({ $0.isOver }) else { return }
        let text = "waiting for \(whom)…"
        state.withLock { state in
            guard !state.isOver else { return }
            state.isShown = true
            meter.show(text)
        }
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
