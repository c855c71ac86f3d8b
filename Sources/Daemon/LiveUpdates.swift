internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening
internal import Logging

/// The live connection to the server of what is loaded or can be resumed; none where nothing is.
@LoopActor final class LiveUpdates {
    enum State: Hashable, Sendable {
        case off
        case connecting
        case connected
        case disconnected(String)
        case refused
    }

    private let shelves: Shelves
    private let time: any Timekeeper
    private let spread: @Sendable () -> Double
    private let log = Logger(label: "Live")
    private var listener: (@LoopActor (LiveReport) -> Void)?
    private(set) var account: Account?
    private(set) var state = State.off
    private var socket: ShelfSocket?
    private var task: Task<Void, Never>?
    /// Counts the connections: what an earlier one says, or was asked because of it, no longer counts.
    private(set) var number = 0

    init(shelves: Shelves, time: any Timekeeper, spread: @escaping @Sendable () -> Double) {
        self.shelves = shelves
        self.time = time
        self.spread = spread
    }

    func listen(_ body: @escaping @LoopActor (LiveReport) -> Void) { listener = body }

    /// Connects to the account of this item, or ends the connection where there is none.
    func follow(_ item: ItemID?) {
        let wanted = item?.account
        let known = shelves.accounts.first { $0.id == wanted }
        guard known?.id != account?.id else { return }
        let wasOn = account != nil
        end()
        if let known { begin(known) }
        if wasOn { listener?(.disconnected("it belonged to another account")) }
    }

    /// Another login may be taken where the last was refused.
    func signedIn(_ id: String, _ item: ItemID?) {
        if account?.id == id {
            end()
            listener?(.disconnected("it is signed in anew"))
        }
        follow(item)
    }

    /// The network or the computer came back.
    func nudge() {
        guard let socket else { return }
        Task { await socket.nudge() }
    }

    private func begin(_ account: Account) {
        self.account = account
        guard let client = try? shelves.client(account) else { return }
        number += 1
        let number = number
        state = .connecting
        let socket = ShelfSocket(
            client: client, sleep: { [time] in await nap(.seconds($0), time) }, spread: spread,
            report: { report in LoopActor.onLoop { self.heard(report, number) } })
        self.socket = socket
        task = Task { await socket.run() }
    }

    func end() {
        task?.cancel()
        (task, socket, account, state) = (nil, nil, nil, .off)
        number += 1
    }

    private func heard(_ report: LiveReport, _ number: Int) {
        guard number == self.number, let account else { return }
        switch report {
        case .connected: become(.connected, account)
        case .disconnected(let why): become(.disconnected(why), account)
        case .refused: become(.refused, account)
        case .progress, .places, .bookmarks, .items, .libraries: break
        }
        listener?(report)
    }

    private func become(_ state: State, _ account: Account) {
        guard state != self.state else { return }
        self.state = state
        log.debug("the live connection", metadata: ["account": "\(account.id)", "state": "\(state)"])
    }

    var check: DoctorReport.Check {
        let name = "live updates"
        guard let account else { return .init(name, .good, "not needed: nothing of a server is loaded") }
        switch state {
        case .connected: return .init(name, .good, "\(account.name) tells at once what other devices do")
        case .refused where account.login != .tokens:
            return .init(
                name, .good,
                "\(account.server) does not offer them to this login; it is asked before playing goes on")
        case .off, .connecting: return .init(name, .good, "connecting to \(account.server)")
        case .refused:
            return .init(
                name, .warning, "\(account.server) refuses this login for them",
                advice: "run 'dogear login \(account.server)'")
        case .disconnected(let why):
            return .init(
                name, .warning, why,
                advice: "it is tried again by itself; until then the server is asked before playing goes on")
        }
    }
}
