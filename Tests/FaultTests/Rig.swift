import Audiobookshelf
import Control
import Folders
import Foundation
import HTTP
import Logging
import SDBus
import TestSupport

@testable import Daemon
@testable import EventLoop
@testable import Listening
@testable import Store

/// A dogear on a fake clock, a server, and what lies between them. Everything happens on the Loop.
@LoopActor final class Rig {
    static let start: Int64 = 1_795_000_000_000
    let upstream: Upstream
    let proxy: FaultProxy
    let time: FakeTime
    let net = Net()
    let ledger: Ledger
    let sky: Sky
    let vault = MemoryVault()
    private let folder: String
    private var lives = 0
    private(set) var life: Life! { didSet { if let oldValue { dead.append(oldValue) } } }
    private var dead: [Life] = []
    private struct Hold {
        let endpoint: Endpoint?
        let then: @Sendable (Bool) -> Void
    }
    private var holds: [Int: Hold] = [:]
    private var lastHold = 0
    private var isJournalAwaited = false
    /// The server tells at once what other devices do.
    private let isLive: Bool
    /// The random numbers of the daemon.
    private let numbers: Locked<SeededNumbers>

    /// The server's clock against ours, in milliseconds.
    @LoopActor final class Sky {
        private var settings: [(at: Int64, skew: Int64)] = [(0, 0)]
        var skew: Int64 { settings[settings.count - 1].skew }

        func set(_ skew: Int64, at time: Int64) { settings.append((time, skew)) }

        /// By the server's clock, as it went then.
        func stamp(_ time: Int64) -> Int64 { time + (settings.last { $0.at <= time }?.skew ?? 0) }
    }

    /// One run of the daemon.
    @LoopActor final class Life {
        let service: Service
        let store: Store
        let engine: FakeEngine
        let time: LifeTime
        let pulse: Pulse
        let live: LiveLine?
        let folder: String

        init(_ rig: Rig, folder: String) throws {
            self.folder = folder
            pulse = Pulse()
            let time = LifeTime(rig.time)
            self.time = time
            live = rig.isLive ? LiveLine(rig.upstream, rig.proxy, time, rig.net) : nil
            rig.net.live = live
            let paths = try Paths(environment: ["HOME": folder])
            let words = Words()
            // No checkpoint comes by itself: what the disk has is copied while nothing writes to it.
            store = try Store.open(at: paths.database, memory: rig.memory, checkpointAfter: nil) { trouble in
                LoopActor.onLoop { words.service?.heard(trouble) }
            }
            let covers = CoverCache(folder: paths.covers)
            let shelves = Shelves(
                store: store, vault: LifeVault(vault: rig.vault, pulse: pulse),
                transport: LifeTransport(net: rig.net, pulse: pulse, live: live), covers: covers, model: "Rig",
                time: time)
            engine = FakeEngine(time: time, hearing: rig.ledger) { words.service?.send(.report($0)) }
            let numbers = rig.numbers
            service = Service(
                bus: try Line.shared().bus, engine: engine, store: store, shelves: shelves, files: OneFile(),
                addresses: OneFile(), settings: SettingsDesk(path: paths.configFile), paths: paths, environment: [:],
                time: time,
                spread: { numbers.withLock { Double.random(in: 0..<1, using: &$0) } }, onQuit: {})
            words.service = service
        }

        func end() {
            pulse.stop()
            time.end()
            service.live.end()
            live?.hangUp()
            // What still waits would wait for ever, and keep this life.
            for waiter in service.waiters.values { waiter.answer(.failure(ControlError(.failed, "it died"))) }
            service.waiters = [:]
            service.drains.settle()
        }
    }

    @LoopActor final class Words {
        weak var service: Service?
    }

