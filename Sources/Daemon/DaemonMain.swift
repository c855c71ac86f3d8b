internal import Control
internal import Curl
internal import DBus
internal import EventLoop
internal import Folders
internal import GStreamer
internal import Glibc
internal import Listening
internal import LocalFiles
internal import Logging
internal import MPRIS
internal import SDBus
internal import Secret
internal import Settings
internal import Store

/// What `dogear daemon` does.
public enum DaemonMain {
    /// Runs until it is told to leave; everything happens on other threads.
    /// - Parameter jsonLog: lines on stderr are JSON objects, as `dogear logs --json` prints them.
    /// - Returns: the exit code.
    public static func run(environment: [String: String], jsonLog: Bool) -> Int32 {
        Log.start(json: jsonLog)
        let ends = Ends()
        blockSignals()
        Task { @LoopActor in
            let life = Life(environment: environment) { ends.leave($0) }
            await life.begin()
        }
        return ends.wait()
    }
}

/// Where the main thread waits for the end.
private final class Ends: Sendable {
    private let code = Locked<Int32?>(nil)
    private let pipe = makePipe()

    func leave(_ code: Int32) {
        let isFirst = self.code.withLock { held in
            defer { held = held ?? code }
            return held == nil
        }
        guard isFirst else { return }
        var byte: UInt8 = 0
        _ = write(pipe.1, &byte, 1)
    }

    func wait() -> Int32 {
        var byte: UInt8 = 0
        while read(pipe.0, &byte, 1) < 0, errno == EINTR {}
        return code.withLock { $0 } ?? 0
    }
}

private func makePipe() -> (Int32, Int32) {
    var ends: (Int32, Int32) = (-1, -1)
    let code = withUnsafeMutablePointer(to: &ends) { pointer in
        pointer.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
    }
    precondition(code == 0, "no pipe: \(String(cString: strerror(errno)))")
    _ = fcntl(ends.0, F_SETFD, FD_CLOEXEC)
    _ = fcntl(ends.1, F_SETFD, FD_CLOEXEC)
    return ends
}

/// One life of the daemon, from the first step to the last.
@LoopActor final class Life {
    private let environment: [String: String]
    private let end: @Sendable (Int32) -> Void
    private let log = Logger(label: "Daemon")
    private var service: Service?
    private var bus: Bus?
    private var signals: SignalSource?
    private var isLeaving = false

    init(environment: [String: String], end: @escaping @Sendable (Int32) -> Void) {
        self.environment = environment
        self.end = end
    }

    func begin() async {
        signals = SignalSource { signal in
            self.log.notice("told to leave", metadata: ["signal": "\(signal)"])
            Task { @LoopActor in await self.leave(0) }
        }
        do {
            try await start()
        } catch {
            log.error("dogear cannot start", metadata: ["why": "\(error)"])
            end(1)
        }
    }

    private func start() async throws {
        let bus = try connect()
        self.bus = bus
        let paths = try Paths(environment: environment)
        let settings = SettingsDesk(path: paths.configFile)
        Log.shared.level = settings.logLevel
        for problem in settings.problems { log.warning("the settings have a fault", metadata: ["what": "\(problem)"]) }

        let (store, storeTrouble) = try openStore(paths)
        let covers = CoverCache(folder: paths.covers)
        let shelves = Shelves(
            store: store, vault: SecretServiceVault(environment: environment),
            transport: CurlTransport(version: dogearVersion),
            covers: covers, model: hostName())
        let files = FilesSource(store: store, covers: paths.covers)
        let words = Words()
        let engine = GStreamerEngine(sink: settings.sink(environment)) { words.say($0) }
        let service = Service(
            bus: bus, engine: engine, store: store, shelves: shelves, files: files, settings: settings, paths: paths,
            environment: environment
        ) {
            Task { @LoopActor in await self.leave(0) }
        }
        service.trouble = storeTrouble
        self.service = service
        words.listen { report in LoopActor.onLoop { service.send(.report(report)) } }
        try service.export()
        guard try bus.own(ControlName.bus) else {
            throw ControlError(.failed, "a dogear daemon already runs on this session bus; 'dogear status' asks it")
        }
        await service.restore()
        notifyReady()
        log.info("ready", metadata: ["version": "\(dogearVersion)"])
    }

    private func connect() throws(ControlError) -> Bus {
        do throws(BusError) {
            return try Bus(.session) { error in
                self.log.error("leaving", metadata: ["why": "\(error)"])
                Task { @LoopActor in await self.leave(1) }
            }
        } catch {
            throw ControlError(
                .failed, "there is no session bus (\(error)); log in to a desktop, or run: dbus-run-session -- bash")
        }
    }

    /// Playing is possible without a journal; the listener is told that the place will not last.
    private func openStore(_ paths: Paths) throws -> (Store, String?) {
        do throws(StoreError) {
            let store = try Store.open(at: paths.database) { trouble in
                LoopActor.onLoop { self.service?.heard(trouble) }
            }
            if let notice = store.notice { log.error("the journal was damaged", metadata: ["what": "\(notice)"]) }
            return (store, store.notice?.description)
        } catch {
            log.error("the journal cannot be kept", metadata: ["why": "\(error)"])
            return (try Store.inMemory(), "\(error)")
        }
    }

    /// Flushes and leaves within two seconds, whatever the network does.
    private func leave(_ code: Int32) async {
        guard !isLeaving else { return }
        isLeaving = true
        let end = end
        let limit = LoopActor.timer(after: .seconds(1.8)) { end(code) }
        await service?.leave()
        limit.cancel()
        bus?.close()
        end(code)
    }
}

/// Reports of the engine, which begins to speak before there is a service to listen.
private final class Words: Sendable {
    private let listener = Locked<(@Sendable (EngineReport) -> Void)?>(nil)

    func listen(_ body: @escaping @Sendable (EngineReport) -> Void) { listener.withLock { $0 = body } }
    func say(_ report: EngineReport) { listener.withLock { $0 }?(report) }
}

private func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, 255) == 0 else { return "Desktop" }
    let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.isEmpty ? "Desktop" : text
}
