import Control
import DBus
import EventLoop
import Listening
import SDBus
import View

/// The daemon as a view follows it: by its signals, and by questions that nothing waits for.
@LoopActor final class DaemonLine {
    private let bus: Bus
    private let name: String
    private let handler: @LoopActor (ViewEvent) -> Void
    private var matches: [SignalMatch] = []
    /// As far as is known: what opened the view started it.
    private var isThere = true
    private let starter = Starter()
    private static let driver = "org.freedesktop.DBus"
    /// Microseconds for an answer.
    private static let limit: UInt64 = 120_000_000

    init(
        _ handler: @escaping @LoopActor (ViewEvent) -> Void, onLost: @escaping @LoopActor (String) -> Void
    ) throws {
        name = try Profile.present.bus
        self.handler = handler
        bus = try Bus(.session) { error in onLost("\(error.message), and the daemon with it") }
        try hear("Changed", StatusReport.self) { .changed($0) }
        try hear("Refreshed", LibrariesReport.self) { .refreshed($0) }
        try hear("Logged", LogsReport.Row.self) { .logged($0) }
        let owners = try bus.match(
            sender: Self.driver, path: "/org/freedesktop/DBus", interface: Self.driver, member: "NameOwnerChanged",
            first: name
        ) { [weak self] values, _ in
            guard values.count == 3, let owner = try? values[2].string() else { return }
            self?.turned(isThere: !owner.isEmpty)
        }
        matches.append(owners)
    }

    private func turned(isThere: Bool) {
        self.isThere = isThere
        handler(isThere ? .appeared : .left)
    }

    /// Sends what is on its way, and hears no more.
    func close() {
        for match in matches { match.cancel() }
        bus.close()
    }

    private func hear<Report: Decodable>(
        _ member: String, _ type: Report.Type, _ event: @escaping @LoopActor (Report) -> ViewEvent
    ) throws {
        let handler = handler
        let match = try bus.match(
            sender: name, path: ControlName.path, interface: ControlName.interface, member: member
        ) { values, _ in
            // Of another version: what it says cannot be shown, and is no reason to stop.
            guard let text = try? values.first?.string(), let report = try? decode(type, text) else { return }
            handler(event(report))
        }
        matches.append(match)
    }

    /// What the daemon answers comes in its order with the signals: none is shown that a later one has put right.
    ///
    /// A daemon that is not there is started, but not by what the view only wanted to know of one that has just left: that
    /// is seen first, and the listener's next key starts it.
    ///
    /// - Parameter answered: gets the report as JSON, or why there is none.
    func ask(_ question: Question, answered: @escaping @LoopActor (Result<String, ControlError>) -> Void) {
        let (member, arguments) = question.call
        let starts = !isThere || question.isAct
        call(member, arguments) { [starter, weak self] outcome in
            guard case .failure(let error) = outcome, Link.isUnstartable(error) else {
                return answered(outcome.mapError(Link.sentence))
            }
            guard starts else {
                // It left before the bus knew that its coming and going is followed.
                if self?.isThere == true { self?.turned(isThere: false) }
                return answered(outcome.mapError(Link.sentence))
            }
            Task { @LoopActor in
                do throws(ControlError) { try await starter.start() } catch { return answered(.failure(error)) }
                self?.call(member, arguments) { answered($0.mapError(Link.sentence)) }
            }
        }
    }

    private func call(
        _ member: String, _ arguments: [Value], answered: @escaping @LoopActor (Result<String, BusError>) -> Void
    ) {
        bus.call(name, ControlName.path, ControlName.interface, member, arguments, timeout: Self.limit) { outcome in
            answered(
                Result { () throws(BusError) in
                    guard let report = try outcome.get().first else { throw .failed("the daemon gave an empty answer") }
                    return try report.string()
                })
        }
    }

    /// Starting takes a moment and waits: on a thread of its own.
    private actor Starter {
        private static let thread = ThreadExecutor(name: "starter", wait: Sleep())
        nonisolated var unownedExecutor: UnownedSerialExecutor { Self.thread.asUnownedSerialExecutor() }

        func start() throws(ControlError) {
            do { _ = try Link().ask("Status") } catch {
                throw error as? ControlError ?? ControlError(.failed, "\(error)")
            }
        }
    }
}