    /// - Parameters:
    ///   - seed: of all that is left to chance in the daemon.
    ///   - headersAhead: see ``Upstream``; nil: as the seed says.
    init(seed: UInt64, headersAhead: Int64? = nil) throws {
        numbers = Locked(SeededNumbers(seed: seed))
        // One in ten has a proxy with a clock of its own before it, every second of those is told at once.
        let (isProxied, round) = (seed % 10 == 8, seed / 10)
        isLive = isProxied ? round % 2 == 0 : seed % 2 == 0
        let sky = Sky()
        self.sky = sky
        let aheads: [Int64] = [-60_000, -8000, 5000, 25_000, 3_600_000]
        let ahead = isProxied ? aheads[Int(round / 2 % 5)] : 0
        let upstream = Upstream(now: Self.start, headersAhead: headersAhead ?? ahead)
        self.upstream = upstream
        let time = FakeTime(start: Self.start) { now in upstream.set(now: now.wall + sky.skew) }
        self.time = time
        ledger = Ledger { time.now.wall }
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        folder = (isThere ? memory : NSTemporaryDirectory()) + "/dogear-rig-\(UUID().uuidString)"
        let later = Later()
        proxy = try FaultProxy(upstream) { endpoint, seconds, then in
            LoopActor.onLoop { later.rig?.hold(endpoint, seconds, then) }
        }
        later.rig = self
        ledger.isClockKnown = { later.rig?.isClockKnown ?? true }
    }

    @LoopActor final class Later {
        weak var rig: Rig?
    }

    private var isClockKnown: Bool {
        guard let life, let item = ItemID(Thing.all[0].id) else { return true }
        return abs(life.service.shelves.clockOffset(of: item) - sky.skew) <= Place.clockTolerance
    }

    private func hold(_ endpoint: Endpoint?, _ seconds: Int, _ then: @escaping @Sendable (Bool) -> Void) {
        lastHold += 1
        let number = lastHold
        holds[number] = Hold(endpoint: endpoint, then: then)
        if endpoint != nil { net.hold() }
        _ = time.timer(after: .seconds(Double(seconds))) { self.letGo(number, isAlive: true) }
    }

    private func letGo(_ number: Int, isAlive: Bool) {
        guard let hold = holds.removeValue(forKey: number) else { return }
        if hold.endpoint != nil { net.release() }
        hold.then(isAlive)
    }

    // MARK: Beginning and end

    func begin() async throws {
        let account = Account(
            id: Thing.account, server: proxy.address, user: Upstream.user, login: .tokens, serverVersion: "2.36.0")
        await fillVault()
        try await boot(nil)
        try await life.store.write(.account(account))
        await life.service.shelves.restore()
    }

    /// With what a login puts there.
    func fillVault() async {
        for (kind, secret) in [(SecretKey.Kind.access, upstream.accessToken()), (.refresh, upstream.refreshToken())] {
            let key = SecretKey(account: Thing.account, kind: kind, server: proxy.address, user: Upstream.user)
            await vault.store(secret, for: key)
        }
    }

