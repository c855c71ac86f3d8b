internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Machine
internal import SDBus

/// The computer and the desktop around the player: what they do to it, and what it asks of them.
@LoopActor final class Surroundings {
    /// Well under the five seconds that logind gives by default.
    private static let lastLimit = BookTime.seconds(2)

    private unowned let service: Service
    private let log = Logger(label: "Machine")
    private var machine: Machine?
    private var others: OtherPlayers?
    private var isPlaying = false
    /// Ends the wait for what a pause leaves to be done.
    private var limit: LoopTimer?
    private var thrift: LoopTimer?

    init(of service: Service, bus: Bus) {
        self.service = service
        let log = self.log
        machine = Machine {
            log.debug("the computer", metadata: ["what": "\($0)"])
        } onSign: { [weak self] sign in
            self?.heard(sign)
        }
        others = OtherPlayers(bus: bus) { [weak self] in self?.service.send(.pause(.system)) }
        machine?.begin()
        adopt()
    }

    /// The settings may have changed.
    func adopt() {
        others?.isWatching = service.settings.pauseForOthers
        machine?.preventsSleep = isPlaying && service.settings.inhibitSleep
    }

    /// Sleep has to wait while something plays, and after that until it is on the disk and with the server.
    func plays(_ isPlaying: Bool) {
        guard isPlaying != self.isPlaying else { return }
        self.isPlaying = isPlaying
        machine?.preventsSleep = isPlaying && service.settings.inhibitSleep
        giveBack(after: .seconds(5), hasBegun: isPlaying)
        limit?.cancel()
        guard !isPlaying else {
            machine?.delaysSleep = true
            return
        }
        let limit = service.time.timer(after: Self.lastLimit) { self.machine?.delaysSleep = false }
        self.limit = limit
        Task { @LoopActor in
            await self.service.handIn(within: .seconds(1.5))
            // Playing again, or paused again, meanwhile: then this pause is no longer the one to wait for.
            if limit.isPending { limit.fire() }
        }
    }

    /// What beginning or reading needed, and from then on what calls and changes leave behind; while nothing plays only once.
    func giveBack(after delay: BookTime, hasBegun: Bool) {
        thrift?.cancel()
        thrift = service.time.timer(after: delay) {
            Thrift.giveBack(hasBegun: hasBegun)
            if self.isPlaying { self.giveBack(after: .seconds(60), hasBegun: false) }
        }
    }

    private func heard(_ sign: MachineSign) {
        log.debug("a sign", metadata: ["what": "\(sign)"])
        switch sign {
        case .willSleep: service.send(.pause(.system))
        case .woke, .networkIsBack: service.networkIsBack()
        }
    }

    // MARK: For the doctor

    func checks() -> [DoctorReport.Check] {
        guard let facts = machine?.facts else { return [] }
        let sleep =
            facts.hasLogind
            ? "logind is here: playing pauses before the computer sleeps"
            : "no logind here: dogear is not told before the computer sleeps"
        let network =
            facts.hasNetworkManager
            ? "NetworkManager tells when there is a network again"
            : facts.watchesRoutes
                ? "no NetworkManager here: the kernel tells when there is a network again" : "nobody tells of it"
        return [DoctorReport.Check("sleep", .good, sleep), DoctorReport.Check("network", .good, network)]
    }
}
