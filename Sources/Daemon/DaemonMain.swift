internal import Catalogue
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
internal import Machine
internal import SDBus
internal import Secret
internal import Settings
internal import Store
internal import Streaming

/// What `dogear daemon` does.
public enum DaemonMain {
    /// Runs until it is told to leave; everything happens on other threads. Never comes back: the program ends with the
    /// exit code 0, or 1 if it could not start or lost the bus.
    /// - Parameter jsonLog: lines on stderr are JSON objects, as `dogear logs --json` prints them.
    public static func run(environment: [String: String], jsonLog: Bool) -> Never {
        Thrift.begin()
        Log.start(json: jsonLog)
        var signals = blockedSignals()
        let life = Life(environment: environment)
        Task { @LoopActor in await life.begin() }
        while true {
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { continue }
            let signal = number
            Task { @LoopActor in await life.told(signal) }
        }
    }
}

/// Held back in every thread that starts after this: the main thread waits for them.
private func blockedSignals() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] {
        // Programs started in the background of a script find some of them ignored.
        signal(number, SIG_DFL)
        sigaddset(&set, number)
    }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    // A client that hangs up while it is answered is no reason to end.
    signal(SIGPIPE, SIG_IGN)
    // Nor is a limit on the size of files: the write fails, and audio is then read without keeping it.
    signal(SIGXFSZ, SIG_IGN)
    return set
}

/// One life of the daemon, from the first step to the last.
@LoopActor final class Life {
    private let environment: [String: String]
    private let log = Logger(label: "Daemon")
    private var service: Service?
    private var bus: Bus?
    private var isLeaving = false
    private var lock: FolderLock?

    nonisolated init(environment: [String: String]) { self.environment = environment }

    func begin() async {
        do {
            try await start()
        } catch {
            log.error("\(ControlName.cannotStart)", metadata: ["why": "\(error)"])
            end(1)
        }
    }

    func told(_ signal: Int32) async {
        log.notice("told to leave", metadata: ["signal": "\(signal)"])
        await leave(0)
    }

    /// Everything that matters is on the disk by now. The threads of libraries are not waited for, and no destructor
    /// runs under them.
    private nonisolated func end(_ code: Int32) -> Never { _exit(code) }

    private func start() async throws {
        let profile = try Profile(environment: environment)
        let bus = try connect()
        self.bus = bus
        let paths = try Paths(environment: environment, own: profile.folder)
        // Before anything is touched that another daemon may be using. Who sees the name can ask at once: the Loop
        // answers when all this is there.
        try await takeLock(paths, unlessOwned: profile.bus)
        guard try bus.own(profile.bus) else { throw Self.alreadyRuns }
        let settings = SettingsDesk(path: paths.configFile)
        Log.shared.level = settings.logLevel
        for problem in settings.problems { log.warning("the settings have a fault", metadata: ["what": "\(problem)"]) }

        let (store, storeTrouble) = try openStore(paths)
        let covers = CoverCache(folder: paths.covers)
        let transport = CurlTransport(version: dogearVersion)
        let shelves = Shelves(
            store: store, vault: SecretServiceVault(environment: environment), transport: transport,
            covers: covers, model: hostName())
        let audio = StreamShelf(transport: transport, folder: paths.audio, limit: settings.audioSize)
        let addresses = AddressSource(store: store, transport: transport, shelf: audio, covers: covers)
        let files = FilesSource(store: store, covers: covers)
        let words = Words()
        let engine = GStreamerEngine(sink: settings.sink(environment), bytes: audio) { words.say($0) }
        let service = Service(
            bus: bus, engine: engine, store: store, shelves: shelves, files: files, addresses: addresses,
            settings: settings, paths: paths, environment: environment, profile: profile
        ) {
            Task { @LoopActor in await self.leave(0) }
        }
        service.trouble = storeTrouble
        service.notice = store.notice?.description
        self.service = service
        words.listen { report in LoopActor.onLoop { service.hear(report) } }
        try service.export()
        service.surroundings = Surroundings(of: service, bus: bus)
        let notices = Notices(of: service, bus: bus)
        service.notices = notices
        shelves.onSignedOut = { notices.signedOut($0) }
        shelves.onOverwriting = { lost, goal in
            Task { @LoopActor in await service.isOverwritten(lost, with: goal) }
        }
        await service.readJournal()
        // What the desktop waits for is there: these two take longer than all that, and would have been in its way.
        let mediaTypes = Task.detached { await PlayableTypes.all() }
        let catalogue = try await Task.detached { try self.openCatalogue(paths) }.value
        let librarian = Librarian(catalogue: catalogue, shelves: shelves)
        await librarian.wake()
        service.begin(with: librarian)
        Task { @LoopActor in service.learn(mediaTypes: await mediaTypes.value) }
        notifyReady()
        Task.detached(priority: .background) {
            covers.trim()
            await service.forgetLostCovers()
        }
        service.surroundings?.giveBack(after: .second, hasBegun: true)
        log.info("ready", metadata: ["version": "\(dogearBuild)"])
        feedWatchdog()
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

    private static let alreadyRuns = ControlError(
        .failed, "a dogear daemon already runs on this session bus; 'dogear status' asks it")

    /// Two that write into one journal would each undo what the other heard.
    private func takeLock(_ paths: Paths, unlessOwned name: String) async throws {
        do throws(FolderError) { lock = try FolderLock.take(paths.lock, within: .zero) } catch {
            // Where it cannot be made the journal cannot be written either, and that is said.
            return log.warning("the folder cannot be locked", metadata: ["why": "\(error)"])
        }
        if lock != nil { return }
        if let bus, await bus.hasOwner(name) { throw Self.alreadyRuns }
        // One that leaves has let go of its name before it has written everything.
        lock = try FolderLock.take(paths.lock, within: .seconds(3))
        if lock != nil { return }
        throw ControlError(
            .failed,
            "a dogear daemon of another session uses \(paths.state); end it there, or take a profile: dogear --profile NAME"
        )
    }

    /// Playing is possible while there is no journal; the listener is told that the place may not last.
    private func openStore(_ paths: Paths) throws -> (Store, String?) {
        let hear: @Sendable (StoreTrouble) -> Void = { trouble in
            LoopActor.onLoop { self.service?.heard(trouble) }
        }
        do throws(StoreError) {
            let store = try Store.open(at: paths.database, memory: paths.runtime, onTrouble: hear)
            if let notice = store.notice { log.error("the journal was damaged", metadata: ["what": "\(notice)"]) }
            return (store, nil)
        } catch {
            log.error("the journal cannot be kept", metadata: ["why": "\(error)"])
            return (try Store.inMemory(for: paths.database, memory: paths.runtime, onTrouble: hear), "\(error)")
        }
    }

    /// Without a file the libraries are read anew after each start.
    private nonisolated func openCatalogue(_ paths: Paths) throws -> Catalogue {
        do throws(CatalogueError) { return try Catalogue.open(at: paths.catalogue) } catch {
            log.warning("the index of the libraries cannot be kept", metadata: ["why": "\(error)"])
            return try Catalogue.inMemory()
        }
    }

    /// Flushes and leaves within two seconds, whatever the network does. A disk that is slow is waited for: what it has not
    /// taken yet would be lost.
    private func leave(_ code: Int32) async {
        guard !isLeaving else { return }
        isLeaving = true
        _ = LoopActor.timer(after: .seconds(20)) { self.end(code) }
        await service?.leave()
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