    func end() async {
        proxy.clear()
        for number in holds.keys { letGo(number, isAlive: false) }
        await settle()
        life.end()
        await settle()
        // What the last words of the dead began anew.
        for life in dead + [life!] { life.service.live.end() }
        await settle()
        time.end()
        proxy.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// - Parameter old: the folder to take over; nil: an empty one.
    private func boot(_ old: String?) async throws {
        lives += 1
        let home = "\(folder)/\(lives)"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        if let old { try copy(old, home) }
        life = try Life(self, folder: home)
        if let notice = life.store.notice { ledger.blame("the database was damaged: \(notice)") }
        await life.service.readJournal()
        life.service.begin(with: nil)
        await settle()
    }

    /// What another process would find on the disk now. The shared index of the log is made anew by whoever opens it.
    private func copy(_ old: String, _ new: String) throws {
        let state = try Paths(environment: ["HOME": old]).state
        let target = try Paths(environment: ["HOME": new]).state
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: state) where !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(atPath: "\(state)/\(name)", toPath: "\(target)/\(name)")
        }
    }

    /// Of the session: it outlives the daemon, and not the machine.
    var memory: String { "\(folder)/memory" }

    /// The process is killed: what is in its memory is gone, requests on their way may be heard or not.
    func kill() async throws {
        // What it was given has been written by then, and nothing else.
        while life.store.isBusy { await Task.yield() }
        let sounding = die()
        ledger.died(isPower: false, sounding: sounding, rate: life.engine.rate)
        try await boot(life.folder)
    }

    /// The machine loses its power so many seconds after its disk was last safe.
    func cutPower(after seconds: Double) async throws {
        _ = try? await life.store.stretches()
        life.engine.settle()
        ledger.safe()
        let safe = "\(folder)/safe\(lives)"
        try copy(life.folder, safe)
        await pass(seconds)
        let sounding = die()
        ledger.died(isPower: true, sounding: sounding, rate: life.engine.rate)
        try? FileManager.default.removeItem(atPath: memory)
        try await boot(safe)
    }

    /// - Returns: what was being heard.
    private func die() -> Thing? {
        life.engine.settle()
        let sounding = life.engine.isSounding ? thing : nil
        life.end()
        for number in holds.keys.sorted() { letGo(number, isAlive: false) }
        return sounding
    }

    func leaveAndReturn() async throws {
        let service = life.service
        await answered(within: 2) { await service.leave() }
        ledger.left()
        _ = die()
        try await boot(life.folder)
    }

    // MARK: Time and quiet

    var service: Service { life.service }
    var thing: Thing? { life.service.player.item.flatMap { Thing.of(length: $0.duration.seconds) } }

    /// Lets so many seconds pass, and what is due in them happen.
    func pass(_ seconds: Double) async {
        await pass(seconds) { false }
    }

    private func pass(_ seconds: Double, until isDone: () -> Bool) async {
        let limit = time.now.monotonic + Int64(seconds * 1_000_000)
        while !isDone(), time.now.monotonic < limit {
            let fired = time.step(to: limit)
            // Most of what time brings is a line for the journal, from which nothing follows.
            if LoopActor.executor.hasJobs || net.isBusy { await settle() }
            if !fired { break }
        }
    }

    /// Runs something that may take fake time, for as long as it takes but no longer than `seconds`.
    @discardableResult
    func answered(within seconds: Double, _ body: @escaping @LoopActor () async -> Void) async -> Bool {
        let done = Flag()
        Task { @LoopActor in
            await body()
            done.isSet = true
        }
        await settle()
        if !done.isSet { await pass(seconds) { done.isSet } }
        return done.isSet
    }

    @LoopActor final class Flag {
        var isSet = false
    }

    /// Returns when nothing more happens before time passes: what is under way waits for a timer or for a held request.
    func settle() async {
        if let awaited = await Stillness.shared.wait(for: self) { ledger.blame("it hangs: \(awaited) does not end") }
    }
}

extension Rig: Stillness.Subject {
    func awaited() -> String? {
        if net.isGoing { return "a request" }
        guard let store = (dead + [life!]).map(\.store).first(where: { $0.isBusy }) else { return nil }
        if !isJournalAwaited {
            isJournalAwaited = true
            Task { @LoopActor in
                _ = try? await store.place(of: ItemID(source: "file", key: "none"))
                self.isJournalAwaited = false
                Stillness.shared.look()
            }
        }
        return "the journal"
    }

    func letNextGo() -> Bool { net.letNextGo() }
}

/// The session bus: a peer that takes every signal and never answers. One for all rigs.
@LoopActor final class Line {
    let bus: Bus
    private let peer: Bus
    private static var line: Line?

    private init() throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        bus = try Bus(.peer(ends[0], isServer: true)) { _ in }
        peer = try Bus(.peer(ends[1], isServer: false)) { _ in }
        // Failures are what these tests are made of: nobody reads the log.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
    }

    static func shared() throws -> Line {
        if let line { return line }
        let made = try Line()
        line = made
        return made
    }
}

/// One that nothing else of the rig asks for.
struct OneFile: Source {
    static let path = "/notes.mp3"
    static let item = Item(
        id: ItemID(source: "file", key: "notes"), kind: .book, title: "Notes", duration: .seconds(500),
        tracks: [Track(start: .zero, duration: .seconds(500), audio: .file(path: path))])

    func find(_ id: ItemID) async throws(SourceError) -> Found {
        guard id == Self.item.id || id.key == Self.path else { throw SourceError(.notFound, "no such file") }
        return Found(id: Self.item.id, title: Self.item.title, memory: ())
    }
    func open(_ found: Found) async throws(SourceError) -> Opened { Opened(item: Self.item) }
}
